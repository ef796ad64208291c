"""How points become other points: a kernel composed with a map is again a kernel."""

from mercer.maps.affine import Scale
from mercer.maps.base import FittedMap, Map, StatelessMap
from mercer.maps.columns import Columns
from mercer.maps.function import FunctionMap
from mercer.maps.indicator import FittedIndicator, Indicator
from mercer.maps.localtime import LocalTime
from mercer.maps.ranks import Ranks
from mercer.maps.standardised import Standardised
from mercer.maps.strings import GappedKmers, Kmers, MismatchKmers, PositionedKmers
from mercer.maps.torus import Torus
from mercer.maps.unit import UnitRows
from mercer.maps.words import WordCounts, Words, WordSequence

__all__ = [
    "Columns",
    "FittedIndicator",
    "FittedMap",
    "FunctionMap",
    "GappedKmers",
    "Indicator",
    "Kmers",
    "LocalTime",
    "Map",
    "MismatchKmers",
    "PositionedKmers",
    "Ranks",
    "Scale",
    "Standardised",
    "StatelessMap",
    "Torus",
    "UnitRows",
    "WordCounts",
    "WordSequence",
    "Words",
]
