"""Baskets of two kinds: what is in them, and their Gram matrix.

    python docs/pictures/sets.py [folder]

It makes the picture of docs/how-to/kernels-on-sets.md.
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from mercer import SetIntersection, Tanimoto

FOLDER = Path(__file__).parents[1] / "how-to"
COLOURS = ("#0b5d8a", "#c8581a")
SHELF = np.array(["bread", "milk", "pizza", "peas", "ice", "salad", "tomato", "oil"])
TASTE = np.array([[3, 3, 2, 2, 2, 1, 1, 1], [3, 3, 1, 1, 1, 2, 2, 2]]) / 15.0


def draw() -> Figure:
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    baskets = [Counter(rng.choice(SHELF, size=rng.integers(3, 15), p=TASTE[label]).tolist()) for label in y]
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    items, matrix = figure.subplots(1, 2, width_ratios=(1.4, 1))
    places = np.arange(len(SHELF))
    for kind in (0, 1):
        mean = [np.mean([basket[item] for basket, label in zip(baskets, y, strict=True) if label == kind])
                for item in SHELF]  # fmt: skip
        items.bar(places + 0.4 * kind - 0.2, mean, 0.38, color=COLOURS[kind], label=("freezer", "salad")[kind])
    items.set(title="items in a basket, on average", ylabel="count")
    items.set_xticks(places, SHELF)
    items.legend(title="kind")
    order = [*range(0, 40, 2), *range(1, 40, 2)]
    K = Tanimoto(SetIntersection())([baskets[row] for row in order])
    shown = matrix.imshow(K, cmap="Blues", vmin=0.0, vmax=1.0)
    matrix.set(title="Σ min/Σ max of 40 baskets", xticks=[10, 30], yticks=[10, 30])
    matrix.set_xticklabels(["freezer", "salad"])
    matrix.set_yticklabels(["freezer", "salad"])
    figure.colorbar(shown, ax=matrix)
    return figure


def main() -> None:
    target = (Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER) / "sets.png"
    draw().savefig(target, dpi=110)
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
