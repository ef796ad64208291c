"""Which Gram: the table, and the public function `gram`."""

import math
from contextlib import suppress
from typing import Any, TypeGuard

import numpy as np

from mercer.budget import memory_there
from mercer.errors import NotFinite, TooLarge
from mercer.grams.base import Gram
from mercer.grams.dense import DenseGram
from mercer.grams.featured import FeatureGram
from mercer.grams.tiled import TiledGram
from mercer.kernels.binding import Binding, bind
from mercer.kernels.kernel import Kernel
from mercer.points import Points, Vectors, as_points, conformed

__all__ = ["BUDGET", "gram", "gram_for_steps", "gram_of", "gram_to_share", "gram_to_solve"]

# Features are worth more than kernel values when there are at most n over this many: nM² products against n³/3.
ROWS_PER_FEATURE = 2
# A matrix of up to this many bytes is stored: computing it once is worth the memory.
BUDGET = 64 << 20
# Sparse rows of so few columns, of which so large a share is there, are made dense for a solver that gathers rows:
# dense tiles are then faster than merging rows.
FILLED_COLUMNS = 1_000
FILLED_SHARE = 0.05
# Leaves whose entries cost so much that none is made twice where there is memory for all.
DEAR = frozenset({"convolution"})
# Up to so many rows, entries are float64 where float32 would do: the solver of the support vector machines wants them.
EXACT_ROWS = 400
# The share of the memory for one result that a matrix may take which is shared: what is made of it needs room too.
SHARED = 0.25
# Leaves whose entries are not made from rows that a solver could gather.
NOT_GATHERED = frozenset({"callback", "stored"})


def gram(kernel: Kernel, X: Any, Z: Any = None, *, dtype: Any = None, budget: int = BUDGET) -> Gram:
    """The matrix K[i, j] = k(xᵢ, zⱼ) as an object: stored if it is small, otherwise computed tile by tile.

    Parameters
    ----------
    kernel : Kernel
        The formula. Rules such as ``length_scale="median"`` are resolved on X.
    X : array-like, DataFrame, sparse matrix, or list of objects
        The points of the rows.
    Z : like X, optional
        The points of the columns; X when not given.
    dtype : float32 or float64, optional
        Of the entries; that of the points when not given. In float32 the entries of radial kernels keep an absolute
        error below 1e-6, and products are still summed in float64.
    budget : int
        Bytes up to which the matrix is stored.

    Returns
    -------
    Gram
        With ``K @ V``, ``columns(j)``, ``diag()``, ``dense()`` and ``take(rows)``.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> K = mercer.gram(mercer.RBF(), X)
    >>> (K @ np.array([1.0, 0.0, 0.0])).round(4)
    array([1.    , 0.6065, 0.0111])
    """
    points = as_points(X)
    if Z is None:
        return gram_of(bind(kernel, points, dtype=dtype), budget=budget)
    basis = as_points(Z, "Z")
    basis = conformed(points, basis, "Z", type(kernel).__name__, kernel.reads())
    return gram_of(bind(kernel.resolve(points), basis, dtype=dtype, name="Z"), points, budget=budget)


def gram_of(binding: Binding, points: Points | None = None, *, budget: int = BUDGET) -> Gram:
    """The Gram matrix of a bound kernel: K(points, basis), or K(basis, basis) without points."""
    return _stored(TiledGram(binding, points), budget)


def _budget(binding: Binding) -> int | float:
    """Bytes up to which a matrix to be read again and again is stored."""
    return math.inf if _has(binding, DEAR) else BUDGET


def _has(binding: Binding, kinds: frozenset[str]) -> bool:
    return not kinds.isdisjoint(leaf.kind for leaf in binding.plan.leaves)


def gram_to_solve(binding: Binding, *, primal: bool = False) -> Gram:
    """The Gram matrix of a training set: by its features if they are few (or requested), else stored or tiled."""
    tiled = TiledGram(binding)
    phi = tiled.feature_map
    if phi is not None and (primal or ROWS_PER_FEATURE * phi.n_features <= len(binding)):
        _refuse_overflow(tiled)
        return FeatureGram(phi, binding.basis, tiled.proof)
    return _stored(tiled, _budget(binding))


def gram_for_steps(binding: Binding) -> Gram:
    """The Gram matrix for a solver of small steps, which gathers rows of it again and again, in float64.

    Tiled, since such a solver keeps the rows it needs; by dense rows where sparse ones are not thin enough to be worth
    merging; stored where there are no rows to gather, but calls of a function or a matrix that is there, and where
    entries are dear.
    """
    if _has(binding, NOT_GATHERED):
        return _stored(TiledGram(binding), None)
    if _has(binding, DEAR):
        return _stored(TiledGram(binding), math.inf)
    basis = binding.basis
    filled = bind(binding.kernel, basis.filled(), dtype=np.float64) if _is_worth_filling(basis) else binding
    return TiledGram(filled)


def gram_to_share(binding: Binding, *, single: bool = True) -> Gram:
    """The Gram matrix for many problems over parts of its rows: stored, where `single` in float32 if rows are many.

    `sharable_rows` says how many rows there may be.
    """
    if single and len(binding) > EXACT_ROWS:
        binding = binding.as_single()
    return _stored(TiledGram(binding), None)


def sharable_rows(*, single: bool = True) -> int:
    """For how many rows `gram_to_share` takes no more than its share of the memory that is there."""
    return int((SHARED * memory_there() / (4 if single else 8)) ** 0.5)


def _stored(tiled: TiledGram, budget: float | None) -> Gram:
    """Stored where that takes no more than the budget, or where there is none."""
    if budget is None:
        return DenseGram(tiled.dense(), tiled.proof, tiled.evaluations)
    if int(np.prod(tiled.shape)) * tiled.dtype.itemsize <= budget:
        with suppress(TooLarge):
            return DenseGram(tiled.dense(), tiled.proof, tiled.evaluations)
    return tiled


def _is_worth_filling(points: Points) -> TypeGuard[Vectors]:
    if not isinstance(points, Vectors) or not points.is_sparse or points.width > FILLED_COLUMNS:
        return False
    return bool(points.raw().nnz >= FILLED_SHARE * len(points) * points.width)


def _refuse_overflow(tiled: TiledGram) -> None:
    """Refuse points whose features overflow when they are squared: entries of ΦᵀΦ are at most Σ k(x, x)."""
    with np.errstate(over="ignore"):
        total = tiled.diag().sum()  # a k(x, x) that overflows is refused by name
    if not np.isfinite(total):
        raise NotFinite(
            f"{tiled.binding.kernel!r} is too large.", "The sum of all k(x, x) overflows float64.", "Scale the points."
        )
