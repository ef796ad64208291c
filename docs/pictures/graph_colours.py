"""Colours of nodes, round by round, in two molecules: what the Weisfeiler-Lehman kernel counts.

    python docs/pictures/graph_colours.py [folder]

It makes the picture of docs/how-to/kernels-on-graphs.md.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import mercer

FOLDER = Path(__file__).parents[1] / "how-to"
NAME = "graph-colours.png"
ROUNDS = 3
PALETTE = ("#0b5d8a", "#c8581a", "#4a8c3f", "#8a4f9e", "#b8860b", "#4fa3a5", "#a03050", "#6b6b6b")
RING = [(at, (at + 1) % 6) for at in range(6)]
MOLECULES = {
    "phenol": {"edges": [*RING, (0, 6)], "labels": ["C"] * 6 + ["O"]},
    "benzoic acid": {"edges": [*RING, (0, 6), (6, 7), (6, 8)], "labels": ["C"] * 7 + ["O", "O"]},
}


def places(n: int) -> np.ndarray:
    """A ring of six, and what hangs on its first node."""
    turn = np.pi / 2 - np.arange(6) * np.pi / 3
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    rest = np.array([[0.0, 2.0], [-0.87, 2.5], [0.87, 2.5]])
    return np.concatenate([ring, rest])[:n]


def colour(graph: dict, node: int, rounds: int) -> tuple:
    """What a node's colour stands for: its label, or its colour before and those around it."""
    if rounds == 0:
        return (graph["labels"][node],)
    around = [u + v - node for u, v in graph["edges"] if node in (u, v)]
    return colour(graph, node, rounds - 1), tuple(sorted(colour(graph, other, rounds - 1) for other in around))


def draw() -> Figure:
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    axes = figure.subplots(len(MOLECULES), ROUNDS)
    for depth in range(ROUNDS):
        graphs = list(MOLECULES.values())
        colours = [[colour(graph, node, depth) for node in range(len(graph["labels"]))] for graph in graphs]
        common = sorted(set(colours[0]) & set(colours[1]), key=repr)
        value = mercer.WeisfeilerLehman(depth)(graphs)[0, 1]
        before = mercer.WeisfeilerLehman(depth - 1)(graphs)[0, 1] if depth else 0.0
        for row, (name, graph) in enumerate(MOLECULES.items()):
            ax, at = axes[row, depth], places(len(graph["labels"]))
            for u, v in graph["edges"]:
                ax.plot(*at[[u, v]].T, color="#999999", lw=2, zorder=1)
            for node, (spot, label) in enumerate(zip(at, graph["labels"], strict=True)):
                mine = colours[row][node]
                face = PALETTE[common.index(mine)] if mine in common else "white"
                ax.plot(*spot, "o", ms=22, mfc=face, mec="#444444", zorder=2)
                ax.annotate(label, spot, color="white" if mine in common else "#444444", ha="center", va="center")
            ax.set(aspect="equal", xlim=(-1.7, 1.7), ylim=(-1.5, 3.1))
            ax.axis("off")
            if depth == 0:
                ax.text(-1.65, -1.45, name.replace(" ", "\n"), fontsize=12)
        rounds = "labels" if depth == 0 else f"after {depth} round{'s' if depth > 1 else ''}"
        axes[0, depth].set_title(f"{rounds}: + {value - before:.0f} → k = {value:.0f}")
    return figure


def main() -> None:
    picture = (Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER) / NAME
    draw().savefig(picture, dpi=110)
    print(f"wrote {picture}")


if __name__ == "__main__":
    main()
