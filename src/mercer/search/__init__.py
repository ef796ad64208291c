"""The nearest training points in the feature space of a kernel: exact, ties by index."""

from mercer.search.featurespace import FeatureSpace, Found

__all__ = ["FeatureSpace", "Found"]
