"""Bags whose parts decide their class, and digits as bags of patches.

    python docs/pictures/bags_and_images.py [folder]

It makes the pictures of docs/how-to/kernels-on-bags-and-images.md, in about a minute.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from mercer import RBF, SVC, NormPower, Patches, Pixels, Position, SpatialPyramid, UnitRows
from mercer.points import as_points

FOLDER = Path(__file__).parents[1] / "how-to"
COLOURS = {1: "#c8581a", 0: "#0b5d8a"}
GREY = "#777777"
SIZES = (100, 300, 1000)
EXAMPLE = 60
PART = RBF(0.6).on(UnitRows()).scaled_by(NormPower(1)).on(Pixels()) * RBF(1.5).on(Position())
CONVOLUTION = PART.summed().normalised().on(Patches(3))


def made_bags() -> tuple[list[np.ndarray], np.ndarray]:
    """As on the page."""
    rng = np.random.default_rng(0)
    X, y = [], np.arange(200) % 2
    for label in y:
        parts = rng.normal(size=(rng.integers(4, 12), 2))
        if label:
            parts[0] = rng.normal([2.5, 2.5], 0.3)
        X.append(parts)
    return X, y


def draw_bags() -> Figure:
    X, y = made_bags()
    model = SVC(C=10.0, kernel=RBF(0.7).averaged()).fit(X[:100], y[:100])
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    plane, scores = figure.subplots(1, 2)
    for row, label in ((0, 0), (2, 0), (1, 1), (3, 1)):
        bag = X[row]
        plane.plot(*bag.T, "s^oD"[row], color=COLOURS[label], ms=7, label=f"bag {row}, class {label}")
    plane.set(title="four bags: class 1 has a part at the top right", xlabel="x₁", ylabel="x₂", aspect="equal")
    plane.legend(loc="lower right", fontsize=9)
    decision = model.decision_function(X[100:])
    for label, colour in COLOURS.items():
        scores.hist(decision[y[100:] == label], bins=np.linspace(-2.5, 2.5, 26), color=colour, alpha=0.7,
                    label=f"class {label}")  # fmt: skip
    scores.axvline(0.0, color=GREY, lw=1)
    scores.set(title="100 other bags under RBF(0.7).averaged()", xlabel="decision", ylabel="bags")
    scores.legend()
    return figure


def draw_images() -> Figure:
    X, y = load_digits(return_X_y=True)
    X = X.reshape(-1, 8, 8) / 16.0
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    first, second, errors = figure.subplots(1, 3, width_ratios=(1, 1, 1.5))
    one, other = X[y == 3][:2]
    bags = Patches(3)(as_points([one, other]))
    middle, half = 14, 1.5
    alike = PART(bags.parts.take([middle]), bags.parts.take(range(36, 72)))[0].reshape(6, 6)
    row, column = Position()(bags.parts).raw()[middle] + 3.5
    first.imshow(one, cmap="gray_r")
    corners = np.array([[-1, -1], [-1, 1], [1, 1], [1, -1], [-1, -1]]) * half
    first.plot(column + corners[:, 0], row + corners[:, 1], color=COLOURS[1], lw=2.5)
    first.set(title="one patch of a digit", xticks=[], yticks=[])
    second.imshow(other, cmap="gray_r")
    at = np.arange(1, 7)
    for i, j in np.ndindex(6, 6):
        second.plot(at[j], at[i], "o", color=COLOURS[1], ms=15 * np.sqrt(alike[i, j] / alike.max()), alpha=0.75)
    second.set(title="what it has in common\nwith those of another", xticks=[], yticks=[])
    rows = {"RBF(2.0) on pixels": (RBF(2.0), GREY), "convolution of patches": (CONVOLUTION, COLOURS[1]),
            "SpatialPyramid(3)": (SpatialPyramid(3), COLOURS[0])}  # fmt: skip
    for name, (kernel, colour) in rows.items():
        found = []
        for size in SIZES:
            A, B, a, b = train_test_split(X, y, train_size=size, random_state=0, stratify=y)
            if kernel == RBF(2.0):
                A, B = A.reshape(len(A), -1), B.reshape(len(B), -1)
            found.append(100 * (1 - SVC(C=100.0, kernel=kernel).fit(A, a).score(B, b)))
        errors.plot(SIZES, found, "o-", color=colour, label=name)
    errors.set(title="error on the other digits", xlabel="training images", ylabel="%", xscale="log", ylim=(0, None))
    errors.set_xticks(SIZES, [str(size) for size in SIZES])
    errors.minorticks_off()
    errors.legend()
    return figure


PICTURES = {"bags.png": draw_bags, "patches.png": draw_images}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for name, draw in PICTURES.items():
        draw().savefig(folder / name, dpi=110)
        print(f"wrote {folder / name}")


if __name__ == "__main__":
    main()
