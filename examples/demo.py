"""A tour of mercer in five stops, run by `make demo`: a formula, its proof, refusals, speed, a picture."""

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.metrics.pairwise import rbf_kernel

import mercer
from mercer import L1, RBF, Linear, Matern, Periodic

PICTURE = Path(__file__).with_name("gram.png")
ROWS, WIDTH, REPEATS = 10_000, 20, 3

# Each of these is accepted in silence by a well-known library.
NON_KERNELS: dict[str, Callable[[], object]] = {
    "-1.0 * RBF()": lambda: -1.0 * RBF(),
    "RBF() - RBF(2.0)": lambda: RBF() - RBF(2.0),
    "RBF() + (-2.0)": lambda: RBF() + (-2.0),
    "(Linear() + 1) ** 2.5": lambda: (Linear() + 1) ** 2.5,
    "Matern(1.5).of(L1() ** 2)": lambda: Matern(1.5).of(L1() ** 2),
}


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def show_formula_and_proof() -> None:
    heading("1. A kernel is a formula")
    kernel = 0.5 * RBF(2.0) + Linear() ** 2
    print(f"k = {kernel}")
    print(f"k(x, z) in LaTeX: {kernel.latex()}")
    print(f"written down and read back, it is the same kernel: {mercer.parse(repr(kernel)) == kernel}")
    heading("2. A formula has a proof")
    print(kernel.proof())


def show_refusals() -> None:
    heading("3. What cannot be derived is refused, with the reason")
    for text, build in NON_KERNELS.items():
        try:
            build()
        except mercer.MercerError as error:
            print(f">>> {text}\n{type(error).__name__}: {error}\n")
        else:
            raise AssertionError(f"{text} was accepted")
    print("A Python function is searched for a counter-example; here, the usual 'periodic' kernel in two dimensions:")
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 2))
    print(mercer.refute(lambda x, z: np.exp(-2.0 * np.sin(np.pi * np.linalg.norm(x - z)) ** 2), points))


def median_seconds(runs: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Take turns, so that a slow moment of the machine hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(REPEATS):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(measured) for name, measured in times.items()}


def show_speed() -> None:
    heading(f"4. K @ v for {ROWS} rows in {WIDTH} dimensions, side by side")
    rng = np.random.default_rng(0)
    X, v = rng.standard_normal((ROWS, WIDTH)), rng.standard_normal(ROWS)
    X32, v32 = X.astype("float32"), v.astype("float32")
    kernel = RBF((WIDTH / 2) ** 0.5)
    peer = "scikit-learn  rbf_kernel(X) @ v     float64"
    seconds = median_seconds(
        {
            peer: lambda: rbf_kernel(X) @ v,
            "mercer        gram(RBF(ℓ), X) @ v   float64": lambda: mercer.gram(kernel, X) @ v,
            "mercer        gram(RBF(ℓ), X) @ v   float32": lambda: mercer.gram(kernel, X32) @ v32,
        }
    )
    for name, measured in seconds.items():
        print(f"{name}  {measured * 1e3:8.1f} ms  {seconds[peer] / measured:6.1f} ×")
    expected = rbf_kernel(X) @ v
    error = np.abs(mercer.gram(kernel, X) @ v - expected).max() / np.abs(expected).max()
    print(f"largest relative difference in float64: {error:.1e}")
    print(f"mercer never held the matrix of {ROWS * ROWS * 8 / 1e6:.0f} MB")


def draw_gram() -> None:
    heading("5. A picture of Gram matrices")
    x = np.linspace(0.0, 3.0, 200)[:, None]
    kernels = [RBF(0.3), Matern(0.5), Periodic(1.0), RBF(2.0) * Periodic(1.0)]
    figure = Figure(figsize=(4 * len(kernels), 4.4), layout="constrained")
    axes = figure.subplots(1, len(kernels))
    for axis, kernel in zip(axes, kernels, strict=True):
        axis.imshow(kernel(x), cmap="viridis", vmin=0.0, vmax=1.0)
        axis.set_title(repr(kernel))
        axis.set_axis_off()
    figure.savefig(PICTURE, dpi=100)
    print(f"wrote {PICTURE}")


def main() -> None:
    show_formula_and_proof()
    show_refusals()
    show_speed()
    draw_gram()


if __name__ == "__main__":
    main()
