"""The Gram matrix as a picture."""

from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from mercer.errors import InvalidInput
from mercer.plots.reading import gram_of, is_classes, joined, labels_of, machine_of, plain, thinned
from mercer.plots.style import canvas, figure_of, head, label
from mercer.points.adapt import as_points

__all__ = ["GramDisplay"]

Array = npt.NDArray[np.float64]

MOST_ROWS = 1_000
# More names than these do not fit beside a matrix.
MOST_NAMES = 30


@final
@dataclass(eq=False, repr=False)
class GramDisplay:
    """The matrix of kernel values between all rows, sorted by class, or by target.

    A kernel that suits the classes shows a bright block for each. Use `from_estimator`, `from_kernel` or
    `from_matrix`.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
        The kernel values, as drawn.
    y : ndarray of shape (n,), optional
        The labels or targets of its rows.
    rows : ndarray of shape (n,)
        Which rows of X these are.
    note : str
        What was left out, for the head of the picture.
    image_, colorbar_, lines_
        The artists: the matrix, its scale, and the lines between classes (None without).
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from mercer.kernels import RBF
    >>> X = np.array([[0.0], [5.0], [0.1], [5.1]])
    >>> ax = Figure().subplots()
    >>> shown = GramDisplay.from_kernel(RBF(1.0), X, ["a", "b", "a", "b"], ax=ax)
    >>> shown.rows
    array([0, 2, 1, 3])
    >>> shown.matrix.round(1)
    array([[1., 1., 0., 0.],
           [1., 1., 0., 0.],
           [0., 0., 1., 1.],
           [0., 0., 1., 1.]])
    """

    matrix: Array
    y: npt.NDArray[Any] | None
    rows: npt.NDArray[np.intp]
    note: str = ""
    image_: AxesImage = field(init=False)
    colorbar_: Colorbar = field(init=False)
    lines_: LineCollection | None = field(init=False)
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw the Gram matrix of the kernel that a machine was fitted with.

        Parameters
        ----------
        estimator : estimator
            A fitted machine of mercer, a pipeline that ends in one, or a search over either.
        X : like the X of its `fit`
            Of more than 1 000 rows, so many are drawn by chance; the picture says so.
        y : array-like of shape (n,), optional
            Labels or targets, by which rows are sorted.
        ax : Axes, optional
            A new figure if not given.
        theme : {"light", "dark"}, optional
            The one that suits the axes if not given.
        """
        machine = machine_of(estimator)
        n = len(machine.points(X))
        rows, note = thinned(n, MOST_ROWS)
        return cls._of(machine.gram(X, rows), y, n, rows, note).plot(ax=ax, theme=theme)

    @classmethod
    def from_kernel(cls, kernel: Any, X: Any, y: Any = None, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw the Gram matrix of a kernel; parameters as for `from_estimator`."""
        points = as_points(X)
        rows, note = thinned(len(points), MOST_ROWS)
        return cls._of(gram_of(kernel, points, rows), y, len(points), rows, note).plot(ax=ax, theme=theme)

    @classmethod
    def from_matrix(cls, K: Any, y: Any = None, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw a matrix that is there; parameters as for `from_estimator`."""
        matrix = np.asarray(K, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
            raise InvalidInput("K must be a square matrix.", f"Got shape {matrix.shape}.")
        if not np.isfinite(matrix).all():
            i, j = np.argwhere(~np.isfinite(matrix))[0]
            raise InvalidInput("K must be finite.", f"K[{i}, {j}] is {matrix[i, j]}.")
        rows, note = thinned(len(matrix), MOST_ROWS)
        return cls._of(matrix[np.ix_(rows, rows)], y, len(matrix), rows, note).plot(ax=ax, theme=theme)

    @classmethod
    def _of(cls, matrix: Array, y: Any, n: int, rows: npt.NDArray[np.intp], note: str) -> Self:
        if y is None:
            return cls(matrix, None, rows, note)
        labels = labels_of(y, n)[rows]
        order = np.argsort(labels if labels.dtype.kind != "O" else labels.astype(str), kind="stable")
        return cls(matrix[np.ix_(order, order)], labels[order], rows[order], note)

    def plot(self, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw it; parameters as for `from_estimator`."""
        ax, look = canvas(ax, theme, (6.0, 5.2))
        self.ax_, self.figure_ = ax, figure_of(ax)
        low, high = float(self.matrix.min()), float(self.matrix.max())
        is_signed = low < -1e-12 * max(high, 1e-300)
        far = max(abs(low), abs(high)) or 1.0
        n = len(self.matrix)
        self.image_ = ax.imshow(
            self.matrix, cmap=look.diverging if is_signed else look.sequential, vmin=-far if is_signed else 0.0,
            vmax=far, extent=(0.0, n, n, 0.0),
        )  # fmt: skip
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=ax, fraction=0.046, pad=0.03)
        self.colorbar_.ax.tick_params(colors=look.muted, labelcolor=look.ink, labelsize="small")
        self.colorbar_.outline.set_visible(False)  # type: ignore[operator]  # a spine
        self.colorbar_.set_label("k(x, z)", color=look.ink, fontsize="small")
        ax.spines[:].set_visible(True)
        self.lines_ = None
        said = f"{n} rows"
        if self.y is not None and is_classes(self.y):
            said = self._mark_classes(look.ink)
        else:
            ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
            if self.y is not None:
                said = f"{n} rows, sorted by target from {self.y[0]:.3g} to {self.y[-1]:.3g}"
            label(ax, look, "row", "row")
        head(ax, look, "Gram matrix", joined(said, self.note))
        return self

    def _mark_classes(self, ink: str) -> str:
        """Lines and names for the classes; returns what there is to say of them."""
        assert self.y is not None
        ax, n = self.ax_, len(self.matrix)
        starts = np.flatnonzero(np.concatenate([[True], self.y[1:] != self.y[:-1]]))
        ends = np.concatenate([starts[1:], [n]])
        if len(starts) > 1:
            cuts = [[(c, 0), (c, n)] for c in starts[1:]] + [[(0, c), (n, c)] for c in starts[1:]]
            self.lines_ = ax.add_collection(LineCollection(cuts, colors=ink, linewidths=0.8), autolim=False)
        names = [plain(self.y[start]) for start in starts]
        middles = (starts + ends) / 2
        is_roomy = len(names) <= MOST_NAMES
        ax.set_yticks(middles if is_roomy else [], names if is_roomy else [])
        is_flat = max(map(len, names)) * len(names) <= MOST_NAMES
        ax.set_xticks(middles if is_flat else [], names if is_flat else [])
        ax.tick_params(length=0)
        if len(starts) == 1:
            return f"{n} rows of one class"
        same = self.y[:, None] == self.y[None]
        off = ~np.eye(n, dtype=bool)
        within, between = self.matrix[same & off], self.matrix[~same]
        inside = f"mean k {within.mean():.2g} within classes, " if within.size else "mean k "
        return f"{n} rows in {len(starts)} classes; {inside}{between.mean():.2g} between them"
