"""mercer: kernel machines whose kernels carry their proof and whose fits carry their certificate."""

from typing import TYPE_CHECKING, Any

from mercer import testing
from mercer.config import get_num_threads, set_num_threads, show_config, version
from mercer.doctor import Diagnosis, Finding, Plan, diagnose, plan
from mercer.errors import (
    DomainMismatch,
    InvalidArgument,
    InvalidInput,
    InvalidParameter,
    MercerError,
    MercerWarning,
    NoFiniteMap,
    NotFinite,
    NotPositive,
    NotSeparable,
    ParseError,
    TooLarge,
    UncertifiedWarning,
)
from mercer.estimators import (
    SVC,
    SVR,
    KernelFeatures,
    KernelLogisticRegression,
    KernelNearestCentroid,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KernelRidge,
    KernelRidgeCV,
    NadarayaWatson,
    NadarayaWatsonClassifier,
    NuSVC,
    NuSVR,
    OneClassSVM,
    svm_path,
)
from mercer.grams import Gram, gram
from mercer.kernels import (
    L1,
    RBF,
    ArcCosine,
    Cauchy,
    ChiSquared,
    Constant,
    Cosine,
    Custom,
    Delta,
    Distance,
    ExponentialChiSquared,
    HistogramIntersection,
    IntersectionExp,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polarised,
    Polynomial,
    Precomputed,
    Quadratic,
    RationalQuadratic,
    SetIntersection,
    Sigmoid,
    SquaredEuclidean,
    Tanimoto,
    Window,
    named,
    parse,
    polynomial,
)
from mercer.kernels.check import check_gram
from mercer.kernels.refute import refute
from mercer.maps import Columns, Indicator, Scale, Torus, UnitRows
from mercer.models import Model
from mercer.problems import Certificate, Status
from mercer.report import report

__version__ = version()

__all__ = [
    "L1",
    "RBF",
    "SVC",
    "SVR",
    "ArcCosine",
    "Cauchy",
    "Certificate",
    "ChiSquared",
    "Columns",
    "Constant",
    "Cosine",
    "Custom",
    "Delta",
    "Diagnosis",
    "Distance",
    "DomainMismatch",
    "ExponentialChiSquared",
    "Finding",
    "Gram",
    "HistogramIntersection",
    "Indicator",
    "IntersectionExp",
    "InvalidArgument",
    "InvalidInput",
    "InvalidParameter",
    "Kernel",
    "KernelFeatures",
    "KernelLogisticRegression",
    "KernelNearestCentroid",
    "KernelNeighborsClassifier",
    "KernelNeighborsRegressor",
    "KernelRidge",
    "KernelRidgeCV",
    "Laplacian",
    "Linear",
    "Matern",
    "MercerError",
    "MercerWarning",
    "Model",
    "NadarayaWatson",
    "NadarayaWatsonClassifier",
    "NoFiniteMap",
    "NotFinite",
    "NotPositive",
    "NotSeparable",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "ParseError",
    "Periodic",
    "Plan",
    "Polarised",
    "Polynomial",
    "Precomputed",
    "Quadratic",
    "RationalQuadratic",
    "Scale",
    "SetIntersection",
    "Sigmoid",
    "SquaredEuclidean",
    "Status",
    "Tanimoto",
    "TooLarge",
    "Torus",
    "UncertifiedWarning",
    "UnitRows",
    "Window",
    "check_gram",
    "diagnose",
    "get_num_threads",
    "gram",
    "named",
    "parse",
    "plan",
    "polynomial",
    "refute",
    "report",
    "set_num_threads",
    "show_config",
    "svm_path",
    "testing",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """`mercer.plots`, imported when it is first asked for: it needs Matplotlib, which mercer itself does not."""
        if name == "plots":
            from importlib import import_module  # noqa: PLC0415

            return import_module("mercer.plots")
        raise AttributeError(f"module 'mercer' has no attribute {name!r}")
