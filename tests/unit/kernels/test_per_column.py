import numpy as np
import pytest

from mercer import RBF, Laplacian, Linear, Periodic
from mercer.errors import DomainMismatch, InvalidInput

X = np.arange(8.0).reshape(4, 2)


@pytest.mark.parametrize(
    ("kernel", "owner", "name"),
    [
        (RBF([1, 2, 3]), "RBF", "length_scale"),
        (Linear() + Laplacian([1, 2, 3]), "Laplacian", "length_scale"),
        (Periodic([1, 2, 3]), "Periodic", "length_scale"),
        (Periodic(1.0, [1, 2, 3]), "Periodic", "period"),
    ],
)
def test_a_parameter_that_does_not_fit_the_columns_is_named_as_it_was_written(kernel, owner, name):
    words = rf"X has 2 features, but {owner} is expecting 3 .*\n  {name} of {owner} has 3 entries, one per column"
    with pytest.raises(InvalidInput, match=words):
        kernel(X)


def test_one_entry_per_column_scales_the_columns():
    np.testing.assert_allclose(RBF([1, 2])(X), RBF()(X / [1, 2]), rtol=1e-12)
    np.testing.assert_allclose(Periodic([1, 2], [3, 4])(X).diagonal(), 1.0)


def test_other_points_are_refused_in_the_name_of_the_kernel():
    with pytest.raises(DomainMismatch, match=r"^RBF\(\[1\.0, 2\.0\]\) cannot read X"):
        RBF([1, 2])([{1}])
