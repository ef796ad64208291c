"""The preconditioner of a machine on landmarks: its Hessian on a sample of the rows, factorised.

In the unknowns (z, θ) the Hessian is, for weights dᵢ = cᵢ ℓ''(gᵢ) of one column,

    H = diag(I, 0) + Ψᵀ D Ψ,      Ψ = (Φ, B),      P = diag(I, 0) + (Σᵢ dᵢ / Σ_S dᵢ) Ψ_Sᵀ D_S Ψ_S              (1)

for a sample S of the rows. With the landmarks themselves as the sample P is the preconditioner of Falkon; rows that are
drawn without regard to the landmarks have no values that the landmarks fit too well, and take fewer iterations.
"""

from typing import final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.budget import refuse_too_large
from mercer.errors import NotPositive
from mercer.grams.base import FeatureMatrix
from mercer.solvers.lapack import Look

__all__ = ["SampledHessian", "sample_rows"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

# Rows of the sample for each landmark: 2.5 (230 n/m²)^⅓, within these limits. A sample of x m rows takes 2 x m³
# operations and leaves about √(1/x) of the error after an iteration, which takes n m kernel values.
FEWEST, MOST = 2.0, 32.0
RATE, WORTH = 2.5, 230.0
# Added to the unpenalised diagonal, relative to the rest, so that it is positive where all its weights vanish.
LEAST = 1e-12
# Rows whose features are made together.
BLOCK = 2_000


def sample_rows(n: int, m: int, rng: np.random.Generator) -> Rows:
    """Rows for the preconditioner, in their order."""
    share = min(max(RATE * (WORTH * n / m**2) ** (1.0 / 3.0), FEWEST), MOST)
    size = min(n, int(share * m))
    return np.sort(rng.choice(n, size, replace=False)) if size < n else np.arange(n)


@final
class SampledHessian:
    """R ↦ P⁻¹ R of (1), for every column.

    Parameters
    ----------
    features : FeatureMatrix of shape (s, m)
        Φ_S.
    B : ndarray of shape (s, q)
        B_S.
    weight : ndarray of shape (s, t)
        D_S, times Σᵢ dᵢ / Σ_S dᵢ.
    watch : Watch
        Checked between blocks.
    """

    def __init__(self, features: FeatureMatrix, B: Array, weight: Array, watch: Look) -> None:
        m, q = features.shape[1], B.shape[1]
        distinct, self._which = np.unique(weight, axis=1, return_inverse=True)
        count = distinct.shape[1]
        refuse_too_large(
            8 * count * (m + q) ** 2,
            f"A preconditioner of {m} landmarks for {count} different columns of weights",
            "Choose fewer landmarks: n_landmarks.",
        )
        made = [np.zeros((m + q, m + q), order="F") for _ in range(count)]
        for rows, block in features:
            psi = np.hstack([block, B[rows]])
            for column, matrix in enumerate(made):
                scaled = np.sqrt(distinct[rows, column])[:, None] * psi
                # In place, by the upper triangle of the transposed matrix.
                scipy.linalg.blas.dsyrk(1.0, scaled.T, 1.0, matrix, lower=1, overwrite_c=1)
            watch.look(0.0, "preconditioner")
        self._factors = [_factored(matrix, m) for matrix in made]

    def __call__(self, R: Array) -> Array:  # (m + q, t) -> (m + q, t)
        """P⁻¹ R."""
        out = np.empty_like(R)
        for column, factor in enumerate(self._factors):
            of = np.flatnonzero(self._which == column)
            out[:, of] = scipy.linalg.cho_solve((factor, True), R[:, of], check_finite=False)
        return out


def _factored(matrix: Array, m: int) -> Array:
    diagonal = matrix.diagonal().copy()
    diagonal[:m] += 1.0
    diagonal[m:] += LEAST * float(diagonal.max())
    matrix.flat[:: len(matrix) + 1] = diagonal
    factor, failed = scipy.linalg.lapack.dpotrf(matrix, lower=1, overwrite_a=1, clean=0)
    if failed:
        raise NotPositive(
            "The system of the landmarks cannot be factorised in double precision.",
            f"It broke down at row {failed - 1} of {len(matrix)}.",
            "Raise alpha or lower C, or scale the data.",
        )
    return np.asarray(factor)
