"""Spectral laws of shift-invariant kernels: k(x, z) = Σⱼ cⱼ² E cos(⟨ω, x − z⟩), ω drawn from a law (Bochner).

The radial kernels of ψ = ‖x − z‖² are mixtures of Gaussian kernels, exp(−s ψ/2) for a random s > 0: then ω = √s g with
a standard normal g, whose direction and length are independent. Directions may therefore be drawn orthogonal to each
other, in groups of d, which leaves the law of each as it is and makes their mean more accurate [1]_. The Laplacian
kernel of the city-block distance has independent Cauchy coordinates. A product of kernels adds independent frequencies,
a sum takes some from each.

References
----------
.. [1] F. X. Yu, A. T. Suresh, K. Choromanski, D. Holtmann-Rice, S. Kumar. Orthogonal random features. NIPS 2016.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.errors import NoFiniteMap
from mercer.kernels.algebra import Product, Scaled, Sum
from mercer.kernels.kernel import Kernel
from mercer.kernels.radial import RBF, Cauchy, Laplacian, Matern, RationalQuadratic

__all__ = ["LAWS", "fill_waves", "frequencies"]

Array = npt.NDArray[np.float64]
Generator = np.random.Generator

# Kernel -> s of so many frequencies, for a length scale of 1: exp(−s ψ/2) on average is the profile.
MIXTURES: dict[type[Kernel], Callable[[Any, int, Generator], Array]] = {
    RBF: lambda kernel, count, rng: np.ones(count),
    # 2ν/χ² of 2ν degrees of freedom: ω has Student's t distribution.
    Matern: lambda kernel, count, rng: 2.0 * kernel.nu / rng.chisquare(2.0 * kernel.nu, count),
    RationalQuadratic: lambda kernel, count, rng: rng.gamma(kernel.alpha, 1.0 / kernel.alpha, count),
    Cauchy: lambda kernel, count, rng: rng.exponential(2.0, count),
}


def frequencies(kernel: Kernel, d: int, count: int, rng: Generator, *, orthogonal: bool = True) -> tuple[Array, Array]:
    """Frequencies ω of a kernel in d dimensions, and their amplitudes c.

    Parameters
    ----------
    kernel : Kernel
        Resolved: its parameters are numbers.
    d : int
        Columns of the points.
    count : int
        How many frequencies.
    rng : Generator
        Draws them.
    orthogonal : bool
        Whether directions are orthogonal in groups of d, where the law allows it.

    Returns
    -------
    omega : ndarray of shape (d, count)
    amplitude : ndarray of shape (count,)
        k(x, z) ≈ Σⱼ cⱼ² cos(⟨ωⱼ, x − z⟩).

    Raises
    ------
    NoFiniteMap
        If a part of the formula has no spectral law in the table.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> omega, c = frequencies(2.0 * RBF(0.5), 3, 3_000, rng)
    >>> x = np.array([0.3, 0.1, -0.2])
    >>> bool(abs(c**2 @ np.cos(x @ omega) - 2.0 * np.exp(-2.0 * x @ x)) < 0.02)
    True
    """
    draw = LAWS.get(type(kernel))
    if draw is None:
        raise NoFiniteMap(
            f"{kernel!r} has no spectral law to draw frequencies from.",
            f"Known are {', '.join(sorted(kind.__name__ for kind in LAWS))}, of vectors.",
            "Use mercer.Nystroem, which takes any kernel.",
        )
    return draw(kernel, d, count, rng, orthogonal)


def fill_waves(X: Any, omega: Array, amplitude: Array, offset: float, out: Array) -> None:
    """The features of rows: all cosines, then all sines; of an odd number, the last frequency has a cosine alone.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, d)
    omega : ndarray of shape (d, count)
    amplitude : ndarray of shape (count,)
    offset : float
        Added to the last phase: uniform in [0, 2π) where it has no sine.
    out : ndarray of shape (n, 2·count) or (n, 2·count − 1)
        Filled.
    """
    count, width = len(amplitude), out.shape[1]
    factors = np.concatenate([amplitude, amplitude[: width - count]])
    if width % 2:
        factors[count - 1] *= np.sqrt(2.0)
    phase = np.asarray(X @ omega)
    phase[:, -1] += offset
    np.cos(phase, out=out[:, :count])
    np.sin(phase[:, : width - count], out=out[:, count:])
    out *= factors


def _radial(kernel: Any, d: int, count: int, rng: Generator, orthogonal: bool) -> tuple[Array, Array]:
    length = np.sqrt(rng.chisquare(d, count) * MIXTURES[type(kernel)](kernel, count, rng))
    omega = _directions(d, count, rng, orthogonal) * length
    return omega / np.reshape(kernel.length_scale, (-1, 1)), _even(count)


def _laplacian(kernel: Any, d: int, count: int, rng: Generator, orthogonal: bool) -> tuple[Array, Array]:  # noqa: ARG001
    return rng.standard_cauchy((d, count)) / np.reshape(kernel.length_scale, (-1, 1)), _even(count)


def _scaled(kernel: Any, d: int, count: int, rng: Generator, orthogonal: bool) -> tuple[Array, Array]:
    omega, amplitude = frequencies(kernel.kernel, d, count, rng, orthogonal=orthogonal)
    return omega, np.sqrt(kernel.scale) * amplitude


def _product(kernel: Any, d: int, count: int, rng: Generator, orthogonal: bool) -> tuple[Array, Array]:
    drawn = [frequencies(part, d, count, rng, orthogonal=orthogonal) for part in kernel.factors]
    # Amplitudes may differ from frequency to frequency: each factor is met in an order of its own.
    orders = [rng.permutation(count) for _ in drawn]
    omega = sum((part[:, order] for (part, _), order in zip(drawn, orders, strict=True)), start=np.zeros((d, count)))
    squares = np.prod([count * c[order] ** 2 for (_, c), order in zip(drawn, orders, strict=True)], axis=0)
    return omega, np.sqrt(squares / count)


def _sum(kernel: Any, d: int, count: int, rng: Generator, orthogonal: bool) -> tuple[Array, Array]:
    parts = kernel.terms
    if count < len(parts):
        raise NoFiniteMap(f"{kernel!r} needs at least {len(parts)} frequencies.", f"Got {count}.", "Draw more.")
    sizes = [len(part) for part in np.array_split(np.arange(count), len(parts))]
    drawn = [frequencies(part, d, n, rng, orthogonal=orthogonal) for part, n in zip(parts, sizes, strict=True)]
    return np.hstack([omega for omega, _ in drawn]), np.concatenate([amplitude for _, amplitude in drawn])


def _directions(d: int, count: int, rng: Generator, orthogonal: bool) -> Array:  # (d, count), of length 1
    if not orthogonal:
        drawn = rng.standard_normal((d, count))
        return np.asarray(drawn / np.linalg.norm(drawn, axis=0))
    blocks = [_rotation(d, rng) for _ in range(-(-count // d))]
    return np.hstack(blocks)[:, :count]


def _rotation(d: int, rng: Generator) -> Array:
    """An orthogonal matrix, uniformly distributed."""
    Q, R = np.linalg.qr(rng.standard_normal((d, d)))
    return np.asarray(Q * np.where(R.diagonal() < 0.0, -1.0, 1.0))


def _even(count: int) -> Array:
    return np.full(count, count**-0.5)


Law = Callable[[Any, int, int, Generator, bool], tuple[Array, Array]]
LAWS: dict[type[Kernel], Law] = {
    **dict.fromkeys(MIXTURES, _radial),
    Laplacian: _laplacian,
    Scaled: _scaled,
    Product: _product,
    Sum: _sum,
}
