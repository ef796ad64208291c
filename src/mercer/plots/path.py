"""The error of leave-one-out along a penalty: where a machine is too stiff, and where it is too loose."""

from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.plots.leave_one_out import left_out_of_svc, path_of, penalties_of
from mercer.plots.reading import column_of, joined, labels_of, machine_of, numbers_of
from mercer.plots.style import canvas, count, figure_of, head, key, label, rows_of

__all__ = ["PathDisplay"]

Array = npt.NDArray[np.float64]

DECADES, STEPS = 4.0, 60
FEW_STEPS = 13


@final
@dataclass(eq=False, repr=False)
class PathDisplay:
    """Leave-one-out error, with its standard error, for many values of alpha or C.

    Attributes
    ----------
    values : ndarray of shape (m,)
        The penalties, ascending.
    errors, spread : ndarray of shape (m,)
        The mean error of leave-one-out, and the standard error of that mean.
    training, gcv : ndarray of shape (m,), optional
        The error on the rows of the fit; generalised cross-validation.
    chosen : float, optional
        What the machine was fitted with.
    name, measure : str
        What is varied, and how errors are measured.
    note : str
        What else the head says.
    line_, band_, training_line_, gcv_line_, best_line_, chosen_line_
        The artists; None where there are none.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from mercer import RBF, KernelRidge
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.2 * np.random.default_rng(0).standard_normal(40)
    >>> machine = KernelRidge(alpha=1.0, kernel=RBF(1.0)).fit(X, y)
    >>> shown = PathDisplay.from_estimator(machine, alphas=[1e-6, 0.1, 1e3], ax=Figure().subplots())
    >>> shown.best
    0.1
    """

    values: Array
    errors: Array
    spread: Array
    training: Array | None
    gcv: Array | None
    chosen: float | None
    name: str
    measure: str
    note: str = ""
    line_: Line2D = field(init=False)
    band_: FillBetweenPolyCollection = field(init=False)
    training_line_: Line2D | None = field(init=False)
    gcv_line_: Line2D | None = field(init=False)
    best_line_: Line2D = field(init=False)
    chosen_line_: Line2D | None = field(init=False)
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, alphas: Any = None, Cs: Any = None, target: int = 0,
        ax: Any = None, theme: str | None = None,
    ) -> Self:  # fmt: skip
        """Draw the error of leave-one-out around the penalty of a fitted machine.

        Ridge machines need no X and y: one decomposition of K, which they keep, gives the exact error for every alpha.
        `SVC` is fitted again: for each C once, and once without each of its support vectors (a row that is none
        changes nothing when it is left out); the kernel stays as it was resolved on all rows.

        Parameters
        ----------
        estimator : estimator
            A fitted `KernelRidge`, `KernelRidgeCV` or `SVC`, or a pipeline that ends in one.
        X, y : optional
            What an `SVC` was fitted on.
        alphas : array-like, optional
            The penalties of a ridge machine, above 0; four decades to both sides of its own if not given.
        Cs : array-like, optional
            Those of an `SVC`; three decades to both sides of its own if not given.
        target : int, default 0
            Which column of y, where there are several.
        ax : Axes, optional
            A new figure if not given.
        theme : {"light", "dark"}, optional
            The one that suits the axes if not given.
        """
        machine = machine_of(estimator)
        if machine.last.certificate_.machine == "c-svc":
            if X is None or y is None:
                raise InvalidInput("The path of an SVC needs X and y, on which it is fitted again.", "", "Pass both.")
            C = float(machine.last.C)
            values = _grid(Cs, C if np.isfinite(C) else 1.0, 3.0, FEW_STEPS, "Cs")
            wrong, training, fits = left_out_of_svc(machine, X, labels_of(y, len(machine.points(X))), values)
            errors = wrong.mean(axis=1)
            spread = np.sqrt(errors * (1.0 - errors) / wrong.shape[1])
            note = f"{rows_of(wrong.shape[1])}, {count(fits)} fits"
            chosen = C if np.isfinite(C) else None
            made = cls(values, errors, spread, training, None, chosen, "C", "share of wrong classes", note)
            return made.plot(ax=ax, theme=theme)
        path, penalty = path_of(machine), penalties_of(machine)
        column_of(np.empty((1, len(penalty))), target)
        own = float(penalty[target])
        values = _grid(alphas, own, DECADES, STEPS, "alphas")
        known = machine.model.uncertainty
        assert known is not None  # path_of has refused
        weight = known.cost[:, target] / known.cost[:, target].max()
        squares = np.array([weight * found[:, target] ** 2 for found in path.leave_one_out(values)])
        n = squares.shape[1]
        training = np.array([_training(path.choose(np.full(len(penalty), v)).coef, v, weight, target) for v in values])
        gcv = np.asarray(path.generalised(values)[:, target])
        spread = squares.std(axis=1, ddof=1) / np.sqrt(n)
        made = cls(
            values,
            squares.mean(axis=1),
            spread,
            training,
            gcv,
            own,
            "alpha",
            "mean squared error",
            f"{rows_of(n)}, exact",
        )
        return made.plot(ax=ax, theme=theme)

    @classmethod
    def from_errors(
        cls, values: Any, errors: Any, *, spread: Any = None, training: Any = None, name: str = "alpha",
        measure: str = "error", ax: Any = None, theme: str | None = None,
    ) -> Self:  # fmt: skip
        """Draw errors that are there, one for each value of a penalty; `spread` is their standard error."""
        at = _grid(values, 1.0, 1.0, 2, "values", keep_order=True)
        found = numbers_of(errors, "errors", len(at))
        wide = np.zeros(len(at)) if spread is None else numbers_of(spread, "spread", len(at))
        other = None if training is None else numbers_of(training, "training", len(at))
        order = np.argsort(at)
        trained = None if other is None else other[order]
        made = cls(at[order], found[order], wide[order], trained, None, None, name, measure)
        return made.plot(ax=ax, theme=theme)

    @property
    def best(self) -> float:
        """The value of the least error; in a tie, the first."""
        return float(self.values[int(np.argmin(self.errors))])

    def plot(self, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw it; parameters as for `from_estimator`."""
        ax, look = canvas(ax, theme)
        self.ax_, self.figure_ = ax, figure_of(ax)
        colour = look.colour(0)
        ax.set_xscale("log")
        ax.grid(color=look.grid, linewidth=0.8)
        self.band_ = ax.fill_between(
            self.values, self.errors - self.spread, self.errors + self.spread, color=look.tint(colour, 0.22), lw=0
        )
        (self.line_,) = ax.plot(self.values, self.errors, color=colour, lw=2.0, label="leave-one-out ± standard error")
        self.gcv_line_ = self.training_line_ = self.chosen_line_ = None
        if self.gcv is not None:
            (self.gcv_line_,) = ax.plot(
                self.values, self.gcv, color=look.colour(2), lw=1.4, ls=":", label="generalised cross-validation"
            )
        if self.training is not None:
            (self.training_line_,) = ax.plot(
                self.values, self.training, color=look.colour(1), lw=1.6, ls="--", label="error on the rows of the fit"
            )
        least = float(self.errors.min())
        (self.best_line_,) = ax.plot(
            [self.best], [least], ls="none", marker="o", ms=7, color=colour, mec=look.paper, zorder=4,
            label=f"least: {self.name} = {self.best:.3g}",
        )  # fmt: skip
        if self.chosen is not None:
            self.chosen_line_ = ax.axvline(
                self.chosen, color=look.muted, lw=1.2, ls="-.", label=f"the machine's: {self.chosen:.3g}"
            )
        top = float(np.nanmax(self.errors + self.spread))
        low = min(0.0, float(np.nanmin(self.errors - self.spread)))
        ax.set_ylim(low, top * 1.08 if top > 0.0 else 1.0)
        ax.set_xlim(self.values[0], self.values[-1])
        label(ax, look, self.name, self.measure)
        key(ax, look, loc="best")
        head(ax, look, f"Leave-one-out along {self.name}", joined(self.note))
        return self


def _training(coef: Array, alpha: float, weight: Array, target: int) -> float:
    """The mean of w r² over the rows of the fit: r = λ α/w."""
    fitted = weight > 0.0
    residual = alpha * coef[fitted, target] / weight[fitted]
    return float((weight[fitted] * residual**2).sum() / len(weight))


def _grid(given: Any, own: float, decades: float, steps: int, name: str, *, keep_order: bool = False) -> Array:
    if given is None:
        return np.asarray(own * np.logspace(-decades, decades, steps))
    found = numbers_of(given, name)
    if len(found) < 2 or not (found > 0.0).all():
        raise InvalidParameter(f"{name} must be at least two numbers above 0.", f"Got {shown(found.tolist())}.")
    return found if keep_order else np.unique(found)
