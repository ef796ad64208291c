"""Which Gram: the table, and the public function `gram`."""

from typing import Any

import numpy as np

from mercer.errors import NotFinite
from mercer.grams.base import Gram
from mercer.grams.dense import DenseGram
from mercer.grams.factored import FactoredGram, finite_map
from mercer.grams.tiled import TiledGram
from mercer.kernels.bound import Bound, bind
from mercer.kernels.kernel import Kernel
from mercer.points import Points, as_points, check_same_width

__all__ = ["BUDGET", "gram", "gram_of", "gram_to_solve"]

# Features are worth more than kernel values when there are at most n over this many: nM² products against n³/3.
ROWS_PER_FEATURE = 2
# A matrix of up to this many bytes is stored: below it making the tiles once is worth their memory.
BUDGET = 64 << 20


def gram(kernel: Kernel, X: Any, Z: Any = None, *, dtype: Any = None, budget: int = BUDGET) -> Gram:
    """The matrix K[i, j] = k(xᵢ, zⱼ) as an object: stored when it is small, made tile by tile when it is not.

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
        error below 1e-6, and products are summed in float64 all the same.
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
    check_same_width(points, basis, "Z", type(kernel).__name__)
    return gram_of(bind(kernel.resolve(points), basis, dtype=dtype, name="Z"), points, budget=budget)


def gram_of(bound: Bound, points: Points | None = None, *, budget: int = BUDGET) -> Gram:
    """The Gram matrix of a kernel that is bound already: K(points, basis), or K(basis, basis) without points."""
    tiled = TiledGram(bound, points)
    asked = int(np.prod(tiled.shape)) * tiled.dtype.itemsize
    return DenseGram(tiled.dense(), tiled.proof) if asked <= budget else tiled


def gram_to_solve(bound: Bound, *, primal: bool = False) -> Gram:
    """The Gram matrix of a training set: by its features where they are few (or asked for), else stored or tiled."""
    phi = finite_map(bound)
    if phi is not None and (primal or ROWS_PER_FEATURE * phi.n_features <= len(bound)):
        _refuse_overflow(bound)
        return FactoredGram(phi, bound.basis, TiledGram(bound).proof)
    return gram_of(bound)


def _refuse_overflow(bound: Bound) -> None:
    """Refuse points whose features overflow when they are squared: entries of ΦᵀΦ are at most Σ k(x, x)."""
    with np.errstate(over="ignore"):
        total = bound.diag().sum()  # a k(x, x) that overflows is refused by name
    if not np.isfinite(total):
        raise NotFinite(
            f"{bound.kernel!r} is too large.", "The sum of all k(x, x) overflows float64.", "Scale the points."
        )
