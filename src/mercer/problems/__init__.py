"""What is minimised: losses, the problem, its solution, and the referee that certifies it."""

from mercer.problems.certificate import Certificate, Status
from mercer.problems.certify import certify
from mercer.problems.losses import LOSSES, Loss, Targets, huber
from mercer.problems.problem import Problem
from mercer.problems.solution import Answer, ErrorBound, Solution

__all__ = [
    "LOSSES",
    "Answer",
    "Certificate",
    "ErrorBound",
    "Loss",
    "Problem",
    "Solution",
    "Status",
    "Targets",
    "certify",
    "huber",
]
