"""Mutated model files: each must load, or be refused with `BadModelFile`, whatever was done to it.

`make fuzz-files` runs many (COUNT=100000 SEED=0); a slice of it is a test. Damage is done in four ways: to the bytes,
to the table of arrays, to the numbers in the arrays, and to what is said of them; behind the first three of every four
the digest is put right, so that it is the validation that is tested and not the digest.
"""

import argparse
import copy
import faulthandler
import json
import re
import resource
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import mercer
from mercer.io.archive import DTYPES, sealed

Random = np.random.Generator
# No file of a few kilobytes may need more.
MEMORY = 6 << 30
PROCESSOR_SECONDS = 5.0


def same_length(x: str, z: str) -> float:
    return float(len(x) == len(z))


FUNCTIONS = {"same_length": same_length}


@lru_cache(maxsize=1)
def whole_files() -> list[bytes]:
    """One small file of each kind that there is."""
    rng = np.random.default_rng(0)
    n = 8
    X = np.round(rng.normal(size=(n, 2)), 2)
    y, labels = X[:, 0] - X[:, 1], np.array(["a", "b", "c", "a", "b", "c", "a", "b"])
    words, sets = ["to", "be", "or", "not", "that", "is", "the", "end"], [{i, i % 3, "x"} for i in range(n)]
    table = {"a": X[:, 0], "b": X[:, 1], "w": words, "s": sets}
    RBF, Delta = mercer.RBF, mercer.Delta
    mixed = RBF().on("a", "b") * Delta().on("w") + mercer.SetIntersection().on("s")
    encoded = ColumnTransformer([("w", OneHotEncoder(), [0]), ("x", StandardScaler(), [1, 2])])
    rows = np.column_stack([np.array(words, dtype=object), X.astype(object)])
    machines = [
        mercer.SVC().fit(X, labels),
        mercer.SVC(kernel="linear").fit(sp.csr_array(np.where(X > 0, X, 0)), labels),
        mercer.NuSVC(nu=0.5, kernel="precomputed").fit(X @ X.T + np.eye(n), y > 0),
        mercer.SVR(kernel=mercer.Polynomial(2)).fit(X, y),
        mercer.OneClassSVM().fit(X),
        mercer.KernelRidge(kernel=mercer.Linear() + 1.0).fit(X, y),
        mercer.KernelRidge(kernel=mixed).fit(table, np.column_stack([y, y])),
        mercer.KernelRidge(kernel="precomputed").fit(X @ X.T, y),
        mercer.KernelRidge(kernel=mercer.Custom(same_length, because="of us")).fit(words, y),
        mercer.KernelRidgeCV(kernel=mercer.Matern(1.5)).fit(X, y),
        mercer.KernelLogisticRegression().fit(X, labels),
        mercer.KernelNearestCentroid(kernel=mercer.SetIntersection()).fit(sets, labels),
        mercer.KernelNeighborsClassifier(3, kernel=RBF()).fit(X, np.column_stack([labels, labels[::-1]])),
        mercer.KernelNeighborsRegressor(3, kernel=Delta() + 1.0).fit(words, y),
        mercer.NadarayaWatson(2.0, kernel="epanechnikov").fit(X, y),
        mercer.NadarayaWatsonClassifier().fit(X, labels),
        *_on_objects(y, labels),
        mercer.KernelRidge(kernel=RBF(), landmarks=4, random_state=0).fit(X, y),
        make_pipeline(mercer.Nystroem(RBF(), n_components=3, random_state=0), mercer.KernelRidge()).fit(X, y),
        mercer.RandomFeatures(RBF(), n_components=5, random_state=0).fit(X),
        mercer.KernelFeatures(mercer.Polynomial(2)).fit(X),
        make_pipeline(encoded, mercer.SVC()).fit(rows, labels),
    ]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "machine.mercer"
        return [_bytes_of(machine, path, _rows_of(machine, X, rows)) for machine in machines]


def _rows_of(machine: Any, X: Any, rows: Any) -> Any:
    """The rows that its steps took, where not all of it is a machine."""
    if hasattr(machine, "steps"):
        return rows if "columntransformer" in machine.named_steps else X
    return None if hasattr(machine, "predict") else X


def _on_objects(y: Any, labels: Any) -> list[Any]:
    """Machines on strings, graphs, bags and images."""
    words = ["to", "be", "or", "not", "that", "is", "the", "end"]
    graphs = [{"edges": [(0, 1), (1, 2), (i % 3, 3)], "labels": [word, "x", "y", "x"]} for i, word in enumerate(words)]
    bags = [np.arange(2.0 * (i % 3 + 1)).reshape(-1, 2) for i in range(len(words))]
    images = np.arange(16.0 * len(words)).reshape(-1, 4, 4) % 7.0
    walks = mercer.WeisfeilerLehman(2) + mercer.WeisfeilerLehmanAssignment(1).normalised()
    return [
        mercer.KernelRidge(kernel=mercer.Mismatch(2, 1).normalised() + mercer.Subsequence(2)).fit(words, y),
        mercer.SVC(kernel=mercer.Spectrum(2) + mercer.WeightedDegree(2)).fit(words, labels),
        mercer.KernelRidge(kernel=walks + mercer.RandomWalk(0.05) + mercer.ShortestPath()).fit(graphs, y),
        mercer.KernelRidge(kernel=mercer.RBF().averaged() + 0.5 * mercer.Linear().summed()).fit(bags, y),
        mercer.KernelRidge(kernel=mercer.SpatialPyramid(2)).fit(images, y),
    ]


def _bytes_of(machine: Any, path: Path, X: Any) -> bytes:
    mercer.save(machine, path, X=X)
    return path.read_bytes()


def judged(file: bytes) -> str:
    """How a file was taken; anything but loading it or refusing it is an error here."""
    start = time.process_time()
    try:
        machine = mercer.load(file, functions=FUNCTIONS)
        found = "loaded"
        with suppress(Exception), warnings.catch_warnings():  # what was not refused may be wrong, but must not crash
            warnings.simplefilter("ignore")
            getattr(machine, "predict" if hasattr(machine, "predict") else "transform")([[0.5, -0.5], [1.0, 2.0]])
    except mercer.BadModelFile as error:
        found = re.sub("'[^']*'", "…", str(error).split("\n")[0])
    spent = time.process_time() - start
    assert spent < PROCESSOR_SECONDS, f"{spent:.1f} s for {len(file)} bytes"
    return found


# Mutations


def of_bytes(file: bytes, random: Random) -> bytes:
    """Some bytes changed, cut off, repeated or taken out; what follows the digest is sealed again half of the time."""
    changed = bytearray(file)
    place = int(random.integers(len(file)))
    width = int(random.integers(1, 64))
    match int(random.integers(5)):
        case 0:
            changed[place] ^= 1 << int(random.integers(8))
        case 1:
            del changed[place:]
        case 2:
            del changed[place : place + width]
        case 3:
            changed[place:place] = changed[place : place + width]
        case _:
            changed[place : place + width] = random.bytes(width)
    return sealed(bytes(changed)) if random.random() < 0.5 and len(changed) > 200 else bytes(changed)


def _split(file: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(file[:8], "little")
    return json.loads(file[8 : 8 + length]), file[8 + length :]


def _joined(table: Any, data: bytes) -> bytes:
    text = json.dumps(table, separators=(",", ":")).encode("ascii")
    return sealed(len(text).to_bytes(8, "little") + text + data)


WILD_SIZES = (0, 1, 2, 3, 5, 7, 1 << 31, 1 << 40, 1 << 62, 1 << 64, -1, 2.0, True, None, "8", [8])


def of_table(file: bytes, random: Random) -> bytes:
    """Another dtype, shape or place of an array."""
    table, data = _split(file)
    name = str(random.choice([name for name in table if name != "__metadata__"]))
    entry = table[name]
    match int(random.integers(6)):
        case 0:
            entry["dtype"] = str(random.choice([*DTYPES, "F128", "O", "BF16"]))
        case 1 if entry["shape"]:
            entry["shape"][int(random.integers(len(entry["shape"])))] = _choice(WILD_SIZES, random)
        case 2:
            entry["shape"] = entry["shape"][::-1]
        case 3:
            entry["data_offsets"][int(random.integers(2))] = _choice(WILD_SIZES, random)
        case 4:
            table[str(_choice(["../../etc/passwd", "/dev/zero", "", "\0", name + "x"], random))] = table.pop(name)
        case _:
            other = str(random.choice([name for name in table if name != "__metadata__"]))
            table[name], table[other] = table[other], table[name]
    return _joined(table, data)


WILD_NUMBERS = (0.0, -1.0, np.nan, np.inf, -np.inf, 1e308, 5e-324, 2.0**31, -(2.0**31), 2.0**63, 1e-200, 0.5)


def of_numbers(file: bytes, random: Random) -> bytes:
    """Other numbers in an array, some of them wild."""
    table, data = _split(file)
    changed = bytearray(data)
    entries = [entry for name, entry in table.items() if name != "__metadata__" and entry["data_offsets"][1]]
    entry = entries[int(random.integers(len(entries)))]
    dtype, (begin, end) = np.dtype(DTYPES[entry["dtype"]]), entry["data_offsets"]
    array = np.frombuffer(changed, dtype, count=(end - begin) // dtype.itemsize, offset=begin)
    for _ in range(int(random.integers(1, 4)) if array.size else 0):
        place, other = random.integers(array.size, size=2)
        wild = np.array(_choice(WILD_NUMBERS, random))
        with np.errstate(all="ignore"):
            array[place] = wild.astype(dtype) if random.random() < 0.7 else array[other]
    return _joined(table, bytes(changed))


def _choice(values: Any, random: Random) -> Any:
    return values[int(random.integers(len(values)))]


WILD_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2, 1 << 31, 1 << 62, -(1 << 62), 0.5, 1e308, "", "x", "RBF()", "Linear() ** 50",
    "__import__('os')", "precomputed", "linear", [], {}, [[]], {"float": "nan"}, {"float": "inf"},
    {"int": "0x" + "f" * 40},
    {"tuple": []}, {"dict": []}, {"function": "same_length"}, {"function": "system"}, {"type": "numpy.float64"},
    {"formula": "RBF(1e-9)"}, {"formula": "Polynomial(60)"}, {"dtype": "<f4"}, {"dtype": "O"}, {"bytes": "AAAA"},
    {"estimator": {"class": "mercer.SVC", "parameters": {}, "fitted": {}}},
)  # fmt: skip


def _nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a JSON value: its container and its key there."""
    for key, part in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(part, dict | list):
            yield from _nodes(part)


def of_content(file: bytes, random: Random) -> bytes:
    """Another value somewhere in what is said of the arrays: a wild one, one from elsewhere, or none."""
    table, data = _split(file)
    content = json.loads(table["__metadata__"]["mercer"])
    for _ in range(int(random.integers(1, 3))):
        places = list(_nodes(content))
        holder, key = places[int(random.integers(len(places)))]
        match int(random.integers(5)):
            case 0 | 1:
                holder[key] = copy.deepcopy(_choice(WILD_VALUES, random))
            case 2:
                other, place = places[int(random.integers(len(places)))]
                holder[key] = copy.deepcopy(other[place])
            case 3:
                del holder[key]
            case _ if isinstance(holder, dict):
                holder[str(_choice(["predict", "__class__", "fit", "x"], random))] = holder.pop(key)
            case _:
                holder.append(copy.deepcopy(holder[key]))
    table["__metadata__"]["mercer"] = json.dumps(content)
    return _joined(table, data)


MUTATIONS: tuple[Callable[[bytes, Random], bytes], ...] = (of_bytes, of_table, of_numbers, of_content, of_content)


def run(count: int, seed: int) -> Counter[str]:
    """Mutate and judge so many files; how each was taken."""
    random = np.random.default_rng(seed)
    files, outcomes = whole_files(), Counter[str]()
    for _ in range(count):
        file = _choice(MUTATIONS, random)(_choice(files, random), random)
        try:
            outcomes[judged(file)] += 1
        except BaseException:
            path = Path("build") / "fuzz" / f"bad-{seed}.mercer"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file)
            print(f"The file that was neither loaded nor refused is {path}.", file=sys.stderr)
            raise
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    outcomes = run(asked.count, asked.seed)
    for outcome, times in outcomes.most_common():
        print(f"{times:8} {outcome}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{sum(outcomes.values())} files, none of which did harm; at most {peak} MB")


if __name__ == "__main__":
    main()
