"""The table of derivatives: complete, equal to the engine's instructions, and right by finite differences in mpmath."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from mercer.kernels.derivatives import DERIVATIVES, Operands
from mercer.kernels.plan import OPERATIONS

# Instructions that read a leaf have no operands among the registers.
READINGS = {op for op, names in OPERATIONS.items() if "leaf" in names}
A = np.array([[0.3, 1.7, 0.9], [2.5, 0.1, 1.1]])
B = np.array([[0.8, 0.4, 2.2], [1.3, 0.6, 0.5]])
LEFT, RIGHT = np.array([[1.9], [3.1]]), np.array([[2.3, 2.9, 3.7]])
NUMBERS = {"powi": (3.0, 2.0, 1.0), "arccosine": (0.0, 1.0, 2.0), "pow": (0.7, 2.3)}

# The value of each instruction in mpmath: of a, b, s, t, l, r.
ARCCOSINE = (
    lambda c: mpmath.pi - c,
    lambda c: mpmath.sin(c) + (mpmath.pi - c) * mpmath.cos(c),
    lambda c: 3 * mpmath.sin(c) * mpmath.cos(c) + (mpmath.pi - c) * (1 + 2 * mpmath.cos(c) ** 2),
)
PRECISE = {
    "constant": lambda a, b, s, t, l, r: s,
    "affine": lambda a, b, s, t, l, r: s * a + t,
    "add": lambda a, b, s, t, l, r: a + b,
    "mul": lambda a, b, s, t, l, r: a * b,
    "div": lambda a, b, s, t, l, r: a / b,
    "exp": lambda a, b, s, t, l, r: mpmath.exp(a),
    "decay": lambda a, b, s, t, l, r: mpmath.exp(a),
    "log1p": lambda a, b, s, t, l, r: mpmath.log(1 + a),
    "sqrt": lambda a, b, s, t, l, r: mpmath.sqrt(a),
    "pow": lambda a, b, s, t, l, r: a**s,
    "powi": lambda a, b, s, t, l, r: a ** int(s),
    "tanh": lambda a, b, s, t, l, r: mpmath.tanh(a),
    "clamp0": lambda a, b, s, t, l, r: max(a, mpmath.mpf(0)),
    "arccosine": lambda a, b, s, t, l, r: ARCCOSINE[int(s)](2 * mpmath.asin(mpmath.sqrt(a) / 2)) / mpmath.pi,
    "add_rows": lambda a, b, s, t, l, r: a + l + r,
    "mul_rows": lambda a, b, s, t, l, r: a * l * r,
    "tanimoto": lambda a, b, s, t, l, r: a / (l + r - a),
    "inverse_sum": lambda a, b, s, t, l, r: 1 / (l + r),
}  # fmt: skip
CASES = [(op, s) for op in sorted(DERIVATIVES) for s in NUMBERS.get(op, (0.7,))]


def operands(op: str, s: float) -> Operands:
    found = Operands(a=A.copy(), b=B.copy(), s=s, t=-0.4, left=LEFT, right=RIGHT)
    return replace(found, out=np.broadcast_to(DERIVATIVES[op].value(found), A.shape))


def precise(op: str, i: Operands, row: int, column: int) -> list:
    values = (i.a[row, column], i.b[row, column], i.s, i.t, i.left[row, 0], i.right[0, column])
    return [mpmath.mpf(float(value)) for value in values]


def test_every_instruction_of_the_engine_is_in_the_table():
    assert set(DERIVATIVES) == set(OPERATIONS) - READINGS
    assert set(PRECISE) == set(DERIVATIVES)


@pytest.mark.parametrize(("op", "s"), CASES)
def test_values_are_those_of_mpmath(op, s):
    i = operands(op, s)
    with mpmath.workdps(40):
        for row, column in np.ndindex(A.shape):
            expected = float(PRECISE[op](*precise(op, i, row, column)))
            assert i.out[row, column] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(("op", "s"), CASES)
def test_derivatives_are_differences_in_mpmath(op, s):
    i, rule = operands(op, s), DERIVATIVES[op]
    names = ("a", "b", "s", "t", "left")
    tried = 0
    with mpmath.workdps(40):
        for place, name in enumerate(names):
            derivative = getattr(rule, name)
            if derivative is None:
                continue
            tried += 1
            found = np.broadcast_to(derivative(i), A.shape)
            for row, column in np.ndindex(A.shape):
                at, h = precise(op, i, row, column), mpmath.mpf(10) ** -12
                up, down = list(at), list(at)
                up[place] += h
                down[place] -= h
                expected = float((PRECISE[op](*up) - PRECISE[op](*down)) / (2 * h))
                assert found[row, column] == pytest.approx(expected, rel=1e-12, abs=1e-15), name
    assert tried


def test_an_operand_that_the_engine_reads_has_a_derivative_unless_it_is_a_whole_number():
    for op, rule in DERIVATIVES.items():
        reads = set(OPERATIONS[op])
        assert (rule.a is not None) == ("a" in reads), op
        assert (rule.b is not None) == ("b" in reads), op
        assert (rule.left is not None) == ("row" in reads), op
        assert (rule.t is not None) == ("t" in reads), op
        assert (rule.s is not None) == ("s" in reads and op not in ("powi", "arccosine")), op


def test_a_derivative_that_does_not_exist_counts_as_0():
    zero = Operands(a=np.zeros((1, 1)), b=np.zeros((1, 1)), s=0.5, out=np.zeros((1, 1)))
    for op in ("sqrt", "pow", "div"):
        assert DERIVATIVES[op].a(zero) == 0.0, op
