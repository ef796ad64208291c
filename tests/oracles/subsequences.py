"""Common subsequences, one by one: from the definition, in time exponential in their length."""

import math
from collections import defaultdict
from itertools import combinations
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
