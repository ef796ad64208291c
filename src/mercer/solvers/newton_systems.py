"""The Newton systems of smooth losses, and what makes conjugate gradients on them short.

See `mercer.solvers.newton` for the equations. With L Lᵀ = W, the curvature of the losses, an approximate inverse of
I + Lᵀ K L is made in one of three ways: from its Cholesky factor, or from K ≈ F Fᵀ by Woodbury's formula, with F a
partial Cholesky factor of K or the explicit features.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple, Protocol, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.budget import refuse_too_large
from mercer.grams.base import FeatureMatrix, Gram
from mercer.problems.problem import Problem
from mercer.solvers.cg import rank_for
from mercer.solvers.held import FEW_COLUMNS, held_bytes, hold, one_blas_thread
from mercer.solvers.lapack import STOPPED, Look, factor_in_place, solve_in_place
from mercer.solvers.pivoted import pivoted_cholesky
from mercer.solvers.watch import Watch

__all__ = ["Curvature", "Preconditioner", "Quiet", "Route", "direct", "featured", "pivoted"]

Array = npt.NDArray[np.float64]

# Pivots times columns: the size of the inner matrix of Woodbury's formula.
INNER = 1_500
# Rows of F processed at a time.
ROWS_AT_ONCE = 2_048
# Pivots: n r² operations a step are soon more than the products that they save. Where K is stored, so that a product
# takes little, only large costs are worth many. Measured: RBF, 20 columns, 5 000 to 20 000 rows, C = 0.1 to 1000.
LEAST_PIVOTS, MOST_PIVOTS = 100, 600
PIVOTS_PER_COST = 6.0
HELD = "stored in a few bits"
EPS = float(np.finfo(np.float64).eps)


class Preconditioner(Protocol):
    """V ↦ (I + Lᵀ K L)⁻¹ V, or approximately."""

    def __call__(self, V: Array) -> Array:  # (n t, k) -> (n t, k)
        """Apply it."""


@final
class Curvature:
    """W = C diag(d) = L Lᵀ, or C (diag(p) − p pᵀ) with p = d for a loss that joins its columns, row by row.

    L = √C diag(√d), or √C diag(√p) (I − √p √pᵀ), since Σ p = 1.
    """

    def __init__(self, cost: Array, d: Array, *, is_joint: bool) -> None:
        self.cost, self.d, self.is_joint = cost, d, is_joint  # (n, 1) or (n, t), (n, t)
        self._root = np.sqrt(d)
        self._scale = np.sqrt(cost) * self._root

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, t = self.d.shape
        return n, t

    def root(self, X: Array) -> Array:  # (n, t) or (n, t, k)
        """L X."""
        root, scale = (_like(V, X) for V in (self._root, self._scale))
        return np.asarray(scale * (X - root * (root * X).sum(axis=1, keepdims=True) if self.is_joint else X))

    def root_transposed(self, X: Array) -> Array:  # (n, t) or (n, t, k)
        """Lᵀ X."""
        root, scale = (_like(V, X) for V in (self._root, self._scale))
        scaled = scale * X
        return np.asarray(scaled - root * (root * scaled).sum(axis=1, keepdims=True) if self.is_joint else scaled)


def _like(V: Array, X: Array) -> Array:
    return V if X.ndim == 2 else V[:, :, None]


# Makes, from the problem, what makes a preconditioner of each step. None where the watch was over.
Factory = Callable[[Curvature, Look], Preconditioner | None]


class Route(NamedTuple):
    """A way to solve the Newton systems of one problem.

    Attributes
    ----------
    precondition : callable (Curvature, Watch) -> Preconditioner or None
        Makes the preconditioner of a step; None if time ran out.
    times : callable (V) -> K V
        The products of the inner iterations, which need not be exact.
    note : str
        A note for the user.
    is_rounded : bool
        Whether those products are made from few bits.
    coarse : Route, optional
        The same for a K whose products are much faster, and whose solution is the starting point.
    """

    precondition: Factory
    times: Callable[[Array], Array]
    note: str
    is_rounded: bool = False
    coarse: "Route | None" = None


@final
class Quiet:
    """The clock of a watch without its progress bar: within a step the overall progress does not change."""

    def __init__(self, watch: "Watch | Quiet") -> None:
        self._watch = watch

    @property
    def is_over(self) -> bool:
        """Whether time has run out."""
        return self._watch.is_over

    def look(self, share: float, measure: str = "") -> bool:  # noqa: ARG002 (the signature of a watch)
        """Whether time has run out."""
        return self._watch.is_over

    def interrupt(self) -> None:
        """As of the watch."""
        self._watch.interrupt()


def direct(problem: Problem, watch: Watch) -> Route:  # noqa: ARG001 (routes share one signature)
    """By a Cholesky factor of I + Lᵀ K L: exact."""
    n, t = problem.y.shape
    refuse_too_large(direct_bytes(problem), f"The Newton system of {n * t} unknowns in float64", 'Use "newton-cg".')
    K = np.asarray(problem.gram.dense(), dtype=np.float64)

    def make(curvature: Curvature, watch: Look) -> Preconditioner | None:
        factors = []
        for M in _systems(K, curvature):
            M.flat[:: len(M) + 1] += 1.0
            L = M.T  # symmetric: what C calls rows, Fortran calls columns
            broken = factor_in_place(L, watch)
            if broken == STOPPED:
                return None
            # Broken only where K is indefinite, or 1 less than the rounding of c·K: the gap says how it went.
            factors.append(None if broken else L)
        return lambda V: _solved(factors, V)

    return Route(make, lambda V: np.asarray(K @ V), "")


def direct_bytes(problem: Problem) -> int:
    """What the Newton systems take: one of all unknowns where the loss joins its columns, else one for each column."""
    n, t = problem.y.shape
    return int(8 * n * n * (t * t if problem.loss.is_joint else t))


def _systems(K: Array, curvature: Curvature) -> Iterator[Array]:
    """Lᵀ K L; of a loss that does not join its columns, its blocks."""
    n, t = curvature.shape
    if not curvature.is_joint:
        for root in curvature.root(np.ones((n, t))).T:
            yield root[:, None] * K * root
        return
    each = np.broadcast_to(np.eye(t), (n, t, t))
    L = curvature.root(np.ascontiguousarray(each))  # (n, t, t)
    wide = L.transpose(1, 0, 2).reshape(t, n * t)
    M = wide.T @ wide
    M *= np.repeat(np.repeat(K, t, axis=0), t, axis=1)
    yield M


def _unchanged(V: Array) -> Array:
    return V


def _solved(factors: list[Array | None], V: Array) -> Array:
    """V divided by one factor, or its columns by their own: unknown i of column j stands at i t + j."""
    out = np.array(V, dtype=np.float64, order="F")
    if len(factors) == 1 and factors[0] is not None:
        solve_in_place(factors[0], out)
        return out
    for j, L in enumerate(factors):
        if L is not None:
            part = np.array(out[j :: len(factors)], order="F")
            solve_in_place(L, part)
            out[j :: len(factors)] = part
    return out


def pivoted(problem: Problem, watch: Watch) -> Route:
    """By a partial Cholesky factor of K, made once; K itself is stored in a few bits where that does."""
    n, t = problem.y.shape
    cost = _stiffness(problem)
    is_held = problem.gram.is_stored or held_bytes(problem.gram, 1.0 / cost, t) > 0
    pivots = min(max(PIVOTS_PER_COST * cost, LEAST_PIVOTS), MOST_PIVOTS) if is_held else MOST_PIVOTS
    rank = min(rank_for(n), int(pivots), max(INNER // t, 1))
    # Where (c/4)·(K − F Fᵀ) is below 1/4 of the identity beside it, more columns would be useless.
    # Its kernel values are the engine's, whose threads those of BLAS would keep from working.
    with one_blas_thread() if is_held and t <= FEW_COLUMNS else nullcontext():
        found = pivoted_cholesky(
            problem.gram,
            np.ones(n),
            rank,
            stop=min(1.0, 1.0 / cost),
            rng=np.random.default_rng(0),
            watch=Quiet(watch),
        )
    F, rest = found.factor, found.diagonal[:, None]
    times, how = _hold(problem.gram, cost, t)
    precondition = _woodbury(_Held(F), t)
    coarse = Route(precondition, lambda V: F @ (F.T @ V) + rest * V, "")
    note = f"rank {F.shape[1]} preconditioner, K {how}"
    return Route(precondition, times, note, is_rounded=how == HELD, coarse=coarse)


def _stiffness(problem: Problem) -> float:
    """The largest c, times the curvature where that may be more than 1; an unbounded one is that of a perfect fit."""
    loss, y = problem.loss, problem.y
    if np.isfinite(loss.curvature):
        return max(loss.curvature, 1.0) * float(problem.cost.max())
    bend = loss.bend(loss.inverse(np.zeros_like(y), y), y)
    return float((problem.cost * np.maximum(bend, 1.0)).max())


def _times(gram: Gram) -> Callable[[Array], Array]:
    return lambda V: np.asarray(gram @ V, dtype=np.float64)


def _hold(gram: Gram, cost: float, t: int) -> tuple[Callable[[Array], Array], str]:
    """K for the inner products: in few bits if c/4 times their errors are below the identity of (2)."""
    if gram.is_stored:
        return _times(gram), "stored"
    held = hold(gram, 1.0 / cost, t)
    return (_times(gram), "recomputed for each product") if held is None else (held.times, HELD)


@final
class _Held:
    """A factor F in memory, as `mercer.grams.base.FeatureMatrix`."""

    def __init__(self, F: npt.NDArray[Any]) -> None:
        self._F = F

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self._F.shape
        return rows, columns

    def __iter__(self) -> Iterator[tuple[slice, npt.NDArray[Any]]]:
        yield slice(0, len(self._F)), self._F

    def __matmul__(self, W: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.asarray(self._F @ W)

    def transpose_times(self, V: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.asarray(self._F.T @ V)

    def dense(self) -> npt.NDArray[Any]:
        return self._F


def featured(problem: Problem, watch: Watch) -> Route:  # noqa: ARG001 (routes share one signature)
    """By the explicit features of K = Φ Φᵀ: exact, unless there are very many features and classes."""
    phi = problem.gram.features()
    assert phi is not None, "the table's refusal asks for a finite map"
    n, t = problem.y.shape
    note = f"{phi.shape[1]} features in place of {n} rows"
    return Route(_woodbury(phi, t), _times(problem.gram), note)


def _woodbury(F: FeatureMatrix, t: int) -> Factory:
    """(I + Lᵀ F Fᵀ L)⁻¹ = I − Lᵀ F T⁻¹ Fᵀ L with T = I + Fᵀ W F, of r t rows.

    Where the loss does not join its columns T falls into t blocks. Where it does and T is too large, C diag(p) stands
    for W, which is more than W, and does the same.
    """
    r = F.shape[1]

    def make(curvature: Curvature, watch: Look) -> Preconditioner | None:  # noqa: ARG001 (of a Factory)
        if r == 0:  # K is nothing beside the costs
            return _unchanged
        n = curvature.shape[0]
        is_whole = curvature.is_joint and r * t <= INNER
        L = _inner_factors(F, curvature, is_whole)

        def apply(V: Array) -> Array:  # (n t, k)
            k = V.shape[1]
            X = V.reshape(n, t, k)
            inside = F.transpose_times(curvature.root(X).reshape(n, t * k)).reshape(r, t, k)
            stacked = inside.transpose(1, 0, 2)  # (t, r, k)
            if is_whole:
                solved = scipy.linalg.cho_solve((L[0], True), stacked.reshape(t * r, k)).reshape(t, r, k)
            else:
                solved = np.stack([scipy.linalg.cho_solve((L[j], True), stacked[j]) for j in range(t)])
            outside = (F @ np.ascontiguousarray(solved.transpose(1, 0, 2)).reshape(r, t * k)).reshape(n, t, k)
            return np.asarray(V - curvature.root_transposed(outside).reshape(n * t, k))

        return apply

    return make


def _inner_factors(F: FeatureMatrix, curvature: Curvature, is_whole: bool) -> list[Array]:
    """The Cholesky factor of T, or one for each of its blocks."""
    r, t = F.shape[1], curvature.shape[1]
    if is_whole:
        T = np.eye(t * r)
        for rows, block in _strips(F):
            c, p = curvature.cost[rows], curvature.d[rows]
            wide = ((np.sqrt(c) * p)[:, :, None] * block[:, None, :]).reshape(len(block), t * r)
            T -= wide.T @ wide
            for j in range(t):
                scaled = np.sqrt(c * p[:, j : j + 1]) * block
                own = slice(j * r, (j + 1) * r)
                T[own, own] += scaled.T @ scaled
        return [_factored(T)]
    blocks = np.zeros((t, r, r))
    for rows, block in _strips(F):
        for j in range(t):
            cost = curvature.cost[rows, j if curvature.cost.shape[1] > 1 else 0]
            root = np.sqrt(cost * curvature.d[rows, j])[:, None] * block
            blocks[j] += root.T @ root  # NumPy makes half of AᵀA where both are the same array
    blocks.reshape(t, -1)[:, :: r + 1] += 1.0
    return [_factored(block) for block in blocks]


def _factored(T: Array) -> Array:
    """The Cholesky factor of I plus something positive.

    Where the identity is less than the rounding beside it, that much is added: what is solved is still (2), to the
    residual, by more iterations.
    """
    rounding = len(T) * EPS * float(T.diagonal().max())
    for more in (0.0, rounding, 1e3 * rounding, 1e6 * rounding):
        T.flat[:: len(T) + 1] += more
        try:
            return np.asarray(scipy.linalg.cholesky(T, lower=True, check_finite=False))
        except np.linalg.LinAlgError:
            continue
    return np.diag(np.sqrt(np.maximum(T.diagonal(), 1.0)))


def _strips(F: FeatureMatrix) -> Iterator[tuple[slice, npt.NDArray[Any]]]:
    """The rows of F, in blocks."""
    for rows, block in F:
        for start in range(0, len(block), ROWS_AT_ONCE):
            part = block[start : start + ROWS_AT_ONCE]
            yield slice(rows.start + start, rows.start + start + len(part)), part
