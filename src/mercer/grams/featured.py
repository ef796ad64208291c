"""A Gram matrix given by explicit features, K = ΦΦᵀ, for fewer features M than rows n."""

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer.budget import allocate
from mercer.errors import NoFiniteMap, TooLarge
from mercer.grams.base import Array, Positions, Proof
from mercer.kernels.binding import Binding
from mercer.kernels.featuremap import FeatureMap
from mercer.kernels.kernel import Kernel
from mercer.points import Points

__all__ = ["FeatureGram", "MappedFeatures", "finite_map"]


def finite_map(binding: Binding) -> FeatureMap | None:
    """The explicit feature map on the basis, if it is finite and the features of one point fit into memory."""
    if not isinstance(binding.kernel, Kernel):
        return None
    try:
        return binding.kernel.feature_map(binding.basis)
    except (NoFiniteMap, TooLarge):
        return None


@final
class MappedFeatures:
    """Φ, computed in blocks of rows and never stored.

    Parameters
    ----------
    phi : FeatureMap
        Fitted on the points.
    points : Points
        The points whose features these are.
    """

    __slots__ = ("phi", "points")

    def __init__(self, phi: FeatureMap, points: Points) -> None:
        self.phi = phi
        self.points = points

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return len(self.points), self.phi.n_features

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        """Rows and their features, (rows, M)."""
        return self.phi.blocks(self.points)

    def __matmul__(self, W: Array) -> Array:
        """ΦW."""
        out = np.empty((self.shape[0], *W.shape[1:]))
        for rows, block in self:
            np.matmul(block, W, out=out[rows])
        return out

    def transpose_times(self, V: Array) -> Array:
        """ΦᵀV."""
        out = np.zeros((self.shape[1], *V.shape[1:]))
        for rows, block in self:
            out += block.T @ V[rows]
        return out

    def dense(self) -> Array:
        """All of Φ; raises `TooLarge` if it would not fit."""
        return self.phi(self.points)


@final
class FeatureGram:
    """K(X, X) = ΦΦᵀ for a kernel with a finite feature map; neither K nor Φ is held.

    Parameters
    ----------
    phi : FeatureMap
        Fitted on the points.
    points : Points
        X.
    proof : Proof
        Why K is positive semi-definite.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> from mercer.points import as_points
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> K = FeatureGram(mercer.Linear().feature_map(X), as_points(X), mercer.Linear().proof())
    >>> np.allclose(K @ np.ones(6), X @ X.T @ np.ones(6))
    True
    """

    __slots__ = ("_diagonal", "_phi", "_proof")

    def __init__(self, phi: FeatureMap, points: Points, proof: Proof) -> None:
        self._phi = MappedFeatures(phi, points)
        self._proof = proof
        self._diagonal: Array | None = None

    def __repr__(self) -> str:
        n, _ = self.shape
        return f"FeatureGram({n} x {n}, {self._phi.phi!r})"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, _ = self._phi.shape
        return n, n

    @property
    def dtype(self) -> np.dtype[Any]:
        """Features are float64."""
        return np.dtype(np.float64)

    @property
    def proof(self) -> Proof:
        """Why K is positive semi-definite."""
        return self._proof

    @property
    def is_stored(self) -> bool:
        """It is not."""
        return False

    @property
    def evaluations(self) -> int:
        """None: features take their place."""
        return 0

    def __matmul__(self, V: Array) -> Array:
        """Φ(ΦᵀV): 2nM products per column instead of n²."""
        return self._phi @ self._phi.transpose_times(V)

    def columns(self, j: Positions) -> Array:
        """K[:, j], one column per index."""
        return self._phi @ self._phi.phi(self._phi.points.take(j)).T

    def diag(self) -> Array:
        """The diagonal."""
        if self._diagonal is None:
            self._diagonal = np.empty(self.shape[0])
            for rows, block in self._phi:
                self._diagonal[rows] = np.einsum("ij,ij->i", block, block)
            self._diagonal.flags.writeable = False
        return self._diagonal

    def dense(self, out: Array | None = None) -> Array:
        """All entries; raises `TooLarge` if they would not fit."""
        n, _ = self.shape
        if out is None:
            what = f"The Gram matrix of {n} x {n} points in float64"
            out = allocate(self.shape, np.float64, what, "Use its products K @ V.")
        features = self._phi.dense()
        for rows, block in self._phi:
            out[rows] = block @ features.T
        return out

    def take(self, rows: Positions) -> "FeatureGram":
        """K[rows, rows]: the same features of fewer points."""
        return FeatureGram(self._phi.phi, self._phi.points.take(rows), self._proof)

    def features(self) -> MappedFeatures:
        """Φ."""
        return self._phi

    def restricted(self) -> None:
        """None: the features are those of the kernel."""
        return

    def coded(self) -> None:
        """None: products by features take less time."""
        return

    def native(self) -> FeatureMap:
        """The map."""
        return self._phi.phi
