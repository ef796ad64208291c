"""What other libraries accept in silence is refused, with the reason, at the smallest part that fails."""

import numpy as np
import pytest

from mercer.errors import InvalidParameter, MercerError, NotPositive
from mercer.kernels import (
    L1,
    RBF,
    ArcCosine,
    Constant,
    Cosine,
    Laplacian,
    Linear,
    Matern,
    Polarised,
    Polynomial,
    PowerSeries,
    Quadratic,
    Scaled,
    Sigmoid,
    SquaredEuclidean,
    named,
    polynomial,
    rules,
)

# expression -> how it is built, the error, what its first line starts with, what the message must say
REFUSED = {
    "negative multiple": (lambda: -1.0 * RBF(), NotPositive, "-1.0 * RBF() cannot be derived", "got -1.0"),
    "negated kernel": (lambda: -RBF(), NotPositive, "-RBF() cannot be derived", "c ≥ 0"),
    "negative constant": (lambda: RBF() + (-2.0), NotPositive, "RBF() + (-2.0) cannot be derived", "got -2.0"),
    "negative exponent": (lambda: RBF() ** -1, NotPositive, "RBF() ** -1 cannot be derived", "got -1"),
    "difference": (lambda: RBF() - Linear(), NotPositive, "RBF() - Linear() cannot be derived", "never subtracted"),
    "difference of sums": (
        lambda: (RBF() + 1) - (Linear() + 1),
        NotPositive,
        "RBF() + 1.0 - (Linear() + 1.0) cannot be derived",
        "never subtracted",
    ),
    "number minus kernel": (lambda: 1.0 - RBF(), NotPositive, "1.0 - RBF() cannot be derived", "never subtracted"),
    "kernel minus number": (lambda: RBF() - 1.0, NotPositive, "RBF() - 1.0 cannot be derived", "never subtracted"),
    "real power": (
        lambda: (Linear() + 1) ** 2.5,
        NotPositive,
        (
            "(Linear() + 1.0) ** 2.5 cannot be derived as a kernel.\n"
            "  Rule 4 (integer-power) needs a non-negative integer exponent; got 2.5.\n  Try ** 2 or ** 3"
        ),
        "not a disproof",
    ),
    "real power inside a product": (
        lambda: (RBF() * Linear()) ** 0.5,
        NotPositive,
        "Linear() ** 0.5 cannot be derived",
        "got 0.5",
    ),
    "infinite exponent": (lambda: RBF() ** float("inf"), NotPositive, "RBF() ** inf cannot be derived", "got inf"),
    "NaN multiple": (lambda: float("nan") * RBF(), NotPositive, "nan * RBF() cannot be derived", "got nan"),
    "Matérn of r = ‖·‖₁": (
        lambda: Matern(1.5).of(L1() ** 2),
        NotPositive,
        "L1() ** 2 cannot be derived as a distance",
        "0 < a ≤ 1",
    ),
    "product of distances": (
        lambda: L1() * SquaredEuclidean(),
        NotPositive,
        "L1() * SquaredEuclidean() cannot be derived as a distance",
        "product of distances",
    ),
    "difference of distances": (lambda: L1() - L1(), NotPositive, "L1() - L1() cannot be derived", "subtracted"),
    "negated distance": (lambda: -L1(), NotPositive, "-L1() cannot be derived", "c ≥ 0"),
    "negative multiple of a distance": (lambda: -2 * L1(), NotPositive, "-2.0 * L1() cannot", "got -2.0"),
    "shifted distance": (lambda: L1() + 1.0, NotPositive, "L1() + 1.0 cannot be derived", "zero on the diagonal"),
    "kernel plus distance": (lambda: RBF() + L1(), NotPositive, "RBF() + L1() cannot", "is a distance"),
    "kernel times distance": (lambda: RBF() * L1(), NotPositive, "RBF() * L1() cannot", "is a distance"),
    "distance plus kernel": (lambda: L1() + RBF(), NotPositive, "L1() + RBF() cannot", "the kernel RBF()"),
    "distance times kernel": (lambda: L1() * RBF(), NotPositive, "L1() * RBF() cannot", "is a distance"),
    "profile of a kernel": (
        lambda: RBF().of(Linear()),
        InvalidParameter,
        "RBF().of(Linear()) needs a distance",
        "Polarised(Linear())",
    ),
    "profile of a kernel without one": (lambda: Linear().of(L1()), InvalidParameter, "Linear().of(L1())", "distance"),
    "profile of a distance": (lambda: L1().of(L1()), InvalidParameter, "L1().of(L1())", "RBF().of(L1())"),
    "profile with length scales per column": (lambda: RBF([1, 2]).of(L1()), InvalidParameter, "RBF([1.0, 2.0])", "one"),
    "Matérn of real order": (lambda: Matern(1.0), InvalidParameter, "nu of Matern", "half-integer"),
    "Matérn of infinite order": (lambda: Matern(float("inf")), InvalidParameter, "nu of Matern", "RBF()"),
    "length scale zero": (lambda: RBF(0.0), InvalidParameter, "length_scale of RBF must be", "Got 0.0"),
    "negative length scale": (lambda: RBF([1.0, -1.0]), InvalidParameter, "length_scale[1] of RBF", "Got -1.0"),
    "length scale whose square overflows": (lambda: RBF(1e200), InvalidParameter, "length_scale of RBF", "1e150"),
    "length scale whose square vanishes": (lambda: RBF(1e-200), InvalidParameter, "length_scale of RBF", "1e-150"),
    "no length scale": (lambda: RBF(None), InvalidParameter, "length_scale of RBF", "Got None"),
    "truth as length scale": (lambda: RBF(True), InvalidParameter, "length_scale of RBF", "Got True"),
    "text as length scales": (lambda: RBF(["1", "2"]), InvalidParameter, "length_scale of RBF", "Got ['1', '2']"),
    "an integer beyond floats": (lambda: RBF(10**400), InvalidParameter, "length_scale of RBF", "about 401 digits"),
    "unknown rule": (lambda: RBF("mean"), InvalidParameter, "length_scale of RBF", "median"),
    "negative constant kernel": (lambda: Constant(-1.0), NotPositive, "value of Constant", "≥ 0"),
    "negative factor node": (lambda: Scaled(-1.0, RBF()), NotPositive, "scale of Scaled", "≥ 0"),
    "negative coefficient": (
        lambda: polynomial(RBF(), [1, -2]),
        NotPositive,
        "polynomial(RBF(), [1.0, -2.0]) cannot be derived as a kernel.\n  Rule 4 (integer-power) needs coef",
        "Try polynomial(RBF(), [1.0, 0.0])",
    ),
    "division by zero": (lambda: RBF() / 0, NotPositive, "RBF() / 0.0 cannot be derived", "got c = 0.0"),
    "division by a negative number": (lambda: RBF() / -2, NotPositive, "RBF() / -2.0 cannot", "Rule 2 (scaling)"),
    "division by almost nothing": (lambda: RBF() / 1e-320, NotPositive, "RBF() / 1e-320 cannot", "finite factor"),
    "quotient of kernels": (lambda: RBF() / RBF(), NotPositive, "RBF() / RBF() cannot", "never divided"),
    "number over kernel": (lambda: 1 / RBF(), NotPositive, "1.0 / RBF() cannot", "normalised()"),
    "distance over zero": (lambda: L1() / 0, NotPositive, "L1() / 0.0 cannot be derived as a distance", "c > 0"),
    "quotient of distances": (lambda: L1() / L1(), NotPositive, "L1() / L1() cannot", "Rule distance-scaling"),
    "negative offset": (lambda: Polynomial(2, -1.0), InvalidParameter, "offset of Polynomial", "≥ 0"),
    "indefinite matrix": (lambda: Quadratic([[1, 2], [2, 1]]), NotPositive, "A of Quadratic", "v = ["),
    "non-symmetric matrix": (lambda: Quadratic([[1, 2], [0, 1]]), NotPositive, "A of Quadratic", "transpose"),
    "series outside its radius": (lambda: PowerSeries(Cosine(), "geometric"), NotPositive, "PowerSeries", "|k| < 1"),
    "order of arc-cosine": (lambda: ArcCosine(3), InvalidParameter, "order of ArcCosine", "from 0 to 2"),
    "additive chi2 of scikit-learn": (lambda: named("additive_chi2"), NotPositive, "additive_chi2", "ChiSquared()"),
    "power of a Matérn kernel": (lambda: Matern(1.5) ** 0.5, NotPositive, "Matern(1.5) ** 0.5 cannot", "integer"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_expression_is_refused_with_its_reason(name):
    build, error, start, said = REFUSED[name]
    with pytest.raises(error) as refusal:
        build()
    message = str(refusal.value)
    assert message.startswith(start)
    assert said in message
    assert isinstance(refusal.value, MercerError)
    assert isinstance(refusal.value, ValueError)
    if "cannot be derived" in message:
        assert "not a disproof" in message


@pytest.mark.parametrize(
    "build",
    [
        lambda: np.array([1.0, 2.0]) * RBF(),
        lambda: RBF() * np.array([1.0, 2.0]),
        lambda: np.array([1.0]) + RBF(),
        lambda: RBF() + "1",
        lambda: RBF() @ Linear(),
        lambda: 2 ** RBF(),
        lambda: RBF() * None,
        lambda: RBF() * True,
        lambda: 10**400 * RBF(),
        lambda: RBF() ** 10**400,
        lambda: L1() * "2",
        lambda: RBF() ** "2",
        lambda: RBF() / "2",
        lambda: L1() / "2",
        lambda: RBF() ** Linear(),
    ],
)
def test_operations_without_meaning_are_type_errors(build):
    with pytest.raises(TypeError):
        build()


def test_periodic_kernel_in_two_dimensions_is_the_one_of_the_torus():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 3, size=(40, 2))
    from mercer.kernels import Periodic
    from tests.oracles.tape import evaluate_plan

    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    usual = np.exp(-2 * np.sin(np.pi * np.sqrt(squares)) ** 2)
    assert np.linalg.eigvalsh(usual)[0] < -1e-2
    assert np.linalg.eigvalsh(evaluate_plan(Periodic(), X))[0] > -1e-12


def test_tanh_is_offered_only_as_an_assumption():
    assert not Sigmoid(0.5, -1.0).proof().is_derived
    assert "indefinite" in Sigmoid(0.5, -1.0).proof().assumptions[0]
    assert (RBF() + Sigmoid()).proof().assumptions == Sigmoid().proof().assumptions


def test_numbers_of_numpy_are_numbers():
    assert np.float64(2.0) * RBF() == 2 * RBF()
    assert RBF() + np.float32(0.5) == RBF() + 0.5
    assert RBF() ** np.int64(2) == RBF() ** 2 == RBF() ** 2.0


def test_division_by_a_positive_number_is_a_multiple():
    assert RBF() / 4 == 0.25 * RBF() == RBF() / np.float32(4)
    assert L1() / 4 == 0.25 * L1()


@pytest.mark.parametrize("rule", rules.TABLE, ids=lambda rule: rule.name)
def test_a_rule_has_one_name_in_proofs_and_refusals(rule):
    refusal = str(rules.underivable("k", rule, "a", "b", "c"))
    assert f"\n  R{rule.label[1:]} needs a" in refusal


def test_sums_and_products_flatten_only_their_own_kind():
    a, b, c = RBF(), Linear(), Laplacian()
    assert (a + b) + c == a + (b + c) == sum([a, b, c])
    assert len((a * b + c).terms) == 2
    assert repr(a * b + c) == "RBF() * Linear() + Laplacian()"
    assert repr(a * (b + c)) == "RBF() * (Linear() + Laplacian())"
    assert repr(2 * (a * b)) == "2.0 * (RBF() * Linear())"
    assert repr((2 * a) * b) == "2.0 * RBF() * Linear()"
    assert repr(1.0 + a) == "RBF() + 1.0"
    assert RBF().of(Polarised(Linear())) != RBF()
