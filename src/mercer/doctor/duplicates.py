"""Checks of rows that are equal."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from mercer.doctor.case import Case
from mercer.doctor.check import Seen
from mercer.doctor.findings import counted

__all__ = ["contradicting", "repeated"]

Index = npt.NDArray[np.intp]


def repeated(case: Case, limit: float) -> Iterator[Seen]:
    """Rows that were there before."""
    n = len(case.source)
    copies = n - int(case.groups.max() + 1)
    if copies > limit * n and not case.is_coarse:
        first = np.unique(case.groups, return_index=True)[1]
        again = np.setdiff1d(np.arange(n), first)
        yield Seen(
            f"{counted(copies, 'row')} of {n} ({copies / n:.1%}) repeat an earlier one.",
            {"rows": copies, "share": copies / n},
            rows=again,
        )


def contradicting(case: Case, limit: float) -> Iterator[Seen]:
    """Equal rows with different targets: what no machine can get right."""
    target = case.target
    assert target is not None
    rows = np.flatnonzero(target.known)
    groups = case.groups[rows]
    if not len(rows):
        return
    sizes = np.bincount(groups)
    several = rows[sizes[groups] > 1]
    if not len(several):
        return
    inside = case.groups[several]
    Y = target.columns(several)
    sums = [np.bincount(inside, column, len(sizes)) for column in Y.T]
    means = np.stack(sums, axis=1) / np.maximum(sizes, 1)[:, None]
    if target.is_classes:
        votes = means[inside].max(axis=1)
        lost = float((1.0 - votes).sum()) / len(rows)
        mixed = votes < 1.0
        said = f"on these rows every machine is wrong for at least {lost:.1%} of all rows"
    else:
        all_y = target.values[rows]
        spread = np.square(all_y - all_y.mean(axis=0)).sum()
        within = np.square(Y - means[inside])
        lost = float(within.sum() / spread) if spread > 0.0 else 0.0
        mixed = within.sum(axis=1) > 1e-20 * float(np.square(Y).sum(axis=1).max())
        said = f"{lost:.1%} of the variance of y is between equal rows, and out of reach"
    if lost > limit:
        yield Seen(
            f"{counted(int(mixed.sum()), 'row')} have a twin that is equal in every column and has another target: "
            f"{said}.",
            {"rows": int(mixed.sum()), "share out of reach": lost},
            rows=several[mixed],
        )
