"""From what a user writes for a kernel to the kernel."""

from typing import Any

from mercer.errors import InvalidParameter, shown
from mercer.kernels.kernel import Kernel
from mercer.kernels.names import named
from mercer.kernels.parse import parse

__all__ = ["kernel_from"]


def kernel_from(given: Any) -> Kernel:
    """A kernel, its formula, or its name.

    Examples
    --------
    >>> kernel_from("RBF(2.0) + Linear()"), kernel_from("linear")
    (RBF(2.0) + Linear(), Linear())
    """
    if isinstance(given, Kernel):
        return given
    if not isinstance(given, str):
        raise InvalidParameter(
            "kernel must be a Kernel, a formula or a name.", f"Got {shown(given)}.", 'Try RBF(), "RBF() + Linear()".'
        )
    found = parse(given) if "(" in given else named(given, "scale", 3, 1.0)
    if not isinstance(found, Kernel):
        raise InvalidParameter("kernel must be a kernel.", f"{given} is a distance.", f"Try RBF().of({given}).")
    return found
