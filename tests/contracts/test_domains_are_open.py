"""A new domain of points is a class and a row: here one is added, and machines learn on it."""

import pickle
from collections import UserDict
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import mercer
from mercer.errors import DomainMismatch, InvalidInput
from mercer.points import Adapter, Domain, Objects, Points, Sets, Vectors, as_points, register, require
from mercer.points.base import ANYTHING, as_selection

INTERVALS = Domain("intervals", "Pass a list of Interval, one per point.")


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


class Closed(Interval):
    """A subclass, which needs no row."""


class Timetable(UserDict):
    """A collection of its own."""


@dataclass(frozen=True)
class Intervals:
    """Points that are intervals."""

    domain: ClassVar[Domain] = INTERVALS
    ends: Any  # (n, 2)

    @classmethod
    def read(cls, X: Any, name: str) -> "Intervals":
        for row, value in enumerate(X):
            if not isinstance(value, Interval):
                raise DomainMismatch(f"Input {name} is not a list of intervals: row {row} is {value!r}.")
        ends = np.array([[value.low, value.high] for value in X])
        if (ends[:, 0] > ends[:, 1]).any():
            raise InvalidInput(f"Input {name} holds an interval that ends before it begins.")
        return cls(ends)

    def __len__(self) -> int:
        return len(self.ends)

    def take(self, rows: Any) -> "Intervals":
        return Intervals(self.ends[as_selection(rows, len(self))])

    def raw(self) -> Any:
        return [Interval(low, high) for low, high in self.ends]


HERE = __name__.partition(".")[0]
register(Adapter(Intervals.read, entries=((HERE, "Interval"),), domain=INTERVALS))
register(Adapter(lambda X, name: Intervals.read(list(X.values()), name), collections=((HERE, "Timetable"),)))


def overlap(x, z):
    return max(0.0, min(x.high, z.high) - max(x.low, z.low))


KERNEL = mercer.Custom(overlap, because="⟨1[x], 1[z]⟩ in L²")
RNG = np.random.default_rng(0)
STARTS = RNG.uniform(0.0, 10.0, 30)
X = [Interval(float(start), float(start + width)) for start, width in zip(STARTS, RNG.uniform(1, 2, 30), strict=True)]
NEW = [Interval(0.5, 2.0), Interval(8.0, 9.5)]
LATE = STARTS > 5.0


@pytest.mark.parametrize(
    ("machine", "y"),
    [
        (mercer.SVC(kernel=KERNEL), LATE),
        (mercer.KernelRidge(kernel=KERNEL, alpha=0.1), STARTS),
        (mercer.KernelRidge(kernel=KERNEL.normalised()), STARTS),
        (mercer.KernelLogisticRegression(kernel=KERNEL), LATE),
        (mercer.KernelNeighborsClassifier(n_neighbors=3, kernel=KERNEL), LATE),
    ],
    ids=lambda value: repr(value)[:30] if hasattr(value, "fit") else "",
)
def test_machines_learn_on_a_new_domain(machine, y):
    fitted = machine.fit(X, y)
    early, late = fitted.predict(NEW)
    assert late > early if y is STARTS else (bool(early), bool(late)) == (False, True)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(NEW), fitted.predict(NEW))


def test_lists_arrays_tuples_and_subclasses_are_read():
    array = np.empty(2, dtype=object)
    array[:] = NEW
    for given in (NEW, tuple(NEW), array, [Closed(0.0, 1.0)], [Closed(0.0, 1.0), NEW[0]]):
        points = as_points(given)
        assert isinstance(points, Intervals)
        assert len(points) == len(given)
        assert as_points(points) is points


def test_a_collection_of_its_own_is_read():
    assert isinstance(as_points(Timetable(morning=NEW[0], evening=NEW[1])), Intervals)


def test_a_column_of_a_table_is_read():
    table = as_points({"age": [1.0, 2.0], "when": NEW, "tags": [{1}, {2}]})
    assert table.columns["when"].domain == INTERVALS
    assert isinstance(table.select(["when"]), Intervals)
    assert isinstance(table.select(["tags"]), Sets)
    assert isinstance(table.select(["age"]), Vectors)
    assert isinstance(table.select(["when", "tags"]), Objects)
    assert isinstance(pickle.loads(pickle.dumps(table)).select(["when"]), Intervals)
    K = KERNEL.on("when")({"age": [1.0] * 30, "when": X})
    np.testing.assert_allclose(K, KERNEL(X))


def test_errors_speak_of_the_new_domain():
    needs = frozenset({INTERVALS})
    with pytest.raises(DomainMismatch, match=r"needs intervals\.\n.*\n  Pass a list of Interval"):
        require(as_points([[1.0]]), needs, "Overlap()")
    with pytest.raises(DomainMismatch, match=r"RBF\(\) cannot read X: it needs vectors"):
        mercer.RBF()(X)
    with pytest.raises(DomainMismatch, match="row 1 is 3"):
        as_points([NEW[0], 3])
    with pytest.raises(InvalidInput, match="ends before it begins"):
        as_points([Interval(1.0, 0.0)])
    with pytest.raises(DomainMismatch, match="holds vectors, but"):
        mercer.KernelRidge(kernel=KERNEL).fit(X, STARTS).predict([[1.0]])


def test_a_domain_is_one_object_also_after_pickling():
    assert pickle.loads(pickle.dumps(INTERVALS)) is INTERVALS
    assert pickle.loads(pickle.dumps(Domain.VECTORS)) is Domain.VECTORS
    assert INTERVALS in ANYTHING


def test_the_nearest_class_decides_whatever_the_order_of_the_rows():
    class Rows(np.ndarray):
        pass

    register(Adapter(lambda X, name: Vectors(2.0 * np.asarray(X), name), collections=((HERE, "Rows"),)))
    np.testing.assert_array_equal(as_points(np.ones((2, 2)).view(Rows)).raw(), 2.0)
    np.testing.assert_array_equal(as_points(np.ones((2, 2))).raw(), 1.0)


def test_every_domain_has_points():
    found: list[Points] = [
        as_points([[1.0]]),
        as_points([{1}]),
        as_points(["a"]),
        as_points({"a": [1]}),
        as_points(NEW),
    ]
    assert [points.domain.value for points in found] == ["vectors", "sets", "objects", "table", "intervals"]
