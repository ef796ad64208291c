"""Messages name the smallest part of the formula that its user wrote, and say what helps."""

import numpy as np
import pytest

from mercer import kernels as mk
from mercer import maps as mm
from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter, NotFinite

WORDS = ["a", "b", "c"]
SETS = [{1, 2}, {2}, set()]
ROWS = np.array([[1.0, -2.0], [3.0, 4.0], [0.5, 0.0]])


@pytest.mark.parametrize(
    ("kernel", "X", "named"),
    [
        (mk.RBF(), SETS, "RBF()"),
        (mk.RBF("median"), SETS, "RBF('median')"),
        (mk.RBF("scale"), SETS, "RBF('scale')"),
        (mk.RBF([1.0, 2.0]), WORDS, "RBF([1.0, 2.0])"),
        (mk.Laplacian(2.0), WORDS, "Laplacian(2.0)"),
        (mk.Polynomial(2), WORDS, "Polynomial(2)"),
        (mk.Cosine(), WORDS, "Cosine()"),
        (mk.ArcCosine(), WORDS, "ArcCosine()"),
        (mk.Periodic(), WORDS, "Periodic()"),
        (mk.Periodic("median"), WORDS, "Periodic('median')"),
        (mk.Tanimoto(), WORDS, "Tanimoto()"),
        (mk.Tanimoto(mk.Linear()), WORDS, "Tanimoto()"),
        (mk.Quadratic([[1.0]]), WORDS, "Quadratic([[1.0]])"),
        (mk.IntersectionExp(), ROWS, "IntersectionExp()"),
        (mk.SetIntersection(), ROWS, "SetIntersection()"),
        (mk.IntersectionExp().normalised(), ROWS, "IntersectionExp().normalised()"),
        (mk.RBF() + mk.SetIntersection(), ROWS, "SetIntersection()"),
        (2.0 * mk.Linear().exp().normalised(), WORDS, "Linear().exp().normalised()"),
        (mk.RBF().of(mk.SquaredEuclidean()), WORDS, "SquaredEuclidean()"),
        (mk.RBF().of(mk.Polarised(mk.Linear() ** 2)), WORDS, "Linear()"),
        (mk.Linear().on(mm.Indicator()), ROWS, "Indicator()"),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_points_of_another_kind_are_refused_by_the_part_that_the_user_wrote(kernel, X, named):
    with pytest.raises(DomainMismatch) as refused:
        kernel(X)
    assert str(refused.value).startswith(f"{named} cannot read X")


def test_signs_are_refused_by_the_part_that_the_user_wrote():
    with pytest.raises(InvalidInput, match=r"^ExponentialChiSquared\(\) is a kernel on non-negative numbers only"):
        mk.ExponentialChiSquared()(ROWS)


def test_widths_are_refused_by_the_part_that_the_user_wrote():
    with pytest.raises(InvalidInput, match="X has 2 features, but Quadratic is expecting 3"):
        mk.Quadratic(np.eye(3))(ROWS)


@pytest.mark.parametrize(
    ("kernel", "X", "named"),
    [
        (mk.IntersectionExp() + 1.0, [set(range(1000))], "IntersectionExp()"),
        (mk.Polynomial(200) + mk.RBF(), 1e3 * ROWS, "Polynomial(200)"),
        (mk.Cosine(), 1e300 * ROWS, "Cosine()"),
        (mk.Linear().normalised() ** 2, 1e300 * ROWS, "Linear().normalised()"),
    ],
    ids=repr,
)
def test_values_that_overflow_are_those_of_the_part_that_the_user_wrote(kernel, X, named):
    with pytest.raises(NotFinite) as refused:
        kernel(X)
    assert str(refused.value).startswith(f"{named} is not finite at row 0")


def test_only_where_it_helps_is_one_told_to_normalise():
    with pytest.raises(NotFinite, match="normalised"):
        mk.Linear().exp()(1e3 * ROWS)
    assert np.isfinite(mk.Linear().exp().normalised()(1e3 * ROWS)).all()
    for kernel in (mk.Linear(), mk.Cosine()):
        with pytest.raises(NotFinite) as refused:
            kernel(1e300 * ROWS)
        assert "normalised" not in str(refused.value)
        assert "Scale the points" in str(refused.value)


def weigh(x, z):
    return float("nan")


def test_a_function_is_named_as_it_is_called():
    with pytest.raises(NotFinite, match=r"^The function weigh is not finite at row 0 against basis point 0"):
        mk.Custom(weigh, because="it is not")(ROWS)
    with pytest.raises(InvalidInput, match=r"^The function len must return one number per point"):
        mk.RBF().scaled_by(len)(ROWS)


def test_rows_of_different_lengths_may_be_meant_as_sets():
    with pytest.raises(InvalidInput, match=r"\[set\(row\) for row in X\]"):
        mk.SetIntersection()([["a", "b"], ["c"]])


def test_numbers_of_numpy_are_shown_as_numbers():
    with pytest.raises(InvalidParameter, match=r"Got -1\.0\."):
        mk.RBF(np.float64(-1.0))
    with pytest.raises(InvalidParameter, match=r"Got -3\."):
        mm.Columns(np.int64(-3))


def test_an_index_of_numpy_chooses_a_column():
    assert mk.RBF().on(np.int64(1)) == mk.RBF().on(1)


@pytest.mark.parametrize(
    "make",
    [
        mk.RBF,
        lambda huge: mk.RBF([huge, 1]),
        lambda huge: huge * mk.RBF(),
        lambda huge: mk.RBF() + huge,
        lambda huge: mk.RBF() ** huge,
        lambda huge: mk.RBF() / huge,
        mk.Constant,
        mk.Polynomial,
    ],
)
@pytest.mark.parametrize("digits", [400, 6000])
def test_integers_beyond_every_float_are_refused_for_what_they_are(make, digits):
    with pytest.raises(ValueError, match=f"integer of about {digits + 1} digits"):
        make(10**digits)
