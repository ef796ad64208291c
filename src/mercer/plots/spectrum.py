"""The eigenvalues of a Gram matrix, and how many of them count."""

from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
import scipy.linalg
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from mercer.errors import InvalidInput
from mercer.plots.reading import gram_of, joined, machine_of, numbers_of, thinned
from mercer.plots.style import canvas, figure_of, head, key, label
from mercer.points.adapt import as_points

__all__ = ["SpectrumDisplay", "effective_rank"]

Array = npt.NDArray[np.float64]

MOST_ROWS = 1_000
# Eigenvalues below this share of the largest are rounding, times the number of rows.
EPS = float(np.finfo(np.float64).eps)


def effective_rank(eigenvalues: Array) -> float:
    """exp(−Σ pᵢ log pᵢ) for the shares pᵢ = λᵢ/Σλ: n where all are equal, 1 where one is alone.

    Examples
    --------
    >>> round(effective_rank(np.ones(5)), 9), effective_rank(np.array([3.0, 0.0]))
    (5.0, 1.0)

    References
    ----------
    .. [1] O. Roy, M. Vetterli. The effective rank: a measure of effective dimensionality. EUSIPCO 2007.
    """
    positive = eigenvalues[eigenvalues > 0.0]
    share = positive / positive.sum()
    return float(np.exp(-(share * np.log(share)).sum())) if positive.size else 0.0


@final
@dataclass(eq=False, repr=False)
class SpectrumDisplay:
    """The eigenvalues of K, largest first, on a logarithmic scale.

    How fast they fall says how many directions of feature space the data fills. Ridge regression with penalty λ keeps
    the share σ/(σ + λ) of the direction of eigenvalue σ; their sum is the number of degrees of freedom.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n,)
        In descending order.
    penalty : float, optional
        λ of a ridge machine.
    effective_rank : float
        As the function `effective_rank` says.
    degrees_of_freedom : float
        Σ σ/(σ + λ); NaN without a penalty.
    note : str
        What was left out, for the head of the picture.
    line_, rank_line_, penalty_line_
        The artists: eigenvalues, effective rank, penalty (None without).
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> shown = SpectrumDisplay.from_eigenvalues([2.0, 1.0, 1.0], penalty=1.0, ax=Figure().subplots())
    >>> round(shown.effective_rank, 3), round(shown.degrees_of_freedom, 3)
    (2.828, 1.667)
    """

    eigenvalues: Array
    penalty: float | None = None
    note: str = ""
    line_: Line2D = field(init=False)
    rank_line_: Line2D = field(init=False)
    penalty_line_: Line2D | None = field(init=False)
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None, *, ax: Any = None, theme: str | None = None) -> Self:  # noqa: ARG003 (as all displays)
        """Draw the spectrum of the Gram matrix of a machine's kernel on X, with its penalty if it is a ridge machine.

        Parameters
        ----------
        estimator : estimator
            A fitted machine of mercer, a pipeline that ends in one, or a search over either.
        X : like the X of its `fit`
            Of more than 1 000 rows, so many are drawn by chance, and their eigenvalues scaled by n/1 000; the picture
            says so.
        y : ignored
        ax : Axes, optional
            A new figure if not given.
        theme : {"light", "dark"}, optional
            The one that suits the axes if not given.
        """
        machine = machine_of(estimator)
        n = len(machine.points(X))
        rows, note = thinned(n, MOST_ROWS)
        values = _eigenvalues(machine.gram(X, rows)) * (n / len(rows))
        uncertainty = machine.model.uncertainty
        cost = None if uncertainty is None else float(uncertainty.cost[:, 0].max())
        penalty = None if cost is None or not np.isfinite(cost) or cost == 0.0 else 1.0 / cost
        return cls(values, penalty, note and f"{note}, scaled").plot(ax=ax, theme=theme)

    @classmethod
    def from_kernel(cls, kernel: Any, X: Any, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw the spectrum of a kernel's Gram matrix; parameters as for `from_estimator`."""
        points = as_points(X)
        rows, note = thinned(len(points), MOST_ROWS)
        values = _eigenvalues(gram_of(kernel, points, rows)) * (len(points) / len(rows))
        return cls(values, None, note and f"{note}, scaled").plot(ax=ax, theme=theme)

    @classmethod
    def from_eigenvalues(
        cls, eigenvalues: Any, *, penalty: float | None = None, ax: Any = None, theme: str | None = None
    ) -> Self:
        """Draw eigenvalues that are there, in any order; other parameters as for `from_estimator`."""
        values = np.sort(numbers_of(eigenvalues, "eigenvalues"))[::-1]
        if penalty is not None and not (np.isfinite(penalty) and penalty > 0.0):
            raise InvalidInput("penalty must be a number above 0.", f"Got {penalty!r}.")
        return cls(values, penalty).plot(ax=ax, theme=theme)

    @property
    def effective_rank(self) -> float:
        """How many eigenvalues count."""
        return effective_rank(self.eigenvalues)

    @property
    def degrees_of_freedom(self) -> float:
        """Σ σ/(σ + λ)."""
        if self.penalty is None:
            return float("nan")
        positive = np.maximum(self.eigenvalues, 0.0)
        return float((positive / (positive + self.penalty)).sum())

    def plot(self, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw it; parameters as for `from_estimator`."""
        ax, look = canvas(ax, theme)
        self.ax_, self.figure_ = ax, figure_of(ax)
        n, largest = len(self.eigenvalues), float(np.abs(self.eigenvalues).max(initial=0.0)) or 1.0
        floor = n * EPS * largest
        index = np.arange(1, n + 1)
        ax.set_yscale("log")
        ax.grid(axis="y", color=look.grid, linewidth=0.8)
        (self.line_,) = ax.plot(
            index, np.maximum(self.eigenvalues, floor), color=look.colour(0), lw=1.8, marker="o",
            ms=3.5 if n <= 60 else 0.0, label="eigenvalue of K",
        )  # fmt: skip
        rank = self.effective_rank
        self.rank_line_ = ax.axvline(rank, color=look.colour(1), lw=1.5, ls="--", label=f"effective rank {rank:.3g}")
        self.penalty_line_ = None
        if self.penalty is not None:
            text = f"penalty λ = {self.penalty:.3g}: {self.degrees_of_freedom:.3g} degrees of freedom"
            self.penalty_line_ = ax.axhline(self.penalty, color=look.colour(2), lw=1.5, ls="-.", label=text)
        ax.set_ylim(bottom=floor * 0.3 if self.eigenvalues[-1] <= 10 * floor else None)
        ax.set_xlim(1 - 0.02 * n, n * 1.02)
        ax.xaxis.set_major_locator(MaxNLocator(7, integer=True))
        label(ax, look, "number of the eigenvalue, largest first", "eigenvalue")
        key(ax, look, loc="best")
        zero = int((self.eigenvalues <= floor).sum())
        negative = int((self.eigenvalues < -floor).sum())
        said = f"{negative} eigenvalues are negative: K is not positive" if negative else ""
        lost = f"{zero} of {n} are zero to rounding, drawn at the floor" if zero and not negative else ""
        head(ax, look, "Spectrum of K", joined(f"{n} rows", said, lost, self.note))
        return self


def _eigenvalues(K: Array) -> Array:
    """In descending order."""
    return np.asarray(scipy.linalg.eigvalsh(K)[::-1], dtype=np.float64)
