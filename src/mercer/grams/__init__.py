"""Where the numbers of a Gram matrix are: in memory, or made tile by tile."""

from mercer.grams.base import Gram
from mercer.grams.choose import gram
from mercer.grams.dense import DenseGram
from mercer.grams.featured import FeatureGram
from mercer.grams.tiled import TiledGram

__all__ = ["DenseGram", "FeatureGram", "Gram", "TiledGram", "gram"]
