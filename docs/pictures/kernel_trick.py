"""The kernel trick: a circle in the plane is a plane in the space of three features.

    python docs/pictures/kernel_trick.py [folder]

It makes the picture of docs/explanation/the-kernel-trick.md.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from mercer import SVC, Linear

FOLDER = Path(__file__).parents[1] / "explanation"
NAME = "kernel-trick.png"
COLOURS = {1: "#c8581a", -1: "#0b5d8a"}


def draw() -> Figure:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.5, 1.5, (260, 2))
    radius = np.linalg.norm(X, axis=1)
    X, radius = X[abs(radius - 1) > 0.12], radius[abs(radius - 1) > 0.12]
    y = np.where(radius < 1, 1, -1)
    model = SVC(C=100.0, kernel=Linear() ** 2).fit(X, y)

    figure = Figure(figsize=(11, 5.2), layout="constrained")
    plane = figure.add_subplot(1, 2, 1)
    side = np.linspace(-1.5, 1.5, 200)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    decision = model.decision_function(grid).reshape(200, 200)
    plane.contour(side, side, decision, levels=[-1, 0, 1], colors="#444444", linestyles=["--", "-", "--"])
    space = figure.add_subplot(1, 2, 2, projection="3d")
    features = np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])
    for label, colour in COLOURS.items():
        plane.plot(*X[y == label].T, "o", color=colour, ms=4)
        space.plot(*features[y == label].T, "o", color=colour, ms=4)
    # The plane w·φ + b = 0, where it passes through the features: first + third = radius² of the circle.
    w, b = model.coef_[0], model.intercept_[0]
    first, second = np.meshgrid(np.linspace(0, -b / w[0], 2), np.linspace(-1.4, 1.4, 2))
    space.plot_surface(first, second, -(w[0] * first + w[1] * second + b) / w[2], color="#888888", alpha=0.3)
    plane.set(xlabel="x₁", ylabel="x₂", aspect="equal", title="two columns: a circle divides the classes")
    space.set(xlabel="x₁²", ylabel="√2 x₁x₂", zlabel="x₂²", title="three features: a plane does")
    space.view_init(elev=14, azim=-56)
    space.set(xticks=[0, 1, 2], yticks=[-2, 0, 2], zticks=[0, 1, 2])
    space.set_box_aspect((1, 1, 1), zoom=1.0)
    return figure


def main() -> None:
    picture = (Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER) / NAME
    draw().savefig(picture, dpi=110)
    print(f"wrote {picture}")


if __name__ == "__main__":
    main()
