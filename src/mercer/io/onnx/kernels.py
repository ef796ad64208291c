"""The plan of a kernel as operators: leaves become matrices, and the tape is read instruction by instruction.

The same tape is written twice: for K(X, basis), and for k(x, x) where functions of one point need it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.io.onnx.graph import Graph, column_sum, rows_of
from mercer.io.onnx.points import Seen, basis_rows, map_seen, refusal
from mercer.io.onnx.rows import row_values
from mercer.kernels.blame import owners_of_leaves, owners_of_rows
from mercer.kernels.plan import Instruction, Plan
from mercer.kernels.tape import Lowerable, compile_plan
from mercer.points.base import Points
from mercer.points.table import Table

__all__ = ["cross", "diagonal", "projected"]

Array = npt.NDArray[np.float64]

# Up to so many columns ‖x − z‖² is a sum of squared differences, which is exact also for close points.
FEW_COLUMNS = 32
EPSILON = float(np.finfo(np.float64).eps)


@final
@dataclass(frozen=True)
class _Values:
    """What the tape reads beside its registers: leaves, and the two sides of a function of one point."""

    plan: Plan
    rows: str  # the shape (n, 1)
    leaf: Callable[[str, int, float], str]  # the operation that reads it, which leaf, and a factor
    left: Callable[[int], str]
    right: Callable[[int], str]


def cross(g: Graph, kernel: Lowerable, seen: Seen, basis: Points) -> str:
    """K(X, basis), (n, m)."""
    plan = compile_plan(kernel)
    owners = owners_of_leaves(plan)
    chains = [_image(g, plan, view, seen, basis) for view in range(len(plan.views))]

    def leaf(op: str, index: int, factor: float) -> str:
        kind, (points, image) = plan.leaves[index].kind, chains[plan.leaves[index].view]
        if kind not in LEAVES:
            raise refusal(repr(owners[index]), f"It reads {UNREADABLE[kind]}.")
        if op == "inner":
            return _inner(g, points, factor * basis_rows(image, owners[index]))
        return LEAVES[kind](g, points, basis_rows(image, owners[index]))

    def left(row: int) -> str:
        f, view = plan.rows[row]
        return row_values(g, f, chains[view][0], owners_of_rows(plan)[row], diagonal)

    def right(row: int) -> str:
        f, view = plan.rows[row]
        left(row)  # refuses what has no operators before a long computation
        return g.constant(f.values(chains[view][1])[None, :])

    found = _run(g, _Values(plan, rows_of(g, seen.name, 1), leaf, left, right))
    return g.op("Expand", found, rows_of(g, seen.name, len(basis)))  # a constant kernel has no size of its own


def diagonal(g: Graph, kernel: Lowerable, seen: Seen) -> str:
    """k(x, x), (n, 1)."""
    plan = compile_plan(kernel)
    owners = owners_of_leaves(plan)
    chains = [_image(g, plan, view, seen, None)[0] for view in range(len(plan.views))]

    def leaf(op: str, index: int, factor: float) -> str:
        kind, points = plan.leaves[index].kind, chains[plan.leaves[index].view]
        if kind not in ON_DIAGONAL:
            raise refusal(repr(owners[index]), f"It reads {UNREADABLE[kind]}.")
        own = ON_DIAGONAL[kind](g, points) if op != "sqdist" else g.constant(0.0)
        return g.op("Mul", g.op("Expand", own, rows_of(g, points.name, 1)), factor)

    def row(index: int) -> str:
        f, view = plan.rows[index]
        return row_values(g, f, chains[view], owners_of_rows(plan)[index], diagonal)

    return _run(g, _Values(plan, rows_of(g, seen.name, 1), leaf, row, row))


def projected(g: Graph, kernel: Lowerable, seen: Seen, basis: Points, coef: Array) -> str | None:
    """K(X, basis)·coef as X·(basisᵀ·coef), where K is nothing but inner products of images; else None."""
    plan = compile_plan(kernel)
    if [step.op for step in plan.instructions] != ["inner"]:
        return None
    points, image = _image(g, plan, 0, seen, basis)
    return g.op("MatMul", points.name, basis_rows(image, owners_of_leaves(plan)[0]).T @ coef)


def _image(g: Graph, plan: Plan, view: int, seen: Seen, basis: Points | None) -> tuple[Seen, Any]:
    """The points of a graph, and the basis, as a view shows them."""
    for m in plan.views[view]:
        seen = map_seen(g, m, seen)
        if basis is not None:
            basis = m.fit(basis)(basis)
    if seen.columns is not None:
        places = [place for _, place in seen.columns]
        if min(places) < 0:
            name = next(name for name, place in seen.columns if place < 0)
            raise refusal(f"The column {name!r}", "It is not numeric, and the kernel reads all columns.")
    if isinstance(basis, Table):
        basis = basis.vectors()
    return seen, basis


def _run(g: Graph, values: _Values) -> str:
    registers: dict[int, str] = {}
    for step in values.plan.instructions:
        registers[step.out] = OPERATORS[step.op](g, step, registers, values)
    return registers[values.plan.result]


def _distances(g: Graph, seen: Seen, Z: Array) -> str:
    if seen.width <= FEW_COLUMNS:
        return column_sum(g, seen.name, Z, lambda h, x, z: _squared(h, h.op("Sub", x, z)))
    centre = Z.mean(axis=0)
    x, Z = g.op("Sub", seen.name, centre), Z - centre
    sizes = g.op("Add", g.op("ReduceSumSquare", x, np.array([1]), keepdims=1), np.square(Z).sum(axis=1)[None, :])
    found = g.op("Sub", sizes, g.op("MatMul", x, np.ascontiguousarray(2.0 * Z.T)))
    # What is below the rounding of the sizes is the distance of a point to itself.
    noise = g.op("Mul", sizes, 4.0 * EPSILON * np.sqrt(seen.width))
    return g.where(g.op("Less", found, noise), 0.0, found)


def _inner(g: Graph, seen: Seen, Z: Array) -> str:
    return g.op("MatMul", seen.name, np.ascontiguousarray(Z.T))


def _squared(g: Graph, a: str) -> str:
    return g.op("Mul", a, a)


def _quotient(g: Graph, a: str, b: str) -> str:
    """a/b, 0 where b is 0."""
    is_zero = g.op("Equal", b, 0.0)
    return g.where(is_zero, 0.0, g.op("Div", a, g.where(is_zero, 1.0, b)))


def _chi2(g: Graph, x: str, z: str) -> str:
    return _quotient(g, g.op("Mul", g.op("Add", x, x), z), g.op("Add", x, z))


def _equal(g: Graph, x: str, z: str) -> str:
    return g.cast(g.op("Equal", x, z), np.float64)


def _log1p(g: Graph, a: str) -> str:
    # u − 1 has the rounding of u = 1 + a, which the quotient takes out again.
    u = g.op("Add", a, 1.0)
    is_one = g.op("Equal", u, 1.0)
    excess = g.where(is_one, 1.0, g.op("Sub", u, 1.0))
    return g.where(is_one, a, g.op("Mul", g.op("Log", u), g.op("Div", a, excess)))


def _arccosine(g: Graph, s: str, order: int) -> str:
    """J(θ)/π from the squared chord s = 4 sin²(θ/2)."""
    s = g.op("Min", g.op("Max", s, 0.0), 4.0)
    near, far = g.op("Sqrt", s), g.op("Sqrt", g.op("Sub", 4.0, s))
    # θ/2 = atan(near/far), which run times have in float32 only: one step of Newton's method gives it in float64.
    rough = g.cast(g.op("Atan", g.op("Div", g.cast(near, np.float32), g.cast(far, np.float32))), np.float64)
    sine, cosine = g.op("Sin", rough), g.op("Sin", g.op("Add", rough, 0.5 * np.pi))
    missing = g.op("Mul", 0.5, g.op("Sub", g.op("Mul", near, cosine), g.op("Mul", far, sine)))
    half = g.op("Add", rough, missing)
    supplement = g.op("Sub", 1.0, g.op("Mul", half, 2.0 / np.pi))  # (π − θ)/π
    if order == 0:
        return supplement
    over_pi = g.op("Mul", g.op("Mul", near, far), 0.5 / np.pi)  # sin θ/π
    cos = g.op("Sub", 1.0, g.op("Mul", 0.5, s))
    if order == 1:
        return g.op("Add", over_pi, g.op("Mul", supplement, cos))
    square = g.op("Add", 1.0, g.op("Mul", 2.0, g.op("Mul", cos, cos)))
    return g.op("Add", g.op("Mul", 3.0, g.op("Mul", over_pi, cos)), g.op("Mul", supplement, square))


def _tanimoto(g: Graph, a: str, left: str, right: str) -> str:
    union = g.op("Sub", g.op("Add", left, right), a)
    is_zero = g.op("Equal", union, 0.0)
    return g.where(is_zero, 1.0, g.op("Div", a, g.where(is_zero, 1.0, union)))


_Operator = Callable[[Graph, Instruction, dict[int, str], _Values], str]


def _of_one(make: Callable[[Graph, str], str]) -> _Operator:
    return lambda g, i, r, _v: make(g, r[i.a])


def _named(op: str) -> _Operator:
    return lambda g, i, r, _v: g.op(op, r[i.a])


def _reading(_g: Graph, i: Instruction, _r: dict[int, str], v: _Values) -> str:
    return v.leaf(i.op, i.a, 1.0)


def _affine(g: Graph, i: Instruction, r: dict[int, str], v: _Values) -> str:
    source = v.plan.instructions[i.a]
    if source.op == "inner":
        # onnxruntime takes a factor that follows a product of matrices into the product, as a float32.
        scaled = v.leaf(source.op, source.a, i.s)
    else:
        scaled = r[i.a] if i.s == 1.0 else g.op("Mul", r[i.a], i.s)
    return scaled if i.t == 0.0 else g.op("Add", scaled, i.t)


# The instructions of the tape.
OPERATORS: dict[str, _Operator] = {
    "inner": _reading,
    "sqdist": _reading,
    "value": _reading,
    "constant": lambda g, i, _r, v: g.op("Expand", i.s, v.rows),
    "affine": _affine,
    "add": lambda g, i, r, _v: g.op("Add", r[i.a], r[i.b]),
    "mul": lambda g, i, r, _v: g.op("Mul", r[i.a], r[i.b]),
    "div": lambda g, i, r, _v: _quotient(g, r[i.a], r[i.b]),
    "exp": _named("Exp"),
    "decay": _named("Exp"),
    "log1p": _of_one(_log1p),
    "sqrt": _of_one(lambda g, a: g.op("Sqrt", g.op("Max", a, 0.0))),
    "pow": lambda g, i, r, _v: g.op("Pow", r[i.a], i.s),
    "powi": lambda g, i, r, _v: g.op("Pow", r[i.a], i.s),
    "tanh": _named("Tanh"),
    "clamp0": _of_one(lambda g, a: g.op("Max", a, 0.0)),
    "arccosine": lambda g, i, r, _v: _arccosine(g, r[i.a], int(i.s)),
    "add_rows": lambda g, i, r, v: g.op("Add", r[i.a], g.op("Add", v.left(i.b), v.right(i.b))),
    "mul_rows": lambda g, i, r, v: g.op("Mul", r[i.a], g.op("Mul", v.left(i.b), v.right(i.b))),
    "tanimoto": lambda g, i, r, v: _tanimoto(g, r[i.a], v.left(i.b), v.right(i.b)),
    "inverse_sum": lambda g, i, _r, v: _quotient(g, g.constant(1.0), g.op("Add", v.left(i.b), v.right(i.b))),
}


def _summed(step: Callable[[Graph, str, str], str], join: str = "Add") -> Callable[[Graph, Seen, Array], str]:
    return lambda g, seen, Z: column_sum(g, seen.name, Z, step, join)


# K(X, basis) of what is read from a pair of points.
LEAVES: dict[str, Callable[[Graph, Seen, Array], str]] = {
    "dot": _distances,
    "l1": _summed(lambda g, x, z: g.op("Abs", g.op("Sub", x, z))),
    "min": _summed(lambda g, x, z: g.op("Min", x, z)),
    "chi2": _summed(_chi2),
    "equal": _summed(_equal, "Mul"),
}
# The same of a point and itself.
ON_DIAGONAL: dict[str, Callable[[Graph, Seen], str]] = {
    "dot": lambda g, seen: g.op("ReduceSumSquare", seen.name, np.array([1]), keepdims=1),
    "l1": lambda g, _seen: g.constant(0.0),
    "min": lambda g, seen: g.sum(seen.name, 1),
    "chi2": lambda g, seen: g.sum(seen.name, 1),
    "equal": lambda g, _seen: g.constant(1.0),
}
UNREADABLE = {
    "stored": "the entries of a precomputed matrix",
    "callback": "the values of a Python function",
    "subsequence": "the letters of strings",
    "weighted_degree": "the letters of strings",
    "walks": "the edges of graphs",
    "convolution": "the parts of bags",
    "alignment": "the points of series",
    "signature": "the points of series",
}
