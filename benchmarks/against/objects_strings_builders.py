"""The works of the rows of strings: each builder makes its data and returns the run that is measured.

Imports of peers stand inside their builders: each process has only its own contestant in memory.
"""

import importlib
import time
from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from benchmarks.harness import data
from benchmarks.harness.rows import Task

SAMPLE = 5
LETTERS = "ACGT"
LENGTH = 60


def strings(name: str, n: int) -> tuple[list[str], Any, str]:
    """Return strings with their labels; without MERCER_DATA, random ones of four letters."""
    try:
        found = data.load(name)
    except KeyError:
        rng = np.random.default_rng(0)
        made = ["".join(rng.choice(list(LETTERS), LENGTH)) for _ in range(n)]
        return made, rng.choice([-1, 1], n), f"made, for {name}"
    return list(found.X[:n]), np.asarray(found.y[:n]), found.source


def judged(run: Callable[[], Any], X: list[str], pair: Callable[[str, str], float], source: str) -> Task:
    """A run that returns a Gram matrix; its error is against the definition, on a few rows."""
    taken = [0.0]

    def timed() -> Any:
        start = time.perf_counter()
        K = run()
        taken[0] = time.perf_counter() - start
        return K

    def error(K: Any) -> float:
        chosen = np.linspace(0, len(X) - 1, SAMPLE).astype(int)
        exact = np.array([[pair(X[i], X[j]) for j in chosen] for i in chosen])
        return float(np.abs(np.asarray(K)[np.ix_(chosen, chosen)] - exact).max() / np.abs(exact).max())

    return Task(timed, error, source=source, facts=lambda _: {"gram seconds": taken[0]})


def common(counts: Callable[[str], Counter[str]]) -> Callable[[str, str], float]:
    """The inner product of counts."""

    def pair(x: str, z: str) -> float:
        ours, theirs = counts(x), counts(z)
        return float(sum(count * theirs[u] for u, count in ours.items()))

    return pair


def kmers(x: str, length: int) -> Counter[str]:
    return Counter(x[p : p + length] for p in range(len(x) - length + 1))


def near_kmers(x: str, length: int, mismatches: int) -> Counter[str]:
    found: Counter[str] = Counter()
    alphabet = list(map("".join, product(LETTERS, repeat=length)))
    for u, count in kmers(x, length).items():
        for v in alphabet:
            found[v] += count * (sum(a != b for a, b in zip(u, v, strict=True)) <= mismatches)
    return found


def mercer_spectrum(name: str, n: int, length: int) -> Task:
    import mercer

    X, _, source = strings(name, n)
    return judged(lambda: mercer.Spectrum(length)(X), X, common(lambda x: kmers(x, length)), source)


def sklearn_spectrum(name: str, n: int, length: int) -> Task:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics.pairwise import linear_kernel

    X, _, source = strings(name, n)

    def run() -> Any:
        counter = CountVectorizer(analyzer="char", ngram_range=(length, length), lowercase=False, dtype=np.float64)
        return linear_kernel(counter.fit_transform(X))

    return judged(run, X, common(lambda x: kmers(x, length)), source)


def of_four_letters(name: str, n: int) -> tuple[list[str], str]:
    """Strings without the letters that stand for an uncertain one, which the peer does not take."""
    X, _, source = strings(name, 4 * n)
    return [x for x in X if set(x) <= set(LETTERS)][:n], source


def mercer_mismatch(name: str, n: int, length: int, mismatches: int) -> Task:
    import mercer

    X, source = of_four_letters(name, n)
    kernel = mercer.Mismatch(length, mismatches, LETTERS)
    return judged(lambda: kernel(X), X, common(lambda x: near_kmers(x, length, mismatches)), source)


def strkernel_mismatch(name: str, n: int, length: int, mismatches: int) -> Task:
    mismatch_kernel = importlib.import_module("strkernel.mismatch_kernel")
    X, source = of_four_letters(name, n)
    numbers = np.array([[LETTERS.index(letter) for letter in x] for x in X])  # strings of one length

    def run() -> Any:
        made = mismatch_kernel.MismatchKernel(l=len(LETTERS), k=length, m=mismatches)
        return made.get_kernel(numbers, normalize=False).kernel

    return judged(run, X, common(lambda x: near_kmers(x, length, mismatches)), source)


def random_strings(n: int, letters: int) -> list[str]:
    rng = np.random.default_rng(0)
    return ["".join(row) for row in rng.choice(list(LETTERS), (n, letters))]


def recursion(x: Any, z: Any, length: int, decay: float) -> float:
    """Lodhi's recursion, pair by pair."""
    below = np.ones((len(x) + 1, len(z) + 1))
    total = 0.0
    for level in range(1, length + 1):
        here = np.zeros((len(x) + 1, len(z) + 1))
        total = 0.0
        for a in range(1, len(x) + 1):
            begun = 0.0
            for b in range(1, len(z) + 1):
                begun *= decay
                if x[a - 1] == z[b - 1]:
                    begun += decay * decay * below[a - 1, b - 1]
                    total += decay * decay * below[a - 1, b - 1]
                here[a, b] = decay * here[a - 1, b] + begun
        if level < length:
            below = here
    return float(total)


def mercer_subsequence(n: int, letters: int, length: int, decay: float) -> Task:
    import mercer

    X = random_strings(n, letters)
    kernel = mercer.Subsequence(length, decay)
    return judged(lambda: kernel(X), X, lambda x, z: recursion(x, z, length, decay), "made")


def numba_subsequence(n: int, letters: int, length: int, decay: float) -> Task:
    compiled = importlib.import_module("numba").njit(recursion)
    X = random_strings(n, letters)
    codes = np.array([[LETTERS.index(letter) for letter in x] for x in X])
    compiled(codes[0], codes[1], length, decay)

    def run() -> Any:
        K = np.empty((n, n))
        for i in range(n):
            for j in range(i + 1):
                K[i, j] = K[j, i] = compiled(codes[i], codes[j], length, decay)
        return K

    return judged(run, X, lambda x, z: recursion(x, z, length, decay), "made")


def mercer_celegans(n: int, degree: int, C: float) -> Task:
    from sklearn.metrics import average_precision_score
    from sklearn.model_selection import train_test_split

    import mercer

    X, y, source = strings("celegans_acc", n)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    taken = [0.0]

    def run() -> Any:
        start = time.perf_counter()
        model = mercer.SVC(C=C, kernel=mercer.WeightedDegree(degree).normalised()).fit(train, y_train)
        taken[0] = time.perf_counter() - start
        return model, model.decision_function(test)

    def facts(result: Any) -> dict[str, Any]:
        model, scores = result
        return {
            "fit seconds": taken[0], "auPRC": float(average_precision_score(y_test, scores)),
            "support vectors": len(model.support_), "gap": float(model.certificate_.relative_gap),
        }  # fmt: skip

    return Task(run, source=source, facts=facts)
