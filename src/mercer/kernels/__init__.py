"""What is positive, and why: kernels as formulas with proofs."""

from mercer.kernels.algebra import Congruence, Constant, Exp, Product, Scaled, Sum
from mercer.kernels.bags import Averaged, InverseSize, Summed
from mercer.kernels.custom import Custom, Precomputed, Sigmoid
from mercer.kernels.discrete import Delta, IntersectionExp, SetIntersection, Tanimoto
from mercer.kernels.distances import (
    L1,
    BernsteinLog,
    BernsteinPower,
    DistanceSum,
    Polarised,
    ScaledDistance,
    SquaredEuclidean,
)
from mercer.kernels.features import FeatureMap
from mercer.kernels.graphs import (
    EdgeHistogram,
    Graphlet,
    RandomWalk,
    ShortestPath,
    VertexHistogram,
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
)
from mercer.kernels.histogram import ChiSquared, ExponentialChiSquared, HistogramIntersection, MinMax
from mercer.kernels.images import SpatialPyramid
from mercer.kernels.inner import ArcCosine, Cosine, Polynomial
from mercer.kernels.kernel import Distance, Kernel, RowFunction
from mercer.kernels.linear import Linear, Quadratic
from mercer.kernels.missing import IsMissing, IsPresent, OrMissing
from mercer.kernels.names import named
from mercer.kernels.normalised import Normalised
from mercer.kernels.parse import parse
from mercer.kernels.powers import FractionalPower, PolynomialOf, Power, polynomial
from mercer.kernels.proof import Proof, Step
from mercer.kernels.pullback import DistancePullback, Pullback
from mercer.kernels.radial import RBF, Cauchy, Laplacian, Matern, Periodic, RationalQuadratic
from mercer.kernels.rows import Diagonal, GaussianEnvelope, InverseRoot, IsPositive, IsZero, NormPower, UserFunction
from mercer.kernels.rules import Rule
from mercer.kernels.schoenberg import Of, Radial
from mercer.kernels.series import InverseSum, PowerSeries, Share
from mercer.kernels.strings import BlendedSpectrum, GappedKmer, Mismatch, Spectrum, Subsequence, WeightedDegree
from mercer.kernels.timeseries import GlobalAlignment, Signature
from mercer.kernels.windows import Window

__all__ = [
    "L1",
    "RBF",
    "ArcCosine",
    "Averaged",
    "BernsteinLog",
    "BernsteinPower",
    "BlendedSpectrum",
    "Cauchy",
    "ChiSquared",
    "Congruence",
    "Constant",
    "Cosine",
    "Custom",
    "Delta",
    "Diagonal",
    "Distance",
    "DistancePullback",
    "DistanceSum",
    "EdgeHistogram",
    "Exp",
    "ExponentialChiSquared",
    "FeatureMap",
    "FractionalPower",
    "GappedKmer",
    "GaussianEnvelope",
    "GlobalAlignment",
    "Graphlet",
    "HistogramIntersection",
    "IntersectionExp",
    "InverseRoot",
    "InverseSize",
    "InverseSum",
    "IsMissing",
    "IsPositive",
    "IsPresent",
    "IsZero",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "MinMax",
    "Mismatch",
    "NormPower",
    "Normalised",
    "Of",
    "OrMissing",
    "Periodic",
    "Polarised",
    "Polynomial",
    "PolynomialOf",
    "Power",
    "PowerSeries",
    "Precomputed",
    "Product",
    "Proof",
    "Pullback",
    "Quadratic",
    "Radial",
    "RandomWalk",
    "RationalQuadratic",
    "RowFunction",
    "Rule",
    "Scaled",
    "ScaledDistance",
    "SetIntersection",
    "Share",
    "ShortestPath",
    "Sigmoid",
    "Signature",
    "SpatialPyramid",
    "Spectrum",
    "SquaredEuclidean",
    "Step",
    "Subsequence",
    "Sum",
    "Summed",
    "Tanimoto",
    "UserFunction",
    "VertexHistogram",
    "WeightedDegree",
    "WeisfeilerLehman",
    "WeisfeilerLehmanAssignment",
    "Window",
    "named",
    "parse",
    "polynomial",
]
