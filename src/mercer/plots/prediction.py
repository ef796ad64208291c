"""What was predicted against what is true: numbers as points on a diagonal, classes as a table of counts."""

from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.text import Text

from mercer.errors import InvalidInput
from mercer.plots.reading import column_of, deviations_of, joined, labels_of, numbers_of, plain, predictions_of, thinned
from mercer.plots.style import canvas, count, figure_of, head, key, label, rows_of

__all__ = ["ConfusionDisplay", "PredictionDisplay"]

Array = npt.NDArray[np.float64]

MOST_ROWS = 3_000
# Error bars of more rows than these hide each other.
MOST_BARS = 200
# A table of more classes than these has no numbers in its cells.
MOST_WRITTEN = 15
MOST_NAMES = 25


@final
@dataclass(eq=False, repr=False)
class PredictionDisplay:
    """Predicted numbers against true ones: points on the diagonal are right.

    Attributes
    ----------
    y_true, y_pred : ndarray of shape (n,)
        All rows; of more than 3 000, so many are drawn.
    std : ndarray of shape (n,), optional
        Standard deviations of f, of ridge machines in the unit of the target by their `prior_variance_`; drawn as bars
        of two for up to 200 rows.
    points_, line_, bars_
        The artists: rows, diagonal, error bars (None without).
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> shown = PredictionDisplay.from_predictions([1.0, 2.0, 3.0], [1.1, 1.9, 3.0], ax=Figure().subplots())
    >>> round(shown.r2, 3), round(shown.rmse, 3)
    (0.99, 0.082)
    """

    y_true: Array
    y_pred: Array
    std: Array | None = None
    points_: PathCollection = field(init=False)
    line_: Line2D = field(init=False)
    bars_: LineCollection | None = field(init=False)
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, target: int = 0, ax: Any = None, theme: str | None = None
    ) -> Self:
        """Predict X, and draw the predictions against y; with error bars where the machine has them.

        Parameters
        ----------
        estimator : estimator
            A fitted regressor.
        X : like the X of its `fit`
            Rows that it has not seen, or it will look better than it is.
        y : array-like of shape (n,) or (n, n_targets)
            What is true.
        target : int, default 0
            Which column, where there are several.
        ax : Axes, optional
            A new figure if not given.
        theme : {"light", "dark"}, optional
            The one that suits the axes if not given.
        """
        found = column_of(predictions_of(estimator, X), target)
        std = deviations_of(estimator, X, target) if len(found) <= MOST_BARS else None
        return cls.from_predictions(column_of(y, target), found, std=std, ax=ax, theme=theme)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, std: Any = None, ax: Any = None, theme: str | None = None
    ) -> Self:
        """Draw predictions that are there, with their standard deviations if these are known."""
        truth = numbers_of(y_true, "y_true")
        found = numbers_of(y_pred, "y_pred", len(truth))
        bars = None if std is None else numbers_of(std, "std", len(truth))
        return cls(truth, found, bars).plot(ax=ax, theme=theme)

    @property
    def r2(self) -> float:
        """1 − Σ (y − ŷ)²/Σ (y − mean)²; NaN where all y are the same."""
        total = float(np.square(self.y_true - self.y_true.mean()).sum())
        return 1.0 - float(np.square(self.y_true - self.y_pred).sum()) / total if total > 0.0 else float("nan")

    @property
    def rmse(self) -> float:
        """The root of the mean squared error."""
        return float(np.sqrt(np.square(self.y_true - self.y_pred).mean()))

    def plot(self, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw it; parameters as for `from_estimator`."""
        ax, look = canvas(ax, theme, (5.4, 5.4))
        self.ax_, self.figure_ = ax, figure_of(ax)
        n = len(self.y_true)
        rows, note = thinned(n, MOST_ROWS)
        x, y = self.y_true[rows], self.y_pred[rows]
        ends = np.array([min(self.y_true.min(), self.y_pred.min()), max(self.y_true.max(), self.y_pred.max())])
        room = 0.04 * (float(ends[1] - ends[0]) or 1.0)
        ends += [-room, room]
        ax.grid(color=look.grid, linewidth=0.8)
        self.bars_ = None
        if self.std is not None and n <= MOST_BARS:
            bars = [[(a, b - 2 * s), (a, b + 2 * s)] for a, b, s in zip(x, y, self.std[rows], strict=True)]
            colour = look.tint(look.colour(0), 0.45)
            made = LineCollection(bars, colors=colour, linewidths=1.2, zorder=2, label="± 2 standard deviations of f")
            self.bars_ = ax.add_collection(made)
        (self.line_,) = ax.plot(ends, ends, color=look.ink, lw=1.1, ls="--", zorder=2.5, label="prediction = truth")
        size, alpha = (26.0, 0.85) if n <= 300 else (12.0, 0.5)
        self.points_ = ax.scatter(
            x, y, s=size, color=look.colour(0), alpha=alpha, edgecolor=look.paper, linewidth=0.5, zorder=3
        )
        ax.set(xlim=ends, ylim=ends, aspect="equal")
        label(ax, look, "true", "predicted")
        key(ax, look, loc="upper left")
        score = f"R² = {self.r2:.3f}, " if np.isfinite(self.r2) else ""
        head(ax, look, "Prediction against truth", joined(f"{score}RMSE = {self.rmse:.3g} on {rows_of(n)}", note))
        return self


@final
@dataclass(eq=False, repr=False)
class ConfusionDisplay:
    """How often each class was taken for which: counts, and in colour the share of each true class.

    Attributes
    ----------
    counts : ndarray of shape (k, k)
        Rows of the true class i that were predicted as j.
    classes : list
        The labels, sorted.
    image_, texts_
        The artists: the cells, and the numbers in them.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> shown = ConfusionDisplay.from_predictions(["a", "a", "b"], ["a", "b", "b"], ax=Figure().subplots())
    >>> shown.counts
    array([[1, 1],
           [0, 1]])
    """

    counts: npt.NDArray[np.intp]
    classes: list[Any]
    image_: AxesImage = field(init=False)
    texts_: list[Text] = field(init=False)
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, theme: str | None = None) -> Self:
        """Predict X, and count the predictions against y; parameters as for `PredictionDisplay`."""
        return cls.from_predictions(y, predictions_of(estimator, X), ax=ax, theme=theme)

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Any, *, ax: Any = None, theme: str | None = None) -> Self:
        """Count predictions that are there."""
        truth = labels_of(y_true, len(np.asarray(y_true)), "y_true")
        found = labels_of(y_pred, len(truth), "y_pred")
        if not len(truth):
            raise InvalidInput("y_true must hold at least one label.", "It is empty.")
        different = set(truth.tolist()) | set(found.tolist())
        try:
            classes = sorted(different)
        except TypeError:  # labels of several types
            classes = sorted(different, key=str)
        number = {name: i for i, name in enumerate(classes)}
        counts = np.zeros((len(classes), len(classes)), dtype=np.intp)
        np.add.at(counts, ([number[a] for a in truth.tolist()], [number[b] for b in found.tolist()]), 1)
        return cls(counts, classes).plot(ax=ax, theme=theme)

    @property
    def accuracy(self) -> float:
        """The share of the rows that are right."""
        return float(np.trace(self.counts) / self.counts.sum())

    def plot(self, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw it; parameters as for `from_estimator`."""
        ax, look = canvas(ax, theme, (5.2, 5.0))
        self.ax_, self.figure_ = ax, figure_of(ax)
        k = len(self.classes)
        shares = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        self.image_ = ax.imshow(shares, cmap=look.sequential, vmin=0.0, vmax=1.0)
        self.texts_ = []
        if k <= MOST_WRITTEN:
            for i, j in np.ndindex(k, k):
                colour = look.ink if shares[i, j] < 0.45 else look.paper
                text = count(int(self.counts[i, j]))
                self.texts_.append(ax.text(j, i, text, ha="center", va="center", color=colour, fontsize="small"))
        names = [plain(name) for name in self.classes]
        is_flat = max(map(len, names)) * k <= 36
        each = slice(None, None, -(-k // MOST_NAMES))  # of very many classes only some are named
        places = range(k)[each]
        ax.set_xticks(places, names[each], rotation=0 if is_flat else 60, ha="center" if is_flat else "right")
        ax.set_yticks(places, names[each])
        if not is_flat:
            for text_of_tick in ax.get_xticklabels():
                text_of_tick.set_rotation_mode("anchor")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(True)
        label(ax, look, "predicted class", "true class")
        right, n = int(np.trace(self.counts)), int(self.counts.sum())
        head(ax, look, "Prediction against truth", f"{self.accuracy:.1%} right: {count(right)} of {rows_of(n)}")
        return self
