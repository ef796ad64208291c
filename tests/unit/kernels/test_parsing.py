import pytest

from mercer.errors import InvalidParameter, NotPositive, ParseError
from mercer.kernels import L1, RBF, Custom, Linear, Matern, Quadratic, parse
from mercer.maps import FunctionMap, Scale


def claim(x, z):
    return 1.0


def embed(X):
    return X


def test_a_formula_is_read():
    assert parse("RBF(2.0) + 0.5 * Linear() ** 2") == RBF(2.0) + 0.5 * Linear() ** 2
    assert parse(" Matern(nu=1.5, length_scale=[1, 2]).on('age', 'income') ") == Matern(1.5, [1, 2]).on("age", "income")
    assert parse("RBF(1/4)") == RBF(0.25)
    assert parse("L1() ** 0.5") == L1() ** 0.5
    assert parse("Quadratic([[2.0, 0.0], [0.0, 1.0]])") == Quadratic([[2, 0], [0, 1]])
    assert parse("2 * RBF().on(Scale([1.0, 2.0]))") == 2 * RBF().on(Scale([1, 2]))


def test_functions_are_read_by_name():
    kernel = Custom(claim, because="of nothing") + RBF().on(FunctionMap(embed)) + Linear().scaled_by(embed)
    assert parse(repr(kernel), names={"claim": claim, "embed": embed}) == kernel
    with pytest.raises(ParseError, match="claim is not a name"):
        parse(repr(kernel))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "RBF(",
        "RBF",
        "RBF()()",
        "1.0",
        "2 + 3",
        "9 ** 9 ** 9",
        "__import__('os').system('true')",
        "RBF().__class__",
        "RBF().__class__()",
        "RBF().proof()",
        "(lambda: RBF())()",
        "[RBF() for x in (1,)]",
        "RBF(**{'length_scale': 1})",
        "RBF(*[1])",
        "RBF(open('x'))",
        "RBF(lenght=1.0)",
        "RBF(True)",
        "RBF() if 1 else Linear()",
        "RBF() @ Linear()",
        "RBF() + 'a'",
        "RBF() + [1]",
        "RBF() // 2",
        "1/0 * RBF()",
        "L1().exp()",
        "RBF().log1p()",
        "f'{RBF()}'",
        "x := RBF()",
        "RBF()\0",
        "(" * 5000 + "RBF()" + ")" * 5000,
        "Torus(1.0)",
        "Scale(1.0) + Scale(1.0)",
    ],
)
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(ParseError):
        parse(text)


def test_a_misspelt_name_is_recognised():
    with pytest.raises(ParseError, match="Did you mean Matern"):
        parse("Matrn(1.5)")


def test_what_is_no_kernel_is_refused_as_in_python():
    with pytest.raises(NotPositive, match="not a disproof"):
        parse("RBF() - Linear()")
    with pytest.raises(NotPositive):
        parse("-1.0 * RBF()")
    with pytest.raises(InvalidParameter):
        parse("RBF(-1.0)")
