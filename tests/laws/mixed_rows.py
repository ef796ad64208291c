"""Random rows of a table with mixed columns, some values missing, and kernels of such rows."""

from datetime import date
from functools import cache
from typing import Any

from hypothesis import strategies as st

from mercer import kernels as mk
from mercer import maps as mm
from mercer.points import Table
from mercer.points.registry import Adapter, register

COLUMNS = ("x", "y", "country", "tags", "size", "day", "text")
SIZES = ["small", "middle", "large"]
WORDS = ["be", "not", "or", "to"]


class Row(dict):
    """One row, by the names of the columns."""

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))


class TableRows(list):
    """Rows that are read as a table, and sliced as a list."""

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        return TableRows(found) if isinstance(place, slice) else found


def _as_table(rows: Any, name: str) -> Table:
    return Table({column: [row[column] for row in rows] for column in COLUMNS}, name)


register(Adapter(_as_table, collections=((__name__.partition(".")[0], "TableRows"),)))


@cache
def rows(n: int) -> st.SearchStrategy[TableRows]:
    """At least two rows; the first and the last have all values, so that each half of the table has some."""
    number = st.integers(-16, 16).map(lambda eighths: eighths / 8)
    values = {
        "x": number,
        "y": number,
        "country": st.sampled_from("abc"),
        "tags": st.frozensets(st.sampled_from("pqr"), max_size=3),
        "size": st.sampled_from(SIZES),
        "day": st.integers(0, 40).map(lambda days: date.fromordinal(date(2024, 2, 1).toordinal() + days)),
        "text": st.lists(st.sampled_from([*WORDS, "To"]), max_size=4).map(" ".join),
    }
    may_miss = ("y", "country", "tags", "size")
    whole = st.fixed_dictionaries(values).map(Row)
    holed = st.fixed_dictionaries(
        {name: st.none() | value if name in may_miss else value for name, value in values.items()}
    ).map(Row)
    return st.tuples(whole, st.lists(holed, max_size=n - 2), whole).map(
        lambda parts: TableRows([parts[0], *parts[1], parts[2]])
    )


@cache
def kernels(length: st.SearchStrategy[float]) -> st.SearchStrategy[Any]:
    """Kernels of some columns, one for each kind of column and each map of tables."""
    c = st.sampled_from([0.0, 0.5, 1.0])
    ranks = mm.Ranks(SIZES)
    common = mk.Tanimoto(mk.SetIntersection())
    return st.one_of(
        length.map(lambda l: mk.RBF(l).on("x")),
        st.just(mk.Linear().on(mm.Standardised([0.25], [1.5])).on("x")),
        st.just(mk.RBF().on(mm.LocalTime("UTC")).on("day")),
        length.map(lambda l: mk.RBF(l).on(mm.Torus(7.0)).on("day")),
        st.just(common.on(mm.Words()).on("text")),
        st.just(mk.Cosine().on(mm.WordCounts()).on("text")),
        st.tuples(length, c).map(lambda pair: mk.OrMissing(mk.RBF(pair[0]).on("x", "y"), pair[1])),
        c.map(lambda both: mk.OrMissing(mk.Linear().on("y"), both)),
        c.map(lambda both: mk.OrMissing(mk.Delta().on("country"), both)),
        c.map(lambda both: mk.OrMissing(common.on("tags"), both)),
        c.map(lambda both: mk.OrMissing(mk.HistogramIntersection().on(ranks).on("size"), both)),
        length.map(lambda l: mk.OrMissing(mk.Laplacian(l).on(ranks).on("size"))),
        length.map(lambda l: mk.OrMissing(mk.RBF(l).on("y") * mk.Delta().on("country"))),
        length.map(lambda l: mk.RBF(l).of(mk.L1().on("x") + mk.Polarised(mk.OrMissing(mk.Delta().on("country"))))),
    )
