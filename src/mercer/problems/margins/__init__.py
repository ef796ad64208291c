"""The support vector machines: one dual for all of them, many problems at a time, with a referee of its own."""

from mercer.problems.margins.batch import Margins, all_rows, joined
from mercer.problems.margins.gaps import intercepts
from mercer.problems.margins.kinds import KINDS, Kind, one_pair
from mercer.problems.margins.problem import MarginProblem
from mercer.problems.margins.referee import Promise, Record, Referee, judge
from mercer.problems.margins.solution import MarginSolution
from mercer.problems.margins.start import best_multiple, repaired, scaled

__all__ = [
    "KINDS", "Kind", "MarginProblem", "MarginSolution", "Margins", "Promise", "Record", "Referee", "all_rows",
    "best_multiple", "intercepts", "joined", "judge", "one_pair", "repaired", "scaled",
]  # fmt: skip
