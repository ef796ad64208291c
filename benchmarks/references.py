"""`python -m benchmarks.references`: Gram matrices against those of Shogun's own tests, in MERCER_DATA/ref/shogun.

Each file has data and a matrix of nine digits, for eleven points and for seventeen new ones. A row says which formula
is the same kernel. Of a string, Shogun divides by √(k(x, x)·k(z, z)) throughout.
"""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mercer import (
    L1,
    RBF,
    ChiSquared,
    Constant,
    Cosine,
    ExponentialChiSquared,
    Linear,
    Polarised,
    Sigmoid,
    Spectrum,
    SquaredEuclidean,
    Tanimoto,
    WeightedDegree,
)
from mercer.points import Strings

SAME = 1e-9
# Of values above 1, nine digits are eight decimals.
ABOVE_ONE = 1e-8
LINE = re.compile(r"^(\w+) = (.*);$", re.M)


class Reference(NamedTuple):
    """A file and the formula of its kernel or distance; what its data become first; how near the values must be."""

    file: str
    formula: Any
    read: Callable[[Any], Any] = list
    within: float = SAME


def words(X: list[str]) -> Strings:
    """The substrings of three letters, in their places."""
    return Strings([[x[at : at + 3] for at in range(len(x) - 2)] for x in X])


def sorted_words(X: list[str]) -> Strings:
    """The same in order: Shogun sorts them for some kernels, and compares place by place all the same."""
    return Strings([sorted(x[at : at + 3] for at in range(len(x) - 2)) for x in X])


def rows(X: Any) -> Any:
    """Shogun has points in columns."""
    return X.T.copy()


# The mean of k(x, x) of the training points, by which Shogun divides: of data with more digits than the file has.
LINEAR = 0.27006098246679594 * Linear()
MATCHES = WeightedDegree(1)

TABLE = (
    Reference("kernel__CommWordString_DNA_10_0_False_3_60_False", Spectrum(3).normalised()),
    Reference("kernel__CommUlongString_DNA_10_0_False_3_60_False", Spectrum(3).normalised()),
    Reference("kernel__WeightedDegreeString_DNA_1_60", WeightedDegree(1).normalised()),
    Reference("kernel__WeightedDegreeString_DNA_20_60", WeightedDegree(20).normalised()),
    Reference("kernel__WeightedDegreePositionString_1_DNA_10_60", WeightedDegree(1, 1).normalised()),
    Reference("kernel__WeightedDegreePositionString_20_DNA_10_60", WeightedDegree(20, 1).normalised()),
    Reference("kernel__FixedDegreeString_3_DNA_10_60", MATCHES.normalised(), words),
    Reference("kernel__PolyMatchString_3_DNA_10_60_False", (MATCHES**3).normalised()),
    Reference("kernel__PolyMatchString_3_DNA_10_60_True", ((MATCHES + 1) ** 3).normalised()),
    Reference("kernel__MatchWordString_3_DNA_10_0_3_60_False", (MATCHES**3).normalised(), sorted_words),
    Reference("kernel__PolyMatchWordString_3_DNA_10_0_3_60_False_False", (MATCHES**3).normalised(), sorted_words),
    Reference("kernel__PolyMatchWordString_3_DNA_10_0_3_60_True_False", ((MATCHES + 1) ** 3).normalised(),
              sorted_words),
    Reference("kernel__Gaussian_10_13", RBF((1.3 / 2.0) ** 0.5), rows),
    Reference("kernel__SparseGaussian_10_17", RBF((1.7 / 2.0) ** 0.5), rows),
    Reference("kernel__Chi2_10_12", ExponentialChiSquared(1.0 / 1.2), rows),
    Reference("kernel__Poly_3_10_False", (Linear() ** 3).normalised(), rows),
    Reference("kernel__Poly_3_10_True", ((Linear() + 1) ** 3).normalised(), rows),
    Reference("kernel__SparsePoly_3_10_False", (Linear() ** 3).normalised(), rows),
    Reference("kernel__SparsePoly_3_10_True", ((Linear() + 1) ** 3).normalised(), rows),
    Reference("kernel__Sigmoid_10_05_07", Sigmoid(0.5, 0.7), rows),
    Reference("kernel__Sigmoid_10_11_13", Sigmoid(1.1, 1.3), rows),
    Reference("kernel__Const_230", Constant(23.0), rows),
    Reference("kernel__Linear_fnord", LINEAR, rows, ABOVE_ONE),
    Reference("kernel__SparseLinear_fnord", LINEAR, rows, ABOVE_ONE),
    Reference("distance__ManhattanMetric_fnord", L1(), rows),
    Reference("distance__EuclidianDistance_fnord", SquaredEuclidean() ** 0.5, rows, ABOVE_ONE),
    Reference("distance__ChiSquareDistance_fnord", Polarised(ChiSquared()), rows, ABOVE_ONE),
    Reference("distance__CosineDistance_fnord", 0.5 * Polarised(Cosine()), rows),
    Reference("distance__TanimotoDistance_fnord", Tanimoto(Linear()), rows),  # it is the similarity
)  # fmt: skip


def contents(path: Path) -> dict[str, Any]:
    """What a file assigns: matrices, lists of strings, strings and numbers."""
    return {name: _value(text) for name, text in LINE.findall(path.read_text("utf-8"))}


def _value(text: str) -> Any:
    if text.startswith("["):
        return np.array([[float(entry) for entry in row.split(",")] for row in text[1:-1].split(";")])
    if text.startswith("{"):
        return re.findall(r"'([^']*)'", text)
    return text.strip("'")


def difference(folder: Path, row: Reference) -> float:
    """The largest, among the training points and from these to new ones."""
    found = contents(folder / f"{row.file}.m")
    kind = row.file.partition("__")[0]
    X, Z = (row.read(found[f"{kind}_data_{part}"]) for part in ("train", "test"))
    pairs = (
        (row.formula(X), found[f"{kind}_matrix_train"]),
        (row.formula(X, Z), found[f"{kind}_matrix_test"]),
    )
    return max(float(np.abs(ours - theirs).max()) for ours, theirs in pairs)


def main() -> int:
    if not os.environ.get("MERCER_DATA"):
        print("Set MERCER_DATA to the folder whose ref/shogun holds the matrices.")
        return 2
    folder = Path(os.environ["MERCER_DATA"]) / "ref" / "shogun"
    wrong = 0
    for row in TABLE:
        found = difference(folder, row)
        wrong += found > row.within
        print(f"{'equal' if found <= row.within else 'DIFFERS'}  {found:.1e}  {row.file}  {row.formula!r}")
    print(f"{len(TABLE) - wrong} of {len(TABLE)} are equal to {SAME:g}, or to what the data allow")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
