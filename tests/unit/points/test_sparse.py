"""Sparse input of every format: what is malformed is refused, what is wide is no slower for it."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import mercer
from mercer.errors import InvalidInput
from mercer.points import as_points

DENSE = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, 0.0, 4.0], [5.0, 0.0, 0.0]])
FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
KINDS = [getattr(sp, f"{name}_{kind}") for name in FORMATS for kind in ("array", "matrix")]


def spoil_indices(X, value):
    X.indices[-1] = value


def spoil_coordinates(X, value):
    X.coords[1][-1] = value


def spoil_list(X, value):
    X.rows[0][0] = value


def spoil_key(X, value):
    dict.__setitem__(X._dict, (0, value), 1.0)


def shorten_data(X):
    X.data = X.data[:-1]


def lengthen_list(X):
    X.data[0] = X.data[0] * 1000


SPOIL = {
    "bsr": spoil_indices, "coo": spoil_coordinates, "csc": spoil_indices, "csr": spoil_indices, "dok": spoil_key,
    "lil": spoil_list,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_format_is_read(kind):
    given = kind(DENSE)
    np.testing.assert_array_equal(as_points(given).raw().toarray(), DENSE)
    np.testing.assert_array_equal(given.toarray(), DENSE)


@pytest.mark.parametrize("value", [3_000_000, 2**31 - 1, -5])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if "dia" not in kind.__name__], ids=lambda kind: kind.__name__)
def test_an_index_out_of_range_is_refused(kind, value):
    X = kind(DENSE)
    SPOIL[X.format](X, value)
    with pytest.raises(InvalidInput, match="Input X is not a well-formed sparse matrix"):
        as_points(X)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "dok" not in kind.__name__], ids=lambda kind: kind.__name__)
def test_arrays_of_different_lengths_are_refused(kind):
    X = kind(DENSE)
    (lengthen_list if X.format == "lil" else shorten_data)(X)
    with pytest.raises(InvalidInput, match="Input X is not a well-formed sparse matrix"):
        as_points(X)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array], ids=lambda kind: kind.__name__)
def test_offsets_that_fall_are_refused(kind):
    X = kind(DENSE)
    X.indptr[1] = 4
    X.indptr[2] = 1
    with pytest.raises(InvalidInput, match="Input X is not a well-formed sparse matrix"):
        as_points(X)


def test_offsets_of_diagonals_must_differ():
    X = sp.dia_array((np.ones((2, 3)), [0, 1]), shape=(3, 3))
    X.offsets[1] = 0
    with pytest.raises(InvalidInput, match="offsets must be different integers"):
        as_points(X)


def test_a_malformed_matrix_does_not_end_the_process():
    code = (
        "import numpy as np, scipy.sparse as sp\n"
        "from mercer.points import as_points\n"
        "for kind in (sp.csc_array, sp.csc_matrix, sp.coo_array, sp.bsr_array):\n"
        "    X = kind(np.ones((50, 50)))\n"
        "    (X.indices if hasattr(X, 'indices') else X.coords[0])[3] = 2**30\n"
        "    try:\n"
        "        as_points(X)\n"
        "    except ValueError:\n"
        "        print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["refused"] * 4


# Work that grows with the width would take gigabytes here: the tests say with their memory that there is none.
WIDTH = 2 * 10**9


def wide(rows):
    places = np.random.default_rng(3).integers(0, WIDTH, 5)
    return sp.csr_array((rows[rows != 0.0], places[np.nonzero(rows)[1]], np.r_[0, np.cumsum((rows != 0.0).sum(1))]),
                        shape=(len(rows), WIDTH))  # fmt: skip


ROWS = np.where(np.random.default_rng(0).random((12, 5)) < 0.6, np.random.default_rng(1).normal(size=(12, 5)), 0.0)
ROWS[:, 0] += 1.0
NEW = np.random.default_rng(2).normal(size=(4, 5))
KERNELS = [
    mercer.Linear(), mercer.RBF(2.0), mercer.Cosine(), mercer.Tanimoto(), mercer.Polynomial(2),
    mercer.RBF().on(mercer.Scale(0.5)), mercer.ArcCosine(), mercer.Linear().exp().normalised(),
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_empty_columns_change_nothing(kernel, dtype):
    rows, new = ROWS.astype(dtype), NEW.astype(dtype)
    atol = 2e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(kernel(wide(rows)), kernel(rows), atol=atol)
    np.testing.assert_allclose(kernel(wide(new), wide(rows)), kernel(new, rows), atol=atol)
    np.testing.assert_allclose(kernel.diag(wide(rows)), kernel.diag(rows), atol=atol)


def test_entries_in_columns_that_the_basis_has_not_still_count():
    basis, new = ROWS.copy(), NEW.copy()
    basis[:, 3:] = 0.0
    for kernel in (mercer.RBF(2.0), mercer.Cosine(), mercer.Linear()):
        np.testing.assert_allclose(kernel(wide(new), wide(basis)), kernel(new, basis), atol=1e-12)
    empty = np.zeros_like(basis)
    np.testing.assert_allclose(mercer.RBF()(wide(new), wide(empty)), mercer.RBF()(new, empty), atol=1e-12)


def test_columns_of_wide_rows_are_chosen():
    X = wide(ROWS)
    first = int(X.indices[0])
    np.testing.assert_array_equal(
        mercer.Columns(first, 5, first)(as_points(X)).raw().toarray(),
        np.column_stack([ROWS[:, 0], np.zeros(12), ROWS[:, 0]]),
    )


def test_machines_learn_from_wide_rows():
    y = np.arange(12) % 2
    for machine in (mercer.SVC(), mercer.SVC(kernel="linear"), mercer.KernelRidge(kernel="rbf", gamma=1.0)):
        np.testing.assert_array_equal(machine.fit(wide(ROWS), y).predict(wide(NEW)).shape, (4,))
