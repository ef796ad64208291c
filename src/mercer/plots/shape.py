"""What a kernel looks like along a line: sections k(·, z), its profile by distance, and functions of its space."""

from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
import scipy.linalg
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.kernels.kernel import Kernel
from mercer.plots.plane import Slice
from mercer.plots.reading import is_whole, joined, kernel_of, machine_of
from mercer.plots.style import canvas, figure_of, head, key, label

__all__ = ["KernelShapeDisplay"]

Array = npt.NDArray[np.float64]

STEPS = 301
SPAN = (-3.0, 3.0)
# Where sections are taken, as shares of the span.
PLACES = (0.2, 0.5, 0.75)
DASHES = ("-", "--", "-.", ":")
KINDS = ("sections", "distance", "samples")
# k(x, z) is a function of |x − z| if it differs by no more than this share of the largest value.
SAME = 1e-6
# The most formula that a title holds.
LONGEST = 60


@final
@dataclass(eq=False, repr=False)
class KernelShapeDisplay:
    """A kernel along a line.

    "sections" are x ↦ k(x, z) for three z; "distance" is k as a function of |x − z|, of a kernel that is one;
    "samples" are functions drawn from the Gaussian process with this covariance, in a band of two standard deviations:
    what a machine with this kernel takes for likely before it has seen data.

    Attributes
    ----------
    x : ndarray of shape (m,)
        Along the line: the coordinate, or the distance.
    curves : ndarray of shape (c, m)
        What is drawn.
    labels : list of str
        What each curve is.
    kind : {"sections", "distance", "samples"}
    deviation : ndarray of shape (m,), optional
        √k(x, x), of samples.
    formula, name : str
        Of the kernel, and of the coordinate.
    note : str
        What else the head says.
    lines_, band_
        The artists: the curves, and the band of samples (None of the other kinds).
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from mercer.kernels import RBF
    >>> shown = KernelShapeDisplay.from_kernel(RBF(1.0), kind="distance", ax=Figure().subplots())
    >>> bool(np.allclose(shown.curves[0], np.exp(-(shown.x**2) / 2)))
    True
    """

    x: Array
    curves: Array
    labels: list[str]
    kind: str
    deviation: Array | None
    formula: str
    name: str
    note: str = ""
    lines_: list[Line2D] = field(init=False)
    band_: FillBetweenPolyCollection | None = field(init=False)
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    @classmethod
    def from_kernel(
        cls, kernel: Any, X: Any = None, *, kind: str = "sections", span: Any = None, feature: Any = None,
        samples: int = 4, seed: int = 0, ax: Any = None, theme: str | None = None,
    ) -> Self:  # fmt: skip
        """Draw a kernel on vectors along a line.

        Parameters
        ----------
        kernel : Kernel
        X : array-like or table of shape (n, d), optional
            Data, which says where the line is, and on which rules such as "median" are resolved. Without it the
            kernel is drawn on numbers x.
        kind : {"sections", "distance", "samples"}
        span : two floats, optional
            From where to where; the range of the data, or −3 to 3.
        feature : int or str, optional
            Which feature of X varies, where it has several; the others stay at their medians.
        samples : int, default 4
            How many functions are drawn.
        seed : int, default 0
            Of their randomness.
        ax : Axes, optional
            A new figure if not given.
        theme : {"light", "dark"}, optional
            The one that suits the axes if not given.
        """
        kernel = kernel_of(kernel)
        if kind not in KINDS:
            raise InvalidParameter(f"kind must be one of {shown(list(KINDS))}.", f"Got {shown(kind)}.")
        line = None if X is None else Slice.through(X, feature, 1)
        low, high = _span(span, SPAN if line is None else line.limits(0))
        t = np.linspace(low, high, STEPS)
        at = t[:, None] if line is None else line.at(t[:, None])
        resolved = kernel if X is None else kernel.resolve(X)
        K = np.asarray(resolved(at), dtype=np.float64)
        formula = resolved.formula()
        rest: dict[str, Any] = {
            "kind": kind,
            "formula": formula if len(formula) <= LONGEST else f"{formula[:LONGEST]}…",
            "name": "x" if line is None else line.names[line.features[0]],
            "note": "" if line is None else line.note,
        }
        x, curves, labels, deviation = t, K, [""], None
        if kind == "distance":
            x, curves, labels = t - t[0], _profile(K, kernel)[None], ["k"]
        elif kind == "samples":
            deviation = np.sqrt(np.maximum(np.diagonal(K), 0.0))
            curves, labels = _samples(K, samples, seed), [f"sample {i + 1}" for i in range(samples)]
        else:
            places = [round(share * (STEPS - 1)) for share in PLACES]
            curves, labels = K[places], [f"z = {t[place]:.3g}" for place in places]
        return cls(x, curves, labels, deviation=deviation, **rest).plot(ax=ax, theme=theme)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, kind: str = "sections", span: Any = None, feature: Any = None,  # noqa: ARG003 (as all displays)
        samples: int = 4, seed: int = 0, ax: Any = None, theme: str | None = None,
    ) -> Self:  # fmt: skip
        """Draw the kernel that a machine was fitted with, along a line through X; parameters as for `from_kernel`."""
        machine = machine_of(estimator)
        seen = X if machine.before is None else machine.before.transform(X)
        return cls.from_kernel(
            machine.model.kernel, seen, kind=kind, span=span, feature=feature, samples=samples, seed=seed, ax=ax,
            theme=theme,
        )  # fmt: skip

    def plot(self, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw it; parameters as for `from_kernel`."""
        ax, look = canvas(ax, theme, (6.4, 4.0))
        self.ax_, self.figure_ = ax, figure_of(ax)
        ax.grid(color=look.grid, linewidth=0.8)
        self.band_ = None
        if self.deviation is not None:
            self.band_ = ax.fill_between(
                self.x, -2 * self.deviation, 2 * self.deviation, color=look.tint(look.colour(6), 0.22), lw=0
            )
        self.lines_ = [
            *(
                ax.plot(self.x, curve, color=look.colour(i), lw=1.8, ls=DASHES[i % len(DASHES)], label=text)[0]
                for i, (curve, text) in enumerate(zip(self.curves, self.labels, strict=True))
            )
        ]
        words = {
            "sections": (self.name, f"k({self.name}, z)", "Sections of a kernel"),
            "distance": ("distance |x − z|", "k", "Kernel by distance"),
            "samples": (self.name, f"f({self.name})", "Functions drawn with a kernel"),
        }
        x, y, title = words[self.kind]
        ax.set_xlim(self.x[0], self.x[-1])
        label(ax, look, x, y)
        if self.kind == "sections":
            key(ax, look, loc="best")
        band = "in grey ± 2 √k(x, x)" if self.band_ is not None else ""
        head(ax, look, title, joined(f"k(x, z) = {self.formula}", band, self.note))
        return self


def _span(given: Any, usual: tuple[float, float]) -> tuple[float, float]:
    if given is None:
        return usual
    found = np.asarray(given, dtype=np.float64)
    if found.shape != (2,) or not np.isfinite(found).all() or not found[0] < found[1]:
        raise InvalidParameter("span must be two numbers, the smaller first.", f"Got {shown(given)}.")
    return float(found[0]), float(found[1])


def _profile(K: Array, kernel: Kernel) -> Array:
    """The first row of K, whose entries along each diagonal must be the same."""
    profile = K[0]
    if not np.abs(scipy.linalg.toeplitz(profile) - K).max() <= SAME * np.abs(K).max(initial=1e-300):
        raise InvalidInput(
            f"{kernel!r} is not a function of the distance alone.", "It differs between points as far apart.",
            'Draw kind="sections".',
        )  # fmt: skip
    return np.asarray(profile)


def _samples(K: Array, count: int, seed: int) -> Array:
    if not is_whole(count) or count < 1:
        raise InvalidParameter("samples must be a whole number, at least 1.", f"Got {shown(count)}.")
    values, vectors = scipy.linalg.eigh(K)
    if values[0] < -SAME * max(values[-1], 0.0):
        raise InvalidInput(
            "K is not positive here, so that there is nothing to draw from.",
            f"Its least eigenvalue is {values[0]:.3g}.",
        )
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray((root @ np.random.default_rng(seed).standard_normal((len(K), int(count)))).T)
