import json
import math
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris

import mercer
from mercer.problems import Certificate, Status

X, y = load_iris(return_X_y=True)
MACHINES = [
    mercer.KernelRidge(kernel=mercer.RBF(1.0)), mercer.KernelRidgeCV(kernel=mercer.RBF(1.0)),
    mercer.KernelLogisticRegression(), mercer.SVC(), mercer.NuSVC(nu=0.2), mercer.SVR(), mercer.NuSVR(),
    mercer.OneClassSVM(), mercer.KernelNeighborsClassifier(), mercer.KernelNeighborsRegressor(),
    mercer.KernelNearestCentroid(), mercer.NadarayaWatson(), mercer.NadarayaWatsonClassifier(),
]  # fmt: skip


def each_machine(test):
    return pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)(test)


@each_machine
def test_every_fit_has_a_certificate_that_goes_through_json_and_pickle(machine):
    certificate = machine.fit(X, y).certificate_
    assert isinstance(certificate, Certificate)
    assert certificate.is_certified
    assert certificate.rows == len(X)
    told = json.loads(json.dumps(certificate.to_dict(), allow_nan=False))
    assert told["status"] == certificate.status.name
    assert told["sentence"] == certificate.status.value
    assert str(pickle.loads(pickle.dumps(certificate))) == str(certificate)


@each_machine
def test_every_machine_explains_itself(machine):
    text = machine.fit(X, y).explain()
    assert machine.certificate_.status.value in text
    assert len(text.splitlines()) >= 2


@each_machine
def test_every_machine_has_one_model_that_predicts_after_a_pickle(machine):
    machine.fit(X, y)
    again = pickle.loads(pickle.dumps(machine))
    np.testing.assert_array_equal(again.predict(X[::7]), machine.predict(X[::7]))
    assert isinstance(again.model_, mercer.Model)
    assert len(again.model_.basis) <= len(X)


def test_what_does_not_apply_is_none_and_not_shown():
    certificate = Certificate(Status.OPTIMAL, "squared loss", "cholesky", rows=3, primal=2.0, dual=1.0, gap=1.0)
    told = certificate.to_dict()
    assert told["violation"] is None
    assert told["rank"] is None
    assert "violation" not in str(certificate)
    assert "rank" not in str(certificate)


def test_a_table_for_notebooks_escapes_what_it_shows():
    claim = "<script>alert(1)</script>"
    shown = Certificate(Status.INDEFINITE, assumptions=(claim,), note="a < b")._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "a &lt; b" in shown
    assert "✗" in shown
    assert "✓" in Certificate(Status.OPTIMAL)._repr_html_()


def test_only_what_was_asked_for_is_certified():
    assert not any(Certificate(status).is_certified for status in (Status.STOPPED, Status.INEXACT, Status.INDEFINITE))
    assert math.isnan(Certificate(Status.OPTIMAL).gap)
