"""Where the entries of a Gram matrix are: in memory, or computed tile by tile."""

from mercer.grams.base import Gram
from mercer.grams.choose import gram
from mercer.grams.dense import DenseGram
from mercer.grams.featured import FeatureGram
from mercer.grams.tiled import TiledGram

__all__ = ["DenseGram", "FeatureGram", "Gram", "TiledGram", "gram"]
