"""What error bars are made from: the targets and costs of a ridge fit, and the posterior that they determine."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.grams.base import Gram
from mercer.grams.choose import gram_to_solve
from mercer.kernels.binding import Binding, bind
from mercer.kernels.featuremap import FeatureMap
from mercer.points.base import Points
from mercer.problems.solution import ErrorBound
from mercer.solvers.factor import groups
from mercer.solvers.options import Options
from mercer.solvers.posterior import Fill, Posterior, posterior, primal_posterior

__all__ = ["Uncertainty"]

Array = npt.NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Uncertainty:
    """The Bayesian reading of a ridge fit: the kernel is the prior covariance, 1/cost the variance of the noise.

    Attributes
    ----------
    targets, cost : ndarray of shape (n, t)
        Of the training rows, which are the basis of the model.
    has_intercept : bool
        Whether b has a flat prior.
    error : ErrorBound, optional
        What the residual of the solve says about any prediction.
    factors : tuple
        Factorisations that the solver left behind, one per different column of costs. They hold n² numbers, are not
        pickled, and are made again when they are needed.
    """

    targets: Array
    cost: Array
    has_intercept: bool
    error: ErrorBound | None = None
    factors: tuple[Any, ...] = ()
    _known: list[Posterior] = field(default_factory=list)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "factors": (), "_known": []}

    def deviations(self, binding: Binding, phi: FeatureMap | None, points: Points, verbose: int = 0) -> Array:  # (m, t)
        """The posterior standard deviation of f + b at each point, for each target.

        Parameters
        ----------
        binding : Binding
            The kernel on the training points.
        phi : FeatureMap, optional
            Its features, where the model was solved for in them.
        points : Points
            The m new points.
        verbose : int
            Whether a factorisation that is needed draws a bar.
        """
        prior, B_new, fill = binding.diag(points), self._columns(len(points)), _fill(binding, phi, points)
        found = np.empty((len(points), self.targets.shape[1]))
        for targets, part in self.posteriors(binding, phi, verbose):
            found[:, targets] = np.sqrt(part.variance(fill, prior, B_new))[:, None]
        return found

    def covariances(
        self, binding: Binding, phi: FeatureMap | None, points: Points, verbose: int = 0
    ) -> Array:  # (m, m, t)
        """The posterior covariance of f + b between the points, for each target; parameters as for `deviations`."""
        prior = bind(binding.kernel, points, dtype=np.float64).self_cross().dense()
        B_new, fill = self._columns(len(points)), _fill(binding, phi, points)
        found = np.empty((len(points), len(points), self.targets.shape[1]))
        for targets, part in self.posteriors(binding, phi, verbose):
            found[:, :, targets] = part.covariance(fill, prior, B_new)[:, :, None]
        return found

    def log_likelihood(self, binding: Binding, phi: FeatureMap | None, verbose: int = 0) -> Array:  # (t,)
        """log p(y) for each target."""
        found = np.empty(self.targets.shape[1])
        for targets, part in self.posteriors(binding, phi, verbose):
            found[targets] = part.log_likelihood
        return found

    def prior_variance(self, coef: Array, intercept: Array) -> Array:  # (t,)
        """τ² by which the kernel and the noise are multiplied to make the targets likeliest; f stays as it is.

        With α = (K + C⁻¹)⁻¹(y − b) the density of n targets is greatest for τ² = (y − b)ᵀα/n; with an intercept n − 1
        stands for n. Standard deviations grow by τ.
        """
        count = (self.cost > 0.0).sum(axis=0) - int(self.has_intercept)
        fitted = np.einsum("nt,nt->t", self.targets - intercept, coef)
        return np.asarray(fitted / np.maximum(count, 1))

    def error_bound(self, binding: Binding, phi: FeatureMap | None, points: Points) -> Array:  # (m, t)
        """How far the prediction at each point can be from the exact minimiser's."""
        if self.error is None:
            return np.full((len(points), self.targets.shape[1]), np.inf)
        diagonal = binding.diag(points)
        centred = self._centred(binding, phi, points, diagonal) if self.has_intercept else diagonal
        return self.error.at(diagonal, centred)

    def posteriors(
        self, binding: Binding, phi: FeatureMap | None, verbose: int = 0
    ) -> list[tuple[npt.NDArray[np.intp], Posterior]]:
        """One posterior for each different column of costs, with its targets; made when first asked for."""
        parts = groups(self.cost)
        if not self._known:
            gram = _gram(binding, phi)
            features = None if phi is None else gram.features()
            B = self._columns(len(self.targets))
            watch = Options(verbose=verbose).watch("posterior")
            factors = self.factors or (None,) * len(parts)
            found: list[Posterior] = []
            for (cost, targets), factor in zip(parts, factors, strict=True):
                y = self.targets[:, targets]
                found.append(
                    posterior(gram, y, cost, B, watch, factor)
                    if features is None
                    else primal_posterior(features, y, cost, B)
                )
            watch.close()
            self._known.extend(found)
        return [(targets, part) for (_, targets), part in zip(parts, self._known, strict=True)]

    def _columns(self, n: int) -> Array:  # (n, q)
        return np.ones((n, int(self.has_intercept)))

    def _centred(self, binding: Binding, phi: FeatureMap | None, points: Points, diagonal: Array) -> Array:
        """‖φ(x) − mean of φ‖², the mean weighted as the fit was."""
        share = self.cost[:, 0] / self.cost[:, 0].sum()
        to_mean = np.asarray(binding.cross(points) @ share)
        return diagonal - 2.0 * to_mean + float(share @ (_gram(binding, phi) @ share[:, None])[:, 0])


def _gram(binding: Binding, phi: FeatureMap | None) -> Gram:
    return gram_to_solve(binding, primal=phi is not None)


def _fill(binding: Binding, phi: FeatureMap | None, points: Points) -> Fill:
    """Writes K(x, X), or φ(x), of some of the points."""
    if phi is None:
        return lambda part, out: binding.cross(points.take(part)).dense(out)
    known: Callable[[Points], Array] = phi

    def features(part: slice, out: Array) -> None:
        out[...] = known(points.take(part))

    return features
