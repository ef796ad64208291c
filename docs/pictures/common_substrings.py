"""What two strings have in common, for four kernels: a line for each pair of substrings that counts.

    python docs/pictures/common_substrings.py [folder]

It makes the picture of docs/how-to/kernels-on-strings.md.
"""

import sys
from collections.abc import Callable
from math import comb
from pathlib import Path

from matplotlib.figure import Figure

from mercer import GappedKmer, Kernel, Spectrum, WeightedDegree

FOLDER = Path(__file__).parents[1] / "how-to"
NAME = "common-substrings.png"
ONE, OTHER = "GATTACAGATTC", "CATTACCGATAC"
LINE, LETTER, SHADE = "#c8581a", "#0b5d8a", "#e4edf3"
# Where a line begins and ends, how many letters it joins, and what it counts.
Pair = tuple[int, int, int, float]


def windows(length: int, counts: Callable[[str, str], float]) -> list[Pair]:
    """All pairs of substrings of a length that count something."""
    places = [(p, q) for p in range(len(ONE) - length + 1) for q in range(len(OTHER) - length + 1)]
    found = [(p, q, length, counts(ONE[p : p + length], OTHER[q : q + length])) for p, q in places]
    return [pair for pair in found if pair[3]]


def agreeing(informative: int) -> Callable[[str, str], float]:
    return lambda u, v: comb(sum(a == b for a, b in zip(u, v, strict=True)), informative)


def placed(degree: int, shift: int) -> list[Pair]:
    """The substrings of 1 to `degree` letters that stand at most `shift` apart."""
    found = []
    for k in range(1, degree + 1):
        weight = 2 * (degree - k + 1) / (degree * (degree + 1))
        for p, q, length, same in windows(k, lambda u, v: float(u == v)):
            near = max(0.0, 1 - abs(p - q) / (shift + 1))
            found += [(p, q, length, weight * near * same)] if near else []
    return found


KERNELS: dict[str, tuple[Kernel, list[Pair]]] = {
    "Spectrum(3)": (Spectrum(3), windows(3, lambda u, v: float(u == v))),
    "GappedKmer(4, 3)": (GappedKmer(4, 3), windows(4, agreeing(3))),
    "WeightedDegree(3)": (WeightedDegree(3), placed(3, 0)),
    "WeightedDegree(3, shift=2)": (WeightedDegree(3, shift=2), placed(3, 2)),
}


def draw() -> Figure:
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    for ax, (name, (kernel, pairs)) in zip(figure.subplots(2, 2).flat, KERNELS.items(), strict=True):
        total = kernel([ONE], [OTHER])[0, 0]
        assert abs(total - sum(pair[3] for pair in pairs)) < 1e-9
        most = max(pair[3] for pair in pairs)
        for p, q, length, count in pairs:
            ends = p + (length - 1) / 2, q + (length - 1) / 2
            ax.plot(ends, (0.78, 0.22), color=LINE, lw=0.6 + 2.4 * count / most, alpha=0.75, solid_capstyle="round")
        for text, height in ((ONE, 0.9), (OTHER, 0.1)):
            ax.axhspan(height - 0.1, height + 0.1, color=SHADE, lw=0)
            for at, letter in enumerate(text):
                ax.text(at, height, letter, ha="center", va="center", family="monospace", fontsize=14, color=LETTER)
        ax.set(title=f"{name}: k = {total:.3g}", xlim=(-0.8, len(ONE) - 0.2), ylim=(-0.02, 1.02))
        ax.axis("off")
    return figure


def main() -> None:
    picture = (Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER) / NAME
    draw().savefig(picture, dpi=110)
    print(f"wrote {picture}")


if __name__ == "__main__":
    main()
