"""A regression as a curve, with the band of its posterior or the tube of its loss."""

from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from mercer.domains import is_number
from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.plots.plane import Slice, refuse_given_values, support_rows
from mercer.plots.reading import (
    column_of,
    deviations_of,
    joined,
    machine_if_any,
    numbers_of,
    predictions_of,
    thinned,
)  # fmt: skip
from mercer.plots.style import canvas, figure_of, head, key, label, rows_of

__all__ = ["RegressionDisplay"]

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

MOST_ROWS = 2_000
STEPS = 400


@final
@dataclass(eq=False, repr=False)
class RegressionDisplay:
    """The predicted curve along one feature, with the training rows.

    Ridge machines have a band of the posterior: where f lies, if the kernel is the prior covariance and alpha the
    variance of the noise, both times the `prior_variance_` of the machine. Support vector regression has a tube of the
    half-width ε, and its support vectors are filled.

    Attributes
    ----------
    x, curve : ndarray of shape (m,)
        The feature, and the prediction along it.
    std : ndarray of shape (m,), optional
        The posterior standard deviation of f + b, in the unit of the target.
    tube : float, optional
        ε.
    deviations : float
        How many standard deviations the band is wide, to each side.
    points : ndarray of shape (n, 2)
        Feature and target of the rows; empty without y.
    support : ndarray of bool, shape (n,), optional
        Support vectors, where X is what the machine was fitted on.
    name : str
        Of the feature.
    note : str
        What else the head says.
    line_, band_, tube_, points_
        The artists: curve, band (None without), edges of the tube (a list), rows.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from mercer import RBF, KernelRidge
    >>> X = np.linspace(0, 6, 20)[:, None]
    >>> machine = KernelRidge(alpha=0.01, kernel=RBF(1.0)).fit(X, np.sin(X[:, 0]))
    >>> shown = RegressionDisplay.from_estimator(machine, X, np.sin(X[:, 0]), ax=Figure().subplots())
    >>> bool(np.abs(shown.curve - np.sin(shown.x)).max() < 0.2), bool(shown.std[200] < 0.1)
    (True, True)
    """

    x: Array
    curve: Array
    std: Array | None
    tube: float | None
    deviations: float
    points: Array
    support: Mask | None
    name: str
    note: str = ""
    line_: Line2D = field(init=False)
    band_: FillBetweenPolyCollection | None = field(init=False)
    tube_: list[Line2D] = field(init=False)
    points_: PathCollection | None = field(init=False)
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, feature: Any = None, target: int = 0, deviations: float = 2.0,
        ax: Any = None, theme: str | None = None,
    ) -> Self:  # fmt: skip
        """Draw what a fitted regressor predicts along one feature.

        Parameters
        ----------
        estimator : estimator
            Fitted; of mercer or of anybody.
        X : array-like or table of shape (n, d)
            The rows to draw, which also say how far the curve goes.
        y : array-like of shape (n,) or (n, n_targets), optional
            Their targets.
        feature : int or str, optional
            Which feature varies, where X has several; the others stay at their medians, and the picture says so.
        target : int, default 0
            Which column of y, where there are several.
        deviations : float, default 2.0
            How many standard deviations the band is wide, to each side.
        ax : Axes, optional
            A new figure if not given.
        theme : {"light", "dark"}, optional
            The one that suits the axes if not given.
        """
        if not is_number(deviations) or not 0.0 < deviations < np.inf:
            raise InvalidParameter("deviations must be a number above 0.", f"Got {shown(deviations)}.")
        refuse_given_values(estimator)
        line = Slice.through(X, feature, 1)
        n = len(line.table)
        truth = None if y is None else numbers_of(column_of(y, target), "y", n)
        x = np.linspace(*line.limits(0), STEPS)
        at = line.at(x[:, None])
        found = column_of(predictions_of(estimator, at), target)
        if found.dtype.kind not in "fiu":
            raise InvalidInput(
                f"{type(estimator).__name__} predicts no numbers.", "", "Try DecisionRegionsDisplay for classes."
            )
        rows, thin = thinned(n, MOST_ROWS)
        points = np.empty((0, 2)) if truth is None else np.column_stack([line.points[:, 0], truth])[rows]
        tube, support = _tube(estimator, X)
        return cls(
            x=x,
            curve=np.asarray(found, dtype=np.float64),
            std=deviations_of(estimator, at, target),
            tube=tube,
            deviations=float(deviations),
            points=points,
            support=None if support is None else support[rows],
            name=line.names[line.features[0]],
            note=joined(line.note, thin),
        ).plot(ax=ax, theme=theme)

    def plot(self, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw it; parameters as for `from_estimator`."""
        ax, look = canvas(ax, theme, (6.8, 4.4))
        self.ax_, self.figure_ = ax, figure_of(ax)
        colour = look.colour(0)
        ax.grid(color=look.grid, linewidth=0.8)
        self.band_, self.tube_, self.points_ = None, [], None
        if self.std is not None:
            half = self.deviations * self.std
            text = f"f ± {self.deviations:g} standard deviations"
            self.band_ = ax.fill_between(
                self.x, self.curve - half, self.curve + half, color=look.tint(colour, 0.25), lw=0, label=text
            )
        (self.line_,) = ax.plot(self.x, self.curve, color=colour, lw=2.0, label="prediction", zorder=3)
        if self.tube is not None:
            style = {"color": colour, "lw": 1.0, "ls": "--", "zorder": 3}
            upper = ax.plot(self.x, self.curve + self.tube, label=f"tube, ε = {self.tube:.3g}", **style)
            self.tube_ = [*upper, *ax.plot(self.x, self.curve - self.tube, **style)]
        handles, said = ax.get_legend_handles_labels()[0], ""
        if len(self.points):
            mark, size = look.colour(1), 26.0 if len(self.points) <= 300 else 9.0
            solid = np.ones(len(self.points), dtype=bool) if self.support is None else self.support
            self.points_ = ax.scatter(
                *self.points.T, s=size, facecolor=[mark if is_solid else look.paper for is_solid in solid],
                edgecolor=mark, linewidth=0.9, zorder=4,
            )  # fmt: skip
            what = "rows" if self.support is None else "support vectors"
            handles.append(Line2D([], [], ls="none", marker="o", ms=5, color=mark, label=what))
            said = rows_of(len(self.points))
            if self.support is not None:
                said += f", {int(self.support.sum())} support vectors (filled)"
        ax.set_xlim(self.x[0], self.x[-1])
        label(ax, look, self.name, "target")
        key(ax, look, handles, loc="best")
        head(ax, look, "Regression", joined(said, self.note))
        return self


def _tube(estimator: Any, X: Any) -> tuple[float | None, Mask | None]:
    """ε of a support vector regression, and which rows are its support vectors."""
    machine = machine_if_any(estimator)
    if machine is None:
        return None, None
    kind = machine.last.certificate_.machine
    own = vars(machine.last)
    found = support_rows(machine, X)
    support = None if found is None else found[0] | found[1]
    radius = {"epsilon-svr": own.get("epsilon"), "nu-svr": np.ravel(own.get("margin_", np.nan))[0]}.get(kind)
    return (None if radius is None else float(radius)), support
