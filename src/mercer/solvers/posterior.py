"""The Bayesian reading of ridge regression: the kernel is the prior covariance, alpha/weight the noise variance.

    f ~ GP(0, k),      yᵢ = f(xᵢ) + b(xᵢ)ᵀθ + εᵢ,      εᵢ ~ N(0, 1/cᵢ),      1/cᵢ = λ/wᵢ.

θ (the intercept, if b = 1) has a flat prior, which is what leaving it unpenalised means. With C = diag(c), and
without the rows of c = 0, the covariance of y given θ is Σ = K + C⁻¹. Let E be any map with E(a)ᵀ E(b) = aᵀ Σ⁻¹ b, and
E(B) = Q R. The coefficients that ridge finds are the posterior mean, and beside it (universal kriging, [1]_ 2.7)

    cov(x, x') = k(x, x') − E(k(x))ᵀ E(k(x')) + (R⁻ᵀ u(x))ᵀ R⁻ᵀ u(x'),      u(x) = b(x) − E(B)ᵀ E(k(x)),           (1)

    log p(y) = −½ [‖(I − QQᵀ) E(y)‖² + log det Σ + log det RᵀR + (n − q) log 2π].                                 (2)

(1) is about f + bᵀθ, not about a new y: add its λ/w for that. Without B, (2) is the log marginal likelihood; with it,
the restricted likelihood: θ is integrated out over the flat prior, whose density is taken as 1, so that values compare
between kernels and penalties but not between different B. Two maps E serve:

- dual: S K S + I/max c = L Lᵀ with S = √(c/max c) (`mercer.solvers.factor`) and E(a) = L⁻¹ S a;
- primal, K = Φ Φᵀ with few features: A = I + ΦᵀCΦ = L Lᵀ, w(a) = A⁻¹ΦᵀC a and E(a) = [√C (a − Φ w), w]. Then
  E(a)ᵀE(k(x)) = (L⁻¹ΦᵀC a)ᵀ L⁻¹φ(x), and k − E(k)ᵀE(k) is ‖L⁻¹φ(x)‖²: nothing n × n, and nothing is subtracted.

References
----------
.. [1] C. E. Rasmussen, C. K. I. Williams. Gaussian Processes for Machine Learning. MIT Press, 2006.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.budget import allocate, refuse_too_large
from mercer.errors import InvalidInput, NotPositive
from mercer.grams.base import FeatureMatrix, Gram
from mercer.solvers.factor import CholeskyFactor, factorise, refuse_without_cost
from mercer.solvers.lapack import forward_in_place
from mercer.solvers.watch import Watch

__all__ = ["DualPosterior", "Fill", "Posterior", "PrimalPosterior", "posterior", "primal_posterior"]

Array = npt.NDArray[np.float64]

Fill = Callable[[slice, Array], object]
"""Writes, for the new points of a slice, one row each into an array: K(x, X) for the dual, φ(x) for the primal."""

# New points at a time: memory O(n · BLOCK), a twentieth of the factor at n = 40 000, and solves as fast as all at once.
BLOCK = 2048
# Relative to k(x, x). A variance that is negative by less is rounding and is set to 0.
ROUNDING = 1e-8
# Relative to k(x, x). What features miss of the prior variance of a new point (an item that no training point has) is
# above this, or it is rounding.
UNSEEN = 1e-12


class Posterior(Protocol):
    """The posterior of f + bᵀθ for one column of costs, and the likelihood of the targets."""

    @property
    def log_likelihood(self) -> Array:  # (t,)
        """(2) for each target."""

    def variance(self, fill: Fill, prior: Array, B_new: Array) -> Array:
        """The diagonal of (1).

        Parameters
        ----------
        fill : callable (slice, ndarray)
            Writes the rows of some new points.
        prior : ndarray of shape (m,)
            k(x, x) at each new point.
        B_new : ndarray of shape (m, q)
            b(x) at each new point.

        Returns
        -------
        ndarray of shape (m,)
        """

    def covariance(self, fill: Fill, prior: Array, B_new: Array) -> Array:
        """(1) between all new points, (m, m); `prior` is k(x, x') between them, (m, m)."""


def posterior(
    gram: Gram,
    y: Array,  # (n, t)
    cost: Array,  # (n,)
    B: Array,  # (n, q)
    watch: Watch,
    factor: CholeskyFactor | None = None,
) -> "DualPosterior":
    """The posterior in the dual: n³/3 operations and 8 n² bytes, unless the factor exists already.

    Parameters
    ----------
    gram : Gram of shape (n, n)
        K; not used if a factor is given.
    y : ndarray of shape (n, t)
        Targets that share the costs; t may be 0 where no likelihood is asked for.
    cost : ndarray of shape (n,)
        cᵢ = wᵢ/λ; infinite for noise-free interpolation.
    B : ndarray of shape (n, q)
        b at the training points; q may be 0.
    watch : Watch
        Of the factorisation.
    factor : CholeskyFactor, optional
        The factor that a solver computed for the same K and cost.

    Raises
    ------
    TooLarge
        Where the factor would not fit. It is never approximated.
    NotPositive
        Where there is no factor in double precision.
    Stopped
        If time ran out before it was done.
    """
    if factor is None:
        n = int(np.count_nonzero(cost))
        refuse_too_large(
            8 * n * n,
            f"The exact posterior after {n} rows needs a Cholesky factor: n³/3 = {n**3 / 3:.1e} operations, and 8 n² "
            "bytes which",
            'Predict the mean alone, which needs no factor; or fit fewer rows with solver="cholesky".',
        )
        factor = factorise(gram, cost, watch)
    q = B.shape[1]
    white = factor.forward(factor.scale[:, None] * np.hstack([B, y])[factor.rows])
    log_determinant = factor.log_determinant() - 2.0 * float(np.log(factor.scale).sum())
    R, log_likelihood = _restricted(white[:, :q], white[:, q:], len(factor.rows), log_determinant)
    return DualPosterior(log_likelihood, factor, len(y), _Trend(white[:, :q], R))


def primal_posterior(
    features: FeatureMatrix,  # (n, M)
    y: Array,  # (n, t)
    cost: Array,  # (n,)
    B: Array,  # (n, q)
) -> "PrimalPosterior":
    """The posterior for K = ΦΦᵀ: n M² operations and 8 M² bytes, and Φ is not kept.

    Parameters
    ----------
    features : FeatureMatrix of shape (n, M)
        Φ, in blocks, as `Gram.features` gives it.
    y, cost, B
        As for `posterior`, but costs are finite: without noise n > M targets have no density.

    Raises
    ------
    NotPositive
        Where a cost is infinite, or I + ΦᵀCΦ has no factor in double precision.
    """
    if not np.isfinite(cost).all():
        raise NotPositive(
            "Without noise there is no posterior in the primal.",
            f"alpha is 0, and K = ΦΦᵀ of {features.shape[0]} rows has no more than rank {features.shape[1]}.",
            "Set alpha above 0.",
        )
    refuse_without_cost(cost)
    q, root = B.shape[1], np.sqrt(cost)
    right = np.hstack([B, y])
    L = _features_factor(features, cost)
    forward = np.asfortranarray(features.transpose_times(cost[:, None] * right))
    forward_in_place(L, forward)
    w = scipy.linalg.solve_triangular(L, forward, lower=True, trans="T", check_finite=False)
    white = np.vstack([root[:, None] * (right - features @ w), w])
    used = root > 0.0
    log_determinant = 2.0 * float(np.log(L.diagonal()).sum() - np.log(root[used]).sum())
    R, log_likelihood = _restricted(white[:, :q], white[:, q:], int(used.sum()), log_determinant)
    return PrimalPosterior(log_likelihood, L, _Trend(forward[:, :q], R))


@final
@dataclass(frozen=True, eq=False)
class _Trend:
    """What the uncertainty of θ adds to (1). F is E(B), or L⁻¹ΦᵀCB."""

    F: Array  # (p, q)
    R: Array  # (q, q)

    def doubt(self, V: Array, B_new: Array) -> Array:  # V: (b, p), one row per new point
        """R⁻ᵀ u, one row per new point."""
        u = B_new - V @ self.F
        if not u.shape[1]:
            return u
        return np.asarray(scipy.linalg.solve_triangular(self.R, u.T, trans="T", check_finite=False)).T


@final
@dataclass(frozen=True, eq=False, repr=False)
class DualPosterior:
    """`Posterior` from a factor of K. Use `posterior`."""

    log_likelihood: Array  # (t,)
    factor: CholeskyFactor
    n: int  # rows of the problem: the factor leaves out those without weight
    trend: _Trend

    def variance(self, fill: Fill, prior: Array, B_new: Array) -> Array:
        """The diagonal of (1), in blocks of new points: memory O(n · block)."""
        found = np.empty(len(prior))
        store = np.empty((min(BLOCK, len(prior)), len(self.factor.rows)))
        for part in _blocks(len(prior)):
            V = store[: part.stop - part.start]
            self._white(fill, part, V)
            found[part] = prior[part] - _square_norms(V) + _square_norms(self.trend.doubt(V, B_new[part]))
        return _not_negative(found, prior, self.factor.condition)

    def covariance(self, fill: Fill, prior: Array, B_new: Array) -> Array:
        """(1) between all new points; memory O(m n + m²)."""
        m, r = len(prior), len(self.factor.rows)
        _refuse_large_covariance(m, r)
        V = np.empty((m, r))
        for part in _blocks(m):
            self._white(fill, part, V[part])
        found = V @ V.T
        np.subtract(prior, found, out=found)
        return _add_doubt(found, self.trend.doubt(V, B_new), prior, self.factor.condition)

    def _white(self, fill: Fill, part: slice, out: Array) -> None:
        """Write E(k(x)) of each new point of the part into a row of `out`."""
        factor = self.factor
        if len(factor.rows) == self.n:
            fill(part, out)
        else:
            whole = np.empty((len(out), self.n))
            fill(part, whole)
            np.take(whole, factor.rows, axis=1, out=out)
        if (factor.scale != 1.0).any():
            out *= factor.scale
        forward_in_place(factor.L, out.T)  # C's rows are Fortran's columns: no copy


@final
@dataclass(frozen=True, eq=False, repr=False)
class PrimalPosterior:
    """`Posterior` from a factor of I + ΦᵀCΦ. Use `primal_posterior`."""

    log_likelihood: Array  # (t,)
    L: Array  # (M, M)
    trend: _Trend

    def variance(self, fill: Fill, prior: Array, B_new: Array) -> Array:
        """The diagonal of (1), in blocks of new points: memory O(M · block)."""
        found = np.empty(len(prior))
        store = np.empty((min(BLOCK, len(prior)), len(self.L)))
        for part in _blocks(len(prior)):
            V = store[: part.stop - part.start]
            fill(part, V)
            unseen = _unseen(prior[part] - _square_norms(V), prior[part])
            forward_in_place(self.L, V.T)
            found[part] = unseen + _square_norms(V) + _square_norms(self.trend.doubt(V, B_new[part]))
        return _not_negative(found, prior)

    def covariance(self, fill: Fill, prior: Array, B_new: Array) -> Array:
        """(1) between all new points; memory O(m M + m²)."""
        m, width = len(prior), len(self.L)
        _refuse_large_covariance(m, width)
        V = np.empty((m, width))
        fill(slice(0, m), V)
        found = V @ V.T
        np.subtract(prior, found, out=found)
        size = np.sqrt(prior.diagonal())
        found = _unseen(found, np.multiply.outer(size, size))
        forward_in_place(self.L, V.T)
        found += V @ V.T
        return _add_doubt(found, self.trend.doubt(V, B_new), prior)


def _restricted(white_B: Array, white_y: Array, n: int, log_determinant: float) -> tuple[Array, Array]:
    """R and (2), from E(B), E(y) and log det Σ."""
    q = white_B.shape[1]
    R = np.zeros((q, q))
    rest = white_y
    if q:
        if n < q:
            raise InvalidInput(f"{n} rows do not determine {q} columns of B.", "", "Give more rows a weight.")
        Q, R = scipy.linalg.qr(white_B, mode="economic", check_finite=False)
        lost = np.abs(R.diagonal()) <= n * np.finfo(np.float64).eps * np.sqrt(_square_norms(white_B.T))
        if lost.any():
            raise InvalidInput(
                "The columns of B are linearly dependent.", f"Column {int(np.argmax(lost))} follows from those before."
            )
        rest = white_y - Q @ (Q.T @ white_y)
    spread = 2.0 * float(np.log(np.abs(R.diagonal())).sum())
    misfit = _square_norms(rest.T)
    return R, -0.5 * (misfit + log_determinant + spread + (n - q) * np.log(2.0 * np.pi))


def _features_factor(features: FeatureMatrix, cost: Array) -> Array:
    """L of I + ΦᵀCΦ."""
    width = features.shape[1]
    A = allocate(
        (width, width), np.float64, f"The system of {width} x {width} features", "Use the kernel, in the dual."
    )
    A[:] = 0.0
    most = float(cost.max())
    scale, is_even = np.sqrt(cost / most), bool((cost == most).all())
    for rows, block in features:
        weighted = block if is_even else scale[rows, None] * block
        A += weighted.T @ weighted
    A *= most
    A.flat[:: width + 1] += 1.0
    L, failed = scipy.linalg.lapack.dpotrf(A.T, lower=1, clean=1, overwrite_a=1)
    if failed:
        raise NotPositive(
            "I + ΦᵀΦ/alpha cannot be factorised in double precision.",
            f"The factorisation broke down at feature {int(failed) - 1} of {width}; weight/alpha is as large as "
            f"{most:.3g}.",
            "Raise alpha, or scale the data; mercer adds no jitter of its own.",
        )
    return np.asarray(L)


def _unseen(difference: Array, size: Array) -> Array:
    """The part of the prior that features do not see, k − φᵀφ, where it is more than rounding; in place."""
    difference[np.abs(difference) <= UNSEEN * size] = 0.0
    return difference


def _blocks(m: int) -> Iterator[slice]:
    for start in range(0, m, BLOCK):
        yield slice(start, min(start + BLOCK, m))


def _square_norms(V: Array) -> Array:
    """‖v‖² of each row."""
    return np.asarray(np.einsum("ij,ij->i", V, V))


def _add_doubt(found: Array, doubt: Array, prior: Array, condition: float = 0.0) -> Array:
    """The covariance with the part of θ, its diagonal checked; in place."""
    if doubt.shape[1]:
        found += doubt @ doubt.T
    np.fill_diagonal(found, _not_negative(found.diagonal(), prior.diagonal(), condition))
    return found


def _not_negative(variance: Array, prior: Array, condition: float = 0.0) -> Array:
    """Variances without their rounding errors; more than that is an error.

    Not a warning and a zero: a standard deviation of 0 would mean that the value is known exactly, the one thing
    that a negative variance rules out. The mean is still available.
    """
    excess = -variance - ROUNDING * prior
    if (excess > 0.0).any():
        row = int(np.argmax(excess))
        known = f": the condition number of K + alpha·I is about {condition:.1g}" if condition else ""
        raise NotPositive(
            f"The posterior variance at row {row} is negative: {variance[row]:.3g}, where the prior has "
            f"{prior[row]:.3g}.",
            f"Either the kernel is not positive semi-definite, or rounding has destroyed the variance{known}.",
            "Raise alpha or remove near-duplicate rows; check_gram(K) shows which it is. The mean can "
            "still be predicted.",
        )
    return np.maximum(variance, 0.0)


def _refuse_large_covariance(m: int, width: int) -> None:
    refuse_too_large(
        8 * m * (width + 3 * m),
        f"The covariance of {m} new points, with its workspace,",
        "Use return_std=True, which is computed in blocks, or fewer points at a time.",
    )
