"""Support vector machines are bitwise equal for any number of threads, however little memory they may keep."""

import numpy as np
import pytest
import scipy.sparse

import mercer

RNG = np.random.default_rng(3)
X = RNG.standard_normal((2400, 5))
score = X[:, 0] * X[:, 1] + 0.3 * RNG.standard_normal(2400)
five = np.digitize(score, np.quantile(score, [0.2, 0.4, 0.6, 0.8]))
# Entries that are expensive to make are looked for among those that other problems have kept.
WIDE = np.hstack([X, 0.1 * RNG.standard_normal((2400, 250))])
MACHINES = {
    "two classes": (mercer.SVC(C=3.0), score > 0.0),
    "five classes": (mercer.SVC(C=3.0), five),
    "five classes by nu": (mercer.NuSVC(nu=0.7), five),
    "tube": (mercer.SVR(), score),
    "tube by nu": (mercer.NuSVR(nu=0.3), score),
    "one class": (mercer.OneClassSVM(nu=0.3), None),
}


@pytest.fixture
def threads():
    before = mercer.get_num_threads()
    yield mercer.set_num_threads
    mercer.set_num_threads(before)


def check_alike(model, points, y, threads):
    found = []
    for count in (1, 2, 5):
        threads(count)
        model.fit(points, y)
        found.append((model.model_.coef, model.intercept_, model.n_iter_))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(two, one)


@pytest.mark.parametrize("rows", [600, 2400], ids=["double", "single"])
@pytest.mark.parametrize("cache_size", [0.5, 200.0])
@pytest.mark.parametrize("name", MACHINES)
def test_results_are_bitwise_equal_for_any_number_of_threads(name, cache_size, rows, threads):
    model, y = MACHINES[name]
    model.set_params(cache_size=cache_size)
    check_alike(model, X[:rows], None if y is None else y[:rows], threads)


@pytest.mark.parametrize("points", [WIDE, scipy.sparse.csr_array(X)], ids=["wide", "sparse"])
@pytest.mark.parametrize("cache_size", [2.0, 200.0])
def test_entries_that_problems_share_are_bitwise_equal_too(points, cache_size, threads):
    check_alike(mercer.SVC(C=3.0, cache_size=cache_size), points, five, threads)
