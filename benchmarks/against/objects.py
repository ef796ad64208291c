"""Kernels of strings, graphs, series, bags and images against peers: the rows of the promise about objects."""

from benchmarks.against import objects_bags, objects_graphs, objects_series, objects_strings
from benchmarks.harness.rows import Row

ROWS: tuple[Row, ...] = (
    *objects_strings.ROWS, *objects_graphs.ROWS, *objects_series.ROWS, *objects_bags.ROWS,
)  # fmt: skip
