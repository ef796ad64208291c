"""Three recipes that make a positive semi-definite (PSD) matrix from one that is not, and change test rows alike."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.errors import InvalidInput, InvalidParameter

__all__ = ["REPAIRS", "Repair", "repair", "symmetric_part"]

Array = npt.NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Repair:
    """A PSD matrix made from one that is not, and the same change for test rows.

    With K = V Λ Vᵀ, clip and flip multiply by an operator, K' = K T with T = V S Vᵀ: S is 0 (clip) or −1 (flip) where
    the eigenvalue is negative and 1 elsewhere. A test row k, the similarities of a new point to the n training points,
    goes through the same operator, k T; a training row thereby becomes the row of K'. The diagonal shift
    K + s·I belongs to the kernel k(x, z) + s·[x is z]: a new point is not a training point, so its row stays.

    Attributes
    ----------
    how : str
        "clip", "flip" or "shift".
    K : ndarray of shape (n, n)
        The repaired matrix.
    change, relative_change : float
        ‖K' − K‖_F, and the same over ‖K‖_F.

    References
    ----------
    .. [1] Y. Chen, E. K. Garcia, M. R. Gupta, A. Rahimi, L. Cazzanti. Similarity-based classification: concepts and
       algorithms. JMLR 10 (2009), 747-776.
    """

    how: str
    K: Array
    change: float
    relative_change: float
    operator: Array | None  # T; None where rows do not change

    def rows(self, K_test: npt.ArrayLike) -> Array:  # (n_test, n)
        """Rows of similarities to the training points, changed as the training matrix was."""
        rows = np.asarray(K_test, dtype=np.float64)
        n = self.K.shape[0]
        if rows.ndim != 2 or rows.shape[1] != n:
            raise InvalidInput(
                f"K_test must have one row per test point and one column for each of the {n} training points.",
                f"Got shape {rows.shape}.",
            )
        return rows.copy() if self.operator is None else rows @ self.operator

    def __str__(self) -> str:
        moved = "do not change" if self.operator is None else "change by repair.rows(K_test)"
        return f"{self.how}: ‖ΔK‖ = {self.change:.4g}, {self.relative_change:.2%} of ‖K‖; test rows {moved}."

    __repr__ = __str__


def _clip(K: Array, zero: float) -> tuple[Array, Array | None]:
    eigenvalues, V = scipy.linalg.eigh(K)
    kept = V[:, eigenvalues >= zero]
    return _rebuild(V, np.maximum(eigenvalues, 0.0)), kept @ kept.T


def _flip(K: Array, zero: float) -> tuple[Array, Array | None]:
    eigenvalues, V = scipy.linalg.eigh(K)
    return _rebuild(V, np.abs(eigenvalues)), _rebuild(V, np.where(eigenvalues >= zero, 1.0, -1.0))


def _shift(K: Array, _zero: float) -> tuple[Array, Array | None]:
    smallest = float(scipy.linalg.eigvalsh(K, subset_by_index=[0, 0])[0])
    shifted = K.copy()
    np.fill_diagonal(shifted, K.diagonal() - smallest)
    return shifted, None


def _rebuild(V: Array, eigenvalues: Array) -> Array:
    rebuilt = (V * eigenvalues) @ V.T
    return 0.5 * (rebuilt + rebuilt.T)


REPAIRS: dict[str, Callable[[Array, float], tuple[Array, Array | None]]] = {
    "clip": _clip,
    "flip": _flip,
    "shift": _shift,
}


def repair(how: str, K: npt.NDArray[Any], zero: float | None) -> Repair:
    """Repair a matrix by one of the recipes; eigenvalues from `zero` up count as non-negative, None changes nothing."""
    recipe = REPAIRS.get(how)
    if recipe is None:
        raise InvalidParameter(
            f"repair has no recipe {how!r}.", "", "The recipes are " + ", ".join(map(repr, REPAIRS)) + "."
        )
    symmetric = symmetric_part(K)
    repaired, operator = (symmetric, None) if zero is None else recipe(symmetric, zero)
    change = float(np.linalg.norm(repaired - K))
    size = float(np.linalg.norm(K))
    return Repair(how, repaired, change, change / size if size else 0.0, operator)


def symmetric_part(K: npt.NDArray[Any]) -> Array:
    """(K + Kᵀ)/2, in float64."""
    return np.asarray(0.5 * (K + K.T), dtype=np.float64)
