"""Whether probabilities mean what they say: of the rows with probability 0.8, eight of ten should be of the class."""

from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.plots.reading import joined, labels_of, numbers_of, plain
from mercer.plots.style import canvas, count, figure_of, head, key, label

__all__ = ["CalibrationDisplay"]

Array = npt.NDArray[np.float64]

# Of a normal distribution, on both sides of 95 %.
TWO_SIDED = 1.959964


@final
@dataclass(eq=False, repr=False)
class CalibrationDisplay:
    """A reliability diagram: predicted probabilities, in bins, against how often they came true.

    The vertical bars are Wilson's intervals of 95 %: what is further from the diagonal than its bar is not chance.

    Attributes
    ----------
    is_so : ndarray of bool, shape (n,)
        Whether the row was of the class.
    probability : ndarray of shape (n,)
        What was predicted for it.
    edges : ndarray of shape (bins + 1,)
        Where the bins begin and end.
    what : str
        What the probability is of.
    predicted, observed, low, high : ndarray
        Of each bin with rows: the mean probability, the share of the class, and the interval of the share.
    sizes : ndarray
        The rows of each bin with rows.
    line_, diagonal_, intervals_, counts_
        The artists: the diagram, what is ideal, the intervals, and the bars that count rows.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> shown = CalibrationDisplay.from_predictions(
    ...     [0, 0, 0, 1, 1, 1, 0, 1], [0.1, 0.1, 0.2, 0.2, 0.9, 0.9, 0.8, 0.8], bins=2, ax=Figure().subplots()
    ... )
    >>> shown.predicted, shown.observed
    (array([0.15, 0.85]), array([0.25, 0.75]))
    >>> round(shown.error, 3)
    0.1
    """

    is_so: npt.NDArray[np.bool_]
    probability: Array
    edges: Array
    what: str = "the class"
    line_: Line2D = field(init=False)
    diagonal_: Line2D = field(init=False)
    intervals_: LineCollection = field(init=False)
    counts_: BarContainer = field(init=False)
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    def __post_init__(self) -> None:
        bins = len(self.edges) - 1
        index = np.clip(np.searchsorted(self.edges, self.probability, side="right") - 1, 0, bins - 1)
        every = np.bincount(index, minlength=bins)
        kept = every > 0
        self.filled, self.sizes = np.flatnonzero(kept), every[kept]
        self.predicted = np.bincount(index, self.probability, bins)[kept] / self.sizes
        self.observed = np.bincount(index, self.is_so, bins)[kept] / self.sizes
        self.low, self.high = _wilson(self.observed, self.sizes)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, label: Any = None, bins: int = 10, ax: Any = None,
        theme: str | None = None,
    ) -> Self:  # fmt: skip
        """Predict the probabilities of X, and draw them against y.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with `predict_proba`.
        X : like the X of its `fit`
            Rows that it has not seen.
        y : array-like of shape (n,)
            Their labels.
        label : optional
            The class whose probability is looked at. If not given: of two classes the second; of more, for each row
            the class that was predicted, which then is right or wrong.
        bins : int, default 10
            How many bins from 0 to 1.
        ax : Axes, optional
            A new figure if not given.
        theme : {"light", "dark"}, optional
            The one that suits the axes if not given.
        """
        predict = getattr(estimator, "predict_proba", None)
        if predict is None:
            raise InvalidInput(
                f"{type(estimator).__name__} has no predict_proba.", "",
                "Fit KernelLogisticRegression, or SVC(probability=True).",
            )  # fmt: skip
        table = np.asarray(predict(X), dtype=np.float64)
        labels, classes = labels_of(y, len(table)), np.asarray(estimator.classes_)
        if label is None and len(classes) > 2:
            best = table.argmax(axis=1)
            is_so, probability = labels == classes[best], table[np.arange(len(table)), best]
            return cls(is_so, probability, _edges(bins), "the predicted class").plot(ax=ax, theme=theme)
        chosen = classes[1] if label is None else label
        if chosen not in classes.tolist():
            raise InvalidParameter(
                "label must be one of the classes.", f"Got {shown(label)}; there are {shown(classes.tolist())}."
            )
        probability = table[:, classes.tolist().index(chosen)]
        return cls._checked(labels == chosen, probability, bins, plain(chosen)).plot(ax=ax, theme=theme)

    @classmethod
    def from_predictions(
        cls, y_true: Any, probability: Any, *, label: Any = None, bins: int = 10, ax: Any = None,
        theme: str | None = None,
    ) -> Self:  # fmt: skip
        """Draw probabilities that are there, of the class `label`: the larger of two labels if not given."""
        found = numbers_of(probability, "probability")
        labels = labels_of(y_true, len(found), "y_true")
        chosen = max(labels.tolist()) if label is None else label
        return cls._checked(labels == chosen, found, bins, plain(chosen)).plot(ax=ax, theme=theme)

    @classmethod
    def _checked(cls, is_so: npt.NDArray[Any], probability: Array, bins: int, what: str) -> Self:
        if probability.min() < 0.0 or probability.max() > 1.0:
            worst = float(probability.min() if probability.min() < 0.0 else probability.max())
            raise InvalidInput(
                "Probabilities must lie between 0 and 1.", f"Got {worst:.3g}.",
                "Pass a column of predict_proba, not of decision_function.",
            )  # fmt: skip
        if is_so.all() or not is_so.any():
            raise InvalidInput(
                "Calibration needs rows inside and outside the class.",
                f"All {len(is_so)} rows are {'of' if is_so.all() else 'outside'} class {what}.",
                "Pass rows of every class.",
            )
        return cls(np.asarray(is_so, dtype=bool), probability, _edges(bins), what)

    @property
    def error(self) -> float:
        """The expected calibration error: Σ (rows of the bin/n) |observed − predicted|."""
        return float(np.average(np.abs(self.observed - self.predicted), weights=self.sizes))

    def plot(self, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw it; parameters as for `from_estimator`."""
        ax, look = canvas(ax, theme, (5.4, 5.2))
        self.ax_, self.figure_ = ax, figure_of(ax)
        ax.grid(color=look.grid, linewidth=0.8)
        left, width = self.edges[self.filled], np.diff(self.edges)[self.filled]
        heights = 0.22 * self.sizes / self.sizes.max()
        self.counts_ = ax.bar(
            left, heights, width, align="edge", color=look.tint(look.colour(6), 0.3), edgecolor=look.paper,
            label=f"rows in the bin, up to {count(int(self.sizes.max()))}", zorder=1,
        )  # fmt: skip
        (self.diagonal_,) = ax.plot([0, 1], [0, 1], color=look.ink, lw=1.1, ls="--", label="as they should be")
        bars = [[(p, a), (p, b)] for p, a, b in zip(self.predicted, self.low, self.high, strict=True)]
        colour = look.colour(0)
        self.intervals_ = ax.add_collection(
            LineCollection(bars, colors=look.tint(colour, 0.6), linewidths=2.2, label="95 % interval", zorder=2)
        )
        (self.line_,) = ax.plot(
            self.predicted, self.observed, color=colour, lw=1.6, marker="o", ms=6, mec=look.paper, zorder=3,
            label="as they are",
        )  # fmt: skip
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        label(ax, look, f"predicted probability of {self.what}", "share of the rows for which it came true")
        key(ax, look, loc="upper left")
        note = f"mean distance from the diagonal {self.error:.3f} on {count(len(self.is_so))} rows"
        head(ax, look, "Calibration", joined(note))
        return self


def _edges(bins: int) -> Array:
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 2:
        raise InvalidParameter("bins must be a whole number, at least 2.", f"Got {shown(bins)}.")
    return np.linspace(0.0, 1.0, int(bins) + 1)


def _wilson(share: Array, n: npt.NDArray[np.intp]) -> tuple[Array, Array]:
    """The interval of 95 % of a share, by E. B. Wilson (1927)."""
    z2 = TWO_SIDED**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = TWO_SIDED / (1 + z2 / n) * np.sqrt(share * (1 - share) / n + z2 / (4 * n**2))
    return middle - half, middle + half
