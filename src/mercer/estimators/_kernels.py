"""From what scikit-learn users write for `kernel` (a name, a function, "precomputed") to a kernel of mercer."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput, InvalidParameter
from mercer.kernels.custom import Custom, Precomputed
from mercer.kernels.kernel import Kernel
from mercer.kernels.lengths import gamma_scale
from mercer.kernels.names import TABLE, named
from mercer.kernels.sources import vectors_of
from mercer.points.base import Points
from mercer.points.vectors import Vectors

__all__ = ["ASSUMED_NAMES", "KernelSpec"]

Array = npt.NDArray[np.float64]

# Names of functions that are no kernels in general; the others were proved once for all.
ASSUMED_NAMES = frozenset({"precomputed", "sigmoid"})
# The names that know the rule gamma="scale".
SCALED = frozenset({"laplacian", "poly", "polynomial", "rbf", "sigmoid"})


@final
@dataclass(frozen=True)
class KernelSpec:
    """The five parameters with which scikit-learn describes a kernel.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel of mercer; a name of `mercer.kernels.names.TABLE`; or a function of two points that returns a number.
    gamma, degree, coef0
        Of a named kernel.
    kernel_params : dict, optional
        Keyword arguments of a function.
    default : float, str or None
        Of gamma: it is for names, and no wish about a kernel that has parameters of its own.
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
        """Whether the kernel is a function of Python that is no Kernel."""
        return callable(self.kernel) and not isinstance(self.kernel, Kernel)

    def on(self, points: Points, weight: Array) -> "KernelSpec":
        """The same with a number for gamma="scale", each row counted as often as its weight says."""
        named_rule = isinstance(self.kernel, str) and self.kernel in SCALED
        if not (named_rule and isinstance(self.gamma, str) and self.gamma == "scale"):
            return self
        with np.errstate(over="ignore", invalid="ignore"):
            gamma = _scale(points, weight)
        if not 0.0 < gamma < np.inf:
            raise InvalidInput(
                'The dual coefficients or intercepts are not finite: gamma="scale", 1/(d·var(X)), is no number > 0.',
                f"var(X) of {points!r} is too large or too small.",
                "Scale the columns, or give gamma as a number.",
            )
        return replace(self, gamma=gamma)

    def build(self) -> Kernel:
        """The kernel, its rules (gamma="scale", length_scale="median") not yet resolved.

        Raises
        ------
        InvalidParameter
            For what is no kernel, and for a parameter that this kind of kernel would have to ignore.
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
            return Custom(fn, because="it was given as a function", form=self.form)
        raise InvalidParameter(
            "kernel must be a Kernel, a name, or a function of two points.",
            f"Got {self.kernel!r}.",
            f"The names are {', '.join(TABLE)}.",
        )

    def refuse_class(self) -> None:
        """Refuse a kernel's class, which is a function as well."""
        if isinstance(self.kernel, type) and issubclass(self.kernel, Kernel):
            name = self.kernel.__name__
            raise InvalidParameter("kernel must be a kernel, not its class.", f"Got {name}.", f"Write {name}(…).")

    def _refuse(self, name: str, why: str, instead: str) -> None:
        value = getattr(self, name)
        is_default = name == "gamma" and isinstance(value, str) and value == self.default
        if value is not None and not is_default:
            raise InvalidParameter(
                f"{name} has no meaning beside this kernel, which {why}.",
                f"Got {name}={value!r} and kernel={self.kernel!r}.",
                f"Use {instead} instead, and leave {name}={self.default if name == 'gamma' else None!r}.",
            )


def _scale(points: Points, weight: Array) -> float:
    """1/(d·var(X)) of the weighted rows; 1 where they are all the same."""
    found = vectors_of(points, 'the rule "scale"')
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
