"""How good a kernel is for ridge regression, and how that changes with each entry of K.

With Σ = K + diag(λ/wᵢ), an unpenalised Bθ, and

    G = Σ⁻¹ − Σ⁻¹B (BᵀΣ⁻¹B)⁻¹ BᵀΣ⁻¹,      α = G y,      dG = −G dK G,

both criteria are functions of G: what row i misses by when it is left out is eᵢ = αᵢ/Gᵢᵢ, and the restricted
likelihood, with the best variance σ² of the prior, is that of `mercer.solvers.posterior`. Their logarithms are what is
made small: so scales of y do not matter.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.errors import NotPositive

__all__ = ["CRITERIA", "Criterion", "Rated", "Sample"]

Array = npt.NDArray[np.float64]


class Sample(NamedTuple):
    """What ridge regression is given beside K.

    Attributes
    ----------
    targets : ndarray of shape (n, t)
    noise : ndarray of shape (n,)
        λ/wᵢ.
    weight : ndarray of shape (n,)
    B : ndarray of shape (n, q)
        What is not penalised.
    """

    targets: Array
    noise: Array
    weight: Array
    B: Array


class Rated(NamedTuple):
    """A criterion at K.

    Attributes
    ----------
    value : float
        The smaller, the better.
    slope : ndarray of shape (n, n)
        Its derivative by the entries of K; symmetric.
    """

    value: float
    slope: Array


Criterion = Callable[[Array, Sample], Rated]


def leave_one_out(K: Array, sample: Sample) -> Rated:
    """½ log of the weighted mean of eᵢ²: the logarithm of the error on rows that were left out."""
    G, _ = _inverse(K, sample)
    alpha, diagonal = G @ sample.targets, np.diag(G).copy()
    missed = alpha / diagonal[:, None]
    share = (sample.weight / (sample.weight.sum() * missed.shape[1]))[:, None]
    mean = max(float(np.sum(share * missed**2)), np.finfo(np.float64).tiny)
    # By α: 2 eᵢ wᵢ/Gᵢᵢ. By Gᵢᵢ: −2 eᵢ² wᵢ/Gᵢᵢ, never above 0.
    first = G @ (2.0 * share * missed / diagonal[:, None])
    half = G * np.sqrt(2.0 * np.sum(share * missed**2, axis=1) / diagonal)
    slope = half @ half.T
    product = first @ alpha.T
    slope -= 0.5 * (product + product.T)
    slope *= 0.5 / mean
    return Rated(0.5 * float(np.log(mean)), slope)


def likelihood(K: Array, sample: Sample) -> Rated:
    """−log of the restricted likelihood for each target and row, with the prior variance that makes it largest."""
    G, logs = _inverse(K, sample)
    alpha = G @ sample.targets
    n, t = sample.targets.shape
    free = n - sample.B.shape[1]
    variance = max(float(np.vdot(sample.targets, alpha)) / (t * free), np.finfo(np.float64).tiny)
    value = 0.5 * (free * (np.log(2.0 * np.pi * variance) + 1.0) + logs) / n
    slope = (G - (alpha / (t * variance)) @ alpha.T) * (0.5 / n)
    return Rated(float(value), slope)


CRITERIA: dict[str, Criterion] = {"loo": leave_one_out, "likelihood": likelihood}


def _inverse(K: Array, sample: Sample) -> tuple[Array, float]:
    """G, and log det Σ + log det BᵀΣ⁻¹B."""
    n = len(K)
    covariance = np.array(K, order="F")
    covariance[np.diag_indices(n)] += sample.noise
    factor, failed = scipy.linalg.lapack.dpotrf(covariance, lower=1, overwrite_a=1)
    if failed:
        raise NotPositive(
            "K + alpha·I is not positive definite to rounding.", f"The Cholesky factor ends at row {failed} of {n}.",
            "Increase alpha, or check that the kernel is one.",
        )  # fmt: skip
    logs = 2.0 * float(np.sum(np.log(np.diag(factor))))
    inverse, _ = scipy.linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    G = np.tril(inverse)
    G += np.tril(inverse, -1).T
    if sample.B.shape[1]:
        across = G @ sample.B
        inner = scipy.linalg.cho_factor(sample.B.T @ across)
        G -= across @ scipy.linalg.cho_solve(inner, across.T)
        logs += 2.0 * float(np.sum(np.log(np.abs(np.diag(inner[0])))))
    return G, logs
