"""Decisions, predictions and supports of LIBSVM, through scikit-learn, for all five machines."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.svm

import mercer

RNG = np.random.default_rng(0)
N, LARGE = 300, 3000
X = RNG.standard_normal((N, 4))
score = X[:, 0] * X[:, 1] + 0.4 * RNG.standard_normal(N)
two, four = np.where(score > 0.1, "yes", "no"), np.digitize(score, np.quantile(score, [0.25, 0.5, 0.75]))
plane = X @ [1.0, -2.0, 0.5, 0.0] + 0.4 * RNG.standard_normal(N)
weight = RNG.uniform(0.1, 3.0, N)
new = RNG.standard_normal((100, 4))
thin = scipy.sparse.random(N, 40, density=0.1, random_state=1, format="csr")
thin_new = scipy.sparse.random(100, 40, density=0.1, random_state=2, format="csr")

# Ours is finished, theirs ends at this tolerance; a violation of tol moves a decision by c·tol.
TOL = 1e-7
C_TOL = 100.0 * TOL
# Coefficients below this share of the largest belong to rows that lie on the margin and may be in the support or not.
TIE = 1e-4

CASES = {
    "two classes": ("SVC", {"C": 3.0}, two),
    "four classes": ("SVC", {"C": 3.0}, four),
    "four classes, one against one": ("SVC", {"C": 0.3, "decision_function_shape": "ovo"}, four),
    "weighted classes": ("SVC", {"class_weight": {0: 3.0, 2: 0.2}}, four),
    "balanced classes": ("SVC", {"class_weight": "balanced"}, two),
    "linear": ("SVC", {"kernel": "linear", "C": 0.1}, np.digitize(plane, [-1.0, 1.0])),
    "polynomial": ("SVC", {"kernel": "poly", "degree": 2, "coef0": 1.0, "C": 0.2}, two),
    "nu classes": ("NuSVC", {"nu": 0.6}, two),
    "four nu classes": ("NuSVC", {"nu": 0.7, "decision_function_shape": "ovo"}, four),
    "tube": ("SVR", {"C": 3.0, "epsilon": 0.05}, score),
    "no tube": ("SVR", {"epsilon": 0.0}, score),
    "linear tube": ("SVR", {"kernel": "linear", "C": 0.1}, plane),
    "nu tube": ("NuSVR", {"nu": 0.3, "C": 3.0}, score),
    "one class": ("OneClassSVM", {"nu": 0.25}, None),
}


def fitted(name, parameters, points, y, sample_weight=None, tol=TOL):
    theirs = getattr(sklearn.svm, name)(**parameters, tol=tol).fit(points, y, sample_weight=sample_weight)
    ours = getattr(mercer, name)(**parameters).fit(points, y, sample_weight=sample_weight)
    return ours, theirs


def values(model, points):
    return np.asarray(model.predict(points) if "SVR" in type(model).__name__ else model.decision_function(points))


def sizes(model, n):
    """Of each row, its largest coefficient."""
    dual = model.dual_coef_.toarray() if scipy.sparse.issparse(model.dual_coef_) else model.dual_coef_
    found = np.zeros(n)
    found[model.support_] = np.abs(dual).max(axis=0)
    return found


def check_alike(ours, theirs, points, limit, tie=TIE):
    a, b = values(ours, points), values(theirs, points)
    np.testing.assert_allclose(a, b, atol=limit * max(1.0, np.abs(b).max()))
    n = ours.shape_fit_[0]
    one, other = sizes(ours, n), sizes(theirs, n)
    tied = tie * max(one.max(), other.max())
    assert not ((one > tied) & (other == 0.0)).any()
    assert not ((other > tied) & (one == 0.0)).any()


@pytest.mark.parametrize("case", CASES)
def test_dense_rows(case):
    name, parameters, y = CASES[case]
    ours, theirs = fitted(name, parameters, X, y)
    check_alike(ours, theirs, new, C_TOL)


@pytest.mark.parametrize("case", CASES)
def test_sparse_rows(case):
    name, parameters, y = CASES[case]
    ours, theirs = fitted(name, parameters, thin, y)
    check_alike(ours, theirs, thin_new, C_TOL)
    assert scipy.sparse.issparse(ours.dual_coef_)


# Balanced classes are left out because ours counts a weight as copies, and theirs counts rows.
@pytest.mark.parametrize("case", [case for case in CASES if "nu classes" not in case and "balanced" not in case])
def test_weighted_rows(case):
    name, parameters, y = CASES[case]
    gamma = {} if parameters.get("kernel") == "linear" else {"gamma": 0.3}  # ours counts the rows' weights in "scale"
    ours, theirs = fitted(name, parameters | gamma, X, y, weight)
    check_alike(ours, theirs, new, C_TOL)


@pytest.mark.parametrize("y", [two, four], ids=["two", "four"])
def test_weighted_rows_of_nu_classes(y):
    even = np.clip(weight, 0.5, 1.5)
    ours, theirs = fitted("NuSVC", {"nu": 0.6, "gamma": 0.3, "decision_function_shape": "ovo"}, X, y, even)
    check_alike(ours, theirs, new, C_TOL)


@pytest.mark.parametrize("case", ["four classes", "nu classes", "tube", "nu tube", "one class"])
def test_rows_beyond_the_small_problems_to_the_same_tolerance(case):
    name, parameters, _ = CASES[case]
    rng = np.random.default_rng(4)
    points = rng.standard_normal((LARGE, 5))
    targets = points[:, 0] * points[:, 1] + 0.4 * rng.standard_normal(LARGE)
    y = {"four classes": np.digitize(targets, [-0.8, 0.0, 0.8]), "nu classes": targets > 0.1}.get(case, targets)
    ours, theirs = fitted(name, parameters, points, y, tol=1e-3)
    assert ours.certificate_.status.is_certified
    # One-class coefficients are not divided by ρ: decisions are in units of n.
    check_alike(ours, theirs, rng.standard_normal((200, 5)), 2e-2, tie=0.05)
