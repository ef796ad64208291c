"""Kernel machines as scikit-learn estimators: the only layer that knows scikit-learn."""

from mercer.estimators.centroid import KernelNearestCentroid
from mercer.estimators.logistic import KernelLogisticRegression
from mercer.estimators.neighbors import KernelNeighborsClassifier, KernelNeighborsRegressor
from mercer.estimators.ridge import KernelRidge
from mercer.estimators.ridge_cv import KernelRidgeCV
from mercer.estimators.smoother import NadarayaWatson, NadarayaWatsonClassifier
from mercer.estimators.windows import Window

__all__ = [
    "KernelLogisticRegression",
    "KernelNearestCentroid",
    "KernelNeighborsClassifier",
    "KernelNeighborsRegressor",
    "KernelRidge",
    "KernelRidgeCV",
    "NadarayaWatson",
    "NadarayaWatsonClassifier",
    "Window",
]
