"""What the data is: the only place where input is checked."""

from mercer.points.adapt import as_points, check_same_width, conformed, require
from mercer.points.arrays import Arrays
from mercer.points.bags import Bags
from mercer.points.base import Domain, Parted, Points
from mercer.points.chunked import Blocks
from mercer.points.column import Column
from mercer.points.given import Given
from mercer.points.graphs import Graphs
from mercer.points.multisets import numbered
from mercer.points.objects import Objects
from mercer.points.ragged import Indicators, Sets
from mercer.points.registry import Adapter, register
from mercer.points.series import Series
from mercer.points.stored import Places, Stored
from mercer.points.strings import Strings
from mercer.points.table import Table
from mercer.points.vectors import Vectors

__all__ = [
    "Adapter",
    "Arrays",
    "Bags",
    "Blocks",
    "Column",
    "Domain",
    "Given",
    "Graphs",
    "Indicators",
    "Objects",
    "Parted",
    "Places",
    "Points",
    "Series",
    "Sets",
    "Stored",
    "Strings",
    "Table",
    "Vectors",
    "as_points",
    "check_same_width",
    "conformed",
    "numbered",
    "register",
    "require",
]
