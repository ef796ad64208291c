"""Support vector machines drawn: margins with free and bounded support vectors, and where dual_coef_ has which sign.

    python docs/pictures/support_vectors.py [folder]

It makes both pictures of docs/explanation/svm-primal-to-dual.md.
"""

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle
from scipy.spatial import ConvexHull

from mercer import RBF, SVC, Linear

FOLDER = Path(__file__).parents[1] / "explanation"
MARGINS, LAYOUT = "support-vectors.png", "dual-coef-layout.png"
CORNERS = (-3.1, 3.1, -2.9, 2.9)
COLOURS = {-1.0: "#0072b2", 1.0: "#d55e00"}  # told apart by every eye; the shapes differ as well
SHAPES = {-1.0: "o", 1.0: "s"}
INK, FRAMED = "#222222", (1, 2)

Array = npt.NDArray[np.float64]


def two_classes() -> tuple[Array, Array]:  # (n, 2), (n,)
    """Two clouds with a gap between them."""
    rng = np.random.default_rng(33)
    X = np.vstack([rng.normal((-1.3, -0.7), 0.6, (22, 2)), rng.normal((1.3, 0.7), 0.6, (22, 2))]).round(2)
    return X, np.repeat([-1.0, 1.0], 22)


def with_strays(X: Array, y: Array) -> tuple[Array, Array]:
    """The same with rows on the wrong side, two of each class."""
    strays = np.array([[0.9, -0.2], [0.35, 1.5], [-0.55, 0.3], [-0.8, -2.1]])
    return np.vstack([X, strays]), np.concatenate([y, [-1.0, -1.0, 1.0, 1.0]])


def four_classes() -> tuple[Array, npt.NDArray[np.str_]]:
    rng = np.random.default_rng(5)
    centres = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
    X = np.vstack([rng.normal(centre, 0.65, (9, 2)) for centre in centres])
    return X, np.repeat(["A", "B", "C", "D"], 9)


def draw_plane(axes: Axes, model: SVC) -> None:
    side = np.meshgrid(np.linspace(*CORNERS[:2], 220), np.linspace(*CORNERS[2:], 220))
    values = model.decision_function(np.column_stack([part.ravel() for part in side])).reshape(side[0].shape)
    axes.contourf(*side, values, levels=[-1.0, 1.0], colors=["#999999"], alpha=0.16)
    axes.contour(*side, values, levels=[0.0], colors=INK, linewidths=1.8, linestyles="-")
    axes.contour(*side, values, levels=[-1.0], colors=COLOURS[-1.0], linewidths=1.2, linestyles="--")
    axes.contour(*side, values, levels=[1.0], colors=COLOURS[1.0], linewidths=1.2, linestyles="--")


def draw_rows(axes: Axes, model: SVC, X: Array, y: Array) -> None:
    free, bounded = set(model.free_support_.tolist()), set(model.bounded_support_.tolist())
    for i, ((u, v), label) in enumerate(zip(X, y, strict=True)):
        is_support = i in free or i in bounded
        face = COLOURS[label] if is_support else "white"
        size = 46 if is_support else 20
        axes.scatter(u, v, s=size, marker=SHAPES[label], facecolor=face, edgecolor=COLOURS[label], lw=1.0, zorder=3)
        if i in free:
            axes.scatter(u, v, s=170, marker="o", facecolor="none", edgecolor=INK, lw=1.5, zorder=4)
        if i in bounded:
            axes.scatter(u, v, s=26, marker="x", color="white", lw=1.6, zorder=4)


def draw_hulls(axes: Axes, model: SVC, X: Array, y: Array) -> None:
    """The hulls of both classes, and their nearest points: the convex combinations that the coefficients are."""
    for label, colour in COLOURS.items():
        corners = X[y == label][ConvexHull(X[y == label]).vertices]
        axes.add_patch(Polygon(corners, facecolor=colour, edgecolor="none", alpha=0.15, zorder=1))
    a = model.dual_coef_[0]
    nearest = np.array([np.average(model.support_vectors_[a * s > 0], axis=0, weights=a[a * s > 0]) for s in (1, -1)])
    axes.plot(*nearest.T, color=INK, lw=1.2, marker="D", ms=5, mfc="white", mec=INK, zorder=5)


def draw_margins() -> Figure:
    plain, both = two_classes(), with_strays(*two_classes())
    panels = [
        ("hard margin: C = inf, linear kernel", SVC(C=np.inf, kernel=Linear()), plain),
        ("soft margin: C = 1, linear kernel", SVC(C=1.0, kernel=Linear()), both),
        ("soft margin: C = 10, Gaussian kernel", SVC(C=10.0, kernel=RBF(1.5)), both),
    ]
    figure = Figure(figsize=(12.6, 4.9), layout="constrained")
    for axes, (title, model, (X, y)) in zip(figure.subplots(1, 3), panels, strict=True):
        model.fit(X, y)
        draw_plane(axes, model)
        if np.isinf(model.C):
            draw_hulls(axes, model, X, y)
        draw_rows(axes, model, X, y)
        axes.set_title(title, fontsize=11)
        count = f"{len(model.free_support_)} free and {len(model.bounded_support_)} bounded support vectors"
        axes.set_xlabel(f"{len(y)} rows, {count}", fontsize=10)
        axes.set(xticks=[], yticks=[], xlim=CORNERS[:2], ylim=CORNERS[2:], aspect="equal")
    figure.legend(handles=keys(), loc="outside lower center", ncols=4, fontsize=9.5, frameon=False)
    return figure


def keys() -> list[Line2D]:
    def mark(label: str, **style: object) -> Line2D:
        return Line2D([], [], ls="none", label=label, **style)  # type: ignore[arg-type]  # styles of many types

    ring = {"marker": "o", "ms": 12, "mfc": "none", "mec": INK, "mew": 1.5}
    cross = {"marker": "X", "ms": 9, "mfc": "#777777", "mec": "white"}
    return [
        mark("y = −1", marker="o", ms=6, mfc="white", mec=COLOURS[-1.0]),
        mark("y = +1", marker="s", ms=6, mfc="white", mec=COLOURS[1.0]),
        mark("free: y (f(x) + b) = 1 and 0 < |α| < C", **ring),
        mark("bounded: y (f(x) + b) ≤ 1 and |α| = C", **cross),
        Line2D([], [], color=INK, lw=1.8, label="f(x) + b = 0"),
        Line2D([], [], color=COLOURS[-1.0], lw=1.2, ls="--", label="f(x) + b = −1"),
        Line2D([], [], color=COLOURS[1.0], lw=1.2, ls="--", label="f(x) + b = +1"),
        Line2D([], [], color=INK, lw=1.2, marker="D", ms=5, mfc="white", mec=INK, label="nearest points of the hulls"),
    ]


def draw_table(axes: Axes, model: SVC, names: list[str]) -> None:
    """dual_coef_ as it lies in memory: a line for each other class, a column for each support vector."""
    dual, ends = np.asarray(model.dual_coef_), np.concatenate([[0], np.cumsum(model.n_support_)])
    lines, columns = dual.shape
    axes.imshow(dual / model.C, cmap="PuOr_r", vmin=-1.35, vmax=1.35, aspect="auto", extent=(0, columns, lines, 0))
    axes.vlines(np.arange(columns + 1), 0, lines, color="white", lw=1.2)
    axes.hlines(np.arange(lines + 1), 0, columns, color=INK, lw=0.8)
    axes.vlines(ends, 0, lines, color=INK, lw=1.6, clip_on=False)
    for i, name in enumerate(names):
        middle = (ends[i] + ends[i + 1]) / 2
        axes.text(middle, -0.1, f"support vectors of {name}", ha="center", va="bottom", fontsize=10)
        for line, other in enumerate([j for j in range(len(names)) if j != i]):
            # Of two classes the second is positive, of a pair among more the first.
            sign = "+" if (i < other) == (len(names) > 2) else "−"
            text = f"{name} against {names[other]}:  α {'≥' if sign == '+' else '≤'} 0"
            box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2.0}
            axes.text(middle, line + 0.5, text, ha="center", va="center", fontsize=9.5, bbox=box)
            if len(names) > 2 and {i, other} == set(FRAMED):
                corner, size = (ends[i] + 0.12, line + 0.05), (ends[i + 1] - ends[i] - 0.24, 0.9)
                axes.add_patch(Rectangle(corner, *size, fill=False, edgecolor="#009e73", lw=3.2, zorder=5))
    axes.set(xticks=[], yticks=np.arange(lines) + 0.5, yticklabels=[f"line {line}" for line in range(lines)])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def draw_layout() -> Figure:
    X, y = four_classes()
    many = SVC(C=1.0, kernel=RBF(1.0)).fit(X, y)
    few = SVC(C=1.0, kernel=RBF(1.0)).fit(X[y < "C"], y[y < "C"])
    names = many.classes_.tolist()
    pairs = [f"{names[i]}{names[j]}" for i, j in combinations(range(len(names)), 2)]
    framed = "".join(names[i] for i in FRAMED)

    figure = Figure(figsize=(12.6, 5.2), layout="constrained")
    above, below = figure.subplots(2, 1, height_ratios=(1, 3))
    figure.get_layout_engine().set(hspace=0.06)  # type: ignore[union-attr, call-arg]  # constrained, as asked for
    draw_table(above, few, few.classes_.tolist())
    above.set_title("two classes: one line; the decision is that of classes_[1]", fontsize=11, pad=24, loc="left")
    draw_table(below, many, names)
    order = "four classes: a line for each of the other classes, in their order"
    below.set_title(f"{order}; the decision of a pair is that of its first class", fontsize=11, pad=24, loc="left")
    below.set_xlabel(
        f"decision of the pair {framed}  =  Σ αᵢ k(xᵢ, x) over the two framed blocks  +  "
        f"intercept_[{pairs.index(framed)}],      intercept_ = [{', '.join(pairs)}]",
        fontsize=10.5, labelpad=10, color="#00704f",
    )  # fmt: skip
    figure.supxlabel("purple: α < 0, orange: α > 0, darker closer to C; white: α = 0", fontsize=9.5)
    return figure


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for name, figure in ((MARGINS, draw_margins()), (LAYOUT, draw_layout())):
        figure.savefig(folder / name, dpi=120)
        print(f"wrote {folder / name}")


if __name__ == "__main__":
    main()
