"""Checks of the Gram matrix."""

from collections.abc import Iterator

import numpy as np

from mercer.doctor.case import Case
from mercer.doctor.check import Seen
from mercer.doctor.findings import counted
from mercer.doctor.starting import start_of
from mercer.errors import MercerError

__all__ = ["advice", "all_alike", "all_strangers", "effective_rank", "uneven_diagonal", "unusable"]

# Eigenvalues that hold this share of the trace.
MOST = 0.99
# Advice is given where it explains more of the variance of y than so many rows out of all.
WORTHWHILE = 4.0


def unusable(case: Case, limit: float) -> Iterator[Seen]:  # noqa: ARG001 (an error is an error)
    """A kernel that refuses these points."""
    if isinstance(case.computed, MercerError):
        first, *rest = str(case.computed).split("\n")
        remedy = rest[-1].strip() if len(rest) > 1 else ""  # what was got, then what would work
        yield Seen(f"{case.kernel!r} cannot be computed on this data: {first}", remedy=remedy)


def all_strangers(case: Case, limit: float) -> Iterator[Seen]:
    """K ≈ I: no row has anything to do with any other."""
    if case.cosines is None:
        return
    off = np.abs(case.cosines - np.diag(case.cosines.diagonal()))
    nearest = float(np.median(off.max(axis=1)))
    if nearest < limit:
        yield Seen(
            f"Half of the rows have no other row with k(x, z) above {nearest:.2g} of "
            f"√(k(x, x)·k(z, z)), for {case.kernel!r}.",
            {"median of the largest similarity": nearest},
        )


def all_alike(case: Case, limit: float) -> Iterator[Seen]:
    """K ≈ 11ᵀ: every row is like every other."""
    if case.cosines is None:
        return
    pairs = case.cosines[~np.eye(len(case.cosines), dtype=bool)]
    low = float(np.quantile(pairs, 0.05))
    if low > limit:
        yield Seen(
            f"For 95 % of all pairs k(x, z) is above {low:.6f} of √(k(x, x)·k(z, z)), for {case.kernel!r}.",
            {"similarity of unlike rows": low},
        )


def uneven_diagonal(case: Case, limit: float) -> Iterator[Seen]:
    """A few rows that weigh far more than all others."""
    if case.K is None or len(case.K) < 2:
        return
    diagonal = case.K.diagonal()
    median, largest = float(np.median(diagonal)), float(diagonal.max())
    if median > 0.0 and largest > limit * median:
        worst = np.argsort(-diagonal)[: int((diagonal > limit * median).sum())]
        yield Seen(
            f"k(x, x) reaches {largest / median:.3g} times its median, for {case.kernel!r}: these rows decide the fit.",
            {"largest over median": largest / median},
            rows=np.sort(case.kernel_rows[worst]),
        )


def effective_rank(case: Case, limit: float) -> Iterator[Seen]:
    """How many directions there are in the data, as the kernel sees it."""
    if case.spectrum is None or not case.spectrum.sum() > 0.0 or len(case.spectrum) < limit:
        return
    share = case.spectrum / case.spectrum.sum()
    positive = share[share > 0.0]
    rank = float(np.exp(-(positive * np.log(positive)).sum()))
    most = int(np.searchsorted(np.cumsum(share), MOST) + 1)
    n = len(share)
    yield Seen(
        f"The spectrum of K on {n} rows has an effective rank of {rank:.1f}, and {MOST:.0%} of its trace in "
        f"{counted(min(most, n), 'eigenvalue')}, for {case.kernel!r}.",
        {"effective rank": rank, f"eigenvalues for {MOST:.0%}": min(most, n), "rows": n},
    )


def advice(case: Case, limit: float) -> Iterator[Seen]:
    """Where to begin a search."""
    start = start_of(case)
    if start is None or start.rows < limit or not start.score > WORTHWHILE / start.rows:
        return
    by_length = np.isfinite(start.length)
    kernel = f"RBF({start.length:.3g})" if by_length else repr(case.kernel)
    distance = f"The median distance is {start.median:.3g}. " if by_length else ""
    yield Seen(
        f"{distance}Of {start.tried} kernel ridge regressions on {start.rows} rows, {kernel} with "
        f"alpha={start.alpha:.2g} does best when each row is left out in turn (R² {start.score:.2f}).",
        {
            "median distance": start.median,
            "length_scale": start.length,
            "alpha": start.alpha,
            "C": start.C,
            "R²": start.score,
        },
        remedy=f"Begin a search around kernel={kernel}, with alpha={start.alpha:.2g} or, for machines with a C, "
        f"C={start.C:.2g}.",
    )
