"""Gram matrices of strings, graphs, bags, images, and of a table of several of them, sorted by class.

    python docs/pictures/objects.py [folder]

It makes the picture of docs/how-to/kernels-on-objects.md, from data like those of the page.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mercer import RBF, BlendedSpectrum, Kernel, SpatialPyramid, Spectrum, WeisfeilerLehman

FOLDER = Path(__file__).parents[1] / "how-to"
NAME = "objects.png"
N = 40
FINNISH = "talo kissa koira järvi metsä kesä talvi aurinko kuu tähti vesi kala lintu kukka puu tie silta kaupunki"
ENGLISH = "house cat dog lake forest summer winter sun moon star water fish bird flower tree road bridge city"
GENE, MOLECULE = BlendedSpectrum(4).normalised().on("gene"), WeisfeilerLehman(2).normalised().on("molecule")

rng = np.random.default_rng(0)


def ring(n: int) -> dict[str, Any]:
    return {"edges": [(at, (at + 1) % n) for at in range(n)]}


def tree(n: int) -> dict[str, Any]:
    return {"edges": [(int(rng.integers(0, at)), at) for at in range(1, n)]}


def bag(label: int) -> np.ndarray:
    parts = rng.normal(size=(rng.integers(3, 9), 2))
    if label:
        parts[0] = rng.normal(3.0, 0.3, 2)
    return parts


def image(label: int) -> np.ndarray:
    found = 0.2 * rng.random((12, 12))
    row, column = rng.integers(0, 8, 2)
    found[row : row + 2, column : column + 5] += 1.0
    return found.T.copy() if label else found


def gene(label: int) -> str:
    letters = "".join(rng.choice(list("ACGT"), 20))
    return letters[:8] + ("TATA" if label else "GCGC") + letters[8:]


LABELS = np.repeat([0, 1], N // 2)
TABLE = {
    "gene": [gene(at // 10 % 2) for at in range(N)],
    "molecule": [(ring if label else tree)(6) for label in LABELS],
}
PANELS: dict[str, tuple[Kernel, Any]] = {
    "strings: two languages": ((Spectrum(1) + Spectrum(2)).normalised(), FINNISH.split() + ENGLISH.split()),
    "graphs: trees and rings": (
        WeisfeilerLehman(2).normalised(), [(ring if label else tree)(int(rng.integers(4, 12))) for label in LABELS]
    ),
    "bags: one part tells": (RBF(0.7).averaged().normalised(), [bag(label) for label in LABELS]),
    "images: bars lie or stand": (SpatialPyramid(1), np.array([image(label) for label in LABELS])),
    "a table: gene + molecule": (GENE + MOLECULE, TABLE),
    "the same: gene * molecule": (GENE * MOLECULE, TABLE),
}  # fmt: skip


def draw() -> Figure:
    figure = Figure(figsize=(11, 7.4), layout="constrained")
    for ax, (name, (kernel, X)) in zip(figure.subplots(2, 3).flat, PANELS.items(), strict=True):
        ax.imshow(kernel(X), cmap="Blues", interpolation="nearest")
        ax.set(title=name, xticks=[], yticks=[])
    return figure


def main() -> None:
    picture = (Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER) / NAME
    draw().savefig(picture, dpi=110)
    print(f"wrote {picture}")


if __name__ == "__main__":
    main()
