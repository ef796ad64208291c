"""Support vector machines on a few hundred or thousand rows, where fixed costs count: fits, predictions of 460 rows.

Eight sets, two C; a row is a number of fits, so that no run is shorter than some milliseconds.
"""

from benchmarks.against.svm import GAP, VIOLATION, sides
from benchmarks.harness.rows import Row
from benchmarks.harness.summary import Record, overall, projected

PEERS = ("scikit-learn-intelex", "scikit-learn")
BEST = "the best of scikit-learn, scikit-learn-intelex"
# As many of the training rows as there are, four fifths of the set.
SETS = {
    "magic": 15_216, "letter": 16_000, "satellite": 5_148, "vowel": 792, "vehicle": 677, "glass": 171,
    "penbased": 8_794, "spam": 3_681,
}  # fmt: skip
REPEATS = {200: 40, 460: 20, 1_000: 10, 2_000: 5, 5_000: 2}
CS = (1.0, 100.0)
NEW = 460
MEDIAN_FIT, MEDIAN_PREDICT = 2.0, 1.5


def row(name: str, n: int, repeat: int, C: float) -> Row:
    """So many fits of one set."""
    return Row(
        f"{repeat} fits, {name}, n = {n}, C = {C:g}", BEST,
        sides("classify", PEERS, float(repeat), name=name, C=C, rows=n, repeat=repeat, new=NEW),
        limits={"violation": VIOLATION}, no_worse={"gap": GAP}, repeats=4, best=True,
    )  # fmt: skip


SIZES = {name: dict.fromkeys(min(n, most) for n in REPEATS) for name, most in SETS.items()}
ROWS = tuple(
    row(name, n, min(repeat for size, repeat in REPEATS.items() if size <= max(n, 200)), C)
    for name, sizes in SIZES.items()
    for n in sizes
    for C in CS
)


def derived(records: list[Record]) -> list[Record]:
    """Return the medians over all rows, of fits and of the predictions that were timed with them."""
    known = {(record["work"], record["against"]): record for record in records}
    fits = [known[row.work, row.against] for row in ROWS if (row.work, row.against) in known]
    predictions = [projected(record, f"predict {NEW} rows, {record['work']}", "predict seconds") for record in fits]
    return [
        overall("small fits", "median", MEDIAN_FIT, fits, len(ROWS)),
        overall("predictions after small fits", "median", MEDIAN_PREDICT, predictions, len(ROWS)),
    ] if fits else []  # fmt: skip
