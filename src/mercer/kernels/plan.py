"""The program of a kernel: what is read from the points, and what is done to each entry.

A plan is pure data, made once from a tree by `mercer.kernels.tape` and carried once into the engine, whose tables say
what it may contain.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, final

import numpy as np
import numpy.typing as npt

from mercer import _core
from mercer.maps.base import Map
from mercer.points.base import Points

__all__ = ["LEAVES", "OPERATIONS", "Instruction", "Leaf", "LeafKind", "Plan", "PointFunction"]


class LeafKind(NamedTuple):
    """A row of the table of leaves.

    Attributes
    ----------
    takes : str
        What it takes from the points: a row of `mercer.kernels.sources.SOURCES`.
    parameters : int
        How many numbers say which leaf of this kind it is.
    text : str
        What it reads of a pair of them.
    """

    takes: str
    parameters: int
    text: str


# What an instruction may do: name -> its operands. a, b are registers; leaf and row are indices into the plan.
OPERATIONS: dict[str, tuple[str, ...]] = _core.operations()
# What may be read from a pair of points.
LEAVES: dict[str, LeafKind] = {name: LeafKind(*row) for name, row in _core.leaves().items()}


class PointFunction(Protocol):
    """A real function of one point, evaluated once per side when points are bound."""

    def values(self, points: Points) -> npt.NDArray[np.float64]:
        """The function at each point: (n,)."""


@final
@dataclass(frozen=True)
class Instruction:
    """One step: `out` becomes `op` of its operands. Unused operands are −1 and 0.0.

    Operations on leaves carry the index of the leaf in `a`, those on rows the index of the row in `b`.
    """

    op: str
    out: int
    a: int = -1
    b: int = -1
    s: float = 0.0
    t: float = 0.0


@final
@dataclass(frozen=True)
class Leaf:
    """One way to read a pair of points, in one view."""

    kind: str
    view: int
    parameters: tuple[float, ...] = ()
    fn: Callable[..., Any] | None = None
    form: str = ""
    part: object = None  # of a sum over parts: the kernel that they have


@final
@dataclass(frozen=True)
class Plan:
    """Leaves, rows and instructions; `result` is the register that holds the kernel's value at the end."""

    views: tuple[tuple[Map, ...], ...]
    leaves: tuple[Leaf, ...]
    rows: tuple[tuple[PointFunction, int], ...]  # a function and the view that it is evaluated in
    instructions: tuple[Instruction, ...]
    n_registers: int
    result: int
    nodes: tuple[object, ...]  # the node that emitted each instruction, for messages

    def reads_as(self, other: "Plan") -> bool:
        """Whether both read the same from the points."""
        return (self.views, self.leaves, self.rows) == (other.views, other.leaves, other.rows)
