"""Support vector machines against their peers: one row for each promise. RBF with gamma = "scale" as a number.

tol = 1e-3 and 2000 MB for kernel entries for every library; every solution is judged by svm_referee.
"""

from typing import Any, NamedTuple

from benchmarks.against.svm_builders import NEW, TOL
from benchmarks.harness.rows import Contestant, Row
from benchmarks.harness.summary import Record, overall, projected

PEERS = ("scikit-learn-intelex", "scikit-learn", "ThunderSVM")
"""The one that is fastest on most sets comes first: the others need not be waited for longer."""
BEST = "the best of scikit-learn, scikit-learn-intelex, ThunderSVM"
SCIKIT_LEARN = ("scikit-learn",)
CAP_SECONDS = 600.0
ENOUGH_SECONDS = 10.0
VIOLATION = 1.001 * TOL
GAP = 1e-3
"""A relative gap below this is never worse than a peer's."""
LEAST_FIT, MEDIAN_FIT, MEDIAN_PREDICT = 1.5, 5.0, 3.0
CS = (1.0, 10.0, 100.0)
PATH = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
SMALL_REPEATS = {200: 40, 500: 20, 1_000: 10, 2_000: 5}
"""Fits within one run of a small row, so that a run is no less than some milliseconds."""


class Set(NamedTuple):
    """A set of the fit rows: what it is called, the builder's parameters, and what is limited beside the violation."""

    text: str
    parameters: dict[str, Any]
    limits: dict[str, float] | None = None


SETS = (
    Set("adult, 26049 × 108", {"name": "adult"}),
    Set("covtype 30k, 2 against the rest", {"name": "covtype", "rows": 30_000, "positive": 2}),
    Set("covtype 100k, 2 against the rest", {"name": "covtype", "rows": 100_000, "positive": 2}),
    Set("magic, 15216 × 10", {"name": "magic"}),
    # That pairs of classes share their entries of K shows where there are many.
    Set("letter, 16000 × 16, 26 classes", {"name": "letter"}, {"evaluations over needed": 2.0}),
    Set("shuttle, 43500 × 9, 7 classes", {"name": "shuttle"}),
    Set("mnist 10k, 10 classes", {"name": "mnist", "rows": 10_000}),
    Set("a9a sparse, 32561 × 123", {"name": "a9a"}),
)


def sides(work: str, peers: tuple[str, ...], times: float = 1.0, **parameters: Any) -> tuple[Contestant, ...]:
    """Mercer and its peers at the same work."""
    builder = f"benchmarks.against.svm_builders:{work}"
    return tuple(Contestant(name, builder, {"library": name, **parameters}, times) for name in ("mercer", *peers))


def slow(
    work: str,
    against: str,
    contestants: tuple[Contestant, ...],
    at_least: float,
    limits: dict[str, float] | None = None,
) -> Row:
    """A row whose works take seconds to minutes: no warming up, once where once is long."""
    return Row(
        work, against, contestants, at_least, limits={"violation": VIOLATION, **(limits or {})}, no_worse={"gap": GAP},
        repeats=3, warm_up=False, enough=ENOUGH_SECONDS, cap=CAP_SECONDS,
    )  # fmt: skip


def small(name: str, n: int, repeat: int) -> Row:
    return Row(
        f"{repeat} fits, {name}, n = {n}, C = 1", "scikit-learn SVC: never slower",
        sides("classify", SCIKIT_LEARN, float(repeat), name=name, C=1.0, rows=n, repeat=repeat), 1.0,
        limits={"violation": VIOLATION}, no_worse={"gap": GAP}, repeats=20, best=True,
    )  # fmt: skip


FITS = tuple(
    slow(f"fit, {text}, C = {C:g}", BEST, sides("classify", PEERS, C=C, **parameters), LEAST_FIT, limits)
    for text, parameters, limits in SETS
    for C in CS
)
ROWS: tuple[Row, ...] = (
    *FITS,
    *(small(name, n, repeat) for name in ("magic", "letter") for n, repeat in SMALL_REPEATS.items()),
    *(
        slow(f"SVR fit, {text}, C = {C:g}", BEST, sides("regress", PEERS, name=name, C=C), 5.0)
        for text, name in (("cal_housing, 16512 × 8", "cal_housing"), ("kin40k, 32000 × 8", "uci_gp/kin40k"))
        for C in (1.0, 10.0)
    ),
    slow(
        "OneClassSVM fit, covtype, 50000 rows, nu = 0.1", "scikit-learn OneClassSVM",
        sides("enclose", SCIKIT_LEARN, name="covtype", nu=0.1, rows=50_000), 10.0,
    ),
    slow(
        "svm_path over C = 0.01, 0.1, 1, 10, 100, 1000, magic, n = 10000", f"six separate fits of {BEST}",
        sides("path", PEERS, name="magic", Cs=list(PATH), rows=10_000), 10.0,
    ),
    *(
        slow(
            f"fit, magic, {'scaled' if scaled else 'unscaled'}, C = 1000", "scikit-learn SVC: it ends",
            sides("classify", SCIKIT_LEARN, name="magic", C=1000.0, scaled=scaled), 5.0,
        )
        for scaled in (True, False)
    ),
)  # fmt: skip


def derived(records: list[Record]) -> list[Record]:
    """Return the rows over the fit rows: predictions, which were timed with them, and the medians and the least."""
    known = {(record["work"], record["against"]): record for record in records}
    fits = [known[row.work, row.against] for row in FITS if (row.work, row.against) in known]
    predictions = [
        projected(record, record["work"].replace("fit", f"predict {NEW} rows", 1), "predict seconds") for record in fits
    ]
    return [
        *predictions,
        overall("fit", "median", MEDIAN_FIT, fits, len(FITS)),
        overall("fit", "least", LEAST_FIT, fits, len(FITS)),
        overall("predict", "median", MEDIAN_PREDICT, predictions, len(FITS)),
    ] if fits else []  # fmt: skip
