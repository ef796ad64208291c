"""Kernel ridge from the dual: above, a fit with its uncertainty; below, the coefficients that it is made of.

    python docs/pictures/ridge_from_the_dual.py [folder]

It makes the picture of docs/explanation/ridge-from-the-dual.md.
"""

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from mercer import RBF, KernelRidge

FOLDER = Path(__file__).parents[1] / "explanation"
NAME = "ridge-from-the-dual.png"
KERNEL, ALPHA = RBF(1.0), 0.2
POINT, CURVE, RESIDUAL = "#222222", "#1f77b4", "#d62728"

Array = npt.NDArray[np.float64]


def measurements() -> tuple[Array, Array]:  # (n,), (n,)
    """A sine with noise of variance ALPHA, not measured between 4 and 6."""
    rng = np.random.default_rng(3)
    x = np.concatenate([np.linspace(0.0, 4.0, 9), np.linspace(6.2, 9.0, 6)]) + rng.uniform(-0.15, 0.15, 15)
    return x, 1.5 * np.sin(x) + ALPHA**0.5 * rng.standard_normal(len(x))


def draw() -> Figure:
    x, y = measurements()
    model = KernelRidge(alpha=ALPHA, kernel=KERNEL).fit(x[:, None], y)
    a = model.dual_coef_
    grid = np.linspace(-0.8, 9.8, 400)
    mean, std = model.predict(grid[:, None], return_std=True)

    figure = Figure(figsize=(8, 6.4), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    above.fill_between(grid, mean - 2 * std, mean + 2 * std, color=CURVE, alpha=0.18, lw=0, label="f(x) ± 2 std")
    above.plot(grid, mean, color=CURVE, lw=2, label="f(x) = Σ αᵢ k(xᵢ, x)")
    above.vlines(x, model.predict(x[:, None]), y, color=RESIDUAL, lw=1.5, label="residuals yᵢ − f(xᵢ)")
    above.plot(x, y, "o", color=POINT, ms=5, label="measurements yᵢ")
    above.set(ylabel="y", ylim=(-3.2, 3.4))
    above.legend(loc="upper center", fontsize=9, ncols=4, frameon=False)

    bumps = a * KERNEL(grid[:, None], x[:, None])  # one column per coefficient; a row sums to f there
    below.plot(grid, bumps[:, 0], color=CURVE, lw=0.8, alpha=0.6, label="αᵢ k(xᵢ, x), which add up to f(x)")
    below.plot(grid, bumps[:, 1:], color=CURVE, lw=0.8, alpha=0.6)
    below.vlines(x, 0.0, a, color=RESIDUAL, lw=1.5)
    below.plot(x, a, "o", color=RESIDUAL, ms=5, label=f"αᵢ = (yᵢ − f(xᵢ))/λ, with λ = {ALPHA}")
    below.axhline(0.0, color=POINT, lw=0.8)
    below.set(xlabel="x", ylabel="dual coefficients", xlim=(grid[0], grid[-1]), ylim=(-2.4, 4.0))
    below.legend(loc="upper center", fontsize=9, ncols=2, frameon=False)
    return figure


def main() -> None:
    picture = (Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER) / NAME
    draw().savefig(picture, dpi=120)
    print(f"wrote {picture}")


if __name__ == "__main__":
    main()
