"""The parameters of a formula that can be learnt: its numbers > 0, and how a formula is given more of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.domains import Length, Positive, PositiveNumbers, PositiveOrRule
from mercer.errors import InvalidParameter, MercerError
from mercer.kernels.algebra import COEFFICIENT, Constant, Scaled, Sum
from mercer.kernels.kernel import Kernel
from mercer.kernels.powers import FractionalPower
from mercer.kernels.schoenberg import Of, Radial
from mercer.kernels.sources import vectors_of
from mercer.points import Points, Vectors
from mercer.term import Term

__all__ = ["Learnable", "per_column", "weighted"]

Array = npt.NDArray[np.float64]

DOMAINS = (Length, Positive, PositiveNumbers, PositiveOrRule, COEFFICIENT)
# Digits of a learnt number: more say nothing, and a formula is to be read.
DIGITS = 6


@final
class Learnable:
    """The numbers > 0 of a formula, as one vector.

    Parameters
    ----------
    kernel : Kernel
        Without rules such as "median".
    names : sequence of str, optional
        Of the parameters to be learnt, in full or, where unique, short; by default, all.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear
    >>> found = Learnable(RBF([1.0, 2.0]) + 0.5 * Linear())
    >>> found.names
    ('0__length_scale', '1__scale')
    >>> found.values
    array([1. , 2. , 0.5])
    >>> found.kernel_of(found.values * 2.0)
    RBF([2.0, 4.0]) + 1.0 * Linear()
    """

    def __init__(self, kernel: Kernel, names: Sequence[str] | None = None) -> None:
        self.kernel = kernel
        known = dict(_numbers(kernel))
        self.names = tuple(known if names is None else dict.fromkeys(self._full(name, known) for name in names))
        if not self.names:
            raise InvalidParameter(
                f"{kernel!r} has no parameter that can be learnt.", "None of its numbers may be any number > 0.",
                "Choose among some kernels with KernelSearchCV.",
            )  # fmt: skip
        self._start = [known[name] for name in self.names]

    @property
    def values(self) -> Array:
        """The numbers, those of arrays one after the other."""
        return np.concatenate([np.ravel(value) for value in self._start]).astype(np.float64)

    def are(self, name: str) -> npt.NDArray[np.bool_]:
        """Which of the values belong to parameters of this short name."""
        own = [full.rpartition("__")[2] == name for full in self.names]
        return np.repeat(own, [np.size(value) for value in self._start])

    def kernel_of(self, values: Array) -> Kernel:
        """The formula with these numbers."""
        parts = np.split(values, np.cumsum([np.size(value) for value in self._start])[:-1])
        changed = zip(self.names, self._start, parts, strict=True)
        return self.kernel.replace(**{name: part if np.ndim(was) else float(part[0]) for name, was, part in changed})

    def rounded(self, values: Array) -> Kernel:
        """The formula with these numbers, to be read."""
        return self.kernel_of(np.array([float(f"{value:.{DIGITS}g}") for value in values]))

    def moved(self, values: Array, number: int) -> Callable[[float], Kernel]:
        """What multiplies one of the numbers by a factor."""

        def move(factor: float) -> Kernel:
            changed = values.copy()
            changed[number] *= factor
            return self.kernel_of(changed)

        return move

    def _full(self, name: str, known: dict[str, Any]) -> str:
        if name in known:
            return name
        ends = [full for full in known if full.rpartition("__")[2] == name]
        if len(ends) == 1:
            return ends[0]
        raise InvalidParameter(
            f"{name} is ambiguous." if ends else f"{name} is no parameter that can be learnt.",
            f"Got the kernel {self.kernel!r}.",
            f"Its parameters that can be learnt are {', '.join(known) or 'none'}.",
        )


def _numbers(term: Term, before: str = "") -> Iterator[tuple[str, Any]]:
    """The full names of all numbers that may be any number > 0, with what they are."""
    declared = {field.name: field.metadata.get("domain") for field in fields(term)}  # type: ignore[arg-type]
    for name, value in term._slots().items():  # noqa: SLF001 (the names that `replace` takes)
        if isinstance(value, Term):
            yield from _numbers(value, f"{before}{name}__")
        elif _is_learnable(term, declared.get(name), value):
            yield f"{before}{name}", value


def _is_learnable(term: Term, domain: Any, value: Any) -> bool:
    is_exponent = isinstance(term, FractionalPower)
    return domain in DOMAINS and not is_exponent and not isinstance(value, str) and bool(np.all(np.asarray(value) > 0))


def weighted(kernel: Kernel) -> Kernel:
    """The kernel with a factor in front of each of its terms."""
    terms = kernel.terms if isinstance(kernel, Sum) else (kernel,)
    scaled = tuple(term if isinstance(term, Scaled | Constant) else Scaled(1.0, term) for term in terms)
    return Sum(scaled) if len(scaled) > 1 else scaled[0]


def per_column(kernel: Kernel, points: Points) -> Kernel:
    """The kernel with one length scale for each column, wherever it has one for all columns of dense rows."""
    if isinstance(kernel, Of):
        return kernel  # a profile of any distance has one length
    inside = kernel.points_inside(points)
    parts = {
        name: per_column(part, inside)
        for name, part in kernel._slots().items()  # noqa: SLF001
        if isinstance(part, Kernel)
    }
    changed = {name: part for name, part in parts.items() if part != kernel._slots()[name]}  # noqa: SLF001
    found = kernel.replace(**changed) if changed else kernel
    if isinstance(found, Radial) and found.is_isotropic and not isinstance(found.length_scale, str):
        width = _width(points)
        if width > 1:
            return found.replace(length_scale=np.full(width, found.length_scale))
    return found


def _width(points: Points) -> int:
    """The number of columns of dense rows; 1 for all other points, which have none to tell apart."""
    try:
        seen = vectors_of(points, "a length scale")
    except MercerError:
        return 1
    return seen.width if isinstance(seen, Vectors) and not seen.is_sparse else 1
