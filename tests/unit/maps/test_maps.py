"""Maps: values, precision, sparsity, widths and refusals."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter
from mercer.maps import Columns, FunctionMap, Indicator, Map, Scale, Torus, UnitRows
from mercer.points import Domain, Indicators, Objects, Sets, Stored, Table, Vectors, as_points

RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 3))
X[2] = 0.0
X[3, 1] = 0.0


def double(rows):
    return rows * 2.0


STATELESS = [Scale(2.0), Scale([1.0, -2.0, 0.5]), Torus(2.0), Torus([1.0, 2.0, 3.0]), UnitRows(), Columns(2, 0)]
EVERY = [*STATELESS, Indicator(), FunctionMap(double)]


def raw(points):
    return points.raw().toarray() if points.is_sparse else points.raw()


@pytest.mark.parametrize("m", EVERY, ids=repr)
def test_maps_are_frozen_comparable_and_can_be_pickled(m):
    assert isinstance(m, Map)
    again = pickle.loads(pickle.dumps(m))
    assert again == m
    assert hash(again) == hash(m)
    assert m.replace(**m.get_params()) == m
    assert m.needs <= set(Domain.KNOWN.values())


@pytest.mark.parametrize("m", [m for m in EVERY if not isinstance(m, FunctionMap)], ids=repr)
def test_repr_reads_back(m):
    assert eval(repr(m)) == m


@pytest.mark.parametrize("m", STATELESS, ids=repr)
def test_a_stateless_map_is_its_own_fitted_map(m):
    assert m.fit(Vectors(X)) is m


@pytest.mark.parametrize("m", [*STATELESS, FunctionMap(double)], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_images_of_rows_depend_on_their_own_row_and_keep_precision(m, dtype):
    points = Vectors(X.astype(dtype))
    before = points.dense.copy()
    image = m(points)
    assert image.dtype == dtype
    assert len(image) == len(points)
    assert m.out_width(3) in (image.width, None)
    np.testing.assert_array_equal(image.take([3, 1]).raw(), m(points.take([3, 1])).raw())
    np.testing.assert_array_equal(points.dense, before)


@pytest.mark.parametrize(
    "m", [Scale(2.0), Scale([1.0, -2.0, 0.5]), UnitRows(), Columns(2, 0), FunctionMap(double)], ids=repr
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_vectors_stay_sparse_with_the_same_images(m, dtype):
    image = m(Vectors(sp.csr_array(X.astype(dtype))))
    assert image.is_sparse
    assert image.dtype == dtype
    np.testing.assert_allclose(
        raw(image), m(Vectors(X.astype(dtype))).raw(), rtol=1e-6 if dtype == np.float32 else 1e-15
    )


@pytest.mark.parametrize(
    "m", [*STATELESS, FunctionMap(lambda columns: np.column_stack(list(columns.values())))], ids=repr
)
def test_a_numeric_table_is_read_as_vectors(m):
    table = as_points({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    expected = Vectors(X).raw() if isinstance(m, FunctionMap) else m(Vectors(X)).raw()
    np.testing.assert_array_equal(m(table).raw(), expected)


@pytest.mark.parametrize("m", [Scale(2.0), Torus(), UnitRows(), Columns(0)], ids=repr)
@pytest.mark.parametrize("points", [Sets([{1}]), Objects(["a"]), Stored(X)], ids=repr)
def test_points_of_another_domain_are_refused_with_advice(m, points):
    with pytest.raises(DomainMismatch, match="cannot read X: it needs vectors") as caught:
        m(points)
    assert repr(m) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 3


def test_torus_on_sets_says_what_would_work():
    with pytest.raises(DomainMismatch, match=r"Torus\(2.0\) cannot read X.*\n.*Sets\(1, 1 items\).*\n.*Indicator\(\)"):
        Torus(2.0)(Sets([{1}]))


# Scale


@pytest.mark.parametrize("factors", [0.0, np.nan, np.inf, [1.0, 0.0], [], [[1.0]], "a", None, 1j], ids=str)
def test_scale_refuses_factors_that_lose_a_column(factors):
    with pytest.raises(InvalidParameter, match="factors"):
        Scale(factors)


@pytest.mark.parametrize(("m", "name"), [(Scale([1.0, 2.0]), "factors"), (Torus([1.0, 2.0]), "period")])
def test_one_entry_per_column_must_fit_the_width(m, name):
    with pytest.raises(InvalidInput, match=f"X has 3 features, but {type(m).__name__} is expecting 2.*\n.*{name}"):
        m(Vectors(X))
    with pytest.raises(InvalidInput, match="3 features"):
        m.out_width(3)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_scale_names_the_row_that_overflows(make):
    with pytest.raises(InvalidInput, match=r"Scale\(1e\+200\) of X contains infinity.*\n.*Row 1, column 0"):
        Scale(1e200)(Vectors(make(np.array([[1.0], [1e200]]))))


# Torus


def test_torus_puts_cosine_and_sine_side_by_side():
    image = Torus([1.0, 4.0, 2.0])(Vectors(X)).raw()
    for j, period in enumerate([1.0, 4.0, 2.0]):
        np.testing.assert_allclose(image[:, 2 * j], np.cos(2 * np.pi * X[:, j] / period), atol=1e-14)
        np.testing.assert_allclose(image[:, 2 * j + 1], np.sin(2 * np.pi * X[:, j] / period), atol=1e-14)


@pytest.mark.parametrize("turns", [1.0, -3.0, 2.0**40])
def test_torus_forgets_whole_turns_even_many(turns):
    grid = np.arange(8.0)[:, None] / 8.0
    np.testing.assert_allclose(Torus(1.0)(Vectors(grid + turns)).raw(), Torus(1.0)(Vectors(grid)).raw(), atol=1e-15)


def test_torus_survives_tiny_periods_and_huge_values():
    assert np.isfinite(Torus(1e-300)(Vectors([[1e300]])).raw()).all()


@pytest.mark.parametrize("period", [0.0, -1.0, np.inf, [1.0, -1.0], "day"], ids=str)
def test_torus_refuses_periods_that_are_not_positive(period):
    with pytest.raises(InvalidParameter, match="period"):
        Torus(period)


def test_torus_refuses_sparse_vectors():
    with pytest.raises(InvalidInput, match=r"sparse.*\n.*\n.*toarray"):
        Torus()(Vectors(sp.csr_array(X)))


# UnitRows


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_unit_rows_have_norm_one_or_zero_at_every_scale(make, scale):
    image = raw(UnitRows()(Vectors(make(X * scale))))
    np.testing.assert_allclose(np.linalg.norm(image, axis=1), [1, 1, 0, 1, 1], rtol=4e-16)
    np.testing.assert_allclose(image, raw(UnitRows()(Vectors(X))), rtol=1e-14)


def test_unit_rows_of_an_empty_sparse_matrix_stay_empty():
    assert UnitRows()(Vectors(sp.csr_array((3, 2)))).csr.nnz == 0


def test_unit_rows_of_indicators_use_the_true_sizes():
    indicator = Indicator().fit(Sets([{1, 2}, {2, 3}]))
    image = UnitRows()(indicator(Sets([{2, 7, 8, 9}])))
    np.testing.assert_allclose(raw(image), [[0.0, 0.5, 0.0, np.sqrt(3) / 2]], rtol=1e-15)


# Columns


def test_columns_keep_the_given_order_and_may_repeat():
    np.testing.assert_array_equal(Columns(2, 0, 0)(Vectors(X)).raw(), X[:, [2, 0, 0]])
    np.testing.assert_array_equal(raw(Columns(2, 0, 0)(Vectors(sp.csr_array(X)))), X[:, [2, 0, 0]])


def test_columns_of_a_table_go_by_name_or_position_and_may_change_domain():
    table = Table({"a": [1, 2], "s": [{1}, {2}], "c": ["x", "y"]})
    assert isinstance(Columns("s")(table), Sets)
    assert isinstance(Columns("c")(table), Objects)
    assert isinstance(Columns(0)(table), Vectors)
    assert Columns("c", 0)(table).raw() == [("x", 1), ("y", 2)]


def test_columns_write_themselves_as_they_were_called():
    assert repr(Columns("a", 2)) == "Columns('a', 2)"


def test_an_index_out_of_range_is_named():
    with pytest.raises(InvalidInput, match=r"Columns\(0, 3\) asks for column 3.*\n.*columns 0 to 2"):
        Columns(0, 3)(Vectors(X))
    with pytest.raises(InvalidInput, match="column 3"):
        Columns(0, 3).out_width(3)


def test_a_name_without_a_table_is_named():
    with pytest.raises(InvalidInput, match="column 'age', but X has no column names"):
        Columns("age")(Vectors(X))


@pytest.mark.parametrize("names", [(), (-1,), (True,), (1.5,), (None,), ((0, 1),)], ids=str)
def test_columns_refuse_what_is_no_name(names):
    with pytest.raises(InvalidParameter, match="names"):
        Columns(*names)


def test_columns_of_indicators_are_refused():
    with pytest.raises(InvalidInput, match="before Indicator"):
        Columns(0)(Indicators([0, 1], [0], 1, [1]))


# FunctionMap


def test_a_function_may_change_the_domain():
    assert FunctionMap(lambda words: [set(word) for word in words])(Objects(["ab", "c"])).raw() == [{"a", "b"}, {"c"}]
    assert isinstance(FunctionMap(lambda sets: [[len(s)] for s in sets])(Sets([{1}, set()])), Vectors)


def test_a_function_that_mixes_rows_is_found_out_when_fitted():
    with pytest.raises(InvalidInput, match="not a function of one point"):
        FunctionMap(lambda rows: rows - rows.mean(axis=0)).fit(Vectors(X))
    with pytest.raises(InvalidInput, match="not a function of one point"):
        FunctionMap(lambda rows: rows @ rows.T).fit(Vectors(X))
    fair = FunctionMap(double)
    assert fair.fit(Vectors(X)) is fair


def test_a_function_must_return_one_valid_image_per_point():
    with pytest.raises(InvalidInput, match=r"one image per point.*\n.*Got 4 images of 5"):
        FunctionMap(lambda rows: rows[1:])(Vectors(X))
    with pytest.raises(InvalidInput, match=r"contains NaN.*\n.*Row 2, column 0"):
        FunctionMap(lambda rows: np.where(rows == 0.0, np.nan, rows))(Vectors(X))


@pytest.mark.parametrize("fn", [3, "f", None, [print]], ids=str)
def test_a_function_must_be_callable(fn):
    with pytest.raises(InvalidParameter, match="fn"):
        FunctionMap(fn)
