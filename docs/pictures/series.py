"""Two series of different length and their alignments, and what a triangular weight leaves of these.

    python docs/pictures/series.py [folder]

It makes the picture of docs/how-to/kernels-on-series.md.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

FOLDER = Path(__file__).parents[1] / "how-to"
COLOURS = ("#0b5d8a", "#c8581a")
LENGTH_SCALE = 0.35


def waves() -> tuple[np.ndarray, np.ndarray]:
    """The same two bumps, the second time slower at first."""
    early, late = np.linspace(0.0, 1.0, 60), np.linspace(0.0, 1.0, 80) ** 0.6

    def bumps(t: np.ndarray) -> np.ndarray:
        return np.exp(-((t - 0.3) ** 2) / 0.006) - 0.7 * np.exp(-((t - 0.7) ** 2) / 0.01)

    return bumps(early), bumps(late)


def weights(x: np.ndarray, z: np.ndarray, triangular: int | None) -> np.ndarray:
    """What each aligned pair counts."""
    places = np.abs(np.arange(len(x))[:, None] - np.arange(len(z))[None, :])
    near = 1.0 if triangular is None else np.maximum(0.0, 1.0 - places / triangular)
    rho = 0.5 * near * np.exp(-((x[:, None] - z[None, :]) ** 2) / (2.0 * LENGTH_SCALE**2))
    return rho / (1.0 - rho)


def logs(c: np.ndarray) -> np.ndarray:
    """The logarithms of the sums over all alignments of the beginnings."""
    M = np.full((c.shape[0] + 1, c.shape[1] + 1), -np.inf)
    M[0, 0] = 0.0
    for a, b in np.ndindex(c.shape):
        before = np.logaddexp(np.logaddexp(M[a, b], M[a, b + 1]), M[a + 1, b])
        M[a + 1, b + 1] = before + (np.log(c[a, b]) if c[a, b] > 0.0 else -np.inf)
    return M[1:, 1:]


def shares(c: np.ndarray) -> np.ndarray:
    """The share of the sum that passes through each pair."""
    forward, backward = logs(c), logs(c[::-1, ::-1])[::-1, ::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.exp(forward + backward - np.log(c) - forward[-1, -1])
    return np.nan_to_num(found)


def draw() -> Figure:
    x, z = waves()
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    lines, free, near = figure.subplots(1, 3, width_ratios=(1.2, 1, 1))
    lines.plot(x, color=COLOURS[0], label=f"x, {len(x)} points")
    lines.plot(z, color=COLOURS[1], label=f"z, {len(z)} points")
    lines.set(title="the same bumps at another pace", xlabel="place", ylabel="value")
    lines.legend(loc="upper right")
    for axes, triangular in ((free, None), (near, 40)):
        axes.imshow(np.sqrt(shares(weights(x, z, triangular))), origin="lower", cmap="Blues", vmin=0.0, vmax=1.0,
                    aspect="auto")  # fmt: skip
        name = "all alignments" if triangular is None else f"triangular={triangular}"
        axes.set(title=f"{name}: the pairs that count", xlabel="place in z", ylabel="place in x")
    return figure


def main() -> None:
    target = (Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER) / "alignments.png"
    draw().savefig(target, dpi=110)
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
