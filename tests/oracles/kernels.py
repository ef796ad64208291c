"""Kernels by plain recursion: for every node its textbook formula for one pair of points.

Written from the definitions, without mercer's lowering, expansions or maps. A point is an array of numbers, a
frozenset, or any value.
"""

import math
from collections import Counter
from datetime import date
from itertools import combinations
from typing import Any

import numpy as np

from mercer import kernels as mk
from mercer import maps as mm
from mercer.maps.transform import Transform
from tests.oracles import graphs
from tests.oracles.images import gradients, patches
from tests.oracles.profiles import profile_value
from tests.oracles.series import alignments, signatures
from tests.oracles.strings import mismatch_counts, mismatches, subsequences, weighted_degree

EPOCH = date(1970, 1, 1)
# All words that counts are taken of.
VOCABULARY = ("be", "not", "or", "to")


def gram(node: Any, X: Any, Z: Any = None) -> np.ndarray:
    """The matrix of a kernel or a distance, pair by pair."""
    _VALUE_OF.clear()
    others = X if Z is None else Z
    return np.array([[value(node, _point(x), _point(z)) for z in others] for x in X])


def value(node: Any, x: Any, z: Any) -> float:
    """The value of a kernel or a distance at one pair."""
    key = (node, _name(x), _name(z))
    if key not in _VALUE_OF:
        _VALUE_OF[key] = float(_VALUES[type(node)](node, x, z))
    return _VALUE_OF[key]


# Values already found for this matrix: k(x, x) and k(z, z) are asked for again and again.
_VALUE_OF: dict[Any, float] = {}


def _name(x: Any) -> Any:
    if isinstance(x, Counter):
        return frozenset(x.items())
    if isinstance(x, list):
        return tuple(map(_name, x))
    return (x.shape, x.tobytes()) if isinstance(x, np.ndarray) else x


def row_value(function: Any, x: Any) -> float:
    """The value of a function of one point."""
    return float(_ROWS[type(function)](function, x))


def _point(x: Any) -> Any:
    return np.asarray(x, dtype=np.float64) if isinstance(x, np.ndarray | list | tuple) else x


def _inner(x: Any, z: Any) -> float:
    if isinstance(x, frozenset | set):
        return float(len(x & z))
    if isinstance(x, Counter):
        return math.fsum(count * z[key] for key, count in x.items())
    return math.fsum(float(a) * float(b) for a, b in zip(x, z, strict=True))


def _square(x: Any, z: Any) -> float:
    if isinstance(x, frozenset | set):
        return float(len(x ^ z))
    if isinstance(x, Counter):
        return math.fsum((x[key] - z[key]) ** 2 for key in x | z)
    return math.fsum((float(a) - float(b)) ** 2 for a, b in zip(x, z, strict=True))


def _city_block(x: Any, z: Any) -> float:
    return math.fsum(abs(float(a) - float(b)) for a, b in zip(x, z, strict=True))


def _chi2(x: Any, z: Any) -> float:
    return math.fsum(2.0 * a * b / (a + b) for a, b in zip(map(float, x), map(float, z), strict=True) if a + b > 0.0)


def _equal(x: Any, z: Any) -> float:
    return float(np.array_equal(x, z)) if isinstance(x, np.ndarray) else float(x == z)


def _radial(metric: Any, profile: str) -> Any:
    def formula(k: Any, x: Any, z: Any) -> float:
        parameters = k.fields()
        if isinstance(k.length_scale, np.ndarray):
            x, z = x / k.length_scale, z / k.length_scale
            parameters = parameters | {"length_scale": 1.0}
        return profile_value(profile, metric(x, z), parameters)

    return formula


_PROFILE_OF = {
    mk.RBF: "gaussian",
    mk.Laplacian: "exponential",
    mk.Matern: "matern",
    mk.RationalQuadratic: "rational_quadratic",
    mk.Cauchy: "cauchy",
}


def _arccosine(k: Any, x: Any, z: Any) -> float:
    norms = math.sqrt(_inner(x, x)) * math.sqrt(_inner(z, z))
    if norms == 0.0:
        return 0.0
    difference = x / np.linalg.norm(x) - z / np.linalg.norm(z)
    total = x / np.linalg.norm(x) + z / np.linalg.norm(z)
    theta = 2.0 * math.atan2(np.linalg.norm(difference), np.linalg.norm(total))
    return norms**k.order * _angular(theta, k.order)


def _angular(theta: float, order: int) -> float:
    rest = math.pi - theta
    parts = (
        rest,
        math.sin(theta) + rest * math.cos(theta),
        3.0 * math.sin(theta) * math.cos(theta) + rest * (1.0 + 2.0 * math.cos(theta) ** 2),
    )
    return parts[order] / math.pi


def _series(k: Any, x: Any, z: Any) -> float:
    t = value(k.kernel, x, z)
    if k.series == "geometric":
        return t / (1.0 - t)
    return _angular(math.acos(min(1.0, max(-1.0, t))), int(k.series[-1]))


def _tanimoto(k: Any, x: Any, z: Any) -> float:
    cross, own_x, own_z = (value(k.kernel, a, b) for a, b in ((x, z), (x, x), (z, z)))
    return 1.0 if own_x == own_z == 0.0 else cross / (own_x + own_z - cross)


def _inverse_sum(k: Any, x: Any, z: Any) -> float:
    own_x, own_z = value(k.kernel, x, x), value(k.kernel, z, z)
    return 1.0 / (own_x + own_z) if own_x > 0.0 and own_z > 0.0 else 0.0


def _normalised(k: Any, x: Any, z: Any) -> float:
    own = value(k.kernel, x, x) * value(k.kernel, z, z)
    return value(k.kernel, x, z) / math.sqrt(own) if own > 0.0 else 0.0


def _cosine(k: Any, x: Any, z: Any) -> float:
    own = _inner(x, x) * _inner(z, z)
    return _inner(x, z) / math.sqrt(own) if own > 0.0 else 0.0


def _periodic(k: Any, x: Any, z: Any) -> float:
    sines = np.sin(np.pi * (x - z) / k.period) ** 2
    return math.exp(-2.0 * math.fsum(sines / np.asarray(k.length_scale) ** 2))


def _polarised(d: Any, x: Any, z: Any) -> float:
    return max(0.0, value(d.kernel, x, x) + value(d.kernel, z, z) - 2.0 * value(d.kernel, x, z))


def _columns(m: Any, x: Any) -> Any:
    if not isinstance(x, dict):
        return np.array([x[i] for i in m.names])
    values = [(value - EPOCH).days if isinstance(value, date) else value for value in map(x.get, m.names)]
    return np.array(values, dtype=np.float64) if not isinstance(values[0], str | frozenset) else values[0]


def _words(text: str) -> list[str]:
    return text.lower().split()


def _or_missing(k: Any, x: Any, z: Any) -> float:
    lacks_x, lacks_z = (any(point[name] is None for name in k.names) for point in (x, z))
    if lacks_x or lacks_z:
        return k.both if lacks_x and lacks_z else 0.0
    return value(k.kernel, x, z)


def _image(m: Any, x: Any) -> Any:
    return _IMAGES[type(m)](m, x)


def _torus(m: Any, x: Any) -> np.ndarray:
    angles = 2.0 * np.pi * x / m.period
    return np.concatenate([np.cos(angles), np.sin(angles)])


def _substrings(s: Any, length: int) -> list[Any]:
    return [s[i : i + length] for i in range(len(s) - length + 1)]


def _kmers(m: Any, s: Any) -> Counter[Any]:
    sizes = range(m.shortest or m.length, m.length + 1)
    return Counter({u: m.decay**k * count for k in sizes for u, count in Counter(_substrings(s, k)).items()})


def _gapped(m: Any, s: Any) -> Counter[Any]:
    chosen = list(combinations(range(m.length), m.informative))
    return Counter((J, tuple(u[j] for j in J)) for u in _substrings(s, m.length) for J in chosen)


def _mismatched(m: Any, s: Any) -> Counter[Any]:
    return mismatch_counts(s, m.length, m.mismatches, m.alphabet)


def _positioned(m: Any, s: Any) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for k in range(1, m.degree + 1):
        weight = math.sqrt(2.0 * (m.degree - k + 1) / (m.degree * (m.degree + 1)) / (m.shift + 1))
        for p, u in enumerate(_substrings(s, k)):
            found.update({(p + shift, u): weight for shift in range(m.shift + 1)})
    return found


def _levels(m: Any, graph: Any) -> frozenset[Any]:
    counts = graphs.coloured(graph, m.depth)
    return frozenset((colour, t) for colour, count in counts.items() for t in range(1, count + 1))


def _common(s: Any, t: Any, length: int) -> float:
    return float(sum(u == v for u in _substrings(s, length) for v in _substrings(t, length)))


def _agreements(k: Any, s: Any, t: Any) -> float:
    pairs = [(u, v) for u in _substrings(s, k.length) for v in _substrings(t, k.length)]
    return float(sum(math.comb(sum(a == b for a, b in zip(u, v, strict=True)), k.informative) for u, v in pairs))


def _summed(k: Any, x: Any, z: Any) -> float:
    return math.fsum(value(k.kernel, _point(a), _point(b)) for a in x for b in z)


def _averaged(k: Any, x: Any, z: Any) -> float:
    return _summed(k, x, z) / (len(x) * len(z)) if len(x) and len(z) else 0.0


_IMAGES: dict[type, Any] = {
    mm.ColourLevels: _levels,
    mm.Colours: lambda m, G: graphs.coloured(G, m.depth),
    mm.Columns: _columns,
    mm.EdgeLabels: lambda m, G: graphs.edge_labels(G),
    mm.FunctionMap: lambda m, x: np.asarray(m.fn(x[None, :]))[0],
    mm.GappedKmers: _gapped,
    mm.Graphlets: lambda m, G: graphs.graphlets(G, m.size),
    mm.Gradients: gradients,
    mm.Indicator: lambda m, x: x,
    mm.LocalTime: lambda m, x: x,  # of UTC
    mm.Ranks: lambda m, x: np.array([m.levels.index(x) + 1.0]),
    mm.Kmers: _kmers,
    mm.MismatchKmers: _mismatched,
    mm.Patches: patches,
    mm.Pixels: lambda m, x: x[:-2],
    mm.Position: lambda m, x: x[-2:],
    mm.PositionedKmers: _positioned,
    mm.Scale: lambda m, x: x * m.factors,
    mm.ShortestPaths: lambda m, G: graphs.paths(G),
    mm.Standardised: lambda m, x: (x - m.centre) / m.scale,
    mm.Torus: _torus,
    mm.UnitRows: lambda m, x: x / np.linalg.norm(x) if np.any(x) else x,
    mm.WordCounts: lambda m, x: np.array([_words(x).count(word) for word in VOCABULARY], dtype=np.float64),
    mm.WordSequence: lambda m, x: tuple(_words(x)),
    mm.Words: lambda m, x: frozenset(_words(x)),
    Transform: lambda m, x: m.matrix @ x,
}

_ROWS: dict[type, Any] = {
    mk.Diagonal: lambda f, x: value(f.kernel, x, x),
    mk.GaussianEnvelope: lambda f, x: math.exp(-_inner(x, x) / (2.0 * f.length_scale**2)),
    mk.InverseRoot: lambda f, x: value(f.kernel, x, x) ** -0.5 if value(f.kernel, x, x) > 0.0 else 0.0,
    mk.InverseSize: lambda f, x: 1.0 / len(x) if len(x) else 0.0,
    mk.IsMissing: lambda f, x: any(x[name] is None for name in f.names),
    mk.IsPresent: lambda f, x: all(x[name] is not None for name in f.names),
    mk.IsPositive: lambda f, x: value(f.kernel, x, x) > 0.0,
    mk.IsZero: lambda f, x: value(f.kernel, x, x) == 0.0,
    mk.NormPower: lambda f, x: math.sqrt(_inner(x, x)) ** f.power if _inner(x, x) > 0.0 else 0.0,
    mk.UserFunction: lambda f, x: f.fn(x[None, :] if isinstance(x, np.ndarray) else [x])[0],
}

_VALUES: dict[type, Any] = {
    mk.ArcCosine: _arccosine,
    mk.Averaged: _averaged,
    mk.BernsteinLog: lambda d, x, z: math.log1p(value(d.distance, x, z)),
    mk.BernsteinPower: lambda d, x, z: value(d.distance, x, z) ** d.exponent,
    mk.BlendedSpectrum: lambda k, s, t: math.fsum(
        k.decay ** (2 * length) * _common(s, t, length) for length in range(1, k.length + 1)
    ),
    mk.Cauchy: _radial(_square, "cauchy"),
    mk.ChiSquared: lambda k, x, z: _chi2(x, z),
    mk.Congruence: lambda k, x, z: row_value(k.function, x) * value(k.kernel, x, z) * row_value(k.function, z),
    mk.Constant: lambda k, x, z: k.value,
    mk.Cosine: _cosine,
    mk.Custom: lambda k, x, z: k.fn(x, z),
    mk.Delta: lambda k, x, z: _equal(x, z),
    mk.DistancePullback: lambda d, x, z: value(d.distance, _image(d.map, x), _image(d.map, z)),
    mk.DistanceSum: lambda d, x, z: math.fsum(value(term, x, z) for term in d.terms),
    mk.EdgeHistogram: lambda k, x, z: _inner(graphs.edge_labels(x), graphs.edge_labels(z)),
    mk.Exp: lambda k, x, z: math.exp(value(k.kernel, x, z)),
    mk.ExponentialChiSquared: lambda k, x, z: math.exp(
        -k.gamma * math.fsum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b > 0.0)
    ),
    mk.FractionalPower: lambda k, x, z: value(k.kernel, x, z) ** k.exponent,
    mk.GappedKmer: _agreements,
    mk.GlobalAlignment: lambda k, x, z: float(alignments(x, z, k.length_scale, k.triangular)),
    mk.Graphlet: lambda k, x, z: _inner(graphs.graphlets(x, k.size), graphs.graphlets(z, k.size)),
    mk.HistogramIntersection: lambda k, x, z: math.fsum(map(min, x, z)),
    mk.IntersectionExp: lambda k, x, z: math.exp(len(x & z)),
    mk.InverseSum: _inverse_sum,
    mk.L1: lambda d, x, z: _city_block(x, z),
    mk.Laplacian: _radial(_city_block, "exponential"),
    mk.Linear: lambda k, x, z: _inner(x, z),
    mk.Matern: _radial(_square, "matern"),
    mk.MinMax: lambda k, x, z: (
        math.fsum(map(min, x, z)) / math.fsum(map(max, x, z)) if math.fsum(map(max, x, z)) > 0.0 else 1.0
    ),
    mk.Mismatch: lambda k, s, t: mismatches(s, t, k.length, k.mismatches, k.alphabet),
    mk.Normalised: _normalised,
    mk.Of: lambda k, x, z: profile_value(_PROFILE_OF[type(k.kernel)], value(k.distance, x, z), k.kernel.fields()),
    mk.OrMissing: _or_missing,
    mk.Periodic: _periodic,
    mk.Polarised: _polarised,
    mk.Polynomial: lambda k, x, z: (k.gamma * _inner(x, z) + k.offset) ** k.degree,
    mk.PolynomialOf: lambda k, x, z: math.fsum(a * value(k.kernel, x, z) ** n for n, a in enumerate(k.coefficients)),
    mk.Power: lambda k, x, z: value(k.kernel, x, z) ** k.exponent,
    mk.PowerSeries: _series,
    mk.Product: lambda k, x, z: math.prod(value(factor, x, z) for factor in k.factors),
    mk.Pullback: lambda k, x, z: value(k.kernel, _image(k.map, x), _image(k.map, z)),
    mk.Quadratic: lambda k, x, z: x @ k.A @ z,
    mk.RBF: _radial(_square, "gaussian"),
    mk.RandomWalk: lambda k, x, z: graphs.common_walks(x, z, k.decay),
    mk.RationalQuadratic: _radial(_square, "rational_quadratic"),
    mk.Scaled: lambda k, x, z: k.scale * value(k.kernel, x, z),
    mk.ScaledDistance: lambda d, x, z: d.scale * value(d.distance, x, z),
    mk.SetIntersection: lambda k, x, z: len(x & z),
    mk.Share: lambda k, x, z: value(k.kernel, x, z) * _inverse_sum(k, x, z),
    mk.ShortestPath: lambda k, x, z: _inner(graphs.paths(x), graphs.paths(z)),
    mk.Signature: lambda k, x, z: signatures(x, z, k.level, k.order, k.length_scale),
    mk.Sigmoid: lambda k, x, z: math.tanh(k.gamma * _inner(x, z) + k.coef0),
    mk.Spectrum: lambda k, s, t: _common(s, t, k.length),
    mk.SquaredEuclidean: lambda d, x, z: _square(x, z),
    mk.Subsequence: lambda k, s, t: subsequences(s, t, k.length, k.decay),
    mk.SpatialPyramid: lambda k, x, z: math.fsum(
        map(
            min,
            gradients(mm.Gradients(k.levels, k.directions), x),
            gradients(mm.Gradients(k.levels, k.directions), z),
        )
    ),
    mk.Summed: _summed,
    mk.Sum: lambda k, x, z: math.fsum(value(term, x, z) for term in k.terms),
    mk.Tanimoto: _tanimoto,
    mk.WeightedDegree: lambda k, s, t: weighted_degree(s, t, k.degree, k.shift),
    mk.VertexHistogram: lambda k, x, z: float(sum(a == b for a in graphs.labels(x) for b in graphs.labels(z))),
    mk.WeisfeilerLehman: lambda k, x, z: graphs.agreements(x, z, k.depth).sum(),
    mk.WeisfeilerLehmanAssignment: lambda k, x, z: graphs.assigned(x, z, k.depth),
}


def known_nodes() -> frozenset[type]:
    """The nodes that have a formula here."""
    return frozenset(_VALUES) | frozenset(_ROWS)
