"""C = ∞: the hard margin, the hard tube, and what is not separable."""

import pickle

import numpy as np
import pytest

from mercer import SVC, SVR, InvalidParameter, NotSeparable, NuSVR
from tests.unit.estimators.svm_rows import X, new, target

# scikit-learn deprecates it, and so mercer warns; it is how probabilities are asked for all the same.
pytestmark = pytest.mark.filterwarnings("ignore:The `probability` parameter:FutureWarning")


def test_the_hard_margin_is_the_limit_of_large_penalties():
    y = np.where(X[:, 0] + X[:, 1] > 0.2, 1, 0)
    hard, soft = SVC(C=np.inf, kernel="linear").fit(X, y), SVC(C=1e9, kernel="linear").fit(X, y)
    np.testing.assert_allclose(hard.decision_function(new), soft.decision_function(new), rtol=1e-5)
    assert (hard.predict(X) == y).all()
    margins = np.abs(hard.decision_function(X))
    np.testing.assert_allclose(margins[hard.support_], 1.0, rtol=1e-6)
    assert margins.min() > 1.0 - 1e-6
    np.testing.assert_allclose(hard.coef_, soft.coef_, rtol=1e-5)


def test_a_hard_margin_of_many_classes_is_that_of_each_pair():
    y = np.digitize(X[:, 0], [-0.4, 0.4])
    hard = SVC(C=np.inf, decision_function_shape="ovo").fit(X, y)
    soft = SVC(C=1e9, decision_function_shape="ovo").fit(X, y)
    np.testing.assert_allclose(hard.decision_function(new), soft.decision_function(new), atol=1e-4)
    hard.set_params(probability=True).fit(X, y).predict_proba(new)


def test_what_is_not_separable_says_which_points_coincide():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.4, 0.3], [5.0, 5.0]])
    labels = np.array(["out", "out", "out", "in", "far"])
    with pytest.raises(NotSeparable, match="'in' and 'out'") as caught:
        SVC(C=np.inf, kernel="linear").fit(points, labels)
    error = caught.value
    assert error.classes == ("in", "out")
    assert error.distance < 1e-5
    for weight, label in zip(error.weights, error.classes, strict=True):
        assert weight.min() >= 0.0
        assert weight.sum() == pytest.approx(1.0)
        assert not weight[labels != label].any()
    np.testing.assert_allclose(error.weights[0] @ points, error.weights[1] @ points, atol=1e-5)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_two_classes_that_are_not_separable_name_them_in_order():
    points, labels = np.array([[0.0], [1.0], [1.0], [2.0]]), [0, 0, 1, 1]
    with pytest.raises(NotSeparable) as caught:
        SVC(C=np.inf).fit(points, labels)
    assert caught.value.classes == (0, 1)
    np.testing.assert_allclose(caught.value.weights[0], [0, 1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(caught.value.weights[1], [0, 0, 1, 0], atol=1e-6)


def test_a_hard_tube_holds_every_target():
    model = SVR(C=np.inf, epsilon=0.05).fit(X, target)
    assert np.abs(model.predict(X) - target).max() <= 0.05 + 1e-3
    assert not len(model.bounded_support_)


def test_a_hard_tube_that_cannot_be_says_why():
    points = np.array([[0.0], [1.0], [1.0], [2.0]])
    with pytest.raises(NotSeparable, match="within epsilon") as caught:
        SVR(C=np.inf, epsilon=0.1).fit(points, [0.0, 1.0, 3.0, 0.0])
    assert caught.value.distance < 1e-5
    np.testing.assert_allclose(sorted(caught.value.classes), [1.0, 3.0], atol=1e-6)
    with pytest.raises(InvalidParameter, match="finite"):
        NuSVR(C=np.inf).fit(points, [0.0, 1.0, 3.0, 0.0])
