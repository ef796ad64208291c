"""Landmarks on many rows: the rows of the promise about scale."""

from benchmarks.harness.rows import Contestant, Row

BUILDERS = "benchmarks.against.scale_builders:"
GIGABYTE = 1_000_000_000
FLIGHTS = {"name": "flights3m", "rows": None}


def against_nystroem(name: str, rows: int | None, m: int, C: float, memory_share: float | None) -> Row:
    """Landmarks beside the same number of features of scikit-learn, and a linear machine on them."""
    of = {"name": name, "rows": rows}
    size = "all" if rows is None else f"{rows}"
    return Row(
        f"{name}, {size} rows, {m} landmarks, fit", "scikit-learn Nystroem + LogisticRegression or SGDClassifier",
        (
            Contestant("mercer", f"{BUILDERS}mercer_classes", {**of, "m": m, "C": C, "tol": 1e-3}),
            Contestant("Nystroem + LogisticRegression", f"{BUILDERS}nystroem_logistic", {**of, "m": m, "C": C}),
            Contestant("Nystroem + SGDClassifier", f"{BUILDERS}nystroem_sgd", {**of, "m": m}),
        ),
        5.0, memory_share=memory_share, memory_text="extra memory ≤ ⅒ of its" if memory_share else "",
        no_worse={"test error": 0.0}, repeats=1, warm_up=False, cap=3_600.0,
    )  # fmt: skip


ROWS: tuple[Row, ...] = (
    Row(
        "flights3m, 3000000 × 6, 5000 landmarks, fit", "HistGradientBoosting and a linear model, for their test error",
        (
            Contestant("mercer", f"{BUILDERS}mercer_regression", {**FLIGHTS, "m": 5_000, "alpha": 1e-2, "tol": 1e-3}),
            Contestant("HistGradientBoosting", f"{BUILDERS}trees_regression", FLIGHTS),
            Contestant("Ridge", f"{BUILDERS}linear_regression", FLIGHTS),
        ),
        memory=2 * GIGABYTE, memory_text="extra memory < 2 GB", limits={"fit seconds": 300.0}, repeats=1, warm_up=False,
    ),
    Row(
        "made rows, 10000000 × 28, 10000 landmarks, fit", "nobody",
        (
            Contestant(
                "mercer", f"{BUILDERS}mercer_made",
                {"n": 10_000_000, "d": 28, "m": 10_000, "alpha": 1e-2, "tol": 1e-3},
            ),
        ),
        memory=4 * GIGABYTE, memory_text="extra memory < 4 GB", limits={"fit seconds": 900.0}, repeats=1, warm_up=False,
    ),
    against_nystroem("covtype", 500_000, 2_000, 10.0, 0.1),
    against_nystroem("kddcup99", None, 500, 10.0, None),
    against_nystroem("skin", None, 500, 10.0, None),
    against_nystroem("a9a", None, 1_000, 1.0, None),
    Row(
        "growth from 100000 to 3000000 made rows × 10, 1000 landmarks, 8 passes", "linear: exponent at most 1.05",
        (
            Contestant(
                "mercer", f"{BUILDERS}mercer_growth", {"fewest": 100_000, "most": 3_000_000, "d": 10, "m": 1_000}
            ),
        ),
        limits={"exponent": 1.05}, repeats=1, warm_up=False,
    ),
)  # fmt: skip
