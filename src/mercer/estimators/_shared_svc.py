"""SVC with many C on many splits of the same rows: the pairs of classes of all splits are one batch over one K."""

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, final

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from mercer.domains import is_number
from mercer.errors import MercerError, UncertifiedWarning
from mercer.estimators._classes import class_labels
from mercer.estimators._seats import Rows
from mercer.estimators._sharing import Failed, Outcome, Shared
from mercer.estimators._targets import kept_rows
from mercer.estimators.svm import SVC
from mercer.grams.choose import gram_to_share
from mercer.kernels.binding import bind
from mercer.kernels.kernel import Kernel
from mercer.models.pairs import Pairs, pairs
from mercer.points.base import Points
from mercer.problems.margins import KINDS, all_rows
from mercer.solvers.options import Options
from mercer.solvers.sweep import Swept, sweep

__all__ = ["SharedSVC"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]


@final
@dataclass(frozen=True, eq=False)
class Part:
    """The problems of one split.

    Attributes
    ----------
    machine : SVC
        With its classes.
    ids : ndarray of shape (k,)
        The places of these among the classes of all rows.
    uses : ndarray of shape (P, 2)
        The pairs, by these places.
    signs, cost : ndarray of shape (M,)
        ±1 and the cost at C = 1 for the rows of all pairs, 0 for those that are held out.
    """

    machine: SVC
    ids: Index
    uses: Index
    signs: Array
    cost: Array


@final
@dataclass(frozen=True, eq=False)
class Arranged:
    """All rows, class by class.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Their numbers.
    places : ndarray of shape (n,)
        Where each stands.
    cuts : ndarray of shape (k + 1,)
        Where each class begins and ends.
    classes : ndarray of shape (k,)
        The labels.
    """

    rows: Index
    places: Index
    cuts: Index
    classes: npt.NDArray[Any]

    @classmethod
    def of(cls, y: Any, n: int) -> "Arranged":
        """By their labels."""
        classes, index = class_labels(y, n)
        rows = np.argsort(index, kind="stable")
        cuts = np.concatenate([[0], np.cumsum(np.bincount(index))])
        return cls(rows, np.argsort(rows), cuts, classes)


@final
class Lines:
    """Lines of a stored K; those of the last few sets of rows are kept, for they are asked for again.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
    most : int
        Sets of rows.
    """

    def __init__(self, matrix: npt.NDArray[Any], most: int) -> None:
        self._matrix = matrix
        self._kept = lru_cache(most)(lambda rows: matrix[np.frombuffer(rows, dtype=np.intp)])

    def of(self, rows: Index) -> npt.NDArray[Any]:  # (m, n)
        """K[rows]."""
        return self._kept(rows.tobytes()) if 2 * len(rows) <= len(self._matrix) else self._matrix[rows]


@final
class FittedSVC:
    """An SVC on one split.

    Parameters
    ----------
    part : Part
        The split.
    solution : Swept
        Of all splits.
    problems : ndarray of shape (P,)
        Which of them are its own.
    arranged : Arranged
    lines : Lines
        Of K, in that arrangement.
    """

    def __init__(self, part: Part, solution: Swept, problems: Index, arranged: Arranged, lines: Lines) -> None:
        self._part, self._solution, self._problems = part, solution, problems
        self._arranged, self._lines = arranged, lines
        self.classes_ = part.machine.classes_
        self._layout = Pairs(np.concatenate([[0], np.cumsum(np.diff(arranged.cuts)[part.ids])]))

    def predict(self, rows: Rows) -> npt.NDArray[Any]:
        """The class with the most votes."""
        machine = self._part.machine
        machine._check_ties()  # noqa: SLF001
        return np.asarray(self.classes_[machine._winners(self._decisions(rows), self._layout)])  # noqa: SLF001

    def decision_function(self, rows: Rows) -> Array:
        """The decisions, in the shape that the machine has them."""
        return self._part.machine._shown(self._decisions(rows), self._layout)  # noqa: SLF001

    def _decisions(self, rows: Rows) -> Array:  # (m, P)
        places = self._arranged.places[rows]
        intercepts = self._solution.intercepts[self._problems]
        if len(self._arranged.classes) == 2:  # a problem has all rows, those that are held out too
            return self._solution.f_of(int(self._problems[0]))[places, None] + intercepts
        K, coef = self._lines.of(places), self._coef
        if len(self._part.ids) < len(self._arranged.classes):
            mine = np.concatenate([np.arange(*self._arranged.cuts[i : i + 2]) for i in self._part.ids])
            K, coef = K[:, mine], coef[mine]
        return self._layout.decide(K, coef, intercepts)

    @cached_property
    def _coef(self) -> Array:  # (n, k − 1)
        """The coefficients of all rows, in the layout of `Pairs`."""
        batch, variables, _ = self._solution.batch.take(self._problems)
        local = np.searchsorted(self._part.ids, batch.uses)
        columns = local[:, ::-1] - [1, 0]  # of the first class j − 1, of the second i
        found = np.zeros((len(self._arranged.rows), len(self._part.ids) - 1))
        found[batch.rows, np.repeat(columns, np.diff(batch.cuts)[batch.uses].ravel())] = self._solution.coef[variables]
        return found


@final
class SharedSVC(Shared):
    """SVC for many C."""

    penalty: ClassVar[str] = "C"

    def serves(self, machine: Any) -> bool:
        """Everything but what needs more than decisions, an end of its own, or a kernel that is not proved."""
        return (
            type(machine) is SVC
            and is_number(machine.C)
            and 0.0 < machine.C < np.inf
            and not machine._has_asked  # noqa: SLF001 (SVC's other half, here and below)
            and machine.max_iter == -1
            and machine.max_time is None
            and self._is_shared_kernel(machine, single=True)
        )

    def _fitted(self, machine: Any, penalties: Sequence[float]) -> Iterator[tuple[float, Mapping[int, Outcome]]]:
        points = machine._read_rows(self._X)  # noqa: SLF001
        arranged = Arranged.of(self._y, len(points))
        weight, _ = kept_rows(self._weight, len(points))
        parts: dict[int, Part] = {}
        failed: dict[int, Outcome] = {}
        for split, rows in enumerate(self._splits):
            try:
                machine._check_parameters()  # noqa: SLF001
                parts[split] = self._part(copy.copy(machine), rows, weight, arranged)
            except MercerError as error:
                failed[split] = Failed(error)
        sweeps = [
            self._sweep(machine, kernel, points, {k: parts[k] for k in mine if k in parts}, arranged, penalties)
            for kernel, mine in self._kernels(machine, points, weight).items()
        ]
        for penalty in penalties:
            found = dict(failed)
            for one in sweeps:
                found.update(next(one))
            yield penalty, found

    def _part(self, machine: Any, rows: Rows, weight: Array, arranged: Arranged) -> Part:
        chosen = machine._class_rows(_safe_indexing(self._y, rows), len(rows), weight[rows])  # noqa: SLF001
        cost = np.zeros(len(weight))
        np.add.at(cost, arranged.places[rows[chosen.rows]], chosen.cost)
        ids = np.searchsorted(arranged.classes, machine.classes_)
        uses = ids[pairs(len(ids))]
        sizes = np.diff(arranged.cuts)[uses]
        both = [-1.0, 1.0] if len(ids) == 2 else [1.0, -1.0]
        signs = np.repeat(np.tile(both, len(uses)), sizes.ravel())
        return Part(machine, ids, uses, signs, cost[all_rows(arranged.cuts, uses)])

    def _sweep(
        self,
        machine: Any,
        kernel: Kernel,
        points: Points,
        parts: dict[int, Part],
        arranged: Arranged,
        penalties: Sequence[float],
    ) -> Iterator[dict[int, Outcome]]:
        if not parts:
            yield from ({} for _ in penalties)
            return
        gram = gram_to_share(bind(kernel, points.take(arranged.rows), dtype=np.float64))
        lines = Lines(np.asarray(gram.dense()), len(parts))
        uses = np.concatenate([part.uses for part in parts.values()])
        signs = np.concatenate([part.signs for part in parts.values()])
        cost = np.concatenate([part.cost for part in parts.values()])
        cuts = arranged.cuts.astype(np.int64)
        batches = (KINDS["c-svc"].build(cuts, uses.astype(np.int64), signs, C * cost) for C in penalties)
        options = Options(tol=machine.tol, cache_bytes=int(machine.cache_size * 2**20))
        ends = np.cumsum([len(part.uses) for part in parts.values()])
        for solution in sweep(gram, "c-svc", batches, options):
            if not solution.status.is_certified:
                warnings.warn(f"SVC: {solution.status.value}.", UncertifiedWarning, stacklevel=2)
            yield {
                split: FittedSVC(part, solution, np.arange(end - len(part.uses), end), arranged, lines)
                for (split, part), end in zip(parts.items(), ends, strict=True)
            }
