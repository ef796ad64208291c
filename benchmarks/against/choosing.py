"""Searches against their peers: one row for each promise. Every side tries the same settings on the same folds."""

from typing import Any

from benchmarks.harness.rows import Contestant, Row

BUILDERS = "benchmarks.against.choosing_builders"
SETS = ("magic", "letter", "satellite")
ROWS_EACH = 5_000
DIFFERENCE = 1e-3
"""How far a setting's mean score may be from the peer's."""


def sides(work: str, *names: str, **parameters: Any) -> tuple[Contestant, ...]:
    """Mercer and a peer at the same work."""
    return tuple(Contestant(name, f"{BUILDERS}:{work}", {"library": name, **parameters}) for name in ("mercer", *names))


def grid(name: str, peer: str, against: str, at_least: float) -> Row:
    return Row(
        f"6 × 6 grid over C and gamma, 5 folds, {name}, n = {ROWS_EACH}", against,
        sides("classify", peer, name=name, rows=ROWS_EACH), at_least,
        limits={"difference": DIFFERENCE, "another winner": 0.0}, repeats=2, warm_up=False, enough=20.0, cap=900.0,
    )  # fmt: skip


ROWS: tuple[Row, ...] = (
    *(
        grid(name, peer, against, at_least)
        for name in SETS
        for peer, against, at_least in (
            ("scikit-learn", "GridSearchCV(scikit-learn SVC, n_jobs=2)", 20.0),
            ("scikit-learn-intelex", "GridSearchCV(scikit-learn-intelex SVC)", 10.0),
            ("mercer one by one", "GridSearchCV(mercer SVC)", 4.0),
        )
    ),
    Row(
        "ridge: 20 length scales × 30 alphas by exact leave-one-out, n = 3000",
        "himalaya KernelRidgeCV by 5 folds, for each length scale",
        sides("ridge", "himalaya", n=3_000, d=20), 5.0, repeats=1, warm_up=False, cap=1800.0,
    ),
    Row(
        "ridge: 20 length scales × 30 alphas by exact leave-one-out, n = 3000",
        "GridSearchCV(scikit-learn KernelRidge, n_jobs=2) by 5 folds",
        sides("ridge", "scikit-learn", n=3_000, d=20), 50.0, repeats=1, warm_up=False, cap=3600.0,
    ),
    Row(
        "a length scale for each of 20 columns by the gradient of the likelihood, n = 2000",
        "scikit-learn GaussianProcessRegressor, one start",
        sides("relevance", "scikit-learn", n=2_000, d=20), 10.0, limits={"shortfall": DIFFERENCE}, repeats=1,
        warm_up=False, cap=3600.0,
    ),
)  # fmt: skip
