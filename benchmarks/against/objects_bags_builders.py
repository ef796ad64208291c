"""The works of the rows of bags and images: each builder makes its data and returns the run that is measured."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import data
from benchmarks.harness.accuracy import relative
from benchmarks.harness.rows import Task

Array = np.ndarray[Any, Any]
SIDE, SIZE, STRIDE, PER_IMAGE = 28, 4, 4, 49
SAMPLE = 20
"""Bags whose sums are computed plainly, in float64."""


def cut(images: Array) -> Array:
    """The patches of images, (n, 49, 16)."""
    windows = np.lib.stride_tricks.sliding_window_view(images, (SIZE, SIZE), axis=(1, 2))[:, ::STRIDE, ::STRIDE]
    return np.ascontiguousarray(windows.reshape(len(images), PER_IMAGE, SIZE * SIZE))


def patches(n: int, dtype: str) -> tuple[Array, str]:
    """The patches of n digits."""
    X, _, source = data.load("mnist")
    images = np.asarray(X[:n], dtype=dtype).reshape(-1, SIDE, SIDE)
    return cut(images / np.asarray(images.max(), dtype)), source


def plain_sums(bags: list[Array], length: float) -> Array:
    """The sums of the first bags, pair by pair, by differences in float64."""
    some = [np.asarray(bag, dtype=np.float64) for bag in bags[:SAMPLE]]
    return np.array(
        [[np.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(2) / length**2).sum() for b in some] for a in some]
    )


def compared(bags: list[Array], length: float) -> Callable[[Any], float]:
    return lambda K: relative(plain_sums(bags, length), np.asarray(K[:SAMPLE, :SAMPLE], dtype=np.float64))


def mercer_patches(n: int, dtype: str) -> Task:
    import mercer
    from mercer.points import Bags

    parts, source = patches(n, dtype)
    flat = parts.reshape(n * PER_IMAGE, -1)

    def run() -> Array:
        bags = Bags.of(flat, np.full(n, PER_IMAGE))
        return np.asarray(mercer.RBF(2.0).summed()(bags))

    return Task(run, compared(list(parts), 2.0), allowance=n * n * parts.itemsize, source=source)


def numpy_patches(n: int, dtype: str) -> Task:
    """Tiles of 40 × 40 images, of which half are made: products by BLAS, the rest in place."""
    parts, source = patches(n, dtype)
    tile = 40

    def run() -> Array:
        flat = (parts / np.asarray(2.0, dtype)).reshape(n * PER_IMAGE, -1)
        norms = np.einsum("ij,ij->i", flat, flat)
        K = np.empty((n, n), dtype)
        for i in range(0, n, tile):
            left = slice(i * PER_IMAGE, min(i + tile, n) * PER_IMAGE)
            for j in range(i, n, tile):
                right = slice(j * PER_IMAGE, min(j + tile, n) * PER_IMAGE)
                E = flat[left] @ flat[right].T
                E -= np.asarray(0.5, dtype) * norms[left, None]
                E -= np.asarray(0.5, dtype) * norms[None, right]
                np.exp(E, out=E)
                sums = (
                    E.reshape(-1, PER_IMAGE, E.shape[1]).sum(1).reshape(-1, E.shape[1] // PER_IMAGE, PER_IMAGE).sum(2)
                )
                K[i : i + tile, j : j + tile] = sums
                K[j : j + tile, i : i + tile] = sums.T
        return K

    return Task(run, compared(list(parts), 2.0), allowance=n * n * parts.itemsize, source=source)


def musk_bags() -> tuple[list[Array], str]:
    """The 476 conformations in 92 bags of neighbours.

    The set as it is handed on has lost the names of its molecules, but not their order: so the cuts are drawn, at least
    two conformations to a bag. For times that is as good.
    """
    X, _, source = data.load("musk")
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    rng = np.random.default_rng(0)
    sizes = 2 + rng.multinomial(len(X) - 2 * 92, np.full(92, 1.0 / 92))
    return np.split(np.ascontiguousarray(X), np.cumsum(sizes)[:-1]), source


def mercer_musk() -> Task:
    import mercer

    bags, source = musk_bags()
    return Task(lambda: mercer.RBF(13.0).summed()(bags), compared(bags, 13.0), source=source)


def numpy_musk() -> Task:
    bags, source = musk_bags()

    def run() -> Array:
        K = np.empty((len(bags), len(bags)))
        norms = [np.einsum("ij,ij->i", bag, bag) for bag in bags]
        for i, a in enumerate(bags):
            for j in range(i + 1):
                distances = norms[i][:, None] + norms[j][None] - 2.0 * (a @ bags[j].T)
                K[i, j] = K[j, i] = np.exp(distances / (-2.0 * 13.0**2)).sum()
        return K

    return Task(run, compared(bags, 13.0), source=source)


def numpy_musk_rows() -> Task:
    """One bag against all instances at a time."""
    bags, source = musk_bags()

    def run() -> Array:
        flat = np.concatenate(bags)
        starts = np.concatenate([[0], np.cumsum([len(bag) for bag in bags])[:-1]])
        norms = np.einsum("ij,ij->i", flat, flat)
        K = np.empty((len(bags), len(bags)))
        for i, bag in enumerate(bags):
            E = bag @ flat.T
            E -= 0.5 * norms[starts[i] : starts[i] + len(bag), None]
            E -= 0.5 * norms
            E *= 1.0 / 13.0**2
            K[i] = np.add.reduceat(np.exp(E, out=E).sum(axis=0), starts)
        return K

    return Task(run, compared(bags, 13.0), source=source)


ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1)


def tuned(kernels: list[Any], X: Array, y: Array, Z: Array, target: Array) -> float:
    """The error on Z of the kernel and the alpha that were best on the last fifth of X, fitted on all of X."""
    import mercer

    cut_at = len(X) - len(X) // 5
    best: tuple[float, Any, float, Array | None] = (np.inf, None, 0.0, None)
    for kernel in kernels:
        K = np.asarray(mercer.gram(kernel, X, budget=1 << 40).dense(), dtype=np.float64)
        for alpha in ALPHAS:
            found = ridge(K[:cut_at, :cut_at], y[:cut_at], alpha, K[cut_at:, :cut_at])
            best = min(best, (float((found != y[cut_at:]).mean()), kernel, alpha, K), key=lambda each: each[0])
    _, kernel, alpha, K_best = best
    assert K_best is not None  # there are kernels
    return float((ridge(K_best, y, alpha, np.asarray(kernel(Z, X), dtype=np.float64)) != target).mean())


def ridge(K: Array, y: Array, alpha: float, new: Array) -> Array:
    """The classes that ridge regression on their indicators gives to new points."""
    import mercer

    classes = np.unique(y)
    model = mercer.KernelRidge(alpha=alpha, kernel="precomputed").fit(K, 2.0 * (y[:, None] == classes) - 1.0)
    return np.asarray(classes[model.predict(new).argmax(axis=1)])


def mnist(n: int) -> Task:
    import mercer as m

    X, y, Z, target, source = data.parts("mnist", rows=n)
    X, Z = X.astype(np.float32), Z.astype(np.float32)

    def convolution(look: float, near: float) -> Any:
        part = m.RBF(look).on(m.UnitRows()).scaled_by(m.NormPower(1)).on(m.Pixels()) * m.RBF(near).on(m.Position())
        image = part.summed().normalised().on(m.Patches(6, stride=4, flat="drop"))
        return image.exp().normalised()

    def run() -> dict[str, float]:
        start = time.perf_counter()
        shape = (-1, SIDE, SIDE)
        kernels = [convolution(look, near) for look, near in ((0.5, 4.0), (0.7, 4.0))]
        patches_error = tuned(kernels, X.reshape(shape), y, Z.reshape(shape), target)
        middle = time.perf_counter()
        pixels_error = tuned([m.RBF(length) for length in (2.0, 3.0, 4.0, 5.0, 6.0, 8.0)], X, y, Z, target)
        return {
            "convolution error": patches_error, "pixels error": pixels_error,
            "error share": patches_error / max(pixels_error, 1e-12),
            "convolution seconds": middle - start, "pixels seconds": time.perf_counter() - middle,
        }  # fmt: skip

    return Task(run, source=source, facts=lambda found: found)
