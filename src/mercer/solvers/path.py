"""A path of penalties: coefficients, leave-one-out residuals and GCV for every λ from one decomposition.

Notation of `mercer.solvers.eigen`: rows scaled by s = √(w / max w), ρ = λ / max w, and

    z = G S y,      G = (A + ρ)⁻¹ on the range of P = U diag(1/(σ + ρ)) Uᵀ,      A = P S K S P = U diag(σ) Uᵀ.     (1)

Only the diagonal and a few products of G are needed, and the tridiagonal form of A gives them without U and σ
(`mercer.solvers.tridiagonal`). The eigenvectors are made where a penalty is so small that A + ρ might not be positive.

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
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from mercer.budget import refuse_too_large
from mercer.errors import InvalidInput
from mercer.grams.base import Gram
from mercer.problems.reach import refuse_large_targets
from mercer.solvers.eigen import EPS, border
from mercer.solvers.modes import Modes, Spectral, of_features, of_gram

__all__ = ["Chosen", "Path", "features_of", "predicted"]

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

# Numbers that a block of penalties may hold, 32 MB of them: enough for a product at full speed.
BLOCK = 1 << 22
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
class Path:
    """Least squares Σᵢ wᵢ (yᵢ − f(xᵢ) − Bᵢ θ)² + λ‖f‖² for any number of penalties λ > 0.

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
        refuse_large_targets(y)
        self._y, self._B = y, B
        self._largest = float(weight.max())
        scale = np.sqrt(weight / self._largest)
        self._rows: Indices = np.flatnonzero(scale)
        self._apart: Indices = np.flatnonzero(scale == 0.0)  # only predicted, never fitted
        self._scale = scale[self._rows]
        self._border = border(self._scale[:, None] * B[self._rows])
        scaled = self._scale[:, None] * y[self._rows]
        self._inside = self._border.Q.T @ scaled
        self._right = self._border.project(scaled)
        self._gram = gram.take(self._rows) if self._apart.size else gram
        phi = features_of(gram)
        if phi is not None:
            self._known = phi[self._apart]
            self._take(of_features(phi[self._rows], self._scale, self._border))
        else:
            self._known = _rectangle(gram, self._apart, self._rows)
            self._take(of_gram(self._gram, self._scale, self._border))

    def leave_one_out(self, alphas: Array) -> Iterator[Array]:
        """The residuals yᵢ − f₋ᵢ(xᵢ) of leave-one-out, (n, t), one λ after the other.

        Raises
        ------
        InvalidInput
            Where the unpenalised part cannot be fitted without some row.
        """
        self._refuse_single_rows()
        for ridge in self._blocks(alphas):
            coordinates = self._modes.divide(ridge, self._coordinates)
            z = self._solve(ridge, coordinates)
            divisor = self._scale[:, None] * self._modes.diagonal(ridge)
            z /= divisor[:, :, None]
            for i in range(len(ridge)):
                yield self._with_apart(z[:, i], coordinates[:, i])

    def leave_one_out_at(self, alpha: Array) -> Array:  # (t,) -> (n, t)
        """The residuals of leave-one-out where every target has its own λ."""
        self._refuse_single_rows()
        ridge, which = self._different(alpha)
        coordinates = self._divided(ridge, which, self._coordinates)
        z = self._modes.solve(self._right, ridge[which], coordinates)
        z /= (self._scale[:, None] * self._modes.diagonal(ridge))[:, which]
        return self._with_apart(z, coordinates)

    def generalised(self, alphas: Array) -> Array:  # (m,) -> (m, t)
        """GCV: the mean of wᵢ eᵢ² with eᵢ = zᵢ/(sᵢ · mean of Gⱼⱼ), for every λ and target."""
        self._refuse_single_rows()
        scores = []
        for ridge in self._blocks(alphas):
            coordinates = self._modes.divide(ridge, self._coordinates)
            z = self._solve(ridge, coordinates) if self._modes.is_thin else coordinates
            mean = self._modes.trace(ridge) / len(self._rows)
            scores.append(np.einsum("kbt,kbt->bt", z, z) / np.square(mean)[:, None])
        return np.vstack(scores) * (self._largest / len(self._y))

    def predictions(self, cross: Array, B: Array, alphas: Array) -> Iterator[Array]:
        """The values f(x) + B θ at new points (m, t), one λ after the other.

        Parameters
        ----------
        cross : ndarray of shape (m, n) or (m, M)
            Kernel values to the n points; the features where `uses_features`.
        B : ndarray of shape (m, q)
            The columns that are not penalised, there.
        """
        known = cross if self._modes.is_thin else cross[:, self._rows] if self._apart.size else cross
        self._ridges(alphas)
        expanded = self._modes.expand(known, self._scale)
        for ridge in self._blocks(alphas):
            divided = self._modes.divide(ridge, self._coordinates)
            for i in range(len(ridge)):
                yield expanded @ divided[:, i] + B @ self._theta(divided[:, i])

    @property
    def uses_features(self) -> bool:
        """Whether M × M was decomposed in place of n × n."""
        return self._modes.is_thin

    @property
    def solver(self) -> str:
        """How the solutions were computed: "tridiagonal", "eigen", or "primal"."""
        return self._modes.name

    def choose(self, alpha: Array) -> Chosen:  # (t,)
        """The solution with one penalty per target."""
        different, which = self._different(alpha)
        ridge = different[which]
        coordinates = self._divided(different, which, self._coordinates)
        z = self._modes.solve(self._right, ridge, coordinates)
        if self._modes.is_thin:
            # Tᵀz are the weights of the features again, but for rounding that the many rows of z multiply: refine once.
            missed = self._modes.vectors.T @ z - coordinates
            coordinates += ridge * self._divided(different, which, missed)
            z = self._modes.solve(self._right, ridge, coordinates)
        coef = np.zeros_like(self._y)
        coef[self._rows] = self._scale[:, None] * z
        smallest, largest = (value + float(different[0]) for value in self._modes.extremes())
        return Chosen(
            coef,
            self._theta(coordinates),
            condition=largest / smallest if smallest > 0.0 else float("nan"),
            is_indefinite=smallest < 0.0,
            rank=self._modes.rank,
        )

    def _theta(self, coordinates: Array) -> Array:  # (k, t) -> (q, t)
        return self._border.lift @ (self._inside - self._modes.lifted @ coordinates)

    def _take(self, modes: Modes) -> None:
        self._modes = modes
        self._cross = modes.expand(self._known, self._scale)
        self._coordinates = modes.vectors.T @ self._right

    def _ridges(self, alphas: Array) -> Array:
        """The ridges ρ of some penalties, which the modes can divide by from here on."""
        ridges = np.asarray(alphas, dtype=np.float64) / self._largest
        if not self._modes.allows(float(ridges.min())):
            self._take(Spectral.of_gram(self._gram, self._scale, self._border))
        return ridges

    def _blocks(self, alphas: Array) -> Iterator[Array]:
        """The ρ in blocks of as many as fit."""
        ridges = self._ridges(alphas)
        width = max(1, BLOCK // self._y.size)
        for start in range(0, len(ridges), width):
            yield ridges[start : start + width]

    def _different(self, alpha: Array) -> tuple[Array, Indices]:
        """The distinct ρ, and the index of each target's."""
        return np.unique(self._ridges(alpha), return_inverse=True)

    def _divided(self, ridge: Array, which: Indices, C: Array) -> Array:  # (b,), (t,), (k, t) -> (k, t)
        """Coordinates over σ + ρ, where every target has its own ρ."""
        out = np.empty_like(C)
        for i in range(len(ridge)):
            out[:, which == i] = self._modes.divide(ridge[i : i + 1], C[:, which == i])[:, 0]
        return out

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
                "Without it the unpenalised part (an intercept) cannot be fitted: more than one sample with a weight "
                "above 0 is needed.",
                "Give more rows, or fit no intercept.",
            )


def predicted(
    gram: Gram, y: Array, weight: Array, B: Array, alphas: Array, train: Indices, asked: Indices
) -> Iterator[Array]:  # each (m, t)
    """The values f(x) + B θ at some rows of fits on others, one λ after the other: a fold of a cross-validation.

    Parameters
    ----------
    gram : Gram of shape (n, n)
        K of all rows, stored or with features.
    y, weight, B
        As in `Path`, of all rows.
    alphas : ndarray of shape (m,)
        The penalties.
    train, asked : ndarray of int
        The rows that are fitted, and those that are predicted.
    """
    path = Path(gram.take(train), y[train], weight[train], B[train])
    phi = features_of(gram)
    if phi is None:
        cross = np.asarray(gram.dense())[np.ix_(asked, train)]
    else:
        cross = phi[asked] if path.uses_features else phi[asked] @ phi[train].T
    return path.predictions(cross, B[asked], alphas)


def features_of(gram: Gram) -> Array | None:
    """Φ (n, M) where it is worth more than K, else None."""
    phi = gram.features()
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
