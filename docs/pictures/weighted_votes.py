"""Neighbours, smoother and support vector machine: one family of weighted votes.

    python docs/pictures/weighted_votes.py [folder]

It makes the picture of docs/explanation/smoothing.md: the votes that the training points cast on one new point.
"""

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mercer import RBF, SVC

FOLDER = Path(__file__).parents[1] / "explanation"
NAME = "smoothing.png"
KERNEL, NEIGHBOURS = RBF(0.45), 7
NEW = np.array([[0.66, 0.31]])
COLOURS = {1.0: "#d95f02", -1.0: "#1f78b4"}

Array = npt.NDArray[np.float64]


def two_moons() -> tuple[Array, Array]:  # (n, 2), (n,)
    """Two half circles with noise, labelled +1 and −1."""
    rng = np.random.default_rng(4)
    angle = rng.uniform(0.0, np.pi, (2, 32))
    upper = np.column_stack([np.cos(angle[0]), np.sin(angle[0])])
    lower = np.column_stack([1.0 - np.cos(angle[1]), 0.45 - np.sin(angle[1])])
    X = np.concatenate([upper, lower]) + 0.17 * rng.standard_normal((64, 2))
    return X, np.repeat([1.0, -1.0], 32)


def neighbours(K: Array) -> Array:
    """One vote for each of the nearest, whose kernel values are the largest."""
    least = np.partition(K, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS, None]
    return (least <= K) / NEIGHBOURS


def smoother(K: Array) -> Array:
    """Votes as large as the kernel."""
    return np.asarray(K / K.sum(axis=1, keepdims=True))


def panel(
    axes: Axes, title: str, votes: Array, values: Array, corners: tuple[float, float, float, float], X: Array, y: Array
) -> None:
    """The sign of the sum over the plane, and the votes on the new point."""
    side = round(len(values) ** 0.5)
    plane = values.reshape(side, side)
    axes.imshow(np.sign(plane), extent=corners, origin="lower", cmap="PuOr_r", alpha=0.22, vmin=-1.6, vmax=1.6)
    axes.contour(plane, levels=[0.0], extent=corners, colors="#444444", linewidths=1.4)
    share = votes / votes.max()
    for point, label, size in zip(X, y, share, strict=True):
        colour = COLOURS[label]
        if size > 0.02:
            axes.plot([NEW[0, 0], point[0]], [NEW[0, 1], point[1]], color=colour, lw=2.6 * size, alpha=0.75, zorder=2)
        axes.scatter(point[0], point[1], s=14, facecolor="white", edgecolor=colour, lw=1.0, zorder=3)
        axes.scatter(point[0], point[1], s=110 * size, color=colour, edgecolor="white", lw=0.4, zorder=4)
    axes.scatter(NEW[0, 0], NEW[0, 1], marker="*", s=230, color="#111111", edgecolor="white", zorder=5)
    tally = {label: votes[y == label].sum() / votes.sum() for label in COLOURS}
    axes.set_title(title, fontsize=11)
    axes.set_xlabel(
        f"orange {tally[1.0]:.0%}, blue {tally[-1.0]:.0%} of the votes\n{np.sum(share > 0.01)} points count",
        fontsize=10,
    )
    axes.set(xticks=[], yticks=[], xlim=corners[:2], ylim=corners[2:])


def draw() -> Figure:
    X, y = two_moons()
    corners = (-1.7, 2.6, -1.25, 1.75)
    side = np.meshgrid(np.linspace(*corners[:2], 160), np.linspace(*corners[2:], 160))
    plane = np.column_stack([part.ravel() for part in side])
    on_plane, on_new = KERNEL(plane, X), KERNEL(NEW, X)

    machine = SVC(C=1.0, kernel=KERNEL).fit(X, y)
    a = np.zeros(len(X))
    a[machine.support_] = np.abs(machine.dual_coef_[0])

    figure = Figure(figsize=(12, 3.9), layout="constrained")
    rows = [
        (f"{NEIGHBOURS} nearest neighbours: sᵢ(x) = 1, or 0", neighbours, 0.0),
        ("smoother: sᵢ(x) = k(x, xᵢ)", smoother, 0.0),
        ("support vector machine: sᵢ(x) = |αᵢ| k(x, xᵢ)", lambda K: K * a, float(machine.intercept_[0])),
    ]
    for axes, (title, votes, intercept) in zip(figure.subplots(1, 3), rows, strict=True):
        panel(axes, title, votes(on_new)[0], votes(on_plane) @ y + intercept, corners, X, y)
    figure.suptitle("sign of Σᵢ sᵢ(x) yᵢ: every training point votes for its own label", fontsize=12)
    return figure


def main() -> None:
    picture = (Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER) / NAME
    draw().savefig(picture, dpi=120)
    print(f"wrote {picture}")


if __name__ == "__main__":
    main()
