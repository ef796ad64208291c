"""Where on a plane a classifier says what, with margins and support vectors."""

from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import ListedColormap
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D

from mercer.errors import InvalidInput
from mercer.plots.plane import Slice, refuse_given_values, support_rows
from mercer.plots.reading import Machine, joined, labels_of, machine_if_any, plain, predictions_of, thinned
from mercer.plots.style import MARKERS, Theme, canvas, count, figure_of, head, key, label, rows_of

__all__ = ["DecisionRegionsDisplay"]

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

MOST_ROWS = 2_000
SIDE = 240
# A legend of more entries than these would hide the picture, and stands beside it where there is a layout.
MOST_HANDLES = 6
# f of a logistic regression where the probability of a class is 0.9.
NINE_OF_TEN = float(np.log(9.0))
INSIDE, OUTSIDE = "inside", "outside"


@final
@dataclass(eq=False, repr=False)
class DecisionRegionsDisplay:
    """What a classifier says at every point of a plane: regions, boundary, margins, rows and support vectors.

    Free support vectors (0 < |α| < C, on the margin) have a ring, bounded ones (|α| = C) a cross; rows that are no
    support vectors are hollow. Of a logistic regression the dashed lines are where a probability is 0.9.

    Attributes
    ----------
    extent : tuple of float
        The corners of the plane: left, right, below, above.
    regions : ndarray of shape (m, m)
        The number of the class at every point of a grid; rows from below.
    values : ndarray of shape (m, m), optional
        f + b there, for two classes.
    margins : tuple of float
        The values of f + b at which dashed lines are drawn.
    classes : list
        The labels.
    points : ndarray of shape (n, 2)
        The rows, in the features of the plane.
    y : ndarray of shape (n,), optional
        Their labels.
    free, bounded : ndarray of bool, shape (n,), optional
        The support vectors, where X is what the machine was fitted on.
    axes_names : tuple of two str
        The names of the features.
    note : str
        What else the head says.
    surface_, boundary_, borders_, margins_, points_, free_, bounded_
        The artists: regions; the line f + b = 0; without f, a list of the borders of each region; dashed lines; a dict
        of the rows of each class; rings and crosses. None where there are none.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from mercer import SVC
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]]), ["a", "a", "b", "b"]
    >>> machine = SVC(C=10.0, kernel="linear").fit(X, y)
    >>> shown = DecisionRegionsDisplay.from_estimator(machine, X, y, ax=Figure().subplots())
    >>> bool(shown.regions[0, 0] == 0), bool(shown.regions[0, -1] == 1), shown.margins
    (True, True, (-1.0, 1.0))
    """

    extent: tuple[float, float, float, float]
    regions: npt.NDArray[np.intp]
    values: Array | None
    margins: tuple[float, ...]
    classes: list[Any]
    points: Array
    y: npt.NDArray[Any] | None
    free: Mask | None
    bounded: Mask | None
    axes_names: tuple[str, str]
    note: str = ""
    surface_: AxesImage = field(init=False)
    boundary_: QuadContourSet | None = field(init=False)
    borders_: list[QuadContourSet] = field(init=False)
    margins_: QuadContourSet | None = field(init=False)
    points_: dict[Any, PathCollection] = field(init=False)
    free_: PathCollection | None = field(init=False)
    bounded_: PathCollection | None = field(init=False)
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, features: Any = None, ax: Any = None, theme: str | None = None
    ) -> Self:
        """Draw what a fitted classifier, or one-class machine, says on the plane of two features.

        Parameters
        ----------
        estimator : estimator
            Fitted; of mercer or of anybody.
        X : array-like or table of shape (n, d)
            The rows to draw; support vectors are marked where these are the rows of the fit.
        y : array-like of shape (n,), optional
            Their labels, for colours.
        features : two of int or str, optional
            Which two vary, where X has more than two; the others stay at their medians, so that the regions are a
            slice and rows may lie off it. The picture says so.
        ax : Axes, optional
            A new figure if not given.
        theme : {"light", "dark"}, optional
            The one that suits the axes if not given.
        """
        refuse_given_values(estimator)
        plane = Slice.through(X, features, 2)
        labels = None if y is None else labels_of(y, len(plane.table))
        (left, right), (below, above) = plane.limits(0), plane.limits(1)
        grid = np.meshgrid(np.linspace(left, right, SIDE), np.linspace(below, above, SIDE))
        at = plane.at(np.column_stack([part.ravel() for part in grid]))
        found = np.asarray(predictions_of(estimator, at))
        classes = getattr(estimator, "classes_", None)
        is_single = classes is None and set(np.unique(found).tolist()) <= {-1, 1}
        if classes is None and not is_single:
            raise InvalidInput(
                f"{type(estimator).__name__} is not a classifier.", "Regions are of classes.", "Try RegressionDisplay."
            )
        names = [OUTSIDE, INSIDE] if classes is None else list(classes)
        number = {name: i for i, name in enumerate([-1, 1] if classes is None else names)}
        regions = np.array([number[name] for name in found.tolist()]).reshape(grid[0].shape)
        machine = machine_if_any(estimator)
        decide = getattr(estimator, "decision_function", None) if len(names) == 2 else None
        values = None if decide is None else np.asarray(decide(at), dtype=np.float64).reshape(regions.shape)
        support = None if machine is None else support_rows(machine, X)
        rows, thin = thinned(len(plane.table), MOST_ROWS)
        said = rows_of(len(plane.table))
        if support is not None:
            said += f": {count(support[0].sum())} free and {count(support[1].sum())} bounded support vectors"
        return cls(
            extent=(left, right, below, above),
            regions=regions,
            values=values,
            margins=() if values is None or is_single or machine is None else _margins(machine),
            classes=names,
            points=plane.points[rows],
            y=None if labels is None else labels[rows],
            free=None if support is None else support[0][rows],
            bounded=None if support is None else support[1][rows],
            axes_names=(plane.names[plane.features[0]], plane.names[plane.features[1]]),
            note=joined(said, plane.note, thin),
        ).plot(ax=ax, theme=theme)

    def plot(self, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw it; parameters as for `from_estimator`."""
        ax, look = canvas(ax, theme, (6.0, 5.4))
        self.ax_, self.figure_ = ax, figure_of(ax)
        is_single = self.classes == [OUTSIDE, INSIDE]
        tints = [look.tint(look.colour(i), 0.2) for i in range(len(self.classes))]
        tints = [look.paper, look.tint(look.colour(0), 0.2)] if is_single else tints
        self.surface_ = ax.imshow(
            self.regions, origin="lower", extent=self.extent, cmap=ListedColormap(tints), vmin=-0.5,
            vmax=len(tints) - 0.5, aspect="auto", interpolation="nearest",
        )  # fmt: skip
        self.boundary_, self.margins_, self.borders_ = None, None, []
        handles: list[Any] = []
        if self.values is not None:
            handles += self._contours(look)
        elif self.regions.min() < self.regions.max():
            side = np.linspace(*self.extent[:2], SIDE), np.linspace(*self.extent[2:], SIDE)
            for i in np.unique(self.regions):
                is_own = (self.regions == i).astype(np.float64)
                self.borders_.append(ax.contour(*side, is_own, levels=[0.5], colors=[look.ink], linewidths=0.7))
        handles = self._rows(look) + handles
        ax.set(xlim=self.extent[:2], ylim=self.extent[2:])
        label(ax, look, *self.axes_names)
        ax.spines[:].set_visible(True)
        is_long = len(handles) > MOST_HANDLES and self.figure_.get_layout_engine() is not None
        if handles:
            key(
                ax,
                look,
                handles,
                **({"loc": "center left", "bbox_to_anchor": (1.01, 0.5)} if is_long else {"loc": "best"}),
            )
        head(ax, look, "Decision regions", self.note)
        return self

    def _contours(self, look: Theme) -> list[Line2D]:
        assert self.values is not None
        low, high = float(self.values.min()), float(self.values.max())
        handles = []
        side = np.linspace(*self.extent[:2], SIDE), np.linspace(*self.extent[2:], SIDE)
        if low < 0.0 < high:
            self.boundary_ = self.ax_.contour(*side, self.values, levels=[0.0], colors=[look.ink], linewidths=1.6)
            handles.append(Line2D([], [], color=look.ink, lw=1.6, label="f(x) + b = 0"))
        levels = [level for level in self.margins if low < level < high]
        if levels:
            self.margins_ = self.ax_.contour(
                *side, self.values, levels=levels, colors=[look.ink], linewidths=1.0, linestyles="--"
            )
            text = "f(x) + b = ±1" if 1.0 in self.margins else "a probability of 0.9"
            handles.append(Line2D([], [], color=look.ink, lw=1.0, ls="--", label=text))
        return handles

    def _rows(self, look: Theme) -> list[Any]:
        ax = self.ax_
        self.points_, self.free_, self.bounded_ = {}, None, None
        is_support = None if self.free is None or self.bounded is None else self.free | self.bounded
        groups: list[tuple[Any, Mask]] = [("rows", np.ones(len(self.points), dtype=bool))]
        if self.y is not None:
            order = [name for name in self.classes if (self.y == name).any()]
            order += [name for name in dict.fromkeys(self.y.tolist()) if name not in order]
            groups = [(name, self.y == name) for name in order]
        size = 34.0 if len(self.points) <= 300 else 14.0
        handles: list[Any] = []
        for i, (name, mask) in enumerate(groups):
            place = self.classes.index(name) if name in self.classes else i
            colour, marker = look.colour(place), MARKERS[place % len(MARKERS)]
            filled = np.ones(mask.sum(), dtype=bool) if is_support is None else is_support[mask]
            made = ax.scatter(
                self.points[mask, 0], self.points[mask, 1], s=size, marker=marker, edgecolor=colour, linewidth=1.0,
                zorder=3, facecolor=[colour if solid else look.paper for solid in filled], label=plain(name),
            )  # fmt: skip
            self.points_[name] = made
            handles.append(Line2D([], [], ls="none", marker=marker, color=colour, ms=6, label=plain(name)))
        if self.free is not None and self.free.any():
            self.free_ = ax.scatter(
                self.points[self.free, 0],
                self.points[self.free, 1],
                s=4.2 * size,
                facecolor="none",
                edgecolor=look.ink,
                linewidth=1.3,
                zorder=4,
            )
            handles.append(
                Line2D([], [], ls="none", marker="o", ms=10, mfc="none", mec=look.ink, mew=1.3, label="free: |α| < C")
            )
        if self.bounded is not None and self.bounded.any():
            self.bounded_ = ax.scatter(
                self.points[self.bounded, 0],
                self.points[self.bounded, 1],
                s=0.55 * size,
                marker="x",
                color=look.paper,
                linewidth=1.4,
                zorder=4,
            )
            handles.append(
                Line2D([], [], ls="none", marker="X", ms=7, mfc=look.muted, mec=look.paper, label="bounded: |α| = C")
            )
        return handles


def _margins(machine: Machine) -> tuple[float, ...]:
    """Where f + b is of interest beside 0: ±1 of a support vector machine, where P = 0.9 of a logistic regression."""
    if machine.model.pairs is not None:
        return (-1.0, 1.0)
    return (-NINE_OF_TEN, NINE_OF_TEN) if machine.last.certificate_.machine == "logistic loss" else ()
