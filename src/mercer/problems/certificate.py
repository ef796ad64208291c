"""What is known of an answer: the numbers by which anybody can see how far from solved it is."""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, final

from mercer.markup import element

__all__ = ["Certificate", "Status"]


class Status(Enum):
    """How a fit ended; the value is the sentence shown to the user."""

    OPTIMAL = "solved to the tolerance, as its duality gap shows"
    INTERPOLATING = "solved: every constraint (a row of infinite cost, alpha = 0) holds to the tolerance"
    LEAST_SQUARES = (
        "solved: K is singular and does not reach y exactly; this is the least-squares solution of least norm"
    )
    MARGIN_OPTIMAL = (
        "solved: no two rows violate the conditions of optimality by more than the tolerance, and the duality gap is "
        "as small as was asked for"
    )
    BY_FORMULA = "computed by its formula: there is nothing to solve"
    STOPPED = (
        "not solved to the tolerance: max_iter, max_time or Ctrl-C ended it, and this is the best so far; allow more, "
        "raise tol, raise alpha or lower C, or scale the data"
    )
    INEXACT = (
        "not solved to the tolerance: rounding prevents it, because the problem is badly conditioned; "
        "raise alpha or lower C, remove near-duplicate rows, or scale the data"
    )
    GAP_OPEN = (
        "not certified: no two rows violate the conditions of optimality by more than the tolerance, but rounding "
        "keeps the duality gap larger than was asked for; lower C, scale the data, or allow a larger gap"
    )
    NO_MARGIN = (
        "not certified: two classes overlap so far that at this nu the margin between them is zero to rounding, and so "
        "are their decisions; raise nu, or use a kernel with more features"
    )
    INDEFINITE = (
        "not certified: K has a negative eigenvalue, so the kernel is not positive on this data, and the answer "
        "is a stationary point of a problem that is not convex; check_gram and refute show why, and a repair can fix it"
    )
    FOREIGN = (
        "not certified: read from a file of another program, without the training rows; fit again for a certificate"
    )

    @property
    def is_certified(self) -> bool:
        """Whether the answer is what was asked for."""
        return self in _CERTIFIED


# Label of `Certificate.lines` -> what its figure says.
_MEANINGS = {
    "primal": "What was minimised, at the published answer.",
    "dual": "A proved lower bound on what any answer could reach.",
    "gap": "Primal minus dual: no answer is better by more than this. Relative to the largest of the terms compared.",
    "violation": "How far a condition that should hold exactly is missed, at the worst row.",
    "residual": "How far the published coefficients are from solving their equations, relative to the targets.",
    "‖K r‖": "Zero at a least-squares solution: how far the answer is from one.",
    "condition": "By how much the system can enlarge errors of rounding: digits are few when it comes near 1e16.",
    "rank": "How many directions the kernel tells apart on these rows.",
    "landmarks": "f is a sum over these points alone; primal, dual and gap are those of such functions.",
    "assuming": "A claim that was not derived; the certificate is worth as much as it.",
    "evaluations": "How many kernel values were computed.",
    "steps": "Iterations of the solver; a direct one takes none.",
    "time": "What solving and certifying took.",
    "note": "",
}
_CERTIFIED = frozenset(
    {Status.OPTIMAL, Status.INTERPOLATING, Status.LEAST_SQUARES, Status.MARGIN_OPTIMAL, Status.BY_FORMULA}
)
NAN = math.nan


@final
@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """How far an answer is from solved, found by the referee from the published coefficients alone.

    A number that does not apply to a machine is NaN; a count that was not taken is −1.

    Attributes
    ----------
    status : Status
        How the fit ended, as a sentence.
    machine : str
        What was minimised: the loss, or the kind of support vector machine.
    solver : str
        Which row of the table of solvers solved it.
    rows, columns : int
        The number of training rows, and of targets, classes or pairs of classes solved together.
    primal, dual : float
        P at the published answer, and D at the nearest feasible dual point; sums over the columns.
    gap : float
        P − D, an upper bound on how far P is above its minimum; NaN where a constraint (infinite cost) takes its place.
    relative_gap : float
        gap / max(|P|, |D|, ½ αᵀKα), the largest of the columns of a support vector machine; where all of these are
        zero to rounding, relative to that rounding.
    moved : float
        How far the dual point had to be moved to satisfy its constraints, relative to its length.
    violation : float
        The largest violation of a constraint (a row of infinite cost), relative to the loss of g = 0; of a support
        vector machine, of the conditions of optimality, which LIBSVM compares with tol.
    residual : float
        Of the squared loss: the largest ‖√W r‖/‖√W y‖ among the targets, r = y − Kα − Bθ − α/c.
    normal_residual : float
        ‖K W r‖/‖K W y‖ for rows of infinite cost: zero at a least-squares solution.
    condition : float
        The estimated condition number of the system that was solved.
    rank : int
        The numerical rank of K, where the solver found it.
    landmarks : int
        The points that f was restricted to; −1 where it was not.
    left_out : float
        The share of Σ k(xᵢ, xᵢ) that landmarks do not represent, from above: 0 where they span what the rows span. From
        more than 2 000 rows it is judged by a sample, and holds with a probability of 99.9 %.
    evaluations : int
        Entries of K that were computed; where K is stored, to store it.
    steps : int
        Iterations of an iterative solver; 0 for a direct one.
    seconds : float
        What solving and certifying took.
    trace : tuple of float
        The solver's own measure of progress, one value per iteration.
    assumptions : tuple
        What the kernel's positivity, and with it the certificate, assumes without deriving it.
    note : str
        One sentence on how it went.
    """

    status: Status
    machine: str = ""
    solver: str = ""
    rows: int = 0
    columns: int = 1
    primal: float = NAN
    dual: float = NAN
    gap: float = NAN
    relative_gap: float = NAN
    moved: float = NAN
    violation: float = NAN
    residual: float = NAN
    normal_residual: float = NAN
    condition: float = NAN
    rank: int = -1
    landmarks: int = -1
    left_out: float = NAN
    evaluations: int = -1
    steps: int = 0
    seconds: float = NAN
    trace: tuple[float, ...] = ()
    assumptions: tuple[Any, ...] = ()
    note: str = ""

    @property
    def is_certified(self) -> bool:
        """Whether the answer is what was asked for."""
        return self.status.is_certified

    def to_dict(self) -> dict[str, Any]:
        """Every field as plain Python, as JSON takes it: what does not apply is None.

        Examples
        --------
        >>> Certificate(Status.OPTIMAL, primal=1.0, dual=1.0).to_dict()["status"]
        'OPTIMAL'
        """
        plain: dict[str, Any] = {"status": self.status.name, "sentence": self.status.value}
        for name, value in vars(self).items():
            if name != "status":
                plain[name] = _plain(name, value)
        return plain

    def lines(self) -> list[tuple[str, str]]:
        """What there is to say, as pairs of a label and a text; `__str__` and the table in notebooks show these."""
        found = [
            ("primal", _number(self.primal, "{:.10g}")),
            ("dual", _number(self.dual, "{:.10g}")),
            ("gap", "" if math.isnan(self.gap) else f"{self.gap:.3g}, relative {self.relative_gap:.3g}"),
            ("violation", _number(self.violation, "{:.3g} " + self._violated)),
            ("residual", _number(self.residual, "{:.3g} of ‖y‖")),
            ("‖K r‖", _number(self.normal_residual, "{:.3g} of ‖K y‖")),
            ("condition", _number(self.condition, "{:.3g} (estimate)")),
            ("rank", f"{self.rank} of {self.rows}" if self.rank >= 0 else ""),
            (
                "landmarks",
                f"{self.landmarks}, leaving out at most {self.left_out:.2g} of Σ k(x, x)" * (self.landmarks >= 0),
            ),
            *(("assuming", str(assumption)) for assumption in self.assumptions),
            ("evaluations", f"{self.evaluations} of the kernel" if self.evaluations >= 0 else ""),
            ("steps", str(self.steps) if self.steps else ""),
            ("time", _number(self.seconds, "{:.3g} s")),
            ("note", self.note),
        ]
        return [(label, text) for label, text in found if text]

    def figures(self) -> list[tuple[str, str, str]]:
        """The same with what each figure says, as triples of a label, a text and a plain sentence."""
        return [(label, text, _MEANINGS.get(label, "")) for label, text in self.lines()]

    @property
    def heading(self) -> str:
        """The first line: what was solved, by what, and how it ended."""
        what = " ".join(part for part in (self.machine, f"by {self.solver}" if self.solver else "") if part)
        size = f"{self.rows} rows" + (f", {self.columns} columns" if self.columns != 1 else "")
        return f"{what or 'fit'} on {size}: {self.status.value}."

    @property
    def _violated(self) -> str:
        is_of_margins = self.status in (Status.MARGIN_OPTIMAL, Status.GAP_OPEN, Status.NO_MARGIN)
        return "of the conditions of optimality" if is_of_margins else "at the most"

    def __str__(self) -> str:
        return "\n".join([self.heading, *(f"  {label:<13} {text}" for label, text in self.lines())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """A table for notebooks, with a mark that says at once whether the answer is certified."""
        mark, colour = ("✓", "#1a7f37") if self.is_certified else ("✗", "#b35900")
        left = "text-align:left"
        rows = [
            element(
                "tr",
                element("th", label, style=left, scope="row"),
                element("td", text, style=left),
                element("td", element("small", meaning), style=left),
            )
            for label, text, meaning in self.figures()
        ]
        heading = element("p", element("b", mark, style=f"color:{colour}"), f" {self.heading}")
        return element("div", heading, element("table", element("tbody", *rows)))


def _number(value: float, form: str) -> str:
    return "" if math.isnan(value) else form.format(value)


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, tuple):
        return [float(part) for part in value] if name == "trace" else [str(part) for part in value]
    return None if isinstance(value, int) and value < 0 else value
