"""What the rows of `KINDS` refuse to build."""

import numpy as np
import pytest

from mercer.errors import InvalidInput, InvalidParameter
from mercer.problems.margins import KINDS


def one_problem(kind, y, cost, nu=0.4):
    return KINDS[kind].build(np.array([0, len(y)]), np.array([[0]]), y, cost, nu, 0.1)


def test_a_nu_that_one_class_cannot_take_is_refused():
    y = np.array([1.0, -1.0, -1.0, -1.0])
    with pytest.raises(InvalidParameter, match="specified nu is infeasible") as refused:
        one_problem("nu-svc", y, np.ones(4), 0.6)
    assert "at most 0.5" in str(refused.value)
    assert one_problem("nu-svc", y, np.ones(4), 0.5).start == pytest.approx([1.0, -1.0, 0.0, 0.0])


def test_hulls_need_a_row_of_each_class():
    with pytest.raises(InvalidInput, match="a row of each"):
        one_problem("hulls", np.array([1.0, -1.0]), np.array([1.0, 0.0]))
