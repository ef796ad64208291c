"""A fitted machine on one page of HTML."""

from mercer.report.page import report

__all__ = ["report"]
