"""What is published of a batch of support vector machines, after the referee has seen it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput
from mercer.problems.certificate import Certificate, Status
from mercer.problems.margins import Margins, rows_of

__all__ = ["MarginSolution", "margins", "published"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# Kinds whose coefficients are published in units of their margin ρ, as LIBSVM does.
IN_UNITS_OF_MARGIN = frozenset({"nu-svc", "hulls"})
# What takes K b on all rows, as many kernel values as there are pairs of a row and a support vector.
CERTIFICATE = ("image", "primals", "duals", "gaps", "relative_gaps", "moved", "violations")


@final
@dataclass(frozen=True, eq=False, repr=False)
class MarginSolution:
    """Coefficients of a batch of support vector machines, with their certificates; arrays have an entry per problem.

    Attributes
    ----------
    kind : str
        The row of `mercer.problems.margins.KINDS`.
    batch : Margins
        What was minimised.
    coef : ndarray of shape (N,)
        b, over the variables of all problems.
    image : ndarray of shape (M,)
        f = K b, over the rows of all problems.
    primals, duals, gaps : ndarray of shape (P,)
        P at b and at the published intercept (at the best levels, for the machines that have an offset), D at the
        nearest feasible point, and their difference: how far P can be above its minimum.
    relative_gaps : ndarray of shape (P,)
        gap / max(|P|, |D|, ½ bᵀKb); where all of these are zero to rounding, relative to that rounding.
    moved : ndarray of shape (P,)
        Σ|δᵢ| / Σ|bᵢ|: how far the dual point had to be moved to satisfy its constraints.
    violations : ndarray of shape (P,)
        The largest, over the groups, of max down − min up: the derivatives of the dual in the directions that the box
        leaves open. What LIBSVM compares with tol.
    intercepts : ndarray of shape (P,)
        b₀, the mean over the free rows; the middle of what the conditions of optimality allow where none is free.
    spreads : ndarray of shape (P,)
        The largest minus the least b₀ that the free rows ask for; 0 where none is free.
    offsets : ndarray of shape (P,)
        ρ, or the ε of nu-svr; NaN for the machines without.
    steps : ndarray of shape (P,)
        Two-variable steps.
    kernel_evaluations : int
        Entries of K that were made, all problems together.
    status : Status
        How the solve ended; that of the worst problem.
    seconds : float
        What it took.
    assumptions : tuple
        What the kernel's positivity, and with it the certificate, rests on without being derived.
    solver : str
        Which row of the table solved it.
    """

    kind: str
    batch: Margins
    coef: Array
    image: Array
    primals: Array
    duals: Array
    gaps: Array
    relative_gaps: Array
    moved: Array
    violations: Array
    intercepts: Array
    spreads: Array
    offsets: Array
    steps: Index
    kernel_evaluations: int
    status: Status
    seconds: float
    assumptions: tuple[Any, ...]
    solver: str = "smo"

    def unjudged(self, judge: Callable[[], "MarginSolution"]) -> "MarginSolution":
        """The same coefficients, levels and status; the rest as `judge` finds it, when it is first asked for."""
        later = object.__new__(MarginSolution)
        at_once = {name: value for name, value in vars(self).items() if name not in CERTIFICATE}
        later.__dict__.update(at_once, _judge=judge)
        return later

    def __getattr__(self, name: str) -> Any:  # only for what is not there
        if name not in CERTIFICATE or "_judge" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = vars(self)["_judge"]()
        vars(self).update({name: getattr(found, name) for name in CERTIFICATE})
        del vars(self)["_judge"]
        return vars(self)[name]

    def __getstate__(self) -> dict[str, Any]:
        judged = {name: getattr(self, name) for name in CERTIFICATE}
        return {**vars(self), **judged}

    @property
    def certificate(self) -> Certificate:
        """The sums and the worst of the problems."""
        return Certificate(
            self.status,
            machine=self.kind,
            solver=self.solver,
            rows=int(self.batch.cuts[-1]),
            columns=len(self.batch),
            primal=self.primal,
            dual=self.dual,
            gap=self.gap,
            relative_gap=self.relative_gap,
            moved=float(self.moved.max(initial=0.0)),
            violation=self.kkt_violation,
            evaluations=self.kernel_evaluations,
            steps=self.iterations,
            seconds=self.seconds,
            assumptions=self.assumptions,
        )

    def certified(self, *, status: Status) -> "MarginSolution":
        """The same with another status."""
        return replace(self, status=status)

    @property
    def is_free(self) -> Mask:
        """The rows of K with a coefficient inside its box, of some problem."""
        batch = self.batch
        b, low, high = self.coef, batch.low, batch.high
        at_end = (b != 0.0) & ((b <= low) | (b >= high))
        count = int(batch.row_offsets[-1])
        net = b if batch.copies == 1 else np.bincount(batch.entries, b, count)
        bounded = np.zeros(count, dtype=np.bool_)
        bounded[batch.entries[at_end]] = True
        free = np.zeros(int(batch.cuts[-1]), dtype=np.bool_)
        free[rows_of(batch.cuts, batch.uses)[(net != 0.0) & ~bounded]] = True
        return free

    @property
    def primal(self) -> float:
        """The sum over the problems."""
        return float(self.primals.sum())

    @property
    def dual(self) -> float:
        """The sum over the problems."""
        return float(self.duals.sum())

    @property
    def gap(self) -> float:
        """The sum over the problems."""
        return float(self.gaps.sum())

    @property
    def relative_gap(self) -> float:
        """The largest of the problems."""
        return float(self.relative_gaps.max(initial=0.0))

    @property
    def kkt_violation(self) -> float:
        """The largest of the problems."""
        return float(self.violations.max(initial=0.0))

    @property
    def iterations(self) -> int:
        """Steps, all problems together."""
        return int(self.steps.sum())

    def coef_of(self, p: int) -> Array:
        """b over the variables of problem p; a view."""
        return self.coef[self.batch.offsets[p] : self.batch.offsets[p + 1]]

    def image_of(self, p: int) -> Array:
        """K b over the rows of problem p; a view."""
        return self.image[self.batch.row_offsets[p] : self.batch.row_offsets[p + 1]]

    def net_of(self, p: int) -> Array:
        """b over the rows of problem p: the sum over the copies of a row."""
        return np.asarray(self.coef_of(p).reshape(self.batch.copies, -1).sum(axis=0))

    def support(self, p: int) -> Index:
        """The rows of K with a coefficient that is not zero in problem p."""
        return self._rows_where(p, self.net_of(p) != 0.0)

    def free(self, p: int) -> Index:
        """Those of them whose coefficient is inside the box: they determine the intercept."""
        return self._rows_where(p, (self.net_of(p) != 0.0) & ~self._is_bounded(p))

    def bounded(self, p: int) -> Index:
        """Those of them whose coefficient is as large as their cost allows."""
        return self._rows_where(p, (self.net_of(p) != 0.0) & self._is_bounded(p))

    def _rows_where(self, p: int, chosen: Mask) -> Index:
        return np.asarray(self.batch.rows(p)[chosen], dtype=np.int64)

    def _is_bounded(self, p: int) -> Mask:
        part = slice(self.batch.offsets[p], self.batch.offsets[p + 1])
        b, low, high = self.coef[part], self.batch.low[part], self.batch.high[part]
        at_end = (b != 0.0) & ((b <= low) | (b >= high))
        return np.asarray(at_end.reshape(self.batch.copies, -1).any(axis=0))

    def __str__(self) -> str:
        count = len(self.batch)
        what = f"{self.batch.cuts[-1] - self.batch.cuts[0]} rows"
        if count != 1:
            what += f", {count} problems"
        lines = [
            f"Solution of {self.kind} by {self.solver} on {what}: {self.status.value}.",
            f"  primal        {self.primal:.10g}",
            f"  dual          {self.dual:.10g}",
            f"  gap           {self.gap:.3g}, relative {self.relative_gap:.3g}",
            f"  violation     {self.kkt_violation:.3g} of the conditions of optimality",
            f"  kernel        {self.kernel_evaluations} evaluations",
            f"  steps         {self.iterations}",
        ]
        lines += [f"  assuming      {assumption}" for assumption in self.assumptions]
        return "\n".join(lines)

    __repr__ = __str__


def published(solution: MarginSolution) -> Array:  # (P,)
    """What coefficients and intercepts are divided by: ρ for those in units of the margin, else 1.

    Raises
    ------
    InvalidInput
        Where ρ is zero to the tolerance.
    """
    # A solve that was stopped has a margin all the same, and a status that says what it is worth.
    least = solution.violations if solution.status.is_certified else np.zeros(len(solution.batch))
    if solution.kind in IN_UNITS_OF_MARGIN and not (solution.offsets > least).all():
        worst = int(np.argmin(solution.offsets - least))
        raise InvalidInput(
            "The dual coefficients or intercepts are not finite: the margin ρ is zero to the tolerance.",
            f"It is {solution.offsets[worst]:.3g}, with an error of up to {solution.violations[worst]:.3g}.",
            "Try a larger nu, a smaller tol, or a kernel with more features.",
        )
    return margins(solution)


def margins(solution: MarginSolution) -> Array:  # (P,)
    """ρ for the kinds in its units, else 1."""
    return solution.offsets if solution.kind in IN_UNITS_OF_MARGIN else np.ones(len(solution.batch))
