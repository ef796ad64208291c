"""Pullbacks: a kernel or a distance of the images of points."""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar, Self, final

from mercer.domains import Instance
from mercer.errors import InvalidParameter, shown
from mercer.kernels.kernel import BUILD, Distance, Kernel
from mercer.kernels.node import Node
from mercer.kernels.rows import KERNEL
from mercer.kernels.rules import DISTANCE_PULLBACK, PULLBACK, Rule
from mercer.kernels.tape import Register, Tape
from mercer.maps import Columns, FunctionMap, Map
from mercer.maps.filled import Filled
from mercer.mathml import words
from mercer.notation import Notation, Operand, Raw, Style, apply_map
from mercer.points.base import Points
from mercer.term import REQUIRED, Term, param

__all__ = ["DistancePullback", "Pullback", "over_disjoint_columns"]

MAP = Instance(Map, "a map")
DISTANCE = Instance(Distance, "a distance")


def _target(m: Map) -> Raw:
    """The arguments of `.on(…)` as text."""
    source = ", ".join(map(repr, m.names)) if isinstance(m, Columns) else repr(m)
    return Raw(source, source)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Pullback(Kernel):
    """A kernel of the images of points, written ``k.on(map)``.

    k(x, z) = k₁(φ(x), φ(z)). Positive because the Gram matrix of points is that of their images (rule pullback).

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁ on images.
    map : Map
        The map φ.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> RBF().on("age", "income")
    RBF().on('age', 'income')
    """

    rule: ClassVar[Rule] = PULLBACK
    kernel: Kernel = param(REQUIRED, KERNEL)
    map: Map = param(REQUIRED, MAP)

    def writing(self) -> Notation:
        """The kernel, of the images."""
        return _writing("kernel", self.kernel.writing().level)

    def slot(self, name: str) -> object:
        """The fields, and the map as it is written between the brackets."""
        return _slot(self, self.map, name)

    def inner_points(self, style: Style, x: Operand, z: Operand) -> tuple[Operand, Operand]:
        """The images φ(x), φ(z)."""
        return apply_map(self.map, style, x), apply_map(self.map, style, z)

    def points_inside(self, points: Points) -> Points:
        """The images of the points."""
        return self.map.fit(points)(points)

    def reads(self) -> tuple[str | int, ...] | None:
        """The columns that the map chooses."""
        return _reads(self.map, self.kernel)

    def waits(self) -> bool:
        """Whether the map has a rule that needs data."""
        return self.map.unresolved

    def resolved_here(self, points: Points) -> Self:
        """The map resolved on the points."""
        return self.replace(map=self.map.resolved(points))

    def inner_coordinates(self, coordinates: bool) -> bool:
        """What the map knows about its images, or what the kernel requires of them."""
        return self.map.nonnegative_on(coordinates) or self.kernel.confines()

    def confines(self) -> bool:
        """No: the kernel refuses images, not points."""
        return False

    @property
    def max_abs(self) -> float:
        """The bound of k₁."""
        return self.kernel.max_abs

    def fractional(self, exponent: float) -> Kernel:
        """The pullback of the power."""
        return Pullback(self.kernel.fractional(exponent), self.map)

    def lower(self, tape: Tape) -> Register:
        """The kernel, seen through the map."""
        return tape.through(self.map).fold(self.kernel)


@final
@dataclass(frozen=True, repr=False, eq=False)
class DistancePullback(Distance):
    """A distance of the images of points, written ``distance.on(map)``.

    ψ(x, z) = ψ₁(φ(x), φ(z)). A distance because ψ₁ is one on the images (rule distance-pullback).

    Parameters
    ----------
    distance : Distance
        The distance ψ₁ of images.
    map : Map
        The map φ.

    Examples
    --------
    >>> from mercer.kernels import L1
    >>> L1().on(0, 2)
    L1().on(0, 2)
    """

    rule: ClassVar[Rule] = DISTANCE_PULLBACK
    distance: Distance = param(REQUIRED, DISTANCE)
    map: Map = param(REQUIRED, MAP)

    def writing(self) -> Notation:
        """The distance, of the images."""
        return _writing("distance", self.distance.writing().level)

    def slot(self, name: str) -> object:
        """The fields, and the map as it is written between the brackets."""
        return _slot(self, self.map, name)

    def inner_points(self, style: Style, x: Operand, z: Operand) -> tuple[Operand, Operand]:
        """The images φ(x), φ(z)."""
        return apply_map(self.map, style, x), apply_map(self.map, style, z)

    def points_inside(self, points: Points) -> Points:
        """The images of the points."""
        return self.map.fit(points)(points)

    def reads(self) -> tuple[str | int, ...] | None:
        """The columns that the map chooses."""
        return _reads(self.map, self.distance)

    def waits(self) -> bool:
        """Whether the map has a rule that needs data."""
        return self.map.unresolved

    def resolved_here(self, points: Points) -> Self:
        """The map resolved on the points."""
        return self.replace(map=self.map.resolved(points))

    def confines(self) -> bool:
        """No: the distance refuses images, not points."""
        return False

    def lower(self, tape: Tape) -> Register:
        """The distance, seen through the map."""
        return tape.through(self.map).fold(self.distance)


def _writing(field: str, level: int) -> Notation:
    return Notation(
        source=f"{{{field}:4}}.on({{target}})", text=f"{{{field}}}", latex=f"{{{field}}}", level=level,
        condition="φ = {map_source}{because}", condition_latex=r"\varphi: x \mapsto {map.x}{because}",
        condition_mathml="φ: x ↦ {map.x}{because}",
    )  # fmt: skip


def _slot(term: Term, m: Map, name: str) -> object:
    if name == "map_source":
        return Raw(repr(m), repr(m))
    if name == "because":
        why = f"; {m.condition}" if m.condition else ""
        return Raw(why, rf"\text{{{why}}}" if why else "", words(why) if why else "")
    return _target(m) if name == "target" else getattr(term, name)


def _reads(m: Map, inside: Node) -> tuple[str | int, ...] | None:
    if isinstance(m, Filled):  # its images are tables again
        return inside.reads()
    return m.names if isinstance(m, Columns) else None


def over_disjoint_columns(kernels: Iterable[Kernel]) -> bool:
    """Whether the kernels look at different columns, each at its own, so that they live on a product of domains."""
    seen: set[str | int] = set()
    for kernel in kernels:
        if not isinstance(kernel, Pullback) or not isinstance(kernel.map, Columns):
            return False
        names = set(kernel.map.names)
        if seen & names or len({type(name) for name in seen | names}) > 1:  # a name may be that of an index
            return False
        seen |= names
    return True


def _as_map(*target: object) -> Map:
    """A map as it is; names and indices as columns; a function of points as a map."""
    if len(target) == 1 and isinstance(target[0], Map):
        return target[0]
    if target and all(isinstance(name, str | Integral) and not isinstance(name, bool) for name in target):
        return Columns(*target)  # type: ignore[arg-type]  # the field's domain checks it
    if len(target) == 1 and callable(target[0]) and not isinstance(target[0], Term):
        return FunctionMap(target[0])
    raise InvalidParameter(
        f".on({', '.join(map(shown, target))}) is not a valid pullback.",
        "It takes one map, names or indices of columns, or one function of points.",
        'Try .on(Scale(2.0)), .on("age", "income") or .on(0, 1).',
    )


BUILD["map"] = _as_map
BUILD["pullback"] = lambda kernel, *target: Pullback(kernel, _as_map(*target))
BUILD["pullback_distance"] = lambda distance, *target: DistancePullback(distance, _as_map(*target))
