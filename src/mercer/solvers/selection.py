"""Choosing landmarks among candidates: a table of methods, which see a Gram matrix and draw rows of it.

- "uniform": every row is as likely as any other.
- "k-means++": each next row with a probability proportional to its squared distance, in the feature space of the
  kernel, from the nearest of those before it.
- "rpcholesky": each next row with a probability proportional to the squared distance of its φ(x) from the span of
  those before it, which nearly minimises the trace of what is left out (`mercer.solvers.pivoted`).

All but the first look at a uniform sample of candidates, a few for each landmark: the choice must cost less than the
solve.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from mercer.grams.base import Gram
from mercer.solvers.pivoted import pivoted_cholesky
from mercer.solvers.watch import Watch

__all__ = ["SELECTIONS", "Selection"]

Rows = npt.NDArray[np.intp]
# From so many landmarks on the factor of "rpcholesky" is in float32.
MANY = 1_000


@final
@dataclass(frozen=True)
class Selection:
    """One way to choose landmarks.

    Attributes
    ----------
    name : str
        What `landmarks=` calls it.
    method : str
        One line about it.
    candidates : int
        Rows that it looks at for each landmark; 0 where it looks at none.
    draw : callable (Gram, m, Generator) -> rows
        At most m rows of the candidates, in the order in which they were drawn.
    """

    name: str
    method: str
    candidates: int
    draw: Callable[[Gram, int, np.random.Generator], Rows]


def _uniform(gram: Gram, m: int, rng: np.random.Generator) -> Rows:
    return np.asarray(rng.permutation(gram.shape[0])[:m])


def _spread(gram: Gram, m: int, rng: np.random.Generator) -> Rows:
    diagonal = np.asarray(gram.diag(), dtype=np.float64)
    chosen = [int(rng.integers(len(diagonal)))]
    nearest = np.full(len(diagonal), np.inf)
    while True:
        last = chosen[-1]
        column = np.asarray(gram.columns(slice(last, last + 1)), dtype=np.float64)[:, 0]
        nearest = np.minimum(nearest, np.maximum(diagonal - 2.0 * column + diagonal[last], 0.0))
        nearest[last] = 0.0
        sums = np.cumsum(nearest)
        if len(chosen) == m or not sums[-1] > 0.0:
            return np.array(chosen, dtype=np.intp)
        drawn = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
        chosen.append(min(drawn, int(np.flatnonzero(nearest)[-1])))


def _pivots(gram: Gram, m: int, rng: np.random.Generator) -> Rows:
    dtype = np.float32 if m >= MANY else np.float64
    ones = np.ones(gram.shape[0])
    return pivoted_cholesky(gram, ones, m, stop=0.0, rng=rng, watch=Watch("landmarks"), dtype=dtype).pivots


SELECTIONS: dict[str, Selection] = {
    row.name: row
    for row in (
        Selection("uniform", "any row is as likely as any other", 0, _uniform),
        Selection("k-means++", "rows that are far from each other in feature space", 5, _spread),
        Selection("rpcholesky", "rows that the others do not span, by a randomly pivoted Cholesky factor", 3, _pivots),
    )
}
