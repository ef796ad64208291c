"""How points become other points: a kernel composed with a map is again a kernel."""

from mercer.maps.affine import Scale
from mercer.maps.base import FittedMap, Map, StatelessMap
from mercer.maps.columns import Columns
from mercer.maps.function import FunctionMap
from mercer.maps.graphs import ColourLevels, Colours, EdgeLabels, Graphlets, NodeAttributes, ShortestPaths
from mercer.maps.images import Gradients, Patches, Pixels, Position
from mercer.maps.indicator import FittedIndicator, Indicator
from mercer.maps.localtime import LocalTime
from mercer.maps.metric import Metric
from mercer.maps.ranks import Ranks
from mercer.maps.standardised import Standardised
from mercer.maps.strings import GappedKmers, Kmers, MismatchKmers, PositionedKmers
from mercer.maps.torus import Torus
from mercer.maps.unit import UnitRows
from mercer.maps.words import WordCounts, Words, WordSequence

__all__ = [
    "ColourLevels",
    "Colours",
    "Columns",
    "EdgeLabels",
    "FittedIndicator",
    "FittedMap",
    "FunctionMap",
    "GappedKmers",
    "Gradients",
    "Graphlets",
    "Indicator",
    "Kmers",
    "LocalTime",
    "Map",
    "Metric",
    "MismatchKmers",
    "NodeAttributes",
    "Patches",
    "Pixels",
    "Position",
    "PositionedKmers",
    "Ranks",
    "Scale",
    "ShortestPaths",
    "Standardised",
    "StatelessMap",
    "Torus",
    "UnitRows",
    "WordCounts",
    "WordSequence",
    "Words",
]
