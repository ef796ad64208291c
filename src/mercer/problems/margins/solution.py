"""What is published of a batch of support vector machines, after the referee has seen it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput
from mercer.problems.certificate import Certificate, Status
from mercer.problems.margins.batch import Margins
from mercer.problems.margins.kinds import KINDS

__all__ = ["ARRAYS", "MarginSolution"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# What the referee finds of each problem; and that part of it which takes Kα on all rows, as many kernel values as there
# are pairs of a row and a support vector.
FROM_ALL_ROWS = ("primals", "duals", "gaps", "relative_gaps", "moved", "violations")
ARRAYS = (*FROM_ALL_ROWS, "intercepts", "spreads", "offsets")


@final
@dataclass(frozen=True, eq=False, repr=False)
class MarginSolution:
    """Coefficients of a batch of support vector machines, with their certificate; arrays have an entry per problem.

    After Ctrl-C with keep_best, what takes Kα on all rows is NaN, until `certify` is called.

    Attributes
    ----------
    kind : str
        The row of `mercer.problems.margins.KINDS`.
    batch : Margins
        What was minimised.
    coef : ndarray of shape (N,)
        α, over the variables of all problems.
    f : ndarray of shape (M,)
        Kα, over the rows of all problems.
    primals, duals, gaps : ndarray of shape (P,)
        P at α and at the published intercept (at the best levels, for the machines that have an offset), D at the
        nearest feasible point, and their difference: how far P can be above its minimum.
    relative_gaps : ndarray of shape (P,)
        gap / max(|P|, |D|, ½ αᵀKα); 0 where all of these are zero to rounding.
    moved : ndarray of shape (P,)
        Σ|δᵢ| / Σ|αᵢ|: how far the dual point had to be moved to satisfy its constraints.
    violations : ndarray of shape (P,)
        The largest, over the groups, of max down − min up: the derivatives of the dual in the directions that the box
        leaves open. What LIBSVM compares with tol.
    intercepts : ndarray of shape (P,)
        b, the mean over the free rows; the middle of what the conditions of optimality allow where none is free.
    spreads : ndarray of shape (P,)
        The largest minus the least b that the free rows ask for; 0 where none is free.
    offsets : ndarray of shape (P,)
        ρ, or the ε of nu-svr; NaN for the machines without.
    steps : ndarray of shape (P,)
        Two-variable steps.
    statuses : tuple of Status
        How each problem ended.
    certificate : Certificate
        All problems together: sums of primal, dual, gap and steps, the largest relative gap, moved and violation, the
        worst status.
    is_judged : bool
        Whether the certificate is there in full.
    """

    kind: str
    batch: Margins
    coef: Array
    f: Array
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
    statuses: tuple[Status, ...]
    certificate: Certificate
    is_judged: bool = True
    _certify: Callable[[], "MarginSolution"] | None = None

    @property
    def units(self) -> Array:  # (P,)
        """What coefficients and intercepts are divided by before they are published: ρ for the kinds in its units.

        Where there is no margin, that is 1: next to zero as they are, decisions then show what they are.
        """
        if not KINDS[self.kind].in_margins:
            return np.ones(len(self.batch))
        has_margin = np.array([status is not Status.NO_MARGIN for status in self.statuses])
        return np.where(has_margin & (self.offsets > 0.0), self.offsets, 1.0)

    @property
    def status(self) -> Status:
        """How the solve ended: that of the worst problem."""
        return self.certificate.status

    def certified(self, **changes: Any) -> "MarginSolution":
        """The same answer, with these fields of its certificate changed."""
        return replace(self, certificate=replace(self.certificate, **changes))

    def certify(self) -> "MarginSolution":
        """The same coefficients with their whole certificate, which is made now where Ctrl-C had left it out.

        Raises
        ------
        InvalidInput
            Where the solution was pickled before: the Gram matrix is not, and the certificate is made from that.
        """
        if self.is_judged:
            return self
        if self._certify is None:
            raise InvalidInput(
                "The Gram matrix that this certificate is made from was not pickled.", "", "Call certify() before."
            )
        return self._certify()

    def unjudged(self, certify: Callable[[], "MarginSolution"]) -> "MarginSolution":
        """The same coefficients and levels, stopped; the rest NaN until `certify` is called."""
        unknown: dict[str, Any] = dict.fromkeys(FROM_ALL_ROWS, np.full(len(self.batch), np.nan))
        known = self.certificate
        return replace(
            self,
            f=np.full(len(self.f), np.nan),
            statuses=(Status.STOPPED,) * len(self.batch),
            certificate=Certificate(
                Status.STOPPED, machine=known.machine, solver=known.solver, rows=known.rows, columns=known.columns,
                evaluations=known.evaluations, steps=known.steps, seconds=known.seconds,
                assumptions=known.assumptions, note="interrupted; certify() makes the rest of this certificate",
            ),
            is_judged=False,
            _certify=certify,
            **unknown,
        )  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_certify": None}

    def coef_of(self, p: int) -> Array:
        """α over the variables of problem p; a view."""
        return self.coef[self.batch.variables_of(p)]

    def f_of(self, p: int) -> Array:
        """Kα over the rows of problem p; a view."""
        return self.f[self.batch.row_offsets[p] : self.batch.row_offsets[p + 1]]

    def net_of(self, p: int) -> Array:
        """α over the rows of problem p: the sum over the copies of a row."""
        return np.asarray(self.coef_of(p).reshape(self.batch.copies, -1).sum(axis=0))

    @property
    def is_free(self) -> Mask:
        """The rows of K with a coefficient inside its box, of some problem: (n,)."""
        batch, coef = self.batch, self.coef
        at_end = (coef != 0.0) & ((coef <= batch.low) | (coef >= batch.high))
        count = int(batch.row_offsets[-1])
        net = coef if batch.copies == 1 else np.bincount(batch.entries, coef, count)
        is_bounded = np.zeros(count, dtype=np.bool_)
        is_bounded[batch.entries[at_end]] = True
        free = np.zeros(int(batch.cuts[-1]), dtype=np.bool_)
        free[batch.rows[(net != 0.0) & ~is_bounded]] = True
        return free

    def __str__(self) -> str:
        return str(self.certificate)

    __repr__ = __str__
