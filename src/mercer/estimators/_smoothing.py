"""What smoothers share: which weights a kernel or a window stands for, and when their predictions have support."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.domains import is_number
from mercer.errors import InvalidInput, InvalidParameter, NotPositive, shown
from mercer.estimators._kernels import KernelSpec
from mercer.estimators._machine import KernelMachine
from mercer.kernels.binding import bind
from mercer.kernels.kernel import Kernel
from mercer.kernels.names import TABLE as NAMES
from mercer.kernels.names import named
from mercer.kernels.node import written
from mercer.kernels.windows import TABLE as WINDOWS
from mercer.kernels.windows import Window
from mercer.models.bandwidth import FormulaWeights, Weights, WindowWeights, choose
from mercer.models.model import Model
from mercer.models.smoothing import Others, Smoothing
from mercer.notation import ATOM
from mercer.points.base import Points
from mercer.problems.certificate import Certificate, Status

__all__ = ["Smoother"]

Array = npt.NDArray[np.float64]

LOO = "loo"
# γ of a named kernel for which its length scale is 1.
UNIT_GAMMA = {"rbf": 0.5}


class Smoother(KernelMachine):
    """Base of the smoothers: ratios of sums Σᵢ k(x, xᵢ) T[i] over a table T."""

    _explanation = "Sums over the training points are divided: there is nothing to solve."
    bandwidth: Any
    bandwidths: Any
    bandwidth_: float
    bandwidths_: Array
    loo_score_: float
    loo_scores_: Array

    def has_support(self, X: Any) -> npt.NDArray[np.bool_]:
        """Whether any training point has weight at each point; where none has, the nearest one is the prediction.

        Parameters
        ----------
        X : like the X of `fit`

        Returns
        -------
        ndarray of bool, shape (m,)
        """
        self._check_fitted()
        return self._smoothing.has_support(self.model_.binding, self._read_checked(X))

    @property
    def _spec(self) -> KernelSpec:
        return KernelSpec(self.kernel, None, 3, 1.0, None)

    @property
    def _smoothing(self) -> Smoothing:
        assert self.model_.smoothing is not None
        return self.model_.smoothing

    def _read_checked(self, X: Any, *, fitting: bool = False) -> Points:
        points = self._read(X) if fitting else self._read_new(X)
        if self._spec.is_precomputed:
            values = np.asarray(points.raw())
            if values.size and values.min() < 0.0:
                i, j = np.unravel_index(int(values.argmin()), values.shape)
                raise InvalidInput(
                    "Negative values in data passed as precomputed weights: a mean is weighted by numbers ≥ 0.",
                    f"X[{i}, {j}] is {values[i, j]:.6g}.",
                )
        return points

    def _fit(self, points: Points, table: Array, smoothing: Smoothing, classes: Any = None) -> None:
        """Choose the bandwidth and bind the weights."""
        spec = self._spec.proposed(points)
        form = _form(spec.kernel, spec, points)
        if not self._spec.is_precomputed:
            smoothing = replace(smoothing, distance=form.distance())
        if isinstance(self.bandwidth, str) and self.bandwidth == LOO:
            widths = None if self.bandwidths is None else _grid(self.bandwidths)
            choice = choose(form, points, table, smoothing, widths)
            binding, self.bandwidth_ = choice.binding, choice.width
            self.bandwidths_, self.loo_scores_ = choice.tried, choice.scores
            self.loo_score_ = float(choice.scores.max())
        else:
            self.bandwidth_ = _positive(self.bandwidth)
            binding = bind(form.at(self.bandwidth_), points, dtype=np.float64)
        self.model_ = Model.on(binding, table, np.zeros(table.shape[1]), classes=classes, smoothing=smoothing)
        self.certificate_ = Certificate(
            Status.BY_FORMULA,
            machine="weighted mean" if classes is None else "weighted vote",
            rows=len(points),
            columns=smoothing.values.shape[1],
            assumptions=binding.kernel.proof().assumptions if isinstance(binding.kernel, Kernel) else (),
        )

    def _predictions(self, X: Any) -> Array:  # (m, p)
        self._check_fitted()
        points, model = self._read_checked(X), self.model_
        return self._smoothing.predictions(model.binding, points, model.scores(points))

    def _left_out(self) -> Array:  # (n, p)
        """The prediction for each training point from all others."""
        self._check_fitted()
        model, smoothing = self.model_, self._smoothing
        smoothing.refuse_single()
        sums = model.binding.self_cross().without_diagonal(model.coef)
        return smoothing.left_out(sums, Others(smoothing, model.binding))


def _form(kernel: Any, spec: KernelSpec, points: Points) -> Weights:
    """The weights that `kernel` describes, resolved on the points and known to be ≥ 0."""
    if isinstance(kernel, str) and kernel in WINDOWS:
        kernel = Window(kernel)
    if isinstance(kernel, Window):
        return WindowWeights(kernel.resolve(points))
    if isinstance(kernel, str) and kernel not in NAMES:
        raise InvalidParameter(
            f"{kernel!r} is not the name of a kernel or a window.",
            f"Windows are {', '.join(map(repr, WINDOWS))}.",
            f"Kernels are {', '.join(map(repr, NAMES))}.",
        )
    formula = named(kernel, UNIT_GAMMA.get(kernel, 1.0)) if isinstance(kernel, str) else spec.build()
    resolved = formula.resolve(points)
    if not spec.is_precomputed:  # whose values can all be checked directly
        _refuse_negative(resolved)
    return FormulaWeights(resolved)


def _refuse_negative(kernel: Kernel) -> None:
    doubt = kernel.doubt
    if doubt is None:
        return
    part, reason = doubt
    attempt = (
        f"Try {written(part, ATOM)} ** 2, {written(part, ATOM)}.exp() or RBF()"
        if isinstance(part, Kernel)
        else "Try a GaussianEnvelope, or no such factor"
    )
    raise NotPositive(
        f"{kernel!r} cannot weight a mean: its values cannot be shown to be ≥ 0.",
        f"{part!r}, by {reason}." if isinstance(part, Kernel) else f"{part!r}: {reason}.",
        f'{attempt}; or compute the values and pass kernel="precomputed", which checks each of them.\n'
        "  That it cannot be derived is not a disproof.",
    )


def _positive(bandwidth: Any) -> float:
    if not is_number(bandwidth) or not 0.0 < float(bandwidth) < np.inf:
        raise InvalidParameter('bandwidth must be a number > 0, or "loo".', f"Got {shown(bandwidth)}.")
    return float(bandwidth)


def _grid(bandwidths: Any) -> Array:
    wrong = "bandwidths must be numbers > 0, at least one."
    try:
        found = np.atleast_1d(np.asarray(bandwidths, dtype=np.float64))
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidParameter(wrong, f"Got {shown(bandwidths)}.") from error
    if found.ndim != 1 or found.size == 0 or not (np.isfinite(found) & (found > 0.0)).all():
        raise InvalidParameter(wrong, f"Got {shown(bandwidths)}.")
    return found
