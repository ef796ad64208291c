"""The engine's suite."""
