"""The referee of the support vector machines: it computes f = Kα itself, and says what the coefficients are worth."""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from mercer.grams.batched import batched_product
from mercer.problems.certificate import Certificate, Status
from mercer.problems.margins.gaps import Findings, findings
from mercer.problems.margins.problem import MarginProblem
from mercer.problems.margins.solution import ARRAYS, MarginSolution
from mercer.problems.margins.tracked import TrackedF

__all__ = ["Promise", "Record", "Referee", "judge"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

# The worst problem's is the status of the batch.
WORST_FIRST = (
    Status.INDEFINITE, Status.NO_MARGIN, Status.STOPPED, Status.INEXACT, Status.GAP_OPEN, Status.MARGIN_OPTIMAL,
)  # fmt: skip


@final
@dataclass(frozen=True)
class Promise:
    """What a problem must keep to count as solved.

    Attributes
    ----------
    tol : float
        The largest violation of the conditions of optimality.
    gap : float
        The largest relative duality gap; infinity where the violation alone decides.
    """

    tol: float = 1e-3
    gap: float = 1e-3


@final
@dataclass(frozen=True)
class Record:
    """What a solver says of its own work, for the certificate.

    Attributes
    ----------
    steps : ndarray of shape (P,)
        Two-variable steps.
    evaluations : int
        Entries of K that were made.
    seconds : float
        What it took.
    stopped : bool
        Whether max_iter, max_time or Ctrl-C ended it.
    solver : str
        Which row of the table solved it.
    """

    steps: Index
    evaluations: int = -1
    seconds: float = float("nan")
    stopped: bool = False
    solver: str = "smo"


def judge(
    problem: MarginProblem, coef: Array, promise: Promise | None = None, record: Record | None = None
) -> MarginSolution:
    """The solution with its certificate, from nothing but the coefficients: f = Kα is computed on every row.

    Parameters
    ----------
    problem : MarginProblem
        What was to be minimised.
    coef : ndarray of shape (N,)
        α, what a solver claims.
    promise : Promise, optional
        What it must keep.
    record : Record, optional
        Steps, time and the like.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams.dense import DenseGram
    >>> from mercer.problems.margins import KINDS
    >>> x = y = np.array([1.0, -1.0])
    >>> batch = KINDS["c-svc"].build(np.array([0, 1, 2]), np.array([[0, 1]]), y, np.ones(2))
    >>> problem = MarginProblem(DenseGram(np.outer(x, x)), KINDS["c-svc"], batch)
    >>> found = judge(problem, np.array([0.5, -0.5])).certificate
    >>> found.primal, found.dual, found.gap, found.violation
    (0.5, 0.5, 0.0, 0.0)
    """
    batch = problem.batch
    coef = np.array(coef, dtype=np.float64)
    f = np.empty(int(batch.row_offsets[-1]))
    batched_product(problem.gram, batch.geometry, batch.copies, coef, f)
    found = findings(problem.kind, batch, coef, f, np.asarray(problem.gram.diag(), dtype=np.float64))
    return _published(problem, coef, f, found, promise or Promise(), record or Record(np.zeros(len(batch), np.int64)))


@final
class Referee:
    """Looks at a solve from time to time, and judges how it ended.

    A solver in float32 may leave its own f where nothing in the certificate depends on it; `TrackedF` says where, and
    by which bound.

    Parameters
    ----------
    problem : MarginProblem
        What is minimised.
    promise : Promise
        What the solution must keep.
    coef : ndarray of shape (N,)
        α, which the solver changes in place.
    f : ndarray of shape (M,)
        The solver's Kα for these; what is computed in float64 is written into it.
    """

    def __init__(self, problem: MarginProblem, promise: Promise, coef: Array, f: Array) -> None:
        self._problem, self._promise, self._coef = problem, promise, coef
        self._diagonal = np.asarray(problem.gram.diag(), dtype=np.float64)
        self._f = TrackedF(problem.batch, problem.gram, self._diagonal, coef, f)
        self._found: Findings | None = None

    def look(self, *, trusted: bool) -> Findings:
        """What there is to know of the coefficients as they are.

        Parameters
        ----------
        trusted : bool
            Whether the solver's f has followed them, in float32; if not, all of it is computed.
        """
        self._f.refresh(trusted=trusted)
        return self._find()

    def judge(self, record: Record) -> MarginSolution:
        """The verdict on the coefficients that were last looked at."""
        found = self._found or self.look(trusted=False)
        if self._f.complete():
            found = self._find()
        return _published(self._problem, self._coef, self._f.values, found, self._promise, record)

    def judge_later(self, record: Record) -> MarginSolution:
        """The model at once, from the rows that it depends on; the rest when `MarginSolution.certify` is called."""

        def certify() -> MarginSolution:
            self.look(trusted=False)
            return self.judge(record)

        if not self._f.refresh_free():
            return certify()
        found = self._find()
        self._found = None
        return _published(self._problem, self._coef, self._f.values, found, self._promise, record).unjudged(certify)

    def _find(self) -> Findings:
        self._found = findings(self._problem.kind, self._problem.batch, self._coef, self._f.values, self._diagonal)
        return self._found


def _published(
    problem: MarginProblem, coef: Array, f: Array, found: Findings, promise: Promise, record: Record
) -> MarginSolution:
    batch, proof = problem.batch, problem.gram.proof
    statuses = found.statuses(promise.tol, promise.gap, stopped=record.stopped)
    certificate = Certificate(
        status=min(statuses, key=WORST_FIRST.index),
        machine=problem.kind.name,
        solver=record.solver,
        rows=int(batch.cuts[-1] - batch.cuts[0]),
        columns=len(batch),
        primal=float(found.primals.sum()),
        dual=float(found.duals.sum()),
        gap=float(found.gaps.sum()),
        relative_gap=float(found.relative_gaps.max(initial=0.0)),
        moved=float(found.moved.max(initial=0.0)),
        violation=float(found.violations.max(initial=0.0)),
        evaluations=record.evaluations,
        steps=int(record.steps.sum()),
        seconds=record.seconds,
        assumptions=() if proof is None else proof.assumptions,
    )
    arrays = {name: getattr(found, name) for name in ARRAYS}
    return MarginSolution(
        kind=problem.kind.name, batch=batch, coef=coef, f=f, steps=record.steps, statuses=statuses,
        certificate=certificate, **arrays,
    )  # fmt: skip
