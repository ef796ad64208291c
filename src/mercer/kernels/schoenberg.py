"""Schoenberg's theorem: completely monotone profiles of distances are kernels."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
import numpy.typing as npt

from mercer.domains import Instance
from mercer.errors import InvalidParameter
from mercer.kernels import lengths
from mercer.kernels.distances import SquaredEuclidean
from mercer.kernels.kernel import BUILD, Distance, Kernel
from mercer.kernels.node import Node
from mercer.kernels.profiles import Profile
from mercer.kernels.pullback import DISTANCE, Pullback
from mercer.kernels.rules import SCHOENBERG, Rule
from mercer.kernels.tape import Register, Tape
from mercer.maps import Scale
from mercer.maps.percolumn import PerColumn
from mercer.mathml import line
from mercer.notation import Notation, Raw, Style, fill
from mercer.points.base import Points
from mercer.term import REQUIRED, param

__all__ = ["LengthScale", "Of", "Radial"]

LengthScale = float | str | npt.NDArray[np.float64]


class Radial(Kernel):
    """A profile of a distance: f(ψ), with a length scale that is a number, one per column, or a rule for data."""

    profile: ClassVar[Profile]
    metric: ClassVar[Distance] = SquaredEuclidean()
    length_scale: LengthScale

    def writing(self) -> Notation:
        """The profile, of the kernel's own distance."""
        if not self.is_isotropic:
            return Notation(text="{scaled}", latex="{scaled}", level=self.profile.level)
        of = self.profile
        return Notation(text=of.text, latex=of.latex, level=of.level, mathml=of.mathml)

    def slot(self, name: str) -> Any:
        """The fields, the distance, and the kernel of scaled columns."""
        if name == "scaled":
            return self.anisotropic()
        return self.metric if name == "psi" else getattr(self, name)

    @property
    def max_abs(self) -> float:
        """f(0) = 1, the largest value."""
        return 1.0

    @property
    def is_isotropic(self) -> bool:
        """Whether one length scale serves all columns."""
        return not isinstance(self.length_scale, np.ndarray)

    def waits(self) -> bool:
        """Whether the length scale is a rule."""
        return isinstance(self.length_scale, str)

    def resolved_here(self, points: Points) -> Self:
        """The length scale found on the points."""
        return self.resolved_by(self.metric, points, self)

    def resolved_by(self, distance: Distance, points: Points, owner: Kernel) -> Self:
        """The length scale found on the points with this distance, for the kernel that messages name."""
        if not isinstance(self.length_scale, str):
            return self
        find = lengths.TABLE[self.length_scale]
        return self.replace(length_scale=find(points, distance, self.profile.length_power, owner))

    def anisotropic(self) -> Kernel:
        """One length scale per column, as the pullback of the unit one by x ↦ x/ℓ."""
        return Pullback(self.replace(length_scale=1.0), Scale(1.0 / np.asarray(self.length_scale)))

    def fold(self, tape: Tape, psi: Register) -> Register:
        """f(ψ)."""
        if isinstance(self.length_scale, str):
            raise InvalidParameter(
                f"{self!r} is not resolved yet.", f"Its length scale is the rule {self.length_scale!r}.",
                "Call kernel.resolve(X) first.",
            )  # fmt: skip
        return self.profile.fold(tape, psi, self.fields())

    def lower(self, tape: Tape) -> Register:
        """f(ψ), of points divided by the length scale where it differs between columns."""
        if not self.is_isotropic:
            fits = PerColumn(type(self).__name__, "length_scale", self.length_scale)
            return tape.through(fits).fold(self.anisotropic())
        return self.fold(tape, tape.fold(self.metric))

    def expand(self) -> Kernel:
        """The pullback for length scales per column, else the derivation of the one length scale."""
        return self.derivation() if self.is_isotropic else self.anisotropic()

    @abstractmethod
    def derivation(self) -> Kernel:
        """The same kernel from simpler ones, for one length scale."""


RADIAL = Instance(Radial, "a radial kernel")


@final
@dataclass(frozen=True, repr=False, eq=False)
class Of(Kernel):
    """The profile of a radial kernel, of a distance of choice, written ``RBF().of(L1())``.

    k(x, z) = f(ψ(x, z)). Positive because f is completely monotone and ψ conditionally negative definite (rule
    schoenberg). The length scale divides ψ as it divides the kernel's own distance: ``Matern(1.5).of(L1())`` is a
    function of √ψ with ψ = ‖x − z‖₁.

    Parameters
    ----------
    kernel : Radial
        The kernel whose profile f is meant, with one length scale.
    distance : Distance
        The distance ψ.

    Examples
    --------
    >>> from mercer.kernels import L1, RBF
    >>> RBF(2.0).of(L1()).formula()
    'exp(−‖x − z‖₁/(2·2²))'
    """

    rule: ClassVar[Rule] = SCHOENBERG
    kernel: Radial = param(REQUIRED, RADIAL)
    distance: Distance = param(REQUIRED, DISTANCE)

    def validate(self) -> None:
        """Length scales per column belong to vectors, not to any distance."""
        if not self.kernel.is_isotropic:
            raise InvalidParameter(
                f"{self.kernel!r}.of(…) needs one length scale.", f"Got {len(self.kernel.fields()['length_scale'])}.",
                "Scale the columns of the distance instead: .of(distance.on(Scale(…))).",
            )  # fmt: skip

    def writing(self) -> Notation:
        """The profile of the kernel, of this distance."""
        of = self.kernel.writing()
        return Notation(
            source="{kernel:4}.of({distance})", text=of.text, latex=of.latex, level=of.level, mathml=of.mathml,
            condition="f(t) = {f} completely monotone: {because}", condition_latex="f(t) = {f}",
        )  # fmt: skip

    def slot(self, name: str) -> Any:
        """The distance, the profile as a function of t, and the parameters of the kernel."""
        if name == "f":
            notation, t = self.kernel.writing(), Raw("t", "t", "<mi>t</mi>")
            return Raw(
                fill(notation.text, self.kernel, Style.TEXT, psi=t),
                fill(notation.latex, self.kernel, Style.LATEX, psi=t),
                fill(line(notation.mathml or notation.text), self.kernel, Style.MATHML, psi=t),
            )
        if name == "because":
            return Raw(self.kernel.profile.because, self.kernel.profile.because)
        if name in ("kernel", "distance"):
            return getattr(self, name)
        return self.distance if name == "psi" else self.kernel.slot(name)

    def premises(self) -> tuple[Node, ...]:
        """Only the distance: from the kernel, only the profile is used."""
        return (self.distance,)

    def resolve_on(self, points: Points) -> "Of":
        """The length scale found with this distance."""
        distance = self.distance.resolve_on(points)
        return Of(self.kernel.resolved_by(distance, points, self), distance)

    @property
    def max_abs(self) -> float:
        """f(0) = 1."""
        return 1.0

    def fractional(self, exponent: float) -> Kernel:
        """The same distance under the power of the profile."""
        return Of(self.kernel.fractional(exponent), self.distance)  # type: ignore[arg-type]  # its field says what fits

    def lower(self, tape: Tape) -> Register:
        """f(ψ)."""
        return self.kernel.fold(tape, tape.fold(self.distance))


def _of(kernel: Kernel, distance: object) -> Kernel:
    if not isinstance(kernel, Radial):
        raise InvalidParameter(
            f"{kernel!r}.of({distance!r}) is not defined.", f"{kernel!r} is not a function of a distance.",
            f"Try RBF().of(Polarised({kernel!r})) for the distance that the kernel makes.",
        )  # fmt: skip
    if isinstance(distance, Kernel):
        raise InvalidParameter(
            f"{kernel!r}.of({distance!r}) needs a distance.", f"{distance!r} is a kernel, not a distance.",
            f"Try {kernel!r}.of(Polarised({distance!r})), the distance in its feature space.",
        )  # fmt: skip
    return Of(kernel, distance)  # type: ignore[arg-type]  # the field's domain checks it


BUILD["of"] = _of
