"""What a function given as kernel may be: every callable object, kernels of Gaussian processes among them."""

import functools
import pickle

import numpy as np
import pytest
import sklearn.kernel_ridge
import sklearn.svm
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, DotProduct
from sklearn.metrics.pairwise import rbf_kernel

import mercer
from mercer.errors import InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
NEW = RNG.normal(size=(7, 3))
LABELS = np.where(X[:, 0] + 0.3 * X[:, 1] > 0.0, "yes", "no")
TARGETS = X[:, 0] * X[:, 1]
GAUSSIAN_PROCESS = RBF(1.3) + 0.1 * DotProduct()


class Inner:
    """Without a hash, as objects are that are equal by their values."""

    __hash__ = None

    def __eq__(self, other):
        return self is other

    def __call__(self, A, B, scale=1.0):
        return rbf_kernel(A, B, gamma=scale)

    def method(self, A, B):
        return rbf_kernel(A, B)


MATRIX_FUNCTIONS = {
    "kernel of a Gaussian process": GAUSSIAN_PROCESS,
    "its bound method": GAUSSIAN_PROCESS.__call__,
    "object": Inner(),
    "bound method": Inner().method,
    "partial": functools.partial(Inner(), scale=2.0),
}


@pytest.mark.parametrize("kernel", MATRIX_FUNCTIONS.values(), ids=MATRIX_FUNCTIONS)
@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"])
def test_support_vector_machines_take_every_callable_as_scikit_learn_does(name, kernel):
    y = LABELS if name.endswith("SVC") else TARGETS
    ours = getattr(mercer, name)(kernel=kernel, tol=1e-7).fit(X, y)
    theirs = getattr(sklearn.svm, name)(kernel=kernel, tol=1e-7).fit(X, y)
    method = "predict" if name.endswith("SVR") else "decision_function"
    np.testing.assert_allclose(getattr(ours, method)(NEW), getattr(theirs, method)(NEW), atol=1e-5)
    copy = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(copy.predict(NEW), ours.predict(NEW))
    assert type(clone(ours).kernel) is type(kernel)
    assert name in repr(ours)


MACHINES = [
    (mercer.KernelRidge(), TARGETS),
    (mercer.KernelRidgeCV(), TARGETS),
    (mercer.KernelLogisticRegression(), LABELS),
    (mercer.KernelNeighborsClassifier(), LABELS),
    (mercer.KernelNeighborsRegressor(), TARGETS),
    (mercer.KernelNearestCentroid(), LABELS),
    (mercer.SVC(), LABELS),
    (mercer.SVR(), TARGETS),
]


@pytest.mark.parametrize(("machine", "y"), MACHINES, ids=lambda value: repr(value)[:30])
def test_every_machine_takes_a_kernel_of_a_gaussian_process(machine, y):
    fitted = clone(machine).set_params(kernel=GAUSSIAN_PROCESS).fit(X, y)
    reference = clone(machine).set_params(kernel="precomputed").fit(GAUSSIAN_PROCESS(X), y)
    ours, theirs = fitted.predict(NEW), reference.predict(GAUSSIAN_PROCESS(NEW, X))
    if y is LABELS:
        np.testing.assert_array_equal(ours, theirs)
    else:
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(NEW), ours)
    assert clone(fitted).kernel == GAUSSIAN_PROCESS


def test_ridge_predicts_with_such_a_kernel_as_scikit_learn_does():
    ours = mercer.KernelRidge(kernel=GAUSSIAN_PROCESS).fit(X, TARGETS).predict(NEW)
    theirs = sklearn.kernel_ridge.KernelRidge(kernel=GAUSSIAN_PROCESS).fit(X, TARGETS).predict(NEW)
    np.testing.assert_allclose(ours, theirs, atol=1e-10)


def test_its_parameters_are_set_on_a_copy():
    given = RBF(1.3)
    fitted = mercer.KernelRidge(kernel=given).fit(X, TARGETS)
    before = fitted.predict(NEW)
    fitted.set_params(kernel__length_scale=9.0)
    assert (given.length_scale, fitted.kernel.length_scale) == (1.3, 9.0)
    np.testing.assert_array_equal(fitted.predict(NEW), before)


@pytest.mark.parametrize("machine", [mercer.SVC(kernel=RBF), mercer.KernelRidge(kernel=RBF)], ids=["SVC", "ridge"])
def test_the_class_of_such_a_kernel_is_no_kernel(machine):
    with pytest.raises(InvalidParameter, match=r"Write RBF\(…\)"):
        machine.fit(X, LABELS if isinstance(machine, mercer.SVC) else TARGETS)


def test_a_function_has_no_parameters_to_set():
    with pytest.raises(InvalidParameter, match="Only a Kernel object has parameters"):
        mercer.SVC(kernel=np.dot).set_params(kernel__scale=1.0)
