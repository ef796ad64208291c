"""A Gram matrix restricted to landmarks: functions f = Σⱼ cⱼ k(lⱼ, ·) of m points instead of n.

With K_mm = L Lᵀ between the landmarks and K_nm from the rows to them,

    K̃ = K_nm K_mm⁻¹ K_mn = ΦΦᵀ,      Φ = K_nm L⁻ᵀ,      f = Φ z at the rows,   ‖f‖² = cᵀ K_mm c = ‖z‖²,   c = L⁻ᵀ z,

so that a machine on landmarks is the machine with the kernel K̃, or a linear one in the features Φ. K̃ ≤ K, and what is
left out, trace(K − K̃), is the squared distance of all φ(xᵢ) from the span of the landmarks.

Neither K_nm nor Φ is stored: every product makes its entries anew. A landmark that the others span up to rounding adds
nothing to f but would make L useless, so it is left out: L is the Cholesky factor with pivots.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.budget import allocate, refuse_too_large, row_blocks
from mercer.errors import NotPositive
from mercer.grams.base import Array, Positions, Proof
from mercer.kernels.binding import Binding, Cross
from mercer.points import Points
from mercer.points.chunked import Blocks

__all__ = ["LandmarkFeatures", "LandmarkGram", "LeftOut", "inverse_root", "restrict"]

EPS = float(np.finfo(np.float64).eps)
# Rows from which the share of the trace that is left out is estimated, and the chance that the bound is too low.
SAMPLE = 2_000
DOUBT = 1e-3
# Eigenvalues of the landmarks' kernel values below this, as in scikit-learn, and negative ones add no feature.
LEAST = 1e-12


class LeftOut(NamedTuple):
    """How much of Σ k(x, x) the landmarks do not represent.

    Attributes
    ----------
    share : float
        trace(K − K̃) / trace(K).
    bound : float
        What it does not exceed: the share itself where all rows were looked at, else an upper bound that holds with a
        probability of 99.9 %.
    """

    share: float
    bound: float


@final
class LandmarkFeatures:
    """Φ = K_nm L⁻ᵀ as an operator.

    Parameters
    ----------
    binding : Binding
        The kernel on the landmarks, of which none is spanned by the others.
    factor : ndarray of shape (m, m)
        L, lower, in Fortran order.
    points : Points or Blocks
        The rows.
    chosen : ndarray of shape (m,)
        Which of the points that were proposed as landmarks these are.
    """

    __slots__ = ("_crosses", "binding", "chosen", "factor", "points")

    def __init__(self, binding: Binding, factor: Array, points: Points | Blocks, chosen: npt.NDArray[np.intp]) -> None:
        self.binding = binding
        self.factor = factor
        self.points = points
        self.chosen = chosen
        self._crosses: dict[bool, Cross] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and landmarks."""
        return len(self.points), len(self.binding)

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        """Rows and their features, (rows, m)."""
        if isinstance(self.points, Blocks):
            for rows, block in self.points.blocks():
                yield rows, self.of(block)
            return
        for rows in row_blocks(*self.shape):
            yield rows, self.of(self.points.take(rows))

    def __matmul__(self, Z: Array) -> Array:
        """Φ Z."""
        return self.times(Z)

    def times(self, Z: Array, *, single: bool = False) -> Array:
        """Φ Z, with kernel values in float32 or float64."""
        c = self.coefficients(Z)
        out = np.empty((self.shape[0], *Z.shape[1:]))
        for rows, K in self._parts(single):
            out[rows] = K @ c
        return out

    def transpose_times(self, V: Array, *, single: bool = False) -> Array:
        """ΦᵀV."""
        total = np.zeros((self.shape[1], *V.shape[1:]))
        for rows, K in self._parts(single):
            total += K.normal(None, V[rows])
        return self._from_landmarks(total)

    def normal(self, Z: Array, D: Array, W: Array | None = None, *, single: bool = False) -> Array:
        """Φᵀ D (Φ Z + W), every kernel value made once; D is (n, 1), or (n, t)."""
        c, total = self.coefficients(Z), np.zeros(Z.shape)
        for rows, K in self._parts(single):
            total += K.normal(c, None if W is None else W[rows], D[rows])
        return self._from_landmarks(total)

    def dense(self) -> Array:
        """All of Φ; raises `TooLarge` if it would not fit."""
        n, m = self.shape
        out = allocate((n, m), np.float64, f"The features of {n} points by {m} landmarks", "Use their products.")
        for rows, block in self:
            out[rows] = block
        return out

    def take(self, rows: Positions) -> "LandmarkFeatures":
        """Φ[rows]."""
        return LandmarkFeatures(self.binding, self.factor, self.points.take(rows), self.chosen)

    def of(self, points: Points) -> Array:  # (len(points), m)
        """The features of some points."""
        values = self.binding.cross(points).dense()
        return np.ascontiguousarray(self._from_landmarks(values.T).T)

    def coefficients(self, Z: Array) -> Array:
        """c = L⁻ᵀ z."""
        return np.ascontiguousarray(
            scipy.linalg.solve_triangular(self.factor, Z, lower=True, trans=1, check_finite=False)
        )

    def weights(self, coef: Array) -> Array:
        """z = Lᵀ c, so that ‖z‖² = cᵀ K_mm c."""
        product = scipy.linalg.blas.dtrmm(1.0, self.factor, np.asfortranarray(coef), lower=1, trans_a=1)
        return np.ascontiguousarray(product)

    def left_out(self) -> LeftOut:
        """What the landmarks do not represent: of all rows where these are few, else judged by a sample."""
        n, _ = self.shape
        rng = np.random.default_rng(0)
        rows = np.arange(n) if n <= SAMPLE else np.sort(rng.integers(n, size=SAMPLE))
        whole, kept = np.empty(len(rows)), np.empty(len(rows))
        sample = self.points.take(rows)
        for part in row_blocks(len(rows), self.shape[1]):
            points = sample.take(part)
            block = self.of(points)
            whole[part] = self.binding.diag(points)
            kept[part] = np.einsum("ij,ij->i", block, block)
        missing = np.maximum(whole - kept, 0.0)
        total = float(whole.sum())
        if total <= 0.0:
            return LeftOut(0.0, 0.0)
        share = float(missing.sum()) / total
        if n <= SAMPLE:
            return LeftOut(share, share)
        # An empirical Bernstein bound on the mean of what is missing, for values up to the largest seen k(x, x).
        doubt, count = float(np.log(2.0 / DOUBT)), len(rows)
        spread = np.sqrt(2.0 * missing.var(ddof=1) * doubt / count)
        slack = spread + 7.0 * float(whole.max()) * doubt / (3.0 * (count - 1))
        return LeftOut(share, min(1.0, share + slack * count / total))

    def _from_landmarks(self, values: Array) -> Array:  # (m, t) -> (m, t): L⁻¹
        return np.asarray(scipy.linalg.solve_triangular(self.factor, values, lower=True, check_finite=False))

    def _parts(self, single: bool) -> Iterator[tuple[slice, Cross]]:
        """Rows, and their kernel values to the landmarks: all at once, or block by block."""
        if isinstance(self.points, Blocks):
            binding = self._bound(single)
            for rows, block in self.points.blocks():
                yield rows, binding.cross(block)
            return
        if single not in self._crosses:
            self._crosses[single] = self._bound(single).cross(self.points)
        yield slice(0, self.shape[0]), self._crosses[single]

    def _bound(self, single: bool) -> Binding:
        return self.binding.as_single() if single else self.binding


@final
class LandmarkGram:
    """K̃ = ΦΦᵀ of the rows; use `restrict`.

    Parameters
    ----------
    features : LandmarkFeatures
        Φ.
    proof : Proof
        Why K is positive semi-definite; K̃ is so in any case.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> from mercer.points import as_points
    >>> X = np.linspace(0.0, 3.0, 7)[:, None]
    >>> K = restrict(mercer.RBF(), as_points(X), as_points(X[::2]))
    >>> K
    LandmarkGram(7 x 7 by 4 landmarks, RBF())
    >>> np.allclose(K.dense()[::2, ::2], mercer.RBF()(X[::2]))
    True
    >>> round(K.features().left_out().share, 4)
    0.0057
    """

    __slots__ = ("_diagonal", "_phi", "_proof")

    def __init__(self, features: LandmarkFeatures, proof: Proof) -> None:
        self._phi = features
        self._proof = proof
        self._diagonal: Array | None = None

    def __repr__(self) -> str:
        n, m = self._phi.shape
        return f"LandmarkGram({n} x {n} by {m} landmarks, {self._phi.binding.kernel!r})"

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
        """How many kernel values were made so far."""
        return self._phi.binding.tally.entries

    def __matmul__(self, V: Array) -> Array:
        """Φ(ΦᵀV)."""
        return self._phi @ self._phi.transpose_times(V)

    def columns(self, j: Positions) -> Array:
        """K̃[:, j], one column per index."""
        return self._phi @ self._phi.of(self._phi.points.take(j)).T

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
            out = allocate((n, n), np.float64, f"The Gram matrix of {n} x {n} points", "Use its products K @ V.")
        features = self._phi.dense()
        np.matmul(features, features.T, out=out)
        return out

    def take(self, rows: Positions) -> "LandmarkGram":
        """K̃[rows, rows]: the same landmarks."""
        return LandmarkGram(self._phi.take(rows), self._proof)

    def features(self) -> LandmarkFeatures:
        """Φ."""
        return self._phi

    def restricted(self) -> LandmarkFeatures:
        """Φ."""
        return self._phi

    def coded(self) -> None:
        """None: products by features take less time."""
        return

    def native(self) -> object:
        """The engine's handle on the landmarks."""
        return self._phi.binding.native


def restrict(kernel: Any, points: Points | Blocks, landmarks: Points) -> LandmarkGram:
    """The Gram matrix of points by landmarks, without those that the others span up to rounding.

    Parameters
    ----------
    kernel : Kernel
        Resolved: its parameters are numbers.
    points : Points or Blocks
        The n rows.
    landmarks : Points
        The m points; need not be rows.

    Raises
    ------
    NotPositive
        If every landmark has k(l, l) ≤ 0 to rounding.
    TooLarge
        If m × m numbers do not fit.
    """
    binding = Binding(kernel, landmarks, np.dtype(np.float64))
    kept, factor = _independent(binding)
    return LandmarkGram(LandmarkFeatures(binding.take(kept), factor, points, kept), kernel.proof())


def _independent(binding: Binding) -> tuple[npt.NDArray[np.intp], Array]:
    """Which landmarks to keep, in the order of their pivots, and the factor L of their kernel values.

    Only the lower triangle of L is valid.
    """
    m = len(binding)
    refuse_too_large(
        8 * m * m, f"The kernel values between {m} landmarks in float64", "Choose fewer landmarks: n_landmarks."
    )
    K = binding.self_cross().dense()
    largest = float(K.diagonal().max())
    L, pivots, rank, _ = scipy.linalg.lapack.dpstrf(
        K.T, tol=max(m, 32) * EPS * max(largest, 0.0), lower=1, overwrite_a=1
    )
    if rank == 0:
        raise NotPositive(
            "The landmarks span nothing.",
            f"The largest k(l, l) among {m} landmarks is {largest:.3g}.",
            "Choose others.",
        )
    if rank < m:
        L = np.asfortranarray(L[:rank, :rank])
    return np.asarray(pivots[:rank] - 1, dtype=np.intp), L


def inverse_root(K: Array) -> Array:
    """K^(−½) of the values between landmarks, on the span of its eigenvalues above `LEAST`."""
    values, vectors = scipy.linalg.eigh(0.5 * (K + K.T))
    roots = np.divide(1.0, np.sqrt(np.maximum(values, LEAST)), out=np.zeros_like(values), where=values > LEAST)
    return np.ascontiguousarray((vectors * roots) @ vectors.T)
