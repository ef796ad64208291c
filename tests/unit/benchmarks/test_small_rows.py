"""The suite of small fits: its rows, and the medians over them."""

from typing import Any

from benchmarks.against import small


def record(row: Any, mercer: float, peer: float) -> dict[str, Any]:
    sides = [
        {"name": name, "status": "measured", "seconds": seconds, "rate": 1.0 / seconds,
         "facts": {"predict seconds": seconds / 4.0}}
        for name, seconds in (("mercer", mercer), ("scikit-learn", peer))
    ]  # fmt: skip
    return {
        "work": row.work, "against": row.against, "contestants": sides, "ratio": peer / mercer, "more_than": False,
        "reached": True,
    }  # fmt: skip


def test_every_set_has_its_sizes_at_every_C() -> None:
    assert len({row.work for row in small.ROWS}) == len(small.ROWS)
    for name, most in small.SETS.items():
        sizes = {row.contestants[0].parameters["rows"] for row in small.ROWS if f", {name}," in row.work}
        assert max(sizes) <= most
        assert max(sizes) == min(most, 5_000)
        assert min(sizes) == min(most, 200)


def test_the_medians_count_only_where_every_row_was_measured() -> None:
    records = [record(row, 1.0, 3.0) for row in small.ROWS]
    fits, predictions = small.derived(records)
    assert fits["ratio"] == 3.0
    assert fits["reached"]
    assert predictions["ratio"] == 3.0
    assert not small.derived(records[1:])[0]["reached"]
    assert small.derived([]) == []
