"""Kernels of strings from their definitions, in as much time as these ask for."""

import math
from collections import Counter, defaultdict
from itertools import combinations, product
from typing import Any


def subsequences(x: Any, z: Any, length: int, decay: float) -> float:
    """Σ decay^(span in x + span in z) over the pairs of equal subsequences of a length."""
    ours, theirs = _weights(x, length, decay), _weights(z, length, decay)
    return math.fsum(weight * theirs[u] for u, weight in ours.items() if u in theirs)


def _weights(x: Any, length: int, decay: float) -> dict[tuple[Any, ...], float]:
    """What each subsequence weighs in x: Σ decay^span."""
    found: dict[tuple[Any, ...], float] = defaultdict(float)
    for places in combinations(range(len(x)), length):
        found[tuple(x[at] for at in places)] += decay ** (places[-1] - places[0] + 1)
    return found


def mismatch_counts(x: Any, length: int, mismatches: int, alphabet: Any) -> Counter[tuple[Any, ...]]:
    """For every string of the alphabet, how many substrings of x differ from it in few letters."""
    found: Counter[tuple[Any, ...]] = Counter()
    for p in range(len(x) - length + 1):
        here = x[p : p + length]
        for u in product(alphabet, repeat=length):
            found[u] += sum(a != b for a, b in zip(here, u, strict=True)) <= mismatches
    return found


def mismatches(x: Any, z: Any, length: int, most: int, alphabet: Any) -> float:
    """The inner product of the counts."""
    ours, theirs = mismatch_counts(x, length, most, alphabet), mismatch_counts(z, length, most, alphabet)
    return float(sum(count * theirs[u] for u, count in ours.items()))


def weighted_degree(x: Any, z: Any, degree: int, shift: int) -> float:
    """Σ βₖ (1 − |p − q|/(shift + 1)) over the common substrings of k ≤ degree letters, at p in x and q in z."""
    total = 0.0
    for k in range(1, degree + 1):
        for p in range(len(x) - k + 1):
            for q in range(len(z) - k + 1):
                near = max(0.0, 1.0 - abs(p - q) / (shift + 1))
                total += 2.0 * (degree - k + 1) / (degree * (degree + 1)) * near * (x[p : p + k] == z[q : q + k])
    return total
