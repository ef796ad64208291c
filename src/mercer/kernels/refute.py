"""A search for a counter-example: points and a vector c with cᵀKc < 0, for any Python function of two points.

A function k is a kernel when every Gram matrix it makes is positive semi-definite. One small set of points refutes it;
no number of sets proves it. The search goes from what is cheap to what is strong:

1. k(x, x) ≥ 0 at the points of the sample, then k(x, z) = k(z, x), k(x, x) ≥ 0 and
   k(x, z)² ≤ k(x, x) k(z, z) (Cauchy-Schwarz) on every pair met;
2. the smallest eigenvalue of the Gram matrix of growing sets: as drawn, drawn together towards one point (a function of
   bounded support shows nothing on points far apart), and along a segment (where few points span few dimensions);
3. the set found is shrunk, point by point, to one from which nothing can be left out;
4. points that are vectors are moved, inside the convex hull of the sample, to make the value more negative.

Gram matrices are compared after scaling to a unit diagonal, which changes no sign (rule 6) and makes "negative" a
relative word.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput, InvalidParameter
from mercer.kernels.refutation import Reason, Refutation, Unrefuted

__all__ = ["refute"]

Array = npt.NDArray[np.float64]

SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
SHAPES = ("drawn", "gathered", "segment")
# Points drawn from a callable sample; an array or list is used whole.
DRAWN = 256
# Relative to the unit diagonal. Below `FAINT` (or 1000 eps of what fn returns) a value may be the rounding of k itself;
# a value beyond `CLEAR` ends the search, fainter ones are kept while it goes on.
FAINT = 1e-10
FAINT_EPS = 1e3
CLEAR = 1e-6
LEAST_SIZE = 1e-6
STEPS_PER_POINT = 40
WORTHWHILE = 1e-3
NUDGES = 8
NUDGE_ULPS = 64.0


def refute(
    fn: Callable[[Any, Any], Any],
    sample: Any,
    *,
    trials: int = 90,
    move: bool = True,
    random_state: int = 0,
) -> Refutation | Unrefuted:
    """Search for points x₁ … xₘ and a vector c with Σ cᵢ cⱼ fn(xᵢ, xⱼ) < 0.

    Parameters
    ----------
    fn : callable (x, z) -> number
        Any function of two points.
    sample : array, sequence of objects, or callable (rng) -> point
        The source of points: the rows of an array, the items of a sequence, or draws by a function of a
        `numpy.random.Generator`.
    trials : int
        Sets of points to examine, of sizes 2 to 48 in turn.
    move : bool
        Whether points that are vectors of floats may also be taken from inside the convex hull of the sample. False
        where fn is meant for the sample's own points only, such as vectors of unit length.
    random_state : int
        Seed of the search; the same seed gives the same answer.

    Returns
    -------
    Refutation or Unrefuted
        The counter-example, or a report of how hard it searched.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> from mercer.kernels.refute import refute
    >>> found = refute(lambda x, z: math.tanh(x * z - 1.0), np.linspace(-2, 2, 21))
    >>> found.reason.value
    'k(x, x) is negative'
    >>> print(refute(lambda x, z: math.exp(-abs(x - z)), np.linspace(-2, 2, 21)))
    Not refuted, which is not a proof: ...
    """
    if not callable(fn):
        raise InvalidInput("fn must be a function of two points.", f"Got {type(fn).__name__}.")
    if trials < 1:
        raise InvalidParameter("trials must be at least 1.", f"Got {trials}.")
    rng = np.random.default_rng(random_state)
    points, vectors = _draw(sample, rng)
    search = _Search(fn, points, vectors if move else None, rng)
    shapes = SHAPES if search.vectors is not None else SHAPES[:1]
    best = search.negative_diagonal()
    if best is not None:
        return best
    for trial in range(trials):
        size = SIZES[trial * len(SIZES) // trials]
        found = search.examine(search.candidate(shapes[trial % len(shapes)], size))
        if found is not None and (best is None or found.relative < best.relative):
            best = found
        if best is not None and not best.relative > -CLEAR:  # NaN, for a function that is not symmetric, is clear too
            return best
    if best is not None:
        return best
    if search.not_real is not None:
        return search.not_real
    sizes = tuple(sorted(search.sizes)) or (1,)
    return Unrefuted(search.n_sets, search.n_evaluations, sizes, search.smallest)


@final
@dataclass(frozen=True)
class _Candidate:
    points: list[Any]
    moved: bool


@final
class _Search:
    """The state of one search: the sample, the generator, and a count of the work done."""

    def __init__(
        self, fn: Callable[[Any, Any], Any], points: list[Any], vectors: Array | None, rng: np.random.Generator
    ) -> None:
        self.fn = fn
        self.points = points
        self.vectors = vectors
        self.rng = rng
        self.n_sets = 0
        self.n_evaluations = 0
        self.sizes: set[int] = set()
        self.smallest = np.inf
        self.faint = FAINT
        self.not_real: Refutation | None = None

    def candidate(self, shape: str, size: int) -> _Candidate:
        """A set of points: drawn from the sample, or made from it inside its convex hull."""
        size = min(size, len(self.points)) if shape == "drawn" else size
        if shape == "drawn" or self.vectors is None:
            rows = self.rng.choice(len(self.points), size=size, replace=False)
            return _Candidate([self.points[row] for row in rows], False)
        if shape == "gathered":
            centre = self.vectors[self.rng.integers(len(self.vectors))]
            around = self.vectors[self.rng.integers(len(self.vectors), size=size)]
            return self._made(centre + 10.0 ** self.rng.uniform(-1.5, 0.0) * (around - centre))
        start, end = self.vectors[self.rng.integers(len(self.vectors), size=2)]
        return self._made(start + np.linspace(0.0, 1.0, size).reshape(-1, *[1] * start.ndim) * (end - start))

    def negative_diagonal(self) -> Refutation | None:
        """One point of the sample with k(x, x) < 0, where there is one: no counter-example is smaller."""
        points = self.points[:: -(-len(self.points) // DRAWN)]
        diagonal = np.array([self._row(x, [x])[0] for x in points])
        finite = np.isfinite(diagonal)
        if not finite.any():
            return None
        diagonal[~finite] = np.inf
        row = int(np.argmin(diagonal))
        if not diagonal[row] < -self.faint * np.abs(diagonal[finite]).max():
            return None
        return self._confirmed(_Candidate([points[row]], False), diagonal[row].reshape(1, 1))

    def examine(self, candidate: _Candidate) -> Refutation | None:
        """The smallest refutation within a set, or None."""
        gram = self.gram(candidate.points)
        real = _finite_rows(gram)
        if self.not_real is None and len(real) < len(gram):
            self.not_real = _unreal(candidate, gram)
        candidate = _Candidate([candidate.points[row] for row in real], candidate.moved)
        gram = gram[np.ix_(real, real)]
        if len(real) == 0:
            return None
        self.n_sets += 1
        self.sizes.add(len(real))
        pair = _asymmetric_pair(gram, self.faint)
        if pair is not None:
            return self._asymmetric(candidate, gram, pair)
        gram = 0.5 * (gram + gram.T)
        relative, _ = _smallest(gram)
        self.smallest = min(self.smallest, relative)
        if relative >= -self.faint:
            return None
        candidate, gram = self._shrunk(candidate, gram)
        found = self._confirmed(candidate, gram)
        # After moving, fewer points may suffice.
        return None if found is None else self._confirmed(*self._shrunk(*self._strengthen(candidate, gram))) or found

    def _shrunk(self, candidate: _Candidate, gram: Array) -> tuple[_Candidate, Array]:
        clear = max(CLEAR, self.faint)
        kept = _shrink(gram, clear if _smallest(gram)[0] < -clear else self.faint)
        return _Candidate([candidate.points[row] for row in kept], candidate.moved), gram[np.ix_(kept, kept)]

    def gram(self, points: Sequence[Any]) -> Array:
        """K[i, j] = fn(xᵢ, xⱼ), both orders evaluated; NaN where the value is not a real number."""
        return np.array([self._row(x, points) for x in points])

    def _row(self, x: Any, points: Sequence[Any]) -> Array:
        self.n_evaluations += len(points)
        row = np.empty(len(points))
        with np.errstate(all="ignore"):  # non-finite values are reported separately
            for j, z in enumerate(points):
                row[j], eps = _number(self.fn(x, z))
                self.faint = max(self.faint, FAINT_EPS * eps)
        return row

    def _made(self, rows: Array) -> _Candidate:
        return _Candidate([_like(self.points[0], row) for row in rows], True)

    def _strengthen(self, candidate: _Candidate, gram: Array) -> tuple[_Candidate, Array]:
        """Move points inside the hull, one at a time, as long as the relative value becomes more negative."""
        if self.vectors is None:
            return candidate, gram
        best, _ = _smallest(gram)
        points, moved = list(candidate.points), candidate.moved
        for _ in range(STEPS_PER_POINT * len(points)):
            i = int(self.rng.integers(len(points)))
            towards = self.vectors[self.rng.integers(len(self.vectors))]
            step = 10.0 ** self.rng.uniform(-3.0, 0.0)
            here = np.asarray(points[i], dtype=np.float64)
            trial = [*points[:i], _like(points[i], here + step * (towards - here)), *points[i + 1 :]]
            row = self._row(trial[i], trial)
            if not np.isfinite(row).all():
                continue
            changed = gram.copy()
            changed[i, :] = changed[:, i] = row
            relative, _ = _smallest(changed)
            if relative < (1.0 + WORTHWHILE) * best:
                best, gram, points, moved = relative, changed, trial, True
        return _Candidate(points, moved), gram

    def _confirmed(self, candidate: _Candidate, gram: Array) -> Refutation | None:
        """The refutation, unless the value could be due to the last digits of the points.

        A true kernel computed with cancellation, such as exp(−(⟨x,x⟩ + ⟨z,z⟩ − 2⟨x,z⟩)) far from the origin, has a Gram
        matrix that is indefinite by its own rounding. Nudging the points by some units in the last place shows that.
        """
        relative, direction = _smallest(gram)
        c = direction / np.linalg.norm(direction)
        value = float(c @ gram @ c)
        if self.vectors is not None:
            nudged = []
            for _ in range(NUDGES):
                nearby = self.gram([_like(x, x * self._nearly_one(np.shape(x))) for x in candidate.points])
                nudged.append(float(c @ nearby @ c))
            if not np.ptp([value, *nudged]) < 0.1 * abs(value):
                return None
        reason = Reason.NEGATIVE_FORM
        if len(c) == 1:
            reason = Reason.NEGATIVE_DIAGONAL
        elif len(c) == 2:
            reason = Reason.CAUCHY_SCHWARZ
        return Refutation(reason, candidate.points, gram, c, value, relative, candidate.moved)

    def _nearly_one(self, shape: tuple[int, ...]) -> Array:
        return 1.0 + NUDGE_ULPS * np.finfo(np.float64).eps * self.rng.uniform(-1.0, 1.0, shape)

    def _asymmetric(self, candidate: _Candidate, gram: Array, pair: tuple[int, int]) -> Refutation:
        i, j = pair
        points = [candidate.points[i], candidate.points[j]]
        difference = float(gram[i, j] - gram[j, i])
        return Refutation(
            Reason.NOT_SYMMETRIC, points, gram[np.ix_(pair, pair)], None, difference, float("nan"), candidate.moved
        )


def _draw(sample: Any, rng: np.random.Generator) -> tuple[list[Any], Array | None]:
    """The sample as a list of points and, where all are float vectors (or floats) of one shape, as an array."""
    if callable(sample):
        points = [sample(rng) for _ in range(DRAWN)]
    else:
        try:
            points = list(sample)
        except TypeError as error:
            raise InvalidInput(
                "sample must be an array of points, a sequence of objects, or a function of a random generator.",
                f"Got {type(sample).__name__}.",
            ) from error
    if not points:
        raise InvalidInput("sample must contain at least one point.", "It is empty.")
    floats = all(isinstance(point, float | np.ndarray | np.floating) for point in points)
    if not floats or len({np.shape(point) for point in points}) > 1:
        return points, None
    vectors = np.array(points)
    if vectors.dtype.kind != "f" or not np.isfinite(vectors).all():
        return points, None
    vectors = vectors.astype(np.float64)
    # In float64 from here on, so that fn's own arithmetic on float32 points does not pass for a counter-example.
    return [_like(point, row) for point, row in zip(points, vectors, strict=True)], vectors


def _like(point: Any, row: Array) -> Any:
    """A constructed point, of the same Python type as those of the sample."""
    return np.asarray(row, dtype=np.float64) if isinstance(point, np.ndarray) else float(row)


def _number(value: Any) -> tuple[float, float]:
    """The value as a float (NaN for a complex number) with the eps of its type; an error for what is not one number."""
    array = np.asarray(value)
    kind = array.dtype.kind
    if array.size != 1 or kind not in "buifc":
        raise InvalidInput(
            "fn must return one number for two points.",
            f"It returned {value!r}.",
            "A function of two matrices can be wrapped: lambda x, z: fn(x[None], z[None])[0, 0].",
        )
    eps = float(np.finfo(array.dtype).eps) if kind in "fc" else 0.0
    if kind == "c":
        return (float(array.real.item()) if array.imag.item() == 0.0 else float("nan")), eps
    return float(array.item()), eps


def _finite_rows(gram: Array) -> npt.NDArray[np.intp]:
    """Rows that remain when points with a value that is not finite are left out, the worst first."""
    kept = np.arange(len(gram))
    while len(kept):
        bad = ~np.isfinite(gram[np.ix_(kept, kept)])
        counts = bad.sum(axis=0) + bad.sum(axis=1)
        if not counts.any():
            break
        kept = np.delete(kept, int(np.argmax(counts)))
    return kept


def _unreal(candidate: _Candidate, gram: Array) -> Refutation:
    i, j = np.argwhere(~np.isfinite(gram))[0]
    rows = [int(i)] if i == j else [int(i), int(j)]
    points = [candidate.points[row] for row in rows]
    nan = float("nan")
    return Refutation(Reason.NOT_REAL, points, gram[np.ix_(rows, rows)], None, nan, nan, candidate.moved)


def _asymmetric_pair(gram: Array, faint: float) -> tuple[int, int] | None:
    difference = np.abs(gram - gram.T)
    diagonal = np.sqrt(np.abs(gram.diagonal()))
    scale = np.maximum(np.abs(gram), np.abs(gram.T)) + np.outer(diagonal, diagonal)
    excess = difference - faint * scale
    i, j = np.unravel_index(int(np.argmax(excess)), gram.shape)
    return (int(i), int(j)) if excess[i, j] > 0.0 else None


def _smallest(gram: Array) -> tuple[float, Array]:
    """The smallest eigenvalue after scaling to a unit diagonal, and the direction c in the original scale.

    The size of a point is |k(x, x)|, but at least a millionth of the largest entry: rounding that is small beside the
    large entries must not be blown up beside a small one. A zero on the diagonal beside another entry still refutes.
    """
    size = np.maximum(np.abs(gram.diagonal()), LEAST_SIZE * np.abs(gram).max())
    scale = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
    scaled = gram * np.outer(scale, scale)
    if not np.isfinite(scaled).all():
        return 0.0, np.zeros(len(gram))
    eigenvalues, vectors = np.linalg.eigh(scaled)
    # Relative to the largest entry too, which exceeds 1 where Cauchy-Schwarz fails.
    return float(eigenvalues[0] / max(1.0, np.abs(scaled).max())), scale * vectors[:, 0]


def _shrink(gram: Array, enough: float) -> list[int]:
    """Leave out points, the least important first, as long as the rest still has a relative value below −enough."""
    kept = list(range(len(gram)))
    for size in (1, 2):  # a single point or a pair is a better answer than what leaving out one by one may end in
        for rows in _small_sets(gram, size):
            if _smallest(gram[np.ix_(rows, rows)])[0] < -enough:
                return rows
    shrunk = True
    while shrunk and len(kept) > 1:
        shrunk = False
        _, direction = _smallest(gram[np.ix_(kept, kept)])
        for place in np.argsort(np.abs(direction)):
            rows = kept[: int(place)] + kept[int(place) + 1 :]
            if _smallest(gram[np.ix_(rows, rows)])[0] < -enough:
                kept, shrunk = rows, True
                break
    return kept


def _small_sets(gram: Array, size: int) -> list[list[int]]:
    """The most suspicious single point or pair, where there is one."""
    diagonal = gram.diagonal()
    if size == 1:
        return [[int(np.argmin(diagonal))]] if diagonal.min() < 0.0 else []
    excess = gram**2 - np.outer(diagonal, diagonal)
    np.fill_diagonal(excess, -np.inf)
    if len(gram) < 2 or not excess.max() > 0.0:
        return []
    i, j = np.unravel_index(int(np.argmax(excess)), gram.shape)
    return [[int(i), int(j)]]
