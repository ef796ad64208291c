"""From what scikit-learn users write for `kernel` (a name, a function, "precomputed") to a kernel of mercer."""

from dataclasses import dataclass
from functools import partial
from typing import Any, final

from mercer.errors import InvalidParameter
from mercer.kernels.custom import Custom, Precomputed
from mercer.kernels.kernel import Kernel
from mercer.kernels.names import TABLE, named

__all__ = ["KernelSpec"]


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
    """

    kernel: Any
    gamma: float | str | None
    degree: int
    coef0: float
    kernel_params: dict[str, Any] | None

    @property
    def is_precomputed(self) -> bool:
        """Whether X is the Gram matrix itself."""
        return isinstance(self.kernel, Precomputed) or (isinstance(self.kernel, str) and self.kernel == "precomputed")

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
        if callable(self.kernel):
            self._refuse("gamma", "is a function", "kernel_params={…}")
            fn = partial(self.kernel, **self.kernel_params) if self.kernel_params else self.kernel
            return Custom(fn, because="it was given as a function")
        raise InvalidParameter(
            "kernel must be a Kernel, a name, or a function of two points.",
            f"Got {self.kernel!r}.",
            f"The names are {', '.join(TABLE)}.",
        )

    def _refuse(self, name: str, why: str, instead: str) -> None:
        value = getattr(self, name)
        if value is not None:
            raise InvalidParameter(
                f"{name} has no meaning beside this kernel, which {why}.",
                f"Got {name}={value!r} and kernel={self.kernel!r}.",
                f"Use {instead} instead, and leave {name}=None.",
            )
