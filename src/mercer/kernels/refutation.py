"""The outcomes of a search for a counter-example: a refutation, or a report of how hard it searched."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt

__all__ = ["Reason", "Refutation", "Unrefuted"]

Array = npt.NDArray[np.float64]


class Reason(Enum):
    """What is wrong with the function; the value is the sentence shown to the reader."""

    NOT_SYMMETRIC = "k(x, z) differs from k(z, x)"
    NEGATIVE_DIAGONAL = "k(x, x) is negative"
    CAUCHY_SCHWARZ = "k(x, z)² exceeds k(x, x) k(z, z)"
    NEGATIVE_FORM = "a Gram matrix has a negative eigenvalue"
    NOT_REAL = "k(x, z) is not a finite real number"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Refutation:
    """Points on which a function is not a kernel. True in a boolean context.

    Attributes
    ----------
    reason : Reason
        What is violated.
    points : list
        The points, none of which can be left out.
    gram : ndarray of shape (m, m)
        k between them.
    c : ndarray of shape (m,), or None
        A unit vector with cᵀKc < 0; None where the function is not symmetric or not real.
    value : float
        cᵀKc; the difference k(x, z) − k(z, x) where the function is not symmetric, NaN where it is not real.
    relative : float
        The smallest eigenvalue after scaling to a unit diagonal (of the form −1 where that scaling is impossible).
    moved : bool
        Whether the points are new ones, from inside the convex hull of the sample.
    """

    reason: Reason
    points: list[Any]
    gram: Array
    c: Array | None
    value: float
    relative: float
    moved: bool

    def __bool__(self) -> Literal[True]:
        return True

    def __str__(self) -> str:
        m = len(self.points)
        origin = " inside the sample's convex hull" if self.moved else " of the sample"
        lines = [f"Not a kernel: {self.reason.value}, on {m} point{'s' * (m > 1)}{origin}."]
        with np.printoptions(precision=6, suppress=False, threshold=12, linewidth=100):
            for i, point in enumerate(self.points):
                coefficient = "" if self.c is None else f"   c[{i}] = {self.c[i]: .6g}"
                lines.append(f"  x[{i}] = {_shown(point)}{coefficient}")
            if m <= 8:
                rows = str(self.gram).splitlines()
                lines += [f"  K = {rows[0]}", *("      " + row for row in rows[1:])]
        if self.reason is Reason.NOT_SYMMETRIC:
            lines.append(f"  k(x, z) − k(z, x) = {self.value:.6g}")
        elif self.c is not None:
            lines.append(f"  cᵀKc = {self.value:.6g} < 0")
        return "\n".join(lines)

    __repr__ = __str__


@final
@dataclass(frozen=True, eq=False, repr=False)
class Unrefuted:
    """No counter-example was found, which is not a proof. False in a boolean context.

    Attributes
    ----------
    n_sets, n_evaluations : int
        Sets of points whose Gram matrix was examined, and calls of the function.
    sizes : tuple of int
        How large the sets were.
    smallest : float
        The smallest eigenvalue met, relative to a unit diagonal; values above −1e-10 are treated as rounding.
    """

    n_sets: int
    n_evaluations: int
    sizes: tuple[int, ...]
    smallest: float

    def __bool__(self) -> Literal[False]:
        return False

    def __str__(self) -> str:
        return (
            f"Not refuted, which is not a proof: {self.n_sets} sets of {self.sizes[0]} to {self.sizes[-1]} points, "
            f"{self.n_evaluations} evaluations;\n"
            f"  the smallest eigenvalue met, over a unit diagonal, is {self.smallest:.3g}."
        )

    __repr__ = __str__


def _shown(point: Any) -> str:
    text = str(point) if isinstance(point, np.ndarray) else repr(point)
    text = " ".join(text.split())
    return text if len(text) <= 100 else text[:97] + "…"
