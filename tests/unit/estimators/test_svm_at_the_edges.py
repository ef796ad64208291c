"""Support vector machines on what users bring: broken, tiny, degenerate and hopeless data, and no patience."""

import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest

from mercer import (
    RBF,
    SVC,
    SVR,
    Cosine,
    Delta,
    DomainMismatch,
    InvalidInput,
    InvalidParameter,
    Linear,
    NotFinite,
    NuSVR,
    OneClassSVM,
    Polynomial,
    UncertifiedWarning,
)
from mercer.estimators._svm import UnfinishedWarning
from mercer.problems import Status
from mercer.solvers.smo import LONG_STEPS

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
labels, target = (X[:, 0] > 0.0).astype(int), X[:, 0] + 0.1 * RNG.standard_normal(60)
MACHINES = [(SVC, labels), (SVR, target), (OneClassSVM, None)]
each_machine = pytest.mark.parametrize(("machine", "y"), MACHINES, ids=["SVC", "SVR", "OneClassSVM"])
# On noise, with 12 000 rows, this takes more than `LONG_STEPS` steps, 10 000 000: long after the tests' patience.
HOPELESS = {"C": 1e4}


def some(y, rows):
    return None if y is None else y[rows]


def broken(value):
    points = X.copy()
    points[3, 1] = value
    return points


@each_machine
def test_what_is_no_number_is_found(machine, y):
    for value, said in ((np.nan, "NaN"), (np.inf, "infinity")):
        with pytest.raises(InvalidInput, match=f"(?s){said}.*Row 3, column 1"):
            machine().fit(broken(value), y)
        with pytest.raises(InvalidInput, match=f"(?s){said}.*Row 3, column 1"):
            machine().fit(X, y).predict(broken(value))
    with pytest.raises(ValueError, match="sample_weight contains NaN"):
        machine().fit(X, y, sample_weight=np.full(60, np.nan))


@pytest.mark.parametrize(("machine", "y"), MACHINES[:2], ids=["SVC", "SVR"])
def test_targets_are_checked(machine, y):
    unknown = y.astype(float)
    unknown[0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        machine().fit(X, unknown)
    with pytest.raises(InvalidInput, match="60 rows, y has 59"):
        machine().fit(X, y[:-1])
    with pytest.raises(ValueError, match="1d array"):
        machine().fit(X, np.column_stack([y, y]))


@each_machine
def test_shapes_are_checked(machine, y):
    for points, said in (
        (X[:, 0], "Expected 2D array"),
        (X[:, :0], r"0 feature\(s\)"),
    ):
        with pytest.raises(InvalidInput, match=said):
            machine().fit(points, y)
    with pytest.raises(DomainMismatch, match="one row of numbers per point"):
        machine().fit(X[:, None], y)
    with pytest.raises(InvalidInput, match=r"0 sample\(s\)"):
        machine().fit(X[:0], some(y, slice(0)))
    with pytest.raises(InvalidInput, match="sample_weight has 3"):
        machine().fit(X, y, sample_weight=np.ones(3))
    with pytest.raises(InvalidInput, match="zero or negative weights"):
        machine().fit(X, y, sample_weight=np.zeros(60))
    with pytest.raises(ValueError, match="expecting 3 features"):
        machine().fit(X, y).predict(X[:, :2])


@each_machine
def test_words_are_no_vectors(machine, y):
    with pytest.raises(DomainMismatch, match="not numeric"):
        machine().fit(np.char.add(X.astype(str), "m"), y)


def test_one_class_cannot_be_told_from_itself():
    with pytest.raises(InvalidInput, match="at least 2 classes"):
        SVC().fit(X, np.zeros(60))
    with pytest.raises(InvalidInput, match="same class"):
        SVC().fit(X, labels, sample_weight=(labels == 0).astype(float))


@each_machine
def test_constant_features_are_no_obstacle(machine, y):
    assert machine().fit(np.ones((60, 2)), y).certificate_.status is Status.MARGIN_OPTIMAL
    with_constant = np.column_stack([X, np.full(60, 7.0)])
    model = machine(gamma=0.3).fit(with_constant, y)
    np.testing.assert_allclose(model.predict(with_constant), machine(gamma=0.3).fit(X, y).predict(X), atol=1e-6)


@pytest.mark.parametrize("C", [10.0, 1e6])
def test_duplicates_with_opposite_labels_pull_the_decision_to_zero(C):
    model = SVC(C=C).fit(np.vstack([X, X]), np.concatenate([labels, 1 - labels]))
    assert model.certificate_.status is Status.MARGIN_OPTIMAL
    np.testing.assert_allclose(model.decision_function(X), 0.0, atol=1e-5)


def test_duplicates_with_two_targets_meet_between_them():
    model = SVR(C=1e3, epsilon=0.0).fit(np.vstack([X[:5], X[:5]]), np.concatenate([np.zeros(5), np.ones(5)]))
    assert model.certificate_.status is Status.MARGIN_OPTIMAL
    predicted = model.predict(X[:5])
    assert (predicted >= -1e-6).all()
    assert (predicted <= 1.0 + 1e-6).all()


@each_machine
def test_two_rows_are_a_problem(machine, y):
    model = machine().fit([[0.0, 1.0], [1.0, 0.0]], None if y is None else [0, 1])
    assert model.certificate_.status is Status.MARGIN_OPTIMAL
    assert model.predict([[0.0, 1.0]]).shape == (1,)


def test_one_row_of_each_class_is_enough():
    names = list("abcde")
    assert SVC(C=100.0).fit(X[:5], names).predict(X[:5]).tolist() == names


def check_that_it_ends(model, points, y):
    """With a right answer or an honest status."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(points, y)
    if model.certificate_.status is not Status.MARGIN_OPTIMAL:
        assert any(issubclass(warning.category, UncertifiedWarning) for warning in said)


@each_machine
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_a_column_of_millions_ends(machine, y, kernel):
    check_that_it_ends(machine(kernel=kernel, max_iter=300_000), X * [1e6, 1.0, 1.0], y)


def test_a_column_of_millions_that_tells_the_classes_apart_is_enough():
    unscaled = X * [1e6, 1.0, 1.0]
    assert SVC(kernel="linear").fit(unscaled, labels).score(unscaled, labels) == 1.0


def test_the_input_of_a_hang_report_ends_at_once():
    model = SVC(kernel="poly", gamma=1.0).fit([[1e4, 2e4], [3e4, 1.0]], [0, 1])
    assert model.certificate_.status is Status.MARGIN_OPTIMAL
    assert model.predict([[1e4, 2e4], [3e4, 1.0]]).tolist() == [0, 1]


@pytest.mark.parametrize(("machine", "y"), MACHINES[:2], ids=["SVC", "SVR"])
def test_an_enormous_penalty_ends_with_an_answer(machine, y):
    model = machine(C=1e6, gamma=1.0).fit(X, y)
    assert model.certificate_.status is Status.MARGIN_OPTIMAL
    assert model.score(X, y) > 0.99


@pytest.mark.parametrize(("machine", "y"), MACHINES[:2], ids=["SVC", "SVR"])
def test_an_enormous_penalty_on_noise_ends_with_an_answer_or_says_that_it_has_none(machine, y):
    noise = np.random.default_rng(1).permutation(y)
    check_that_it_ends(machine(C=1e6, kernel="linear", max_iter=300_000), X, noise)


@each_machine
@pytest.mark.parametrize("limit", [0, 5])
def test_a_limit_of_steps_leaves_a_model_that_says_so(machine, y, limit):
    model = machine(max_iter=limit)
    with pytest.warns(UnfinishedWarning, match=f"max_iter={limit}"):
        model.fit(X, y)
    assert model.certificate_.status is Status.STOPPED
    assert model.fit_status_ == 1
    assert np.max(model.n_iter_) <= limit
    assert model.predict(X).shape == (60,)


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(2)
    points = rng.standard_normal((12_000, 8))
    noise = rng.integers(0, 2, 12_000)
    return points, {SVC: noise, SVR: noise + rng.standard_normal(12_000)}


@pytest.mark.parametrize("machine", [SVC, SVR])
def test_a_limit_of_time_is_kept(machine, many):
    points, targets = many
    model = machine(**HOPELESS, max_time=0.05)
    with pytest.warns(UnfinishedWarning, match=r"max_time=0\.05"):
        model.fit(points, targets[machine])
    assert np.max(model.n_iter_) < LONG_STEPS / 10  # some seconds, and many more on a loaded machine
    assert model.certificate_.status is Status.STOPPED
    assert np.isfinite(model.predict(points[:3])).all()


class Interruption:
    """Ctrl-C from another thread, in the middle of a solve; `late` is the work done since.

    All is counted in time of the processors, which other programs have no part in, and the work in units of 100 000
    steps: 100 and more of these are left.
    """

    def __init__(self):
        self._thread = threading.Thread(target=self._send)
        self._sent = float("nan")

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._thread.join()

    def _send(self):
        begun = time.process_time()
        while time.process_time() - begun < 0.4:
            time.sleep(0.01)
        self._sent = time.process_time()
        os.kill(os.getpid(), signal.SIGINT)

    def late(self, machine, points, y):
        late, begun = time.process_time() - self._sent, time.process_time()
        with pytest.warns(UnfinishedWarning, match="max_iter"):
            machine(**HOPELESS, max_iter=100_000).fit(points, y)
        return late / (time.process_time() - begun)


@pytest.mark.parametrize("machine", [SVC, SVR])
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_returns_control_at_once(machine, many):
    points, targets = many
    model = machine(**HOPELESS, tol=1e-9)
    with Interruption() as interruption, pytest.raises(KeyboardInterrupt):
        model.fit(points, targets[machine])
    assert interruption.late(machine, points, targets[machine]) < 10.0
    assert "model_" not in vars(model)


@pytest.mark.parametrize("machine", [SVC, SVR])
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_leaves_the_best_model_with_keep_best(machine, many):
    points, targets = many
    model = machine(**HOPELESS, tol=1e-9, keep_best=True)
    with Interruption() as interruption, pytest.warns(UnfinishedWarning, match="interrupted"):
        model.fit(points, targets[machine])
    assert interruption.late(machine, points, targets[machine]) < 10.0
    assert model.certificate_.status is Status.STOPPED
    assert np.isfinite(model.predict(points[:3])).all()
    # The certificate is made when it is asked for, and not by pickle, after which the rows are gone.
    assert np.isnan(model.certificate_.gap)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(points[:3]), model.predict(points[:3]))
    with pytest.raises(InvalidInput, match="not pickled"):
        again.certify()
    whole = model.certify()
    assert whole is model.certificate_ is model.certify()
    assert whole.status is Status.STOPPED
    assert whole.gap > 0.0
    assert whole.gap == pytest.approx(whole.primal - whole.dual)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_the_bar_is_drawn_leaves_the_best_model_too(many):
    points, targets = many
    model = SVC(**HOPELESS, tol=1e-9, keep_best=True, verbose=1)
    with Interruption(), pytest.warns(UnfinishedWarning, match="interrupted"):
        model.fit(points, targets[SVC])
    assert model.certificate_.status is Status.STOPPED
    assert np.isfinite(model.predict(points[:3])).all()


@pytest.mark.parametrize("machine", [SVR, NuSVR])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Delta()])
def test_without_support_vectors_all_weights_are_zero(machine, kernel):
    model = machine(kernel=kernel).fit(np.arange(6.0)[:, None], np.ones(6))
    assert not model.support_.size
    assert "coef_" in dir(model)
    assert not model.coef_.any()
    np.testing.assert_array_equal(model.predict([[7.0], [8.0]]), np.ones(2))


@each_machine
def test_a_cache_may_be_larger_than_any_memory(machine, y):
    plain, roomy = machine().fit(X, y), machine(cache_size=2**70).fit(X, y)
    np.testing.assert_array_equal(roomy.dual_coef_, plain.dual_coef_)


@each_machine
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"degree": -1}, "degree of .* must be"),
        ({"verbose": -1}, "verbose of .* must be"),
        ({"verbose": "much"}, "verbose of .* must be"),
        ({"kernel": RBF}, "not its class"),
    ],
)
def test_a_wrong_parameter_is_named(machine, y, parameters, words):
    with pytest.raises(InvalidParameter, match=words):
        machine(**parameters).fit(X, y)


@pytest.mark.parametrize("value", [np.array([1.0, -1.0]), 1, None, "yes"])
def test_probability_is_true_or_false(value):
    with pytest.raises(InvalidParameter, match="probability of SVC must be True or False"):
        SVC(probability=value).fit(X, labels)


def test_a_seed_that_is_none_is_refused():
    with pytest.raises(InvalidParameter, match="random_state of SVC must be"):
        SVC(random_state="today").fit(X, labels)


@each_machine
def test_a_function_without_a_number_is_blamed_itself(machine, y):
    with pytest.raises(NotFinite, match="function given as kernel"):
        machine(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, y)


@each_machine
@pytest.mark.parametrize("value", [1e141, 1e308])
def test_a_function_whose_values_are_too_large_is_refused(machine, y, value):
    with pytest.raises(NotFinite, match="values of the kernel are too large"):
        machine(kernel=lambda A, B: value * (A @ B.T > 0.0)).fit(X, y)


def test_where_the_least_objective_is_zero_a_solved_fit_has_no_relative_gap():
    # The row of zeros has k(x, x) = 0, and alone would have an objective of 0: what is left of the others is rounding.
    rows = np.vstack([np.random.default_rng(0).normal(size=(20, 3)), np.zeros((1, 3))])
    for nu in (0.001, 0.01, 0.04):
        found = OneClassSVM(kernel=RBF(0.01) * Cosine(), nu=nu).fit(rows).certificate_
        assert found.status is Status.MARGIN_OPTIMAL
        assert found.relative_gap <= 1e-3
