"""Probabilities of support vector machines, calibrated on rows that were held out."""

import numpy as np
import pytest
import scipy.special

from mercer import SVC, NuSVC
from tests.unit.estimators.svm_rows import X, five, new, three, two

# scikit-learn deprecates it, and so mercer warns; it is how probabilities are asked for all the same.
pytestmark = pytest.mark.filterwarnings("ignore:The `probability` parameter:FutureWarning")


@pytest.mark.parametrize("machine", [SVC, NuSVC])
@pytest.mark.parametrize("y", [two, three, five])
def test_probabilities_never_contradict_predictions(machine, y):
    model = machine(random_state=0, probability=True, **({"nu": 0.3} if machine is NuSVC else {})).fit(X, y)
    far = np.vstack([X, new, 30.0 * new])
    p = model.predict_proba(far)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert p.min() >= 0.0
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(far))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(far)), p, atol=1e-12)
    again = machine(random_state=0, probability=True, **({"nu": 0.3} if machine is NuSVC else {})).fit(X, y)
    np.testing.assert_allclose(again.predict_proba(far), p, rtol=1e-9)


def test_a_probability_of_two_classes_rises_with_the_decision_from_a_half():
    model = SVC(random_state=0, probability=True).fit(X, two)
    g, p = model.decision_function(new), model.predict_proba(new)[:, 1]
    np.testing.assert_array_equal(np.argsort(g), np.argsort(p))
    slope = (scipy.special.logit(p) / g).mean()
    assert slope > 0.0
    np.testing.assert_allclose(p, scipy.special.expit(slope * g), rtol=1e-9)


def test_probabilities_are_calibrated_on_rows_that_were_held_out():
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((200, 10))
    y = rng.integers(0, 2, 200)
    p = SVC(C=100.0, random_state=0, probability=True).fit(noise, y).predict_proba(noise)
    assert np.abs(p - 0.5).max() < 0.2  # it fits its own rows without an error, and that says nothing


@pytest.mark.parametrize("machine", [SVC(), NuSVC(nu=0.1), SVC(C=np.inf)])
def test_classes_of_one_row_have_probabilities(machine):
    points, labels = np.array([[0.0], [1.0], [3.0], [4.0], [4.5]]), [0, 1, 2, 2, 2]
    for rows in ([0, 1], [0, 1, 2], [0, 1, 2, 3, 4]):
        model = type(machine)(**{**machine.get_params(), "probability": True})
        model.fit(points[rows], np.array(labels)[rows])
        p = model.predict_proba(points[rows])
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(points[rows]))


def test_probability_is_as_in_scikit_learn():
    for no in (False, np.False_):
        with pytest.warns(FutureWarning, match="probability"):
            model = SVC(probability=no).fit(X, two)
        assert not hasattr(model, "predict_proba")
    with pytest.warns(FutureWarning, match="probability"):
        model = SVC(probability=True, random_state=0).fit(X, two)
    p = model.predict_proba(X)[:, 1]
    with pytest.warns(FutureWarning, match="probA_"):
        a = model.probA_
    np.testing.assert_allclose(p, scipy.special.expit(-a[0] * model.decision_function(X)))
