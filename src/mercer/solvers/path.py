"""A path of penalties: coefficients, leave-one-out residuals and GCV for every α from one decomposition.

Notation of `mercer.solvers.eigen`: rows scaled by s = √(w / max w), ρ = α / max w, and

    z = G S y,      G = (A + ρ)⁻¹ on the range of P = U diag(1/(σ + ρ)) Uᵀ,      A = P S K S P = U diag(σ) Uᵀ.     (1)

Leaving out row i with its whole weight removes row and column i of the scaled problem, border and all. G is the block
at K of the inverse of the bordered matrix [S K S + ρ, S B; (S B)ᵀ, 0], and for the inverse of any matrix the system
without equation and unknown i misses its equation by zᵢ/Gᵢᵢ. In the units of y,

    yᵢ − f₋ᵢ(xᵢ) = zᵢ / (sᵢ Gᵢᵢ),      Gᵢᵢ = Σⱼ Uᵢⱼ²/(σⱼ + ρ),                                                      (2)

exact for any border and weights, and a sum of terms of one sign: nothing cancels. A row of weight 0 was never there:
its residual is yᵢ − f(xᵢ). Generalised cross-validation puts the mean of the Gᵢᵢ in their place, so that Σ zᵢ² =
Σⱼ (Uᵀ S y)ⱼ²/(σⱼ + ρ)² needs no vector of length n.

With K = ΦΦᵀ and M features, fewer than rows, Ψ = P S Φ and ΨᵀΨ = V diag(σ) Vᵀ (M × M) do the same: for T = ΨV,

    ρ G = P − T diag(1/(σ + ρ)) Tᵀ.                                                                              (3)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.budget import refuse_too_large
from mercer.errors import InvalidInput
from mercer.grams.base import Gram
from mercer.solvers.eigen import EPS, Border, border, decompose, inverse

__all__ = ["Chosen", "Path", "features_of"]

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

# Numbers that a block of penalties may hold, 32 MB of them: enough for a product at full speed.
BLOCK = 1 << 22
# Columns of U squared at a time.
SQUARED_AT_ONCE = 256
# Features are worth more than kernel values when there are at most n over this many.
ROWS_PER_FEATURE = 2


class Chosen(NamedTuple):
    """The solution for one penalty per target."""

    coef: Array  # (n, t)
    theta: Array  # (q, t)
    condition: float
    is_indefinite: bool
    rank: int


@final
@dataclass(frozen=True, eq=False)
class _Modes:
    """What (1) or (3) needs of a matrix.

    Attributes
    ----------
    vectors : ndarray of shape (r, k)
        U of (1), or T of (3).
    values : ndarray of shape (k,)
        σ.
    lifted : ndarray of shape (p, k)
        What f adds to Qᵀ S y, in the coordinates vectorsᵀ S y over σ + ρ.
    rounding : float
        What an eigenvalue may differ from zero by.
    axes : ndarray of shape (M, k), optional
        V of (3), which turns features into coordinates; None for (1).
    """

    vectors: Array
    values: Array
    lifted: Array
    rounding: float
    axes: Array | None = None

    @property
    def is_thin(self) -> bool:
        """Whether (3) holds, and not (1)."""
        return self.axes is not None

    @classmethod
    def of_gram(cls, gram: Gram, scale: Array, columns: Border) -> Self:
        spectrum = decompose(gram, scale, columns)
        return cls(spectrum.vectors, spectrum.values, spectrum.KQ.T @ spectrum.vectors, spectrum.rounding)

    @classmethod
    def of_features(cls, phi: Array, scale: Array, columns: Border) -> Self:
        scaled = phi * scale[:, None]
        corner = columns.Q.T @ scaled
        scaled -= columns.Q @ corner
        values, V = scipy.linalg.eigh(scaled.T @ scaled, overwrite_a=True, check_finite=False, driver="evd")
        rounding = len(phi) * EPS * float(values.max(initial=0.0))
        return cls(scaled @ V, np.maximum(values, 0.0), corner @ V, rounding, V)

    def expand(self, cross: Array, scale: Array) -> Array:  # (m, r) or (m, M) -> (m, k)
        """Kernel values to the rows, or features, in coordinates: f is this times theirs."""
        return np.asarray((cross * scale) @ self.vectors if self.axes is None else cross @ self.axes)

    def solve(self, right: Array, ridge: Array, coordinates: Array) -> Array:  # (k, …) -> (r, …)
        """G times the targets, from their coordinates divided by σ + ρ; the targets and ρ broadcast against these."""
        k, *shape = coordinates.shape
        z: Array = (self.vectors @ coordinates.reshape(k, -1)).reshape(-1, *shape)
        if self.is_thin:
            np.subtract(right, z, out=z)
            z /= ridge
        return z

    def diagonal(self, columns: Border, ridge: Array, shrunk: Array) -> Array:  # (b,), (k, b) -> (r, b)
        """Gᵢᵢ by (2) or (3), `shrunk` being 1/(σ + ρ)."""
        out = np.zeros((len(self.vectors), len(ridge)))
        for start in range(0, len(self.values), SQUARED_AT_ONCE):
            part = slice(start, start + SQUARED_AT_ONCE)
            out += np.square(self.vectors[:, part]) @ shrunk[part]
        if not self.is_thin:
            return out
        outside = 1.0 - np.einsum("ij,ij->i", columns.Q, columns.Q)
        return np.asarray((outside[:, None] - out) / ridge)

    def trace(self, columns: Border, ridge: Array, shrunk: Array) -> Array:  # (b,)
        """Σ Gᵢᵢ; every direction that has no vector here has the eigenvalue ρ."""
        r, p = columns.Q.shape
        return np.asarray(shrunk.sum(axis=0) + (r - p - len(self.values)) / ridge)


@final
class Path:
    """Least squares Σᵢ wᵢ (yᵢ − f(xᵢ) − Bᵢ θ)² + α‖f‖² for any number of penalties α > 0.

    Parameters
    ----------
    gram : Gram of shape (n, n)
        K; its features are used where they are at most n/2.
    y : ndarray of shape (n, t)
        Targets.
    weight : ndarray of shape (n,)
        wᵢ ≥ 0.
    B : ndarray of shape (n, q)
        Columns that are not penalised.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams.dense import DenseGram
    >>> K = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> path = Path(DenseGram(K), np.array([[1.0], [0.0]]), np.ones(2), np.empty((2, 0)))
    >>> next(path.leave_one_out(np.array([1.0]))).ravel().round(4)  # 1 − 0, and 0 − 1·1/(2 + 1)
    array([ 1.    , -0.3333])
    """

    def __init__(self, gram: Gram, y: Array, weight: Array, B: Array) -> None:
        self._y, self._B = y, B
        self._largest = float(weight.max())
        scale = np.sqrt(weight / self._largest)
        self._rows: Indices = np.flatnonzero(scale)
        self._apart: Indices = np.flatnonzero(scale == 0.0)  # never fitted, only predicted
        self._scale = scale[self._rows]
        self._border = border(self._scale[:, None] * B[self._rows])
        phi = features_of(gram)
        if phi is not None:
            self._modes = _Modes.of_features(phi[self._rows], self._scale, self._border)
            cross = phi[self._apart]
        else:
            inner = gram.take(self._rows) if self._apart.size else gram
            self._modes = _Modes.of_gram(inner, self._scale, self._border)
            cross = _rectangle(gram, self._apart, self._rows)
        self._cross = self._modes.expand(cross, self._scale)
        scaled = self._scale[:, None] * y[self._rows]
        self._inside = self._border.Q.T @ scaled
        self._right = self._border.project(scaled)
        self._coordinates = self._modes.vectors.T @ self._right

    def leave_one_out(self, alphas: Array) -> Iterator[Array]:
        """The residuals yᵢ − f₋ᵢ(xᵢ) of leave-one-out, (n, t), for one α after the other.

        Raises
        ------
        InvalidInput
            Where the unpenalised part cannot be fitted without some row.
        """
        self._refuse_single_rows()
        for ridge, shrunk in self._blocks(alphas):
            coordinates = shrunk[:, :, None] * self._coordinates[:, None, :]
            z = self._solve(ridge, coordinates)
            divisor = self._scale[:, None] * self._modes.diagonal(self._border, ridge, shrunk)
            z /= divisor[:, :, None]
            for i in range(len(ridge)):
                yield self._with_apart(z[:, i], coordinates[:, i])

    def leave_one_out_at(self, alpha: Array) -> Array:  # (t,) -> (n, t)
        """The residuals of leave-one-out where every target has its own α."""
        self._refuse_single_rows()
        ridge, which, shrunk = self._different(alpha)
        coordinates = shrunk[:, which] * self._coordinates
        z = self._modes.solve(self._right, ridge[which], coordinates)
        z /= (self._scale[:, None] * self._modes.diagonal(self._border, ridge, shrunk))[:, which]
        return self._with_apart(z, coordinates)

    def generalised(self, alphas: Array) -> Array:  # (m,) -> (m, t)
        """GCV: the mean of wᵢ eᵢ² with eᵢ = zᵢ/(sᵢ · mean of Gⱼⱼ), for every α and target."""
        self._refuse_single_rows()
        scores = []
        for ridge, shrunk in self._blocks(alphas):
            coordinates = shrunk[:, :, None] * self._coordinates[:, None, :]
            z = self._solve(ridge, coordinates) if self._modes.is_thin else coordinates
            mean = self._modes.trace(self._border, ridge, shrunk) / len(self._rows)
            scores.append(np.einsum("kbt,kbt->bt", z, z) / np.square(mean)[:, None])
        return np.vstack(scores) * (self._largest / len(self._y))

    def predictions(self, cross: Array, B: Array, alphas: Array) -> Iterator[Array]:
        """The values f(x) + B θ at new points (m, t), for one α after the other.

        Parameters
        ----------
        cross : ndarray of shape (m, n) or (m, M)
            Kernel values to the n points; the features where `uses_features`.
        B : ndarray of shape (m, q)
            The columns that are not penalised, there.
        """
        known = cross if self._modes.is_thin else cross[:, self._rows] if self._apart.size else cross
        expanded = self._modes.expand(known, self._scale)
        for _, shrunk in self._blocks(alphas):
            for column in shrunk.T:
                coordinates = column[:, None] * self._coordinates
                yield expanded @ coordinates + B @ self._theta(coordinates)

    @property
    def uses_features(self) -> bool:
        """Whether M × M was decomposed in place of n × n."""
        return self._modes.is_thin

    def choose(self, alpha: Array) -> Chosen:  # (t,)
        """The solution with one penalty per target."""
        different, which, shrunk = self._different(alpha)
        ridge, shrunk = different[which], shrunk[:, which]
        coordinates = shrunk * self._coordinates
        z = self._modes.solve(self._right, ridge, coordinates)
        if self._modes.is_thin:
            # Tᵀz are the weights of the features again, but for rounding that the many rows of z multiply: refine once.
            coordinates += ridge * shrunk * (self._modes.vectors.T @ z - coordinates)
            z = self._modes.solve(self._right, ridge, coordinates)
        coef = np.zeros_like(self._y)
        coef[self._rows] = self._scale[:, None] * z
        values, least = self._modes.values, float(different[0])
        is_full = len(values) == len(self._rows) - self._border.Q.shape[1]
        smallest = (float(values[0]) if is_full and values.size else 0.0) + least
        largest = float(values.max(initial=0.0)) + least
        return Chosen(
            coef,
            self._theta(coordinates),
            condition=largest / smallest if smallest > 0.0 else float("nan"),
            is_indefinite=smallest < 0.0,
            rank=int((np.abs(values) > self._modes.rounding).sum()),
        )

    def _theta(self, coordinates: Array) -> Array:  # (k, t) -> (q, t)
        return self._border.lift @ (self._inside - self._modes.lifted @ coordinates)

    def _blocks(self, alphas: Array) -> Iterator[tuple[Array, Array]]:
        """Some ρ after the others, as many as fit, with 1/(σ + ρ)."""
        ridges = np.asarray(alphas, dtype=np.float64) / self._largest
        width = max(1, BLOCK // self._y.size)
        for start in range(0, len(ridges), width):
            ridge = ridges[start : start + width]
            yield ridge, inverse(self._modes.values, ridge, self._modes.rounding)

    def _different(self, alpha: Array) -> tuple[Array, Indices, Array]:
        """The different ρ, which of them each target has, and 1/(σ + ρ) for each."""
        ridge, which = np.unique(np.asarray(alpha, dtype=np.float64) / self._largest, return_inverse=True)
        return ridge, which, inverse(self._modes.values, ridge, self._modes.rounding)

    def _solve(self, ridge: Array, coordinates: Array) -> Array:  # (b,), (k, b, t) -> (r, b, t)
        return self._modes.solve(self._right[:, None, :], ridge[:, None], coordinates)

    def _with_apart(self, residuals: Array, coordinates: Array) -> Array:
        if self._apart.size == 0:
            return residuals
        out = np.empty_like(self._y)
        out[self._rows] = residuals
        predicted = self._cross @ coordinates + self._B[self._apart] @ self._theta(coordinates)
        out[self._apart] = self._y[self._apart] - predicted
        return out

    def _refuse_single_rows(self) -> None:
        Q = self._border.Q
        left = 1.0 - np.einsum("ij,ij->i", Q, Q)
        if Q.size and float(left.min()) <= len(Q) * EPS:
            row = int(self._rows[int(left.argmin())])
            raise InvalidInput(
                f"Leave-one-out is not defined for row {row}.",
                "Without it what is not penalised (an intercept) cannot be fitted: more than one sample with a weight "
                "above 0 is needed.",
                "Give more rows, or fit no intercept.",
            )


def features_of(gram: Gram) -> Array | None:
    """Φ (n, M) where it is worth more than K, else None."""
    phi = gram.factor()
    if phi is None or ROWS_PER_FEATURE * phi.shape[1] > phi.shape[0]:
        return None
    r, m = phi.shape
    refuse_too_large(
        8 * (3 * r * m + 3 * m * m), f"The path of penalties for {r} rows by {m} features", "Fit a sample of the rows."
    )
    return np.asarray(phi.dense(), dtype=np.float64)


def _rectangle(gram: Gram, rows: Indices, columns: Indices) -> Array:
    """K[rows, columns] of a symmetric K."""
    if rows.size == 0:
        return np.empty((0, columns.size))
    return np.asarray(gram.columns(rows)[columns].T, dtype=np.float64)
