"""Kernel machines as scikit-learn estimators: the only layer that knows scikit-learn."""

from mercer.estimators import _transformers  # noqa: F401 (fills the table of what a file may hold)
from mercer.estimators._saved import load, notes_of, save, save_with_notes
from mercer.estimators._svm_path import svm_path
from mercer.estimators.approximation import Nystroem, RandomFeatures
from mercer.estimators.centroid import KernelNearestCentroid
from mercer.estimators.features import KernelFeatures
from mercer.estimators.learn import learn
from mercer.estimators.libsvm import from_libsvm
from mercer.estimators.logistic import KernelLogisticRegression
from mercer.estimators.neighbors import KernelNeighborsClassifier, KernelNeighborsRegressor
from mercer.estimators.ridge import KernelRidge
from mercer.estimators.ridge_cv import KernelRidgeCV
from mercer.estimators.search import KernelSearchCV
from mercer.estimators.smoother import NadarayaWatson, NadarayaWatsonClassifier
from mercer.estimators.svm import SVC, NuSVC
from mercer.estimators.svr import SVR, NuSVR, OneClassSVM

__all__ = [
    "SVC",
    "SVR",
    "KernelFeatures",
    "KernelLogisticRegression",
    "KernelNearestCentroid",
    "KernelNeighborsClassifier",
    "KernelNeighborsRegressor",
    "KernelRidge",
    "KernelRidgeCV",
    "KernelSearchCV",
    "NadarayaWatson",
    "NadarayaWatsonClassifier",
    "NuSVC",
    "NuSVR",
    "Nystroem",
    "OneClassSVM",
    "RandomFeatures",
    "from_libsvm",
    "learn",
    "load",
    "notes_of",
    "save",
    "save_with_notes",
    "svm_path",
]
