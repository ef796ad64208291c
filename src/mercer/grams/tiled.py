"""A Gram matrix that is never stored: its tiles are computed, used and discarded."""

from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.budget import allocate
from mercer.errors import InvalidInput
from mercer.grams.base import Array, Positions, Proof
from mercer.grams.featured import MappedFeatures, finite_map
from mercer.kernels.binding import Binding, Cross
from mercer.kernels.featuremap import FeatureMap
from mercer.kernels.kernel import Kernel
from mercer.points import Points

__all__ = ["TiledGram"]

# Distinct values of 16 bits.
CODES = 1 << 16


@final
class TiledGram:
    """K(X, basis) as an operator; without points K(basis, basis), of which only half is computed.

    Parameters
    ----------
    binding : Binding
        The kernel with its basis, the points of the columns.
    points : Points, optional
        The points of the rows.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> K = mercer.gram(mercer.RBF(), np.arange(6.0)[:, None], budget=0)
    >>> K
    TiledGram(6 x 6, float64, RBF())
    >>> np.allclose(K @ np.ones(6), K.dense().sum(axis=1))
    True
    """

    __slots__ = ("_binding", "_cross", "_diagonal", "_map", "_points", "_proof")

    def __init__(self, binding: Binding, points: Points | None = None) -> None:
        self._binding = binding
        self._points = points
        self._cross: Cross = binding.self_cross() if points is None else binding.cross(points)
        self._proof: Proof | None = None
        self._diagonal: Array | None = None
        self._map: tuple[FeatureMap | None] | None = None  # None until it was looked for

    def __repr__(self) -> str:
        n, m = self.shape
        return f"TiledGram({n} x {m}, {self.dtype.name}, {self._binding.kernel!r})"

    @property
    def binding(self) -> Binding:
        """The kernel with the points of the columns."""
        return self._binding

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._cross.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the engine's work and of `dense`; products are summed and returned in float64."""
        return self._cross.dtype

    @property
    def proof(self) -> Proof:
        """Why K is positive semi-definite."""
        if self._proof is None:
            self._proof = self._binding.kernel.proof()
        return self._proof

    @property
    def is_stored(self) -> bool:
        """It is not."""
        return False

    @property
    def evaluations(self) -> int:
        """How many entries were made so far, by this matrix and by what was taken from it."""
        return self._binding.tally.entries

    def __matmul__(self, V: Array) -> Array:
        """K V in O(tile + output) memory."""
        return self._cross @ V

    def row_sums(self) -> Array:
        """Σⱼ K[i, j] for every row."""
        return self._cross.row_sums()

    def normal(self, V: Array, W: Array | None = None) -> Array:
        """Kᵀ(K V + W), computing every entry once."""
        return self._cross.normal(V, W)

    def best(self, k: int, *, largest: bool = True) -> tuple[Array, Array]:
        """The k largest (or smallest) values of each row and their columns, best first, ties by index."""
        return self._cross.best(k, largest=largest)

    def columns(self, j: Positions) -> Array:
        """K[:, j], one column per index."""
        return self._binding.take(j).cross(self._rows).dense()

    def diag(self) -> Array:
        """The diagonal of a square K."""
        self._refuse_unless_square("diag")
        if self._diagonal is None:
            self._diagonal = self._binding.diag()
            self._diagonal.flags.writeable = False
        return self._diagonal

    def dense(self, out: Array | None = None) -> Array:
        """All entries; raises `TooLarge` if they would not fit."""
        return self._cross.dense(out)

    def take(self, rows: Positions) -> "TiledGram":
        """K[rows, rows], still not stored."""
        self._refuse_unless_square("take")
        part = TiledGram(self._binding.take(rows))
        part._proof = self._proof
        part._diagonal = None if self._diagonal is None else self._diagonal[rows]
        return part

    @property
    def feature_map(self) -> FeatureMap | None:
        """The explicit feature map on the basis, if it is finite and the features of one point fit into memory."""
        if self._map is None:
            self._map = (finite_map(self._binding),)
        return self._map[0]

    def features(self) -> MappedFeatures | None:
        """Φ with K = ΦΦᵀ where the feature map is finite and has fewer features than K has rows; else None."""
        self._refuse_unless_square("factor")
        phi = self.feature_map
        return None if phi is None or phi.n_features >= self.shape[0] else MappedFeatures(phi, self._binding.basis)

    def restricted(self) -> None:
        """None: the entries are those of the kernel."""
        return

    def coded(self) -> "TiledCodes":
        """The entries of a square K in 16 bits; nothing is made before it is asked for."""
        self._refuse_unless_square("coded")
        return TiledCodes(self)

    def native(self) -> object:
        """The engine's handle."""
        return self._binding.native

    @property
    def _rows(self) -> Points:
        return self._binding.basis if self._points is None else self._points

    def _refuse_unless_square(self, what: str) -> None:
        if self._points is not None:
            n, m = self.shape
            raise InvalidInput(f"Only the Gram matrix of one set of points has {what}().", f"This one is {n} x {m}.")


@final
class TiledCodes:
    """The entries of a square K in 16 bits, made by the engine in float32.

    Parameters
    ----------
    gram : TiledGram of shape (n, n)
        K.
    """

    __slots__ = ("_gram",)

    def __init__(self, gram: TiledGram) -> None:
        self._gram = gram

    @property
    def code(self) -> tuple[float, float]:
        """(low, step).

        No entry exceeds the largest on the diagonal, and none is negative if that follows from the formula.
        """
        high = float(self._gram.diag().max(initial=0.0))
        kernel = self._gram.binding.kernel
        low = 0.0 if isinstance(kernel, Kernel) and kernel.doubt is None else -high
        return low, (high - low) / (CODES - 1) or 1.0

    def upper(self) -> npt.NDArray[np.uint16]:
        """The codes above the diagonal, and a few more; the others are not touched."""
        n, m = self._gram.shape
        what = f"The Gram matrix of {n} x {m} points in 16 bits"
        codes = allocate((n, m), np.uint16, what, "Use its products K @ V, or fewer points.")
        return self._gram.binding.as_single().self_cross().upper_half(codes, self.code)
