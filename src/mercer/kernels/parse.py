"""Reading a kernel from text: the inverse of `repr`.

The text is read as a Python expression by `ast` and rebuilt from a table of names, methods and operators; nothing is
ever evaluated.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from mercer.domains import is_number
from mercer.errors import ParseError
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
from mercer.kernels.kernel import Distance, Kernel
from mercer.kernels.linear import Linear, Quadratic
from mercer.kernels.missing import IsMissing, IsPresent, OrMissing
from mercer.kernels.normalised import Normalised
from mercer.kernels.powers import FractionalPower, PolynomialOf, Power, polynomial
from mercer.kernels.pullback import DistancePullback, Pullback
from mercer.kernels.radial import RBF, Cauchy, Laplacian, Matern, Periodic, RationalQuadratic
from mercer.kernels.rows import Diagonal, GaussianEnvelope, InverseRoot, IsPositive, IsZero, NormPower, UserFunction
from mercer.kernels.schoenberg import Of
from mercer.kernels.series import InverseSum, PowerSeries, Share
from mercer.kernels.strings import BlendedSpectrum, GappedKmer, Mismatch, Spectrum, Subsequence, WeightedDegree
from mercer.kernels.timeseries import GlobalAlignment, Signature
from mercer.maps import (
    ColourLevels,
    Colours,
    Columns,
    EdgeLabels,
    FunctionMap,
    GappedKmers,
    Gradients,
    Graphlets,
    Indicator,
    Kmers,
    LocalTime,
    Metric,
    MismatchKmers,
    NodeAttributes,
    Patches,
    Pixels,
    Position,
    PositionedKmers,
    Ranks,
    Scale,
    ShortestPaths,
    Standardised,
    Torus,
    UnitRows,
    WordCounts,
    Words,
    WordSequence,
)
from mercer.maps.filled import Filled
from mercer.maps.transform import Transform
from mercer.term import Term

__all__ = ["NODES", "parse"]

# Every final node.
NODES: tuple[type[Term], ...] = (
    ArcCosine,
    Averaged,
    BernsteinLog,
    BernsteinPower,
    BlendedSpectrum,
    Cauchy,
    ChiSquared,
    Congruence,
    Constant,
    Cosine,
    Custom,
    Delta,
    Diagonal,
    DistancePullback,
    DistanceSum,
    EdgeHistogram,
    Exp,
    ExponentialChiSquared,
    FractionalPower,
    GappedKmer,
    GaussianEnvelope,
    GlobalAlignment,
    Graphlet,
    HistogramIntersection,
    IntersectionExp,
    InverseRoot,
    InverseSize,
    InverseSum,
    IsMissing,
    IsPositive,
    IsPresent,
    IsZero,
    L1,
    Laplacian,
    Linear,
    Matern,
    MinMax,
    Mismatch,
    Normalised,
    NormPower,
    Of,
    OrMissing,
    Periodic,
    Polarised,
    Polynomial,
    PolynomialOf,
    Power,
    PowerSeries,
    Precomputed,
    Product,
    Pullback,
    Quadratic,
    RandomWalk,
    RationalQuadratic,
    RBF,
    Scaled,
    ScaledDistance,
    SetIntersection,
    Share,
    ShortestPath,
    Sigmoid,
    Signature,
    SpatialPyramid,
    Spectrum,
    Subsequence,
    SquaredEuclidean,
    Sum,
    Summed,
    Tanimoto,
    UserFunction,
    VertexHistogram,
    WeightedDegree,
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
)
MAPS: tuple[type[Term], ...] = (
    ColourLevels,
    Colours,
    Columns,
    EdgeLabels,
    Filled,
    FunctionMap,
    GappedKmers,
    Gradients,
    Graphlets,
    Indicator,
    Kmers,
    LocalTime,
    Metric,
    MismatchKmers,
    NodeAttributes,
    Patches,
    Pixels,
    Position,
    PositionedKmers,
    Ranks,
    Scale,
    ShortestPaths,
    Standardised,
    Torus,
    Transform,
    UnitRows,
    WordCounts,
    Words,
    WordSequence,
)

NAMES: dict[str, Callable[..., Any]] = {cls.__name__: cls for cls in (*NODES, *MAPS)} | {"polynomial": polynomial}
METHODS = frozenset({"averaged", "exp", "log1p", "normalised", "of", "on", "scaled_by", "summed"})
OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Div: operator.truediv,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
    ast.Sub: operator.sub,
}
# Longer texts are refused before Python's parser sees them.
LONGEST = 100_000


def parse(text: str, names: Mapping[str, Any] | None = None) -> Kernel | Distance:
    """Read a kernel or a distance from text, the inverse of ``repr``.

    Parameters
    ----------
    text : str
        A formula such as ``"RBF(2.0) + 0.5 * Linear() ** 2"``.
    names : mapping of str to object, optional
        The meaning of further names in the text: Python functions, maps, or your own classes of maps and kernels.

    Returns
    -------
    Kernel or Distance
        The tree, with ``parse(repr(k)) == k``.

    Examples
    --------
    >>> parse("RBF(2.0) + 0.5 * Linear() ** 2")
    RBF(2.0) + 0.5 * Linear() ** 2
    >>> parse("__import__('os')")
    Traceback (most recent call last):
        ...
    mercer.errors.ParseError: __import__ is not a name that a formula may use.
      Got __import__('os').
    """
    if len(text) > LONGEST or "\0" in text:
        raise ParseError(f"A formula has at most {LONGEST} characters, none of them NUL.", f"Got {text[:40]!r}….")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        found = _Reader(text, names or {}).read(tree.body)
    except SyntaxError as error:
        raise ParseError("The text is not a formula.", f"{error.msg}: {text.strip()[:200]!r}.") from None
    except (RecursionError, MemoryError):
        raise ParseError("The text is not a formula.", f"It is nested too deeply: {text.strip()[:200]!r}.") from None
    if not isinstance(found, Kernel | Distance):
        raise ParseError("The text is not a kernel or a distance.", f"Got {text!r}.", 'Try "RBF(2.0) + Linear()".')
    return found


class _Reader:
    def __init__(self, text: str, names: Mapping[str, Any]) -> None:
        self.text = text
        self.names = names

    def read(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() | float() | str() | bytes() as value) if not isinstance(value, bool):
                return value
            case ast.List(elts=entries) | ast.Tuple(elts=entries):
                return [self.read(entry) for entry in entries]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._operand(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return self._combine(type(op), self._operand(left), self._operand(right), node)
            case ast.Name(id=name):
                return self._named(name, node)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                return self._call(self._constructor(name, node), args, keywords, node)
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=args, keywords=keywords):
                return self._call(self._method(owner, method, node), args, keywords, node)
        raise ParseError("This is not allowed in a formula.", f"Got {self._source(node)}.")

    def _source(self, node: ast.expr) -> str:
        return ast.get_source_segment(self.text.strip(), node) or self.text

    def _operand(self, node: ast.expr) -> Any:
        value = self.read(node)
        if not isinstance(value, Term) and not is_number(value):
            raise ParseError("Operators combine kernels, distances and numbers.", f"Got {self._source(node)}.")
        return value

    def _combine(self, op: type[ast.operator], left: Any, right: Any, node: ast.expr) -> Any:
        # A power of numbers could be made astronomically large; no formula needs one.
        numbers = is_number(left) and is_number(right)
        try:
            if not (numbers and op is ast.Pow):
                return OPERATORS[op](left, right)
        except (TypeError, ZeroDivisionError, OverflowError):
            pass
        raise ParseError("These operands cannot be combined.", f"Got {self._source(node)}.")

    def _named(self, name: str, node: ast.expr) -> Any:
        if name in self.names:
            return self.names[name]
        if name in NAMES:
            raise ParseError(f"{name} needs brackets.", f"Got {self._source(node)}.", f"Try {name}().")
        raise self._unknown(name, node)

    def _constructor(self, name: str, node: ast.expr) -> Callable[..., Any]:
        given = self.names.get(name)
        if isinstance(given, type) and issubclass(given, Term):
            return given
        if name in NAMES:
            return NAMES[name]
        raise self._unknown(name, node)

    def _method(self, owner: ast.expr, method: str, node: ast.expr) -> Callable[..., Any]:
        value = self.read(owner)
        if method not in METHODS or not isinstance(value, Kernel | Distance):
            raise ParseError(
                f".{method} is not a method that a formula may use.", f"Got {self._source(node)}.",
                f"Methods are {', '.join(sorted(METHODS))}.",
            )  # fmt: skip
        if method == "log1p" and not isinstance(value, Distance):
            raise ParseError(".log1p belongs to distances.", f"Got {self._source(node)}.")
        if method not in ("log1p", "of", "on") and not isinstance(value, Kernel):
            raise ParseError(f".{method} belongs to kernels.", f"Got {self._source(node)}.")
        bound: Callable[..., Any] = getattr(value, method)
        return bound

    def _call(
        self, function: Callable[..., Any], args: list[ast.expr], keywords: list[ast.keyword], node: ast.expr
    ) -> Any:
        positional = [self.read(arg) for arg in args]
        named = {keyword.arg: self.read(keyword.value) for keyword in keywords if keyword.arg is not None}
        if len(named) != len(keywords):
            raise ParseError("** arguments are not allowed in a formula.", f"Got {self._source(node)}.")
        try:
            return function(*positional, **named)
        except TypeError as error:
            raise ParseError(
                "The arguments do not fit.", f"Got {self._source(node)}: {str(error).rstrip('.')}."
            ) from None

    def _unknown(self, name: str, node: ast.expr) -> ParseError:
        near = get_close_matches(name, [*NAMES, *self.names], n=1)
        attempt = f"Did you mean {near[0]}?" if near else ""
        return ParseError(f"{name} is not a name that a formula may use.", f"Got {self._source(node)}.", attempt)
