"""Which training rows a fit rests on."""

from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.plots.leave_one_out import path_of, penalties_of
from mercer.plots.reading import Machine, column_of, machine_of, plain
from mercer.plots.style import canvas, count, figure_of, head, key, label

__all__ = ["InfluenceDisplay"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


@final
@dataclass(eq=False, repr=False)
class InfluenceDisplay:
    """The training rows that count most, as bars.

    Two measures. "coefficient" is αᵢ itself: f(x) = Σ αᵢ k(xᵢ, x) + b, so that it is the row's whole part in any
    prediction (in ridge regression a residual over λ; in logistic regression C times what is left to the wrong
    class; in a support vector machine 0 for most rows and C for those beyond the margin). "leave-one-out", of ridge
    machines, is how far the prediction at the row moves when the row itself is left out,
    f(xᵢ) − f₋ᵢ(xᵢ) = hᵢ eᵢ/(1 − hᵢ), by the exact formula and without a second fit.

    Attributes
    ----------
    values : ndarray of shape (m,)
        The measure, signed, of all rows that have one: of a support vector machine its support vectors.
    rows : ndarray of shape (m,)
        Which rows of the training data these are.
    measure : {"coefficient", "leave-one-out"}
    bounded : ndarray of bool, shape (m,), optional
        Support vectors whose coefficient is as large as C allows.
    names : list of str, optional
        What to call the rows of the training data; their numbers if not given.
    most : int
        How many are drawn.
    top : ndarray
        The places in `values` of those drawn, the largest first.
    bars_
        The artist.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> shown = InfluenceDisplay.from_values([0.1, -3.0, 0.5], most=2, ax=Figure().subplots())
    >>> shown.rows[shown.top]
    array([1, 2])
    """

    values: Array
    rows: Rows
    measure: str = "coefficient"
    bounded: npt.NDArray[np.bool_] | None = None
    names: list[str] | None = None
    most: int = 15
    bars_: BarContainer = field(init=False)
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *,  # noqa: ARG003 (as all displays)
        measure: str = "coefficient", most: int = 15, target: int = 0, names: Any = None, ax: Any = None,
        theme: str | None = None,
    ) -> Self:  # fmt: skip
        """Draw the rows that a fit rests on.

        Parameters
        ----------
        estimator : estimator
            A fitted machine of mercer, a pipeline that ends in one, or a search over either.
        X, y : ignored
            The model knows what is drawn.
        measure : {"coefficient", "leave-one-out"}
            The second of ridge machines only.
        most : int, default 15
            How many rows.
        target : int, default 0
            Which f, where there are several: the target, the class of a logistic regression. Of the pairs of more than
            two classes, the largest |αᵢ| counts.
        names : sequence, optional
            What to call the training rows.
        ax : Axes, optional
            A new figure if not given.
        theme : {"light", "dark"}, optional
            The one that suits the axes if not given.
        """
        if measure not in MEASURES:
            raise InvalidParameter(f"measure must be one of {shown(list(MEASURES))}.", f"Got {shown(measure)}.")
        machine = machine_of(estimator)
        values = MEASURES[measure](machine, target)
        own = vars(machine.last)
        support = own.get("support_")
        rows = np.arange(len(values)) if support is None else np.asarray(support, dtype=np.intp)
        bounded = np.isin(rows, machine.last.bounded_support_) if support is not None else None
        return cls(values, rows, measure, bounded, _names(names), _count(most)).plot(ax=ax, theme=theme)

    @classmethod
    def from_values(
        cls, values: Any, *, measure: str = "coefficient", names: Any = None, most: int = 15, ax: Any = None,
        theme: str | None = None,
    ) -> Self:  # fmt: skip
        """Draw numbers that are there, one for each row."""
        found = column_of(np.asarray(values, dtype=np.float64), 0)
        made = cls(found, np.arange(len(found)), measure, None, _names(names), _count(most))
        return made.plot(ax=ax, theme=theme)

    def __post_init__(self) -> None:
        if not np.isfinite(self.values).all():
            row = int(np.argmin(np.isfinite(self.values)))
            raise InvalidInput("Influences must be finite.", f"That of row {self.rows[row]} is {self.values[row]}.")
        self.top = np.argsort(-np.abs(self.values), kind="stable")[: self.most]
        if self.names is not None and len(self.rows):
            most = int(self.rows.max()) + 1
            if len(self.names) < most:
                raise InvalidInput(f"names must have one entry for each of the {most} rows.", f"Got {len(self.names)}.")

    def plot(self, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw it; parameters as for `from_estimator`."""
        drawn = len(self.top)
        ax, look = canvas(ax, theme, (6.4, 1.7 + 0.26 * max(drawn, 3)))
        self.ax_, self.figure_ = ax, figure_of(ax)
        values = self.values[self.top]
        colours = [look.colour(0) if value >= 0.0 else look.colour(1) for value in values]
        is_bounded = np.zeros(drawn, dtype=bool) if self.bounded is None else self.bounded[self.top]
        faces = [look.tint(c, 0.45) if b else c for c, b in zip(colours, is_bounded, strict=True)]
        places = np.arange(drawn)
        self.bars_ = ax.barh(places, np.abs(values), color=faces, edgecolor=colours, linewidth=1.0, height=0.72)
        for bar, hatched in zip(self.bars_, is_bounded, strict=True):
            bar.set_hatch("////" if hatched else "")
        numbers = self.rows[self.top]
        ax.set_yticks(places, [self._name(int(row)) for row in numbers])
        ax.set_ylim(max(drawn, 1) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color=look.grid, linewidth=0.8)
        words = {"coefficient": "|αᵢ|, the coefficient of the row"}
        label(ax, look, words.get(self.measure, "how far f(xᵢ) moves without row i"))
        handles = [
            Patch(facecolor=look.colour(i), label=text)
            for i, (text, is_there) in enumerate((("raises f", (values >= 0).any()), ("lowers f", (values < 0).any())))
            if is_there
        ]
        if is_bounded.any():
            handles.append(
                Patch(facecolor="none", edgecolor=look.muted, hatch="////", label="bounded: |α| is all that C allows")
            )
        if handles:
            key(ax, look, handles, loc="lower right")
        total = float(np.abs(self.values).sum())
        share = f", {np.abs(values).sum() / total:.0%} of Σ|α|" if total and self.measure == "coefficient" else ""
        what = "support vectors" if self.bounded is not None else "rows"
        head(ax, look, "Influential rows", f"the {drawn} largest of {count(len(self.values))} {what}{share}")
        return self

    def _name(self, row: int) -> str:
        return f"row {row}" if self.names is None else plain(self.names[row])


def _coefficients(machine: Machine, target: int) -> Array:
    model = machine.model
    if model.smoothing is not None or model.votes is not None:
        raise InvalidInput(
            f"{type(machine.last).__name__} has no coefficients: every training row votes with its own target.", "",
            "Draw a machine that solves for α: KernelRidge, SVC, …",
        )  # fmt: skip
    coef = model.coef
    if model.pairs is not None and coef.shape[1] > 1:
        best = np.abs(coef).argmax(axis=1)
        return np.asarray(coef[np.arange(len(coef)), best])
    return np.asarray(column_of(coef, target), dtype=np.float64)


def _left_out(machine: Machine, target: int) -> Array:
    """f(xᵢ) − f₋ᵢ(xᵢ): the residual of leave-one-out minus that of the fit."""
    path, penalties = path_of(machine), penalties_of(machine)
    column_of(np.empty((1, len(penalties))), target)
    known = machine.model.uncertainty
    assert known is not None  # path_of has refused
    with np.errstate(divide="ignore", invalid="ignore"):  # a row without weight: its residual is that of leave-one-out
        residual = machine.model.coef[:, target] / known.cost[:, target]
    left = path.leave_one_out_at(penalties)[:, target]
    return np.where(known.cost[:, target] > 0.0, left - residual, 0.0)


MEASURES = {"coefficient": _coefficients, "leave-one-out": _left_out}


def _names(names: Any) -> list[str] | None:
    return None if names is None else [str(name) for name in names]


def _count(most: Any) -> int:
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise InvalidParameter("most must be a whole number, at least 1.", f"Got {shown(most)}.")
    return int(most)
