"""Votes and probabilities of pairs of classes as operators; `mercer.models.pairs` says what they are."""

import numpy as np
import numpy.typing as npt

from mercer.io.onnx.graph import Graph
from mercer.models.coupling import EDGE, SMALLEST
from mercer.models.pairs import Pairs, pairs

__all__ = ["confidences", "probabilities", "winners"]

Array = npt.NDArray[np.float64]


def _signs(k: int) -> Array:  # (P, k)
    found = np.zeros((k * (k - 1) // 2, k))
    for place, (first, second) in enumerate(pairs(k)):
        found[place, first], found[place, second] = 1.0, -1.0
    return found


def _votes(g: Graph, is_first: str, k: int) -> str:
    # A pair gives its second class a vote, or moves it to the first.
    return g.op("Add", g.op("MatMul", g.cast(is_first, np.float64), _signs(k)), np.arange(float(k)))


def winners(g: Graph, decisions: str, k: int) -> str:
    """The index of the class with the most votes, (n,)."""
    is_first = g.op("Greater", decisions, 0.0)
    if k == 2:
        return g.squeezed(g.cast(is_first, np.int64))
    return g.op("ArgMax", _votes(g, is_first, k), axis=1, keepdims=0)


def confidences(g: Graph, decisions: str, k: int) -> str:
    """Votes, plus less than a third of one for the sum of the decisions, (n, k)."""
    sums = g.op("MatMul", decisions, _signs(k))
    share = g.op("Div", sums, g.op("Mul", 3.0, g.op("Add", g.op("Abs", sums), 1.0)))
    return g.op("Add", _votes(g, g.op("GreaterOrEqual", decisions, 0.0), k), share)


def probabilities(g: Graph, decisions: str, layout: Pairs, index: str) -> str:
    """P(class | x), (n, k), in accord with the winners where no other program has fitted the machine."""
    assert layout.slopes is not None
    k, z = layout.k, g.op("Mul", decisions, layout.slopes)
    if layout.shifts is not None:
        z = g.op("Add", z, layout.shifts)
    if k == 2:
        return g.op("Sigmoid", g.op("Mul", z, np.array([-1.0, 1.0])))
    coupled = _coupled(g, g.op("Sigmoid", z), k)
    return _agreeing(g, coupled, index, k) if layout.shifts is None else coupled


def _coupled(g: Graph, pairwise: str, k: int) -> str:
    """The p ≥ 0 of sum one with the least Σ (rⱼᵢ pᵢ − rᵢⱼ pⱼ)².

    With Q p = λ 1 and Σ p = 1, p is the solution of (Q + 11ᵀ) p = 1 up to a factor. That matrix is positive definite,
    so Gauss and Jordan need no pivots.
    """
    first, second = pairs(k).T
    some = g.op("Min", g.op("Max", pairwise, SMALLEST), 1.0 - SMALLEST)
    places = np.zeros((k, k), dtype=np.int64)
    places[first, second] = 1 + np.arange(len(first))
    places[second, first] = 1 + len(first) + np.arange(len(first))
    zero = g.op("Mul", g.op("Gather", some, np.array([0]), axis=1), 0.0)
    both = g.op("Concat", zero, some, g.op("Sub", 1.0, some), axis=1)
    r = g.op("Gather", both, places, axis=1)  # (n, k, k)
    mixed = g.op("Mul", r, g.op("Transpose", r, perm=[0, 2, 1]))
    own = g.op("ReduceSumSquare", r, np.array([1]), keepdims=1)  # Σᵢ rᵢⱼ², (n, 1, k)
    Q = g.op("Sub", g.op("Mul", own, np.eye(k)), mixed)
    ones = g.op("Add", g.op("Mul", g.op("Transpose", own, perm=[0, 2, 1]), 0.0), 1.0)
    state = g.op("Concat", g.op("Add", Q, 1.0), ones, axis=2)  # (n, k, k + 1)
    body = Graph("p_")
    now = body.input("p_now", np.float64, ["n", k, k + 1])
    unit = body.input("p_unit", np.float64, [k])  # which row is the pivot's
    column = body.op("Unsqueeze", unit, np.array([1]))
    row = body.op("ReduceSum", body.op("Mul", now, column), np.array([1]), keepdims=1)  # (n, 1, k + 1)
    padded = body.op("Concat", unit, np.zeros(1), axis=0)
    pivot = body.op("ReduceSum", body.op("Mul", row, padded), np.array([2]), keepdims=1)  # (n, 1, 1)
    scaled = body.op("Div", row, pivot)
    factors = body.op("ReduceSum", body.op("Mul", now, padded), np.array([2]), keepdims=1)  # (n, k, 1)
    others = body.op("Mul", factors, body.op("Sub", 1.0, column))
    cleared = body.op("Sub", now, body.op("Mul", others, scaled))
    next_one = body.op("Where", body.op("Greater", column, 0.5), scaled, cleared)
    body.output("p_next", next_one, np.float64, ["n", k, k + 1])
    solved = g.op("Scan", state, np.eye(k), body=body, num_scan_inputs=1)
    p = g.op("Squeeze", g.op("Gather", solved, np.array([k]), axis=2), np.array([2]))
    p = g.op("Max", p, 0.0)
    return g.op("Div", p, g.sum(p, 1))


def _agreeing(g: Graph, p: str, winner: str, k: int) -> str:
    """The nearest point of the simplex where the winner is largest, as `mercer.models.coupling.agreeing`."""
    is_winner = g.op("Equal", g.op("Unsqueeze", winner, np.array([1])), np.arange(k)[None, :])
    own = g.sum(g.where(is_winner, p, 0.0), 1)
    ordered, _ = g.ops(2, "TopK", g.where(is_winner, -np.inf, p), np.array([k - 1]), axis=1, largest=1, sorted=1)
    sums = g.op("Add", own, g.op("CumSum", g.op("Max", ordered, 0.0), np.int64(1)))
    means = g.op("Div", sums, np.arange(2.0, k + 1.0))
    before = g.op("Concat", own, g.op("Gather", means, np.arange(k - 2), axis=1), axis=1)
    # The largest others are pooled one by one, while they exceed the mean of those pooled so far.
    stopped = g.cast(g.op("LessOrEqual", ordered, before), np.float64)
    is_pooled = g.op("Less", g.op("CumSum", stopped, np.int64(1)), 0.5)
    pooled = g.sum(g.cast(is_pooled, np.float64), 1)
    last = g.op("Equal", pooled, np.arange(1.0, k)[None, :])
    some = g.op("Greater", pooled, 0.0)
    level = g.where(some, g.sum(g.where(last, means, 0.0), 1), own)
    limit = g.where(some, g.op("Mul", level, 1.0 - EDGE), np.inf)
    raised = g.op("Mul", level, g.op("Add", 1.0, g.op("Mul", pooled, EDGE)))
    return g.where(is_winner, raised, g.op("Min", p, limit))
