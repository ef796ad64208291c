"""Neighbours, smoothers and centroids hold one model, which is all that they read, and one certificate."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from mercer import (
    RBF,
    Custom,
    KernelNearestCentroid,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    Linear,
    NadarayaWatson,
    NadarayaWatsonClassifier,
)
from mercer.points import as_points

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(200, 50)), RNG.normal(size=(7, 50))
CODES = RNG.integers(0, 3, 200)
Y = X @ RNG.normal(size=(50, 2))

MACHINES = {
    "mean of neighbours": KernelNeighborsRegressor(4, weights="distance").fit(X, Y),
    "vote of neighbours": KernelNeighborsClassifier(4, kernel=RBF(9.0)).fit(X, CODES),
    "mean": NadarayaWatson(4.0).fit(X, Y, CODES),
    "window": NadarayaWatson(9.0, kernel="tricube").fit(X, Y),
    "vote": NadarayaWatsonClassifier("loo").fit(X, CODES),
    "centroid": KernelNearestCentroid(kernel=RBF(9.0)).fit(X, CODES),
}


@pytest.mark.parametrize("name", MACHINES)
def test_predictions_read_only_the_model(name):
    machine = MACHINES[name]
    bare = clone(machine)
    for attribute in {"model_", "n_features_in_", "_is_flat"} & set(vars(machine)):
        setattr(bare, attribute, vars(machine)[attribute])
    np.testing.assert_array_equal(bare.predict(NEW), machine.predict(NEW))


@pytest.mark.parametrize("name", MACHINES)
def test_a_pickle_holds_the_points_once(name):
    machine = MACHINES[name]
    machine.predict(NEW)
    state = pickle.dumps(machine)
    assert len(state) < 1.2 * X.nbytes
    np.testing.assert_array_equal(pickle.loads(state).predict(NEW), machine.predict(NEW))


@pytest.mark.parametrize("name", MACHINES)
def test_a_certificate_says_that_there_was_nothing_to_solve(name):
    certificate = MACHINES[name].certificate_
    assert certificate.is_certified
    assert certificate.rows == 200
    assert "nothing to solve" in str(certificate)
    assert str(certificate) in MACHINES[name].explain()


def test_a_certificate_names_what_the_kernel_assumes():
    claimed = Custom(lambda x, z: float(x @ z), because="of a test")
    for machine in (KernelNeighborsRegressor(2, kernel=claimed), KernelNearestCentroid(kernel=claimed)):
        assert machine.fit(X[:20], CODES[:20]).certificate_.assumptions == claimed.proof().assumptions != ()


def test_the_scores_of_a_model_are_sums_over_its_points():
    K = RBF(9.0)(NEW, X)
    centroid = MACHINES["centroid"]
    np.testing.assert_allclose(
        centroid.model_.scores(as_points(NEW)), K @ centroid.dual_coef_ - 0.5 * centroid.squared_norms_
    )
    smoother = MACHINES["mean"].model_
    np.testing.assert_allclose(smoother.scores(as_points(NEW)), RBF(4.0)(NEW, X) @ smoother.coef)


def test_neighbours_vote_as_they_were_fitted():
    machine = KernelNeighborsRegressor(1, kernel=Linear()).fit([[0.0], [1.0]], [0.0, 1.0])
    assert machine.set_params(n_neighbors=2).predict([[0.1]]) == 0.0
    assert machine.fit([[0.0], [1.0]], [0.0, 1.0]).predict([[0.1]]) == 0.5
