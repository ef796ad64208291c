"""Rows that come in blocks: read again and again, checked, and never all in memory."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.errors import InvalidInput
from mercer.points import Blocks, as_points

RNG = np.random.default_rng(0)
X = RNG.standard_normal((100, 3))


def cut(rows, size=30):
    return lambda: (rows[i : i + size] for i in range(0, rows.shape[0], size))


def test_they_know_their_rows_and_give_any_of_them():
    blocks = Blocks(cut(X))
    assert repr(blocks) == "Blocks(100 x 3 in 4 blocks)"
    assert as_points(blocks) is blocks
    for rows in ([99, 3, 3, 50], slice(10, 80, 7), np.arange(100) % 2 == 0, [-1]):
        np.testing.assert_array_equal(blocks.take(rows).dense, X[rows])


def test_sparse_blocks_stay_sparse():
    S = sp.csr_matrix(np.where(X > 1.0, X, 0.0))
    taken = Blocks(cut(S)).take([70, 2])
    assert taken.is_sparse
    np.testing.assert_array_equal(taken.raw().toarray(), S.toarray()[[70, 2]])


def test_a_bad_value_is_named_by_block_and_row():
    wrong = X.copy()
    wrong[65, 1] = np.nan
    with pytest.raises(InvalidInput, match=r"block 2 of X") as caught:
        Blocks(cut(wrong))
    assert "Row 5" in str(caught.value)


def test_an_iterator_is_refused_for_it_can_be_read_once():
    with pytest.raises(InvalidInput, match="a function that begins a new pass"):
        Blocks(iter([X]))


def test_no_blocks_are_no_samples():
    with pytest.raises(InvalidInput, match=r"0 sample"):
        Blocks(lambda: ())


def test_blocks_of_different_width_are_refused():
    with pytest.raises(InvalidInput, match="not the same in every pass") as caught:
        Blocks(lambda: (X, X[:, :2]))
    assert "Block 1 has 2 columns, and the first had 3" in str(caught.value)


@pytest.mark.parametrize(
    ("later", "message"),
    [
        ([X[:30], X[30:59]], "Block 1 has 29 rows, and had 30"),
        ([X[:30]], "There were 2 blocks in the first pass, and 1 in this one"),
        ([X[:30], X[30:60], X[60:]], "Block 2 has 40 rows, and had 0"),
    ],
    ids=["a file that shrinks", "a block that is missing", "a file that grows"],
)
def test_what_changes_between_passes_is_refused(later, message):
    passes = iter([[X[:30], X[30:60]], later])
    blocks = Blocks(lambda: next(passes))
    with pytest.raises(InvalidInput, match="not the same in every pass") as caught:
        blocks.take([0])
    assert message in str(caught.value)


def test_what_a_block_raises_comes_through():
    def read():
        yield X
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        Blocks(read)
