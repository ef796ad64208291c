"""How a solver comes to its answer: primal, dual and the gap between them, step by step."""

import warnings
from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from mercer.errors import InvalidInput, InvalidParameter, UncertifiedWarning, shown
from mercer.plots.reading import joined, machine_of
from mercer.plots.style import canvas, count, figure_of, head, key, label
from mercer.problems.certificate import Certificate

__all__ = ["ConvergenceDisplay"]

Array = npt.NDArray[np.float64]

FITS = 30
# Beyond so many steps they are drawn on a logarithmic scale.
MANY_STEPS = 200
KINDS = ("gap", "values")


@final
@dataclass(eq=False, repr=False)
class ConvergenceDisplay:
    """Primal, dual and gap after 1, 2, 3, … steps.

    No solver judges itself: each point is a fit of its own with that `max_iter`, and the numbers are those of its
    certificate, found by the referee from the published coefficients. The best primal seen is above the optimum and
    the best dual below, so that P − (best dual) and (best primal) − D bound how far each is from the optimum.

    Attributes
    ----------
    steps : ndarray of shape (m,)
        After how many.
    primal, dual : ndarray of shape (m,)
        NaN where only a trace is known.
    measure : ndarray of shape (m,)
        The gap P − D; or the solver's own measure of progress.
    what : str
        What the measure is.
    solver : str
        By which row of the table of solvers.
    kind : {"gap", "values"}
        Distances on a logarithmic scale, or P and D themselves with the gap between them.
    lines_ : dict
        The artists, by "primal", "dual" and "gap" (or "trace").
    band_
        The area between P and D; None of the other kind.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from mercer import SVC
    >>> X = np.random.default_rng(0).standard_normal((40, 2))
    >>> machine = SVC().fit(X, X[:, 0] > 0)
    >>> shown = ConvergenceDisplay.from_estimator(machine, X, X[:, 0] > 0, ax=Figure().subplots())
    >>> bool((shown.primal >= shown.dual).all()), bool(shown.measure[-1] < 1e-3 * shown.measure[0])
    (True, True)
    """

    steps: Array
    primal: Array
    dual: Array
    measure: Array
    what: str
    solver: str
    kind: str = "gap"
    lines_: dict[str, Line2D] = field(init=False)
    band_: FillBetweenPolyCollection | None = field(init=False)
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, kind: str = "gap", ax: Any = None,
        theme: str | None = None,
    ) -> Self:  # fmt: skip
        """Draw how the solver of a fitted machine converges.

        Parameters
        ----------
        estimator : estimator
            A fitted machine with an iterative solver, or a pipeline that ends in one.
        X, y : optional
            What it was fitted on: it is fitted again about thirty times, which takes a few times as long as the fit.
            Without X, the solver's own trace is drawn, if it left one.
        kind : {"gap", "values"}
            Distances on a logarithmic scale, or P and D themselves with the gap between them.
        ax : Axes, optional
            A new figure if not given.
        theme : {"light", "dark"}, optional
            The one that suits the axes if not given.
        """
        _check(kind)
        machine = machine_of(estimator)
        certificate: Certificate = machine.last.certificate_
        if X is None:
            return cls.from_certificate(certificate, ax=ax, theme=theme)
        if certificate.steps < 1:
            raise InvalidInput(
                f"{certificate.solver or 'This machine'} takes no steps: its answer is computed at once.",
                f"The certificate says: {certificate.status.value}.",
                'Fit with an iterative solver: solver="cg" for ridge regression.',
            )
        seen = X if machine.before is None else machine.before.transform(X)
        params = machine.last.get_params(deep=False)
        found: dict[int, Certificate] = {}
        for most in np.unique(np.geomspace(1, certificate.steps, FITS).round().astype(int)).tolist():
            part = type(machine.last)(**{**params, "max_iter": most})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UncertifiedWarning)  # to stop early is what is asked for
                part.fit(seen, y)
            found.setdefault(part.certificate_.steps, part.certificate_)
        found[certificate.steps] = certificate
        steps = sorted(found)
        table = np.array([(found[k].primal, found[k].dual, found[k].gap) for k in steps])
        if not np.isfinite(table).all():
            raise InvalidInput(
                "A constraint (a row of infinite cost) takes the place of the gap.", "The primal is not finite.",
                "Fit with a finite C, or alpha above 0.",
            )  # fmt: skip
        made = cls(
            np.array(steps, dtype=np.float64),
            table[:, 0],
            table[:, 1],
            table[:, 2],
            "gap P − D",
            certificate.solver,
            kind,
        )
        return made.plot(ax=ax, theme=theme)

    @classmethod
    def from_certificate(cls, certificate: Certificate, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw the trace that a solver left: the relative gap of Newton's method, the residual of least squares."""
        trace = np.asarray(certificate.trace, dtype=np.float64)
        if not trace.size:
            raise InvalidInput(
                f"The certificate of {certificate.solver or 'this machine'} holds no trace.",
                "Only iterative solvers leave one, and not those of support vector machines.",
                "Pass X and y to from_estimator, which fits the machine again step by step.",
            )
        what = "relative residual" if np.isfinite(certificate.residual) else "relative gap"
        nothing = np.full(trace.size, np.nan)
        first = certificate.steps - trace.size + 1
        steps = np.arange(first, first + trace.size, dtype=np.float64)
        return cls(steps, nothing, nothing, trace, what, certificate.solver).plot(ax=ax, theme=theme)

    def plot(self, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw it; parameters as for `from_estimator`."""
        _check(self.kind)
        ax, look = canvas(ax, theme)
        self.ax_, self.figure_ = ax, figure_of(ax)
        self.lines_, self.band_ = {}, None
        ax.grid(color=look.grid, linewidth=0.8)
        style: dict[str, Any] = {"lw": 1.8, "marker": "o", "ms": 4.0}
        if np.isnan(self.primal).all():
            (self.lines_["trace"],) = ax.semilogy(self.steps, _positive(self.measure), color=look.colour(0), **style)
            label(ax, look, "step", self.what)
        elif self.kind == "values":
            for i, (name, values) in enumerate((("primal", self.primal), ("dual", self.dual))):
                (self.lines_[name],) = ax.plot(
                    self.steps, values, color=look.colour(i), label=f"{name} {name[0].upper()}", **style
                )
            self.band_ = ax.fill_between(
                self.steps, self.dual, self.primal, color=look.tint(look.colour(2), 0.2), lw=0, label="gap P − D"
            )
            label(ax, look, "step", "objective")
            key(ax, look, loc="best")
        else:
            rows = (
                ("gap", self.measure, "gap P − D", "-"),
                ("primal", self.primal - self.dual.max(), "P − best dual", "--"),
                ("dual", self.primal.min() - self.dual, "best primal − D", ":"),
            )
            for i, (name, values, text, dashes) in enumerate(rows):
                colour = look.tint(look.colour(2), 0.5) if name == "gap" else look.colour(i - 1)
                drawn = {**style, "lw": 5.0, "ms": 0.0} if name == "gap" else style  # the others may lie on it
                (self.lines_[name],) = ax.semilogy(
                    self.steps, _positive(values), color=colour, label=text, ls=dashes, **drawn
                )
            label(ax, look, "step", "distance, in units of the objective")
            key(ax, look, loc="best")
        if self.steps[-1] > MANY_STEPS:
            ax.set_xscale("log")
        else:
            ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        said = f"{self.solver}, {count(int(self.steps[-1]))} steps" if self.solver else ""
        last = f"{self.what} {self.measure[-1]:.2g} at the end"
        head(ax, look, "Convergence", joined(said, last))
        return self


def _positive(values: Array) -> Array:
    """Zeros and what rounding has left below are not drawn on a logarithmic scale."""
    return np.where(values > 0.0, values, np.nan)


def _check(kind: str) -> None:
    if kind not in KINDS:
        raise InvalidParameter('kind must be "gap" or "values".', f"Got {shown(kind)}.")
