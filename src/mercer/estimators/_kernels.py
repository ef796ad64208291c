"""From what scikit-learn users write for `kernel` (a name, a function, "precomputed") to a kernel of mercer."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone

from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.kernels.auto import auto
from mercer.kernels.custom import Custom, Precomputed
from mercer.kernels.kernel import Kernel
from mercer.kernels.lengths import gamma_scale
from mercer.kernels.names import TABLE, named
from mercer.kernels.sources import vectors_of
from mercer.points.base import Points
from mercer.points.vectors import Vectors

__all__ = ["ASSUMED_NAMES", "AUTO", "KernelSpec", "TakesKernel"]

Array = npt.NDArray[np.float64]

GAUSSIAN_PROCESS = ("sklearn.gaussian_process.kernels", "Kernel")
# The kernel that is proposed for the training points.
AUTO = "auto"
# Names of functions that are not kernels in general; all others are proved.
ASSUMED_NAMES = frozenset({"precomputed", "sigmoid"})
# The names that accept gamma="scale".
SCALED = frozenset({"laplacian", "poly", "polynomial", "rbf", "sigmoid"})


class TakesKernel(BaseEstimator):
    """An estimator with the parameter `kernel`, whose own parameters are reached through it."""

    kernel: Any

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator or, as ``kernel__<name>``, of its kernel.

        Kernels are frozen: `kernel` is replaced by one with the new value, and the old one does not change.
        """
        prefix = "kernel__"
        super().set_params(**{name: value for name, value in params.items() if not name.startswith(prefix)})
        inner = {name.removeprefix(prefix): value for name, value in params.items() if name.startswith(prefix)}
        if inner:
            self.kernel = _with_parameters(self.kernel, inner)
        return self


@final
@dataclass(frozen=True)
class KernelSpec:
    """The five parameters with which scikit-learn describes a kernel.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel of mercer; a name of `mercer.kernels.names.TABLE`; "auto"; a function of two points
        that returns a number; or a kernel of sklearn.gaussian_process, a function of two collections.
    gamma, degree, coef0
        For kernels given by name.
    kernel_params : dict, optional
        Keyword arguments of a function.
    default : float, str or None
        Of gamma. gamma applies only to kernels given by name.
    form : {"pair", "matrix"}
        Whether a function takes two points, or two collections of points.
    """

    kernel: Any
    gamma: float | str | None
    degree: int
    coef0: float
    kernel_params: dict[str, Any] | None
    default: float | str | None = None
    form: str = "pair"

    @property
    def is_precomputed(self) -> bool:
        """Whether X is the Gram matrix itself, or that of a part of the formula."""
        if isinstance(self.kernel, Kernel):
            return any(isinstance(part, Precomputed) for part in self.kernel.walk())
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def is_function(self) -> bool:
        """Whether the kernel is a Python function and not a Kernel."""
        return callable(self.kernel) and not isinstance(self.kernel, Kernel)

    @property
    def is_name(self) -> bool:
        """Whether the kernel is one that scikit-learn knows by this name, of vectors."""
        return isinstance(self.kernel, str) and self.kernel != AUTO

    def proposed(self, points: Points) -> "KernelSpec":
        """The same with the formula proposed for the points, where the kernel is "auto"."""
        if not (isinstance(self.kernel, str) and self.kernel == AUTO):
            return self
        self._refuse("gamma", "is proposed for the data, with a length scale of its own", "mercer.auto(X).kernel")
        return replace(self, kernel=auto(points).kernel)

    def on(self, points: Points, weight: Array) -> "KernelSpec":
        """The same with a number for gamma="scale", each row counted as often as its weight says."""
        named_rule = isinstance(self.kernel, str) and self.kernel in SCALED
        if not (named_rule and isinstance(self.gamma, str) and self.gamma == "scale"):
            return self
        with np.errstate(over="ignore", invalid="ignore"):
            gamma = _scale(points, weight)
        if not 0.0 < gamma < np.inf:
            raise InvalidInput(
                'The dual coefficients or intercepts are not finite: gamma="scale", 1/(d·var(X)), is not a number > 0.',
                f"var(X) of {points!r} is too large or too small.",
                "Scale the columns, or give gamma as a number.",
            )
        return replace(self, gamma=gamma)

    def build(self) -> Kernel:
        """The kernel, its rules (gamma="scale", length_scale="median") not yet resolved.

        Raises
        ------
        InvalidParameter
            If it is not a kernel, or if a parameter would have no effect for this kind of kernel.
        """
        if isinstance(self.kernel, Kernel):
            self._refuse("gamma", "is an object with parameters of its own", "kernel__<parameter>")
            self._refuse("kernel_params", "is an object with parameters of its own", "kernel__<parameter>")
            return self.kernel
        if isinstance(self.kernel, str):
            self._refuse("kernel_params", "is a name", "gamma, degree and coef0")
            return named(self.kernel, self.gamma, self.degree, self.coef0)
        self.refuse_class()
        if callable(self.kernel):
            self._refuse("gamma", "is a function", "kernel_params={…}")
            fn = partial(self.kernel, **self.kernel_params) if self.kernel_params else self.kernel
            form = "matrix" if _is_of_gaussian_process(self.kernel) else self.form
            return Custom(fn, because="it was given as a function", form=form)
        raise InvalidParameter(
            "kernel must be a Kernel, a name, or a function of two points.",
            f"Got {shown(self.kernel)}.",
            f"The names are {AUTO}, {', '.join(TABLE)}.",
        )

    def refuse_class(self) -> None:
        """Refuse a kernel's class, which is a function as well."""
        if isinstance(self.kernel, type) and (issubclass(self.kernel, Kernel) or _derives(self.kernel)):
            name = self.kernel.__name__
            raise InvalidParameter("kernel must be a kernel, not its class.", f"Got {name}.", f"Write {name}(…).")

    def _refuse(self, name: str, why: str, instead: str) -> None:
        value = getattr(self, name)
        is_default = name == "gamma" and isinstance(value, str) and value == self.default
        if value is not None and not is_default:
            raise InvalidParameter(
                f"{name} has no effect on this kernel, which {why}.",
                f"Got {name}={shown(value)} and kernel={shown(self.kernel)}.",
                f"Use {instead} instead, and leave {name}={self.default if name == 'gamma' else None!r}.",
            )


def _with_parameters(kernel: Any, params: dict[str, Any]) -> Any:
    """A kernel with some parameters replaced; the one given stays as it is."""
    if isinstance(kernel, Kernel):
        return kernel.replace(**params)
    if _is_of_gaussian_process(kernel):
        return clone(kernel).set_params(**params)
    instead = "kernel=RBF() and kernel__length_scale, or a kernel's name and the parameter gamma"
    if isinstance(kernel, str) and kernel == AUTO:
        instead = "kernel=mercer.auto(X).kernel, which has parameters"
    raise InvalidParameter(
        f"Only a Kernel object has parameters such as kernel__{next(iter(params))}.",
        f"kernel is {shown(kernel)}.",
        f"Try {instead}.",
    )


def _is_of_gaussian_process(kernel: Any) -> bool:
    """Whether this is a kernel of sklearn.gaussian_process: a function of two collections, in every estimator."""
    return _derives(type(kernel))


def _derives(kind: type) -> bool:
    # By name: the module takes a while to import, and who has such a kernel has imported it.
    return any((base.__module__, base.__name__) == GAUSSIAN_PROCESS for base in kind.__mro__)


def _scale(points: Points, weight: Array) -> float:
    """1/(d·var(X)) of the weighted rows; 1 where they are all the same."""
    found = vectors_of(points, 'gamma="scale"')
    if not isinstance(found, Vectors) or (weight == weight[0]).all():
        return gamma_scale(points)
    share = weight / (weight.sum() * found.width)
    rows = found.raw()
    mean = float((share @ rows).sum())
    if found.is_sparse:
        variance = float((share @ rows.multiply(rows)).sum()) - mean**2
    else:
        variance = float((share @ (rows - mean) ** 2).sum())
    return 1.0 / (found.width * variance) if variance > 0.0 else 1.0
