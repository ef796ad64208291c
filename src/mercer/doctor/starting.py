"""Where to begin a search: the length scale and the penalty that leave-one-out prefers on a few hundred rows."""

from dataclasses import dataclass, replace
from typing import final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from mercer.doctor.case import Case, drawn
from mercer.errors import MercerError
from mercer.kernels.kernel import Kernel
from mercer.kernels.radial import RBF
from mercer.points.base import Domain, Points

__all__ = ["Start", "start_of"]

Array = npt.NDArray[np.float64]

ROWS = 400
# The length scales to try, in medians of the distances; and the penalties, in means of k(x, x).
LENGTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
# Of those that explain as much of the variance, but for so much, the largest penalty is the one to begin with.
AS_GOOD = 0.01
PENALTIES = tuple(10.0**e for e in np.arange(-6.0, 4.0))


@final
@dataclass(frozen=True)
class Start:
    """The best of some kernel ridge regressions, by exact leave-one-out.

    Attributes
    ----------
    median : float
        The median distance; NaN with a kernel that was given.
    length : float
        The best length scale; NaN with a kernel that was given.
    alpha : float
        The best penalty.
    score : float
        1 − (leave-one-out error)/(that of the mean of the other rows).
    rows, tried : int
        How many rows and combinations.
    """

    median: float
    length: float
    alpha: float
    score: float
    rows: int
    tried: int

    @property
    def C(self) -> float:
        """The cost of a support vector machine that weighs losses as this penalty does: 1/(2α)."""
        return 0.5 / self.alpha


_FOUND: WeakKeyDictionary[Case, Start | None] = WeakKeyDictionary()


def start_of(case: Case) -> Start | None:
    """Where to begin; None where nothing can be fitted."""
    if case not in _FOUND:
        _FOUND[case] = _search(case)
    return _FOUND[case]


def _search(case: Case) -> Start | None:
    if case.target is None or case.target.is_constant or case.points is None or case.K is None:
        return None
    places = drawn(np.flatnonzero(case.target.known[case.kernel_rows]), ROWS)
    if len(places) < 3:
        return None
    Y = case.target.columns(case.kernel_rows[places])
    candidates, median = _kernels(case, case.points.take(places))
    found: list[Start] = []
    for length, K in candidates or [(np.nan, case.K[np.ix_(places, places)])]:
        scale = float(np.trace(K)) / len(K)
        if not (np.isfinite(K).all() and scale > 0.0):
            continue
        for alpha, score in _left_one_out(K, Y, [penalty * scale for penalty in PENALTIES]):
            found.append(Start(median, length, alpha, score, len(places), 0))
    if not found:
        return None
    good = max(start.score for start in found) - AS_GOOD
    best = max((start for start in found if start.score >= good), key=lambda start: (start.alpha, start.score))
    return replace(best, tried=len(found))


def _kernels(case: Case, points: Points) -> tuple[list[tuple[float, Array]], float]:
    """The kernels to try where none was given, by length scale, and the median distance."""
    if case.given is not None or points.domain is not Domain.VECTORS:
        return [], np.nan
    try:
        median = RBF("median").resolve(points).length_scale
    except MercerError:  # all rows are the same
        return [], np.nan
    found: list[tuple[float, Array]] = []
    for factor in LENGTHS:
        kernel: Kernel = RBF(factor * float(median))
        found.append((factor * float(median), np.asarray(kernel(points), dtype=np.float64)))
    return found, float(median)


def _left_one_out(K: Array, Y: Array, penalties: list[float]) -> list[tuple[float, float]]:
    """Each penalty with its score: the intercept is projected out, then (y − f)ᵢ = (G y)ᵢ/Gᵢᵢ, G = P (PKP + λ)⁻¹ P."""
    n = len(K)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    values, vectors = np.linalg.eigh(centred)
    values = np.maximum(values, 0.0)
    y = Y - Y.mean(axis=0)
    base = float(np.square(y * n / (n - 1.0)).sum())
    found = []
    for penalty in penalties:
        weights = 1.0 / (values + penalty)
        projected = vectors * weights
        residual = projected @ (vectors.T @ y)
        # The constant is an eigenvector of the centred K with value 0, which P takes out.
        diagonal = np.einsum("ij,ij->i", projected, vectors) - 1.0 / (n * penalty)
        with np.errstate(all="ignore"):
            error = float(np.square(residual / diagonal[:, None]).sum())
        if np.isfinite(error) and (diagonal > 0.0).all():
            found.append((penalty, 1.0 - error / base))
    return found
