"""Kernel ridge regression against its peers: one row for each promise. RBF with gamma = 1/d unless a row says else."""

from typing import Any

from benchmarks.harness.rows import Contestant, Row

D = 20
ALPHAS = (1.0, 1e-3)
ACCURACY = 1e-6
MEGABYTE = 1_000_000
GIGABYTE = 1_000_000_000


def pair(work: str, peer: str = "sklearn", **parameters: Any) -> tuple[Contestant, ...]:
    """Mercer and a peer at the same work; a builder's name is its contestant's and its work's."""
    return tuple(
        Contestant(side, f"benchmarks.against.ridge_builders:{side}_{work}", parameters) for side in ("mercer", peer)
    )


# OpenBLAS 0.3.30 ends with a segmentation fault in dpotrf of 20 000 rows where it chooses its code for AVX-512.
AVX2 = {"OPENBLAS_CORETYPE": "Zen"}


def fit(n: int, alpha: float, at_least: float, repeats: int) -> Row:
    return Row(
        f"fit, n = {n}, alpha = {alpha:g}", "scikit-learn KernelRidge",
        pair("fit", n=n, d=D, alpha=alpha), at_least, accuracy=ACCURACY, repeats=repeats, warm_up=repeats > 2,
        environment=AVX2 if n >= 20_000 else {},
    )  # fmt: skip


def fit_memory(alpha: float) -> Row:
    return Row(
        f"fit, n = 10000, alpha = {alpha:g}: extra memory", "scikit-learn KernelRidge",
        pair("fit", n=10_000, d=D, alpha=alpha), memory_share=1.0 / 3.0, memory_text="extra memory ≤ ⅓ of its",
        accuracy=ACCURACY, repeats=1, warm_up=False,
    )  # fmt: skip


def path(peer: str, against: str, targets: int, at_least: float) -> Row:
    return Row(
        f"path of 50 alphas by exact leave-one-out, n = 3000, {targets} target{'s' if targets > 1 else ''}", against,
        pair("path", peer, n=3_000, d=D, targets=targets), at_least, accuracy=ACCURACY, repeats=1, warm_up=False,
    )  # fmt: skip


def posterior(alpha: float) -> Row:
    return Row(
        f"fit and predict with std, n = 5000, 2000 new rows, alpha = {alpha:g}",
        "scikit-learn GaussianProcessRegressor(optimizer=None)",
        pair("posterior", n=5_000, d=D, alpha=alpha, new=2_000), 2.2, accuracy=ACCURACY, repeats=3,
    )  # fmt: skip


ROWS: tuple[Row, ...] = (
    *(
        fit(n, alpha, at_least, repeats)
        for n, at_least, repeats in ((5_000, 3.0, 3), (10_000, 4.0, 2), (20_000, 6.0, 1))
        for alpha in ALPHAS
    ),
    *(fit_memory(alpha) for alpha in ALPHAS),
    Row(
        "fit, n = 40000, alpha = 0.001: works in 24 GB",
        "scikit-learn KernelRidge would need 2 × 12.8 GB; not run",
        pair("large_fit", n=40_000, d=D, alpha=1e-3)[:1],
        memory=24 * GIGABYTE, memory_text="extra memory < 24 GB", accuracy=ACCURACY, repeats=1, warm_up=False,
    ),
    Row(
        "predict 20000 rows on 10000, alpha = 0.001", "scikit-learn KernelRidge",
        pair("predict", n=10_000, d=D, alpha=1e-3, new=20_000),
        8.0, memory=64 * MEGABYTE, memory_text="extra memory < 64 MB", accuracy=ACCURACY, repeats=3,
    ),
    *(
        Row(
            f"predict one row on {n}, 100 times", "scikit-learn's validate_data, and 50 µs more",
            pair("one_row", n=n, d=D, alpha=1e-3, calls=100), 1.0, accuracy=ACCURACY, repeats=50, best=True,
        )
        for n in (1_000, 5_000, 10_000)
    ),
    *(path("himalaya", "himalaya KernelRidgeCV, by 5 folds", targets, 2.0) for targets in (1, 100)),
    path("sklearn", "scikit-learn GridSearchCV(KernelRidge), by 5 folds", 1, 20.0),
    *(posterior(alpha) for alpha in ALPHAS),
    Row(
        "linear kernel, fit, 1000000 × 50, alpha = 1", "scikit-learn Ridge (Cholesky): at most 1.5 × its time",
        pair("linear", n=1_000_000, d=50, alpha=1.0), 1.0 / 1.5, accuracy=ACCURACY, repeats=5,
    ),
)  # fmt: skip
