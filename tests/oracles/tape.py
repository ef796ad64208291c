"""A slow interpreter of plans in NumPy: the oracle of the engine.

Every instruction is one line of a table, in float64; leaves are loops over coordinates; functions of one point are
evaluated here again, from their formulas, never by `RowFunction.values`.
"""

from typing import Any

import numpy as np

from mercer.kernels.bags import InverseSize
from mercer.kernels.linear import Linear
from mercer.kernels.missing import IsMissing, IsPresent
from mercer.kernels.normalised import Sign, Weight
from mercer.kernels.plan import Leaf, Plan
from mercer.kernels.rows import Diagonal, GaussianEnvelope, InverseRoot, IsPositive, IsZero, NormPower, UserFunction
from mercer.kernels.tape import compile_plan
from mercer.points import Bags, Domain, Indicators, Vectors, as_points, require
from tests.oracles.graphs import common_walks
from tests.oracles.series import alignments, signatures
from tests.oracles.strings import subsequences, weighted_degree


def evaluate_plan(kernel: Any, X: Any, Z: Any = None) -> np.ndarray:
    """The matrix of a kernel or a distance, (len X, len Z); maps are fitted on X."""
    basis = as_points(X)
    other = basis if Z is None else as_points(Z, "Z")
    plan = compile_plan(kernel.resolve(basis))
    views = [_through(view, basis, other) for view in plan.views]
    leaves = [_LEAVES[leaf.kind](leaf, *views[leaf.view]) for leaf in plan.leaves]
    rows = [_both_sides(function, *views[view]) for function, view in plan.rows]
    shape = (len(basis), len(other))
    registers: dict[int, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for step in plan.instructions:
            registers[step.out] = np.array(_OPERATIONS[step.op](step, registers, leaves, rows, shape), dtype=np.float64)
    return registers[plan.result]


def evaluate_diagonal(kernel: Any, X: Any) -> np.ndarray:
    """The values k(x, x)."""
    return np.diag(evaluate_plan(kernel, X)).copy()


def _through(maps: Any, basis: Any, other: Any) -> tuple[Any, Any]:
    for m in maps:
        fitted = m.fit(basis)
        image = fitted(basis)
        basis, other = image, image if other is basis else fitted(other)
    return basis, other


def _dense(points: Any) -> np.ndarray:
    if isinstance(points, Indicators):
        return points.raw().toarray().astype(np.float64)
    found = points if isinstance(points, Vectors) else points.vectors()
    return (found.dense if found.dense is not None else found.csr.toarray()).astype(np.float64)


def _squares(points: Any) -> np.ndarray:
    """‖x‖², where items outside the dictionary of a set still count."""
    return points.sizes.astype(np.float64) if isinstance(points, Indicators) else (_dense(points) ** 2).sum(axis=1)


def _dot(leaf: Leaf, X: Any, Z: Any) -> tuple[np.ndarray, np.ndarray]:
    a, b = _dense(X), _dense(Z)
    inner = a @ b.T
    if isinstance(X, Indicators):
        return inner, _squares(X)[:, None] + _squares(Z)[None, :] - 2.0 * inner
    return inner, ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)


def _pairs(function: Any) -> Any:
    def leaf_values(leaf: Leaf, X: Any, Z: Any) -> np.ndarray:
        a, b = _dense(X)[:, None, :], _dense(Z)[None, :, :]
        with np.errstate(all="ignore"):
            return function(a, b).sum(axis=2)

    return leaf_values


def _equal(leaf: Leaf, X: Any, Z: Any) -> np.ndarray:
    raw_x, raw_z = X.raw(), Z.raw()
    return np.array([[float(np.all(x == z)) for z in raw_z] for x in raw_x])


def _callback(leaf: Leaf, X: Any, Z: Any) -> np.ndarray:
    if leaf.form == "matrix":
        return np.asarray(leaf.fn(X.raw(), Z.raw()), dtype=np.float64)
    return np.array([[float(leaf.fn(x, z)) for z in Z.raw()] for x in X.raw()])


def _subsequences(leaf: Leaf, X: Any, Z: Any) -> np.ndarray:
    length, decay = leaf.parameters
    raw_x, raw_z = X.raw(), Z.raw()
    return np.array([[subsequences(x, z, int(length), decay) for z in raw_z] for x in raw_x])


def _weighted_degree(leaf: Leaf, X: Any, Z: Any) -> np.ndarray:
    degree, shift = map(int, leaf.parameters)
    raw_x, raw_z = X.raw(), Z.raw()
    return np.array([[weighted_degree(x, z, degree, shift) for z in raw_z] for x in raw_x])


def _walks(leaf: Leaf, X: Any, Z: Any) -> np.ndarray:
    return np.array([[common_walks(x, z, *leaf.parameters) for z in Z.raw()] for x in X.raw()])


def _series(X: Any, Z: Any) -> list[Any]:
    return [require(side, frozenset({Domain.SERIES}), "the oracle").raw() for side in (X, Z)]


def _alignment(leaf: Leaf, X: Any, Z: Any) -> np.ndarray:
    length_scale, triangular, gives = leaf.parameters

    def value(x: Any, z: Any) -> Any:
        return alignments(x, z, length_scale, int(triangular))

    raw_x, raw_z = _series(X, Z)
    found = np.array([[value(x, z) for z in raw_z] for x in raw_x])
    if gives == 1.0:
        found /= np.sqrt(np.outer([value(x, x) for x in raw_x], [value(z, z) for z in raw_z]))
    return np.asarray(np.log(found) if gives == 2.0 else found, dtype=np.float64)


def _signature(leaf: Leaf, X: Any, Z: Any) -> np.ndarray:
    level, order, length_scale = leaf.parameters
    raw_x, raw_z = _series(X, Z)
    of = int(level) or None, int(order), length_scale or None
    return np.array([[signatures(x, z, *of) for z in raw_z] for x in raw_x])


def _bags(X: Any, Z: Any) -> tuple[Any, Any]:
    x = X if isinstance(X, Bags) else Bags(X.raw())
    return x, x if Z is X else Z if isinstance(Z, Bags) else Bags(Z.raw())


def _convolution(leaf: Leaf, X: Any, Z: Any) -> np.ndarray:
    """The matrix of all parts, summed by bags."""
    if not len(X.parts) or not len(Z.parts):
        return np.zeros((len(X), len(Z)))
    parts = evaluate_plan(leaf.part, X.parts, None if Z is X else Z.parts)
    rows, columns = (np.repeat(np.eye(len(side)), side.sizes, axis=1) for side in (X, Z))
    return rows @ parts @ columns.T


_LEAVES = {
    "alignment": _alignment,
    "signature": _signature,
    "convolution": lambda leaf, X, Z: _convolution(leaf, *_bags(X, Z)),
    "dot": _dot,
    "l1": _pairs(lambda a, b: np.abs(a - b)),
    "min": _pairs(np.minimum),
    "chi2": _pairs(lambda a, b: np.where(a + b == 0.0, 0.0, 2.0 * a * b / np.where(a + b == 0.0, 1.0, a + b))),
    "equal": _equal,
    "stored": lambda leaf, X, Z: np.asarray(X.matrix, dtype=np.float64),
    "callback": _callback,
    "subsequence": _subsequences,
    "weighted_degree": _weighted_degree,
    "walks": _walks,
}


def _divide(a: np.ndarray, b: np.ndarray, zero_by_zero: float) -> np.ndarray:
    return np.where((a == 0.0) & (b == 0.0), zero_by_zero, a / b)


def _arccosine(s: np.ndarray, order: int) -> np.ndarray:
    chord = np.clip(s, 0.0, 4.0)
    theta = 2.0 * np.arctan2(np.sqrt(chord), np.sqrt(4.0 - chord))
    rest = np.pi - theta
    values = (
        rest,
        np.sin(theta) + rest * np.cos(theta),
        3.0 * np.sin(theta) * np.cos(theta) + rest * (1.0 + 2.0 * np.cos(theta) ** 2),
    )
    return values[order] / np.pi


def _outer_sum(row: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    return row[0][:, None] + row[1][None, :]


_OPERATIONS: dict[str, Any] = {
    "inner": lambda i, r, leaves, rows, shape: leaves[i.a][0],
    "sqdist": lambda i, r, leaves, rows, shape: leaves[i.a][1],
    "value": lambda i, r, leaves, rows, shape: leaves[i.a],
    "constant": lambda i, r, leaves, rows, shape: np.full(shape, i.s),
    "affine": lambda i, r, leaves, rows, shape: i.s * r[i.a] + i.t,
    "add": lambda i, r, leaves, rows, shape: r[i.a] + r[i.b],
    "mul": lambda i, r, leaves, rows, shape: r[i.a] * r[i.b],
    "div": lambda i, r, leaves, rows, shape: _divide(r[i.a], r[i.b], 0.0),
    "exp": lambda i, r, leaves, rows, shape: np.exp(r[i.a]),
    "decay": lambda i, r, leaves, rows, shape: np.exp(r[i.a]),
    "log1p": lambda i, r, leaves, rows, shape: np.log1p(r[i.a]),
    "sqrt": lambda i, r, leaves, rows, shape: np.sqrt(r[i.a]),
    "pow": lambda i, r, leaves, rows, shape: r[i.a] ** i.s,
    "powi": lambda i, r, leaves, rows, shape: r[i.a] ** int(i.s),
    "tanh": lambda i, r, leaves, rows, shape: np.tanh(r[i.a]),
    "clamp0": lambda i, r, leaves, rows, shape: np.maximum(r[i.a], 0.0),
    "arccosine": lambda i, r, leaves, rows, shape: _arccosine(r[i.a], int(i.s)),
    "add_rows": lambda i, r, leaves, rows, shape: r[i.a] + _outer_sum(rows[i.b]),
    "mul_rows": lambda i, r, leaves, rows, shape: r[i.a] * rows[i.b][0][:, None] * rows[i.b][1][None, :],
    "tanimoto": lambda i, r, leaves, rows, shape: _divide(r[i.a], _outer_sum(rows[i.b]) - r[i.a], 1.0),
    "inverse_sum": lambda i, r, leaves, rows, shape: np.where(
        _outer_sum(rows[i.b]) == 0.0, 0.0, 1.0 / _outer_sum(rows[i.b])
    ),
}


def _both_sides(function: Any, basis: Any, other: Any) -> tuple[np.ndarray, np.ndarray]:
    left = _row(function, basis)
    return left, left if other is basis else _row(function, other)


def _row(function: Any, points: Any) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(_ROWS[type(function)](function, points), dtype=np.float64)


def _diagonal(kernel: Any, points: Any) -> np.ndarray:
    """k(x, x), with the norms of sets counted in full."""
    return _squares(points) if isinstance(kernel, Linear) else evaluate_diagonal(kernel, points)


def _inverse_root(diagonal: np.ndarray) -> np.ndarray:
    return np.where(diagonal > 0.0, diagonal**-0.5, 0.0)


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.where(part > 0.0, np.sqrt(part / whole), 0.0)


def _lacks(names: Any, columns: dict[str, Any]) -> np.ndarray:
    rows = zip(*(columns[name] for name in names), strict=True)
    return np.array([any(value is None or value != value for value in row) for row in rows])


_ROWS: dict[type, Any] = {
    GaussianEnvelope: lambda f, points: np.exp(-_squares(points) / (2.0 * f.length_scale**2)),
    NormPower: lambda f, points: np.where(_squares(points) > 0.0, _squares(points) ** (f.power / 2.0), 0.0),
    Diagonal: lambda f, points: _diagonal(f.kernel, points),
    InverseRoot: lambda f, points: _inverse_root(_diagonal(f.kernel, points)),
    InverseSize: lambda f, points: [1.0 / len(bag) if len(bag) else 0.0 for bag in points.raw()],
    IsMissing: lambda f, points: _lacks(f.names, points.raw()),
    IsPresent: lambda f, points: ~_lacks(f.names, points.raw()),
    IsZero: lambda f, points: _diagonal(f.kernel, points) == 0.0,
    IsPositive: lambda f, points: _diagonal(f.kernel, points) > 0.0,
    UserFunction: lambda f, points: f.fn(points.raw()),
    Weight: lambda f, points: _share(_diagonal(f.term, points), _diagonal(f.whole, points)),
    Sign: lambda f, points: np.sign(_row(f.function, points)),
}


def operations() -> frozenset[str]:
    """The operations that the interpreter knows."""
    return frozenset(_OPERATIONS)


def leaf_kinds() -> frozenset[str]:
    """The leaves that the interpreter knows."""
    return frozenset(_LEAVES)


def describe(plan: Plan) -> str:
    """A plan, one instruction per line."""
    return "\n".join(f"{step}  {node}" for step, node in zip(plan.instructions, plan.nodes, strict=True))
