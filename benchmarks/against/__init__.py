"""Suites that put mercer's estimators beside their peers."""
