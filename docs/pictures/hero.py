"""The picture of the front page and the README, once for light and once for dark surroundings.

    python docs/pictures/hero.py [folder]

A regression with its error bars, a street with its support vectors, and the Gram matrix of a formula.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from mercer import RBF, SVC, KernelRidge, Linear, Periodic

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Inks:
    """Colours for one kind of surroundings; the ground itself is transparent."""

    text: str
    faint: str
    blue: str
    orange: str
    ground: str


INKS = {
    "light": Inks(text="#1f2328", faint="#8c959f", blue="#0b5d8a", orange="#c8581a", ground="#ffffff"),
    "dark": Inks(text="#e6edf3", faint="#7d8590", blue="#6cb8e6", orange="#f0a36b", ground="#14181e"),
}


def regression(axes: Axes, inks: Inks) -> None:
    """A wave that repeats, a trend, and what is not known beyond the data."""
    rng = np.random.default_rng(3)
    x = np.sort(np.concatenate([rng.uniform(0, 3.4, 34), rng.uniform(4.6, 7, 20)]))
    y = np.sin(2.2 * x) + 0.35 * x + 0.22 * rng.standard_normal(len(x))
    model = KernelRidge(alpha=0.05, kernel=RBF(0.55) + Linear(), fit_intercept=True).fit(x[:, None], y)
    at = np.linspace(-0.6, 8.2, 300)
    mean, std = model.predict(at[:, None], return_std=True)
    axes.fill_between(at, mean - 2 * std, mean + 2 * std, color=inks.blue, alpha=0.22, lw=0)
    axes.plot(at, mean, color=inks.blue, lw=2)
    axes.plot(x, y, "o", color=inks.orange, ms=3.6)
    axes.set(xlim=(-0.6, 8.2), ylim=(-2.2, 5.0))
    axes.set_title("KernelRidge: RBF(0.55) + Linear()")
    axes.set_xlabel("± 2 standard deviations")


def street(axes: Axes, inks: Inks) -> None:
    """The widest street between two half circles, and the rows that hold it up."""
    rng = np.random.default_rng(4)
    angle = rng.uniform(0, np.pi, (2, 45))
    upper = np.column_stack([np.cos(angle[0]), np.sin(angle[0])])
    lower = np.column_stack([1 - np.cos(angle[1]), 0.4 - np.sin(angle[1])])
    X = np.concatenate([upper, lower]) + 0.16 * rng.standard_normal((90, 2))
    y = np.repeat([1, -1], 45)
    model = SVC(C=5.0, kernel=RBF(0.6)).fit(X, y)
    side = np.meshgrid(np.linspace(-1.7, 2.7, 220), np.linspace(-1.4, 1.8, 180))
    g = model.decision_function(np.column_stack([part.ravel() for part in side])).reshape(side[0].shape)
    axes.contourf(*side, g, levels=[-1, 1], colors=[inks.faint], alpha=0.18)
    axes.contour(*side, g, levels=[-1, 0, 1], colors=inks.text, linestyles=["--", "-", "--"], linewidths=[1, 2, 1])
    for label, colour in ((1, inks.orange), (-1, inks.blue)):
        axes.plot(*X[y == label].T, "o", color=colour, ms=4)
    axes.plot(*X[model.support_].T, "o", mfc="none", mec=inks.text, ms=9, mew=1.2)
    axes.set_title("SVC: RBF(0.6)")
    axes.set_xlabel(f"{len(model.support_)} of {len(X)} rows are support vectors")


def gram_matrix(axes: Axes, inks: Inks) -> None:
    """The kernel values of all pairs of 240 points of a line."""
    kernel = RBF(1.5) * Periodic(0.9, 1.0)
    colours = LinearSegmentedColormap.from_list("inks", [inks.ground, inks.blue, inks.orange])
    axes.imshow(kernel(np.linspace(0, 4, 240)[:, None]), cmap=colours, vmin=0, vmax=1, interpolation="nearest")
    axes.set_title("RBF(1.5) * Periodic(0.9)")
    axes.set_xlabel("positive by rules 1, 2, 5, 6, 7")


def draw(inks: Inks) -> Figure:
    """Three panels on no ground."""
    style = {
        "text.color": inks.text, "axes.labelcolor": inks.faint, "axes.edgecolor": inks.faint, "svg.fonttype": "path",
        "font.family": "DejaVu Sans", "axes.titlesize": 11, "axes.labelsize": 9.5, "svg.hashsalt": "mercer",
    }  # fmt: skip
    with mpl.rc_context(style):
        figure = Figure(figsize=(12, 3.7), layout="constrained")
        panels = figure.subplots(1, 3, gridspec_kw={"width_ratios": [1.35, 1.35, 1]})
        for axes, fill in zip(panels, (regression, street, gram_matrix), strict=True):
            fill(axes, inks)
            axes.set(xticks=[], yticks=[], facecolor="none")
            for spine in axes.spines.values():
                spine.set_alpha(0.5)
        figure.patch.set_alpha(0.0)
        return figure


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for name, inks in INKS.items():
        picture = folder / f"hero-{name}.svg"
        draw(inks).savefig(picture, metadata={"Date": None})
        print(f"wrote {picture}")


if __name__ == "__main__":
    main()
