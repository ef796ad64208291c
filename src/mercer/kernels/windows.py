"""Smoothing windows: weights that fall to zero at the bandwidth. They are not kernels."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, final

from mercer.domains import Length
from mercer.errors import InvalidParameter, NotPositive
from mercer.kernels.distances import SquaredEuclidean
from mercer.kernels.kernel import Distance
from mercer.kernels.tape import Register, Tape

__all__ = ["TABLE", "Window"]


def _uniform(tape: Tape, psi: Register, h: float) -> Register:
    # h² − ψ has the right sign to the last bit, and t/t is exactly 1, and 0 for t = 0.
    inside = tape.clamp0(tape.affine(psi, -1.0, h * h))
    return tape.div(inside, inside)


def _epanechnikov(tape: Tape, psi: Register, h: float) -> Register:
    return tape.affine(tape.clamp0(tape.affine(psi, -1.0, h * h)), h**-2, 0.0)


def _tricube(tape: Tape, psi: Register, h: float) -> Register:
    u_squared = tape.affine(psi, h**-2, 0.0)
    cube = tape.mul(u_squared, tape.sqrt(u_squared))
    return tape.powi(tape.clamp0(tape.affine(cube, -1.0, 1.0)), 3)


# Name -> the program of the window in ψ = (u·h)², for u < 1; each is 0 for u ≥ 1.
TABLE: dict[str, tuple[str, Callable[[Tape, Register, float], Register]]] = {
    "uniform": ("1", _uniform),
    "epanechnikov": ("1 − u²", _epanechnikov),
    "tricube": ("(1 − u³)³", _tricube),
}


@final
@dataclass(frozen=True)
class Window:
    """A weight that depends on a distance and is zero beyond the bandwidth.

    With u = √ψ(x, z)/h for a distance ψ of mercer, ‖x − z‖/h by default, the weight is for u < 1

        uniform: 1,   epanechnikov: 1 − u²,   tricube: (1 − u³)³,

    and 0 for u ≥ 1. Constant factors are left out, since smoothing divides by the sum of the weights. A window is no
    kernel: its Gram matrices may have negative eigenvalues, so only smoothers accept it.

    Parameters
    ----------
    name : {"uniform", "epanechnikov", "tricube"}
        The form.
    distance : Distance, default SquaredEuclidean()
        The distance ψ; its root is compared with the bandwidth, as ‖x − z‖ is the root of ‖x − z‖².
    bandwidth : float, default 1.0
        The width h > 0.

    Examples
    --------
    >>> Window("epanechnikov")
    Window('epanechnikov')
    >>> Window("tricube").at(2.0)
    Window('tricube', bandwidth=2.0)

    References
    ----------
    .. [1] V. A. Epanechnikov. Non-parametric estimation of a multivariate probability density. Theory of Probability
           and its Applications 14 (1969), 153–158.
    .. [2] W. S. Cleveland. Robust locally weighted regression and smoothing scatterplots. JASA 74 (1979), 829–836.
    """

    name: str
    distance: Distance = SquaredEuclidean()  # noqa: RUF009 (a frozen term)
    bandwidth: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in TABLE:
            raise InvalidParameter(
                f"{self.name!r} is not the name of a window.", f"Names are {', '.join(map(repr, TABLE))}."
            )
        if not isinstance(self.distance, Distance):
            raise InvalidParameter(
                "distance of Window must be a distance.",
                f"Got {self.distance!r}.",
                "Try SquaredEuclidean(), or Polarised(k) for the distance that a kernel makes.",
            )

        Length.check("Window", "bandwidth", self.bandwidth)

    def __repr__(self) -> str:
        distance = "" if self.distance == SquaredEuclidean() else f", {self.distance!r}"
        bandwidth = "" if self.bandwidth == 1.0 else f", bandwidth={self.bandwidth!r}"
        return f"Window({self.name!r}{distance}{bandwidth})"

    def __sklearn_clone__(self) -> Self:
        return self

    def at(self, h: float) -> "Window":
        """The window with its bandwidth multiplied by h."""
        return replace(self, bandwidth=h * self.bandwidth)

    def lower(self, tape: Tape) -> Register:
        """Write the window of the distance to a tape."""
        return TABLE[self.name][1](tape, tape.fold(self.distance), self.bandwidth)

    def resolve(self, points: Any) -> "Window":
        """The window with its distance resolved on the points."""
        return replace(self, distance=self.distance.resolve(points))

    def proof(self) -> Any:
        """Refused: a window is not positive semi-definite."""
        raise NotPositive(
            f"{self!r} is a smoothing window and not a kernel.",
            "Its Gram matrices may have negative eigenvalues: its Fourier transform changes sign.",
            "Use it in NadarayaWatson; where a kernel is needed, try RBF() or Matern(1.5).",
        )
