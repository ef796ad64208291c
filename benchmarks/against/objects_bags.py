"""Bags and images against NumPy tiles, and digits under a convolution kernel against RBF on pixels."""

from typing import Any

from benchmarks.harness.rows import Contestant, Row

MB = 1 << 20
IMAGES = 5_000
PEER_IMAGES = 1_000
"""A peer that goes tile by tile takes as long for each pair of images, however many there are."""
PATCHES = 49


def images(dtype: str, accuracy: float) -> Row:
    """All pairs of patches of all pairs of images, both triangles counted as one."""
    sides = (
        Contestant("mercer", "benchmarks.against.objects_bags_builders:mercer_patches",
                   {"n": IMAGES, "dtype": dtype}, work=float(IMAGES**2)),
        Contestant("numpy", "benchmarks.against.objects_bags_builders:numpy_patches",
                   {"n": PEER_IMAGES, "dtype": dtype}, work=float(PEER_IMAGES**2)),
    )  # fmt: skip
    return Row(
        f"RBF summed over the patches of {IMAGES} images, {PATCHES} each, Gram matrix, {dtype}",
        f"NumPy, tile by tile, on {PEER_IMAGES} images",
        sides, 10.0, memory=128 * MB, memory_text="no matrix of patches: Gram matrix + 128 MB", accuracy=accuracy,
        repeats=1, warm_up=False,
    )  # fmt: skip


def musk(work: str, builder: str, **parameters: Any) -> Contestant:
    return Contestant(work, f"benchmarks.against.objects_bags_builders:{builder}", parameters)


ROWS: tuple[Row, ...] = (
    Row(
        "musk: RBF summed over the instances of 92 bags, Gram matrix, float64",
        "NumPy, one pair of bags after the other; one bag against all instances",
        (musk("mercer", "mercer_musk"), musk("numpy pairs", "numpy_musk"), musk("numpy rows", "numpy_musk_rows")),
        10.0, memory=16 * MB, accuracy=1e-9, best=True,
    ),
    images("float32", 1e-6),
    images("float64", 1e-9),
    Row(
        f"mnist, {IMAGES} images: convolution kernel of patches against RBF on pixels, both tuned on a fifth of them",
        "test errors on 10 000 images: at most 0.7 of that of RBF, in 600 s",
        (Contestant("mercer", "benchmarks.against.objects_bags_builders:mnist", {"n": IMAGES}),),
        limits={"error share": 0.7, "convolution seconds": 600.0}, repeats=1, warm_up=False,
    ),
)  # fmt: skip
