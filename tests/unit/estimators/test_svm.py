import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import scipy.special
import sklearn.svm
from sklearn.base import is_regressor
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, cross_val_score

from mercer import (
    RBF,
    SVC,
    SVR,
    InvalidInput,
    InvalidParameter,
    Linear,
    NotPositive,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Polynomial,
    Precomputed,
    SetIntersection,
    UncertifiedWarning,
    svm_path,
)
from mercer.problems import Status
from tests.unit.estimators.svm_rows import X, five, new, target, three, two

# scikit-learn deprecates it, and so mercer warns; it is how probabilities are asked for all the same.
pytestmark = pytest.mark.filterwarnings("ignore:The `probability` parameter:FutureWarning")

MACHINES = [
    (SVC(), two), (SVC(), three), (SVC(kernel="poly"), five), (NuSVC(nu=0.3), two), (NuSVC(nu=0.3), three),
    (SVR(), target), (NuSVR(), target), (OneClassSVM(), None),
]  # fmt: skip


def values(model, points):
    """Decisions, or predictions where there are none."""
    return (model.predict if is_regressor(model) else model.decision_function)(points)


@pytest.mark.parametrize(("model", "y"), MACHINES)
def test_every_fit_carries_its_certificate(model, y):
    certificate = model.fit(X, y).certificate_
    assert certificate.status is Status.MARGIN_OPTIMAL
    assert certificate.violation <= 1e-3
    assert -1e-9 <= certificate.gap <= 1e-2 * max(1.0, abs(certificate.primal))
    assert model.fit_status_ == 0
    assert "evaluations" in str(certificate)


@pytest.mark.parametrize(("model", "y"), MACHINES)
def test_decisions_are_those_of_libsvm(model, y):
    theirs = getattr(sklearn.svm, type(model).__name__)(
        **{
            k: v
            for k, v in model.get_params().items()
            if k not in ("max_time", "gap_tol", "keep_best", "warm_start", "tol")
        },
        tol=1e-9,
    ).fit(X, y)
    model.fit(X, y)
    np.testing.assert_allclose(values(model, new), values(theirs, new), atol=2e-4)
    np.testing.assert_array_equal(model.support_, theirs.support_)
    np.testing.assert_array_equal(model.n_support_, theirs.n_support_)
    np.testing.assert_allclose(model.dual_coef_, theirs.dual_coef_, atol=2e-3)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-4)
    assert model.support_.dtype == theirs.support_.dtype
    assert model.shape_fit_ == theirs.shape_fit_
    assert type(model.n_iter_) is type(theirs.n_iter_)


@pytest.mark.parametrize(("model", "y"), MACHINES)
def test_free_and_bounded_support_vectors_are_the_support_vectors(model, y):
    model.fit(X, y)
    free, bounded = model.free_support_, model.bounded_support_
    assert not set(free) & set(bounded)
    np.testing.assert_array_equal(np.sort(np.concatenate([free, bounded])), np.sort(model.support_))
    assert (model.intercept_spread_ <= 1e-3).all()


@pytest.mark.parametrize(("model", "y"), MACHINES)
def test_a_fitted_machine_survives_pickling(model, y):
    model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(values(again, new), values(model, new))


def test_only_support_vectors_are_kept_for_prediction():
    model = SVR().fit(X, target)
    assert len(model.binding_) == len(model.support_) < len(X)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


def test_a_border_row_of_one_class_is_an_inlier_and_its_decision_is_zero():
    model = OneClassSVM(nu=0.2).fit(X)
    free = X[model.free_support_]
    assert len(free)
    assert (model.decision_function(free) == 0.0).all()
    assert (model.predict(free) == 1).all()
    assert (model.predict(X) == -1).mean() <= 0.2
    np.testing.assert_array_equal(model.offset_, -model.intercept_)


@pytest.mark.parametrize(("model", "y"), MACHINES)
def test_only_the_columns_of_support_vectors_are_read(model, y):
    gamma = 0.3
    K = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))
    against = np.exp(-gamma * ((new[:, None] - X) ** 2).sum(axis=2))
    given = type(model)(**{**model.get_params(), "kernel": "precomputed"}).fit(K, y)
    formula = type(model)(**{**model.get_params(), "kernel": "rbf", "gamma": gamma}).fit(X, y)
    hidden = np.full_like(against, np.nan)
    hidden[:, given.support_] = against[:, given.support_]
    np.testing.assert_allclose(values(given, hidden), values(formula, new), atol=1e-7)
    assert given.support_vectors_.shape == (0, 0)
    with pytest.raises(InvalidInput, match="NaN"):
        values(given, np.full_like(against, np.nan))
    with pytest.raises(ValueError, match="features"):
        values(given, against[:, :-1])


def test_a_matrix_that_is_not_symmetric_is_refused_and_an_indefinite_one_is_said_to_be():
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    with pytest.raises(NotPositive, match="not symmetric"):
        SVC(kernel="precomputed").fit(K + np.triu(np.ones_like(K)), two)
    with pytest.warns(UncertifiedWarning, match="not positive"):
        model = SVC(kernel="precomputed").fit(K - 0.5 * np.eye(90), two)
    assert model.certificate_.status is Status.INDEFINITE


def test_a_formula_with_a_matrix_in_it_knows_its_columns():
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    scaled, plain = SVC(kernel=2.0 * Precomputed()).fit(K, two), SVC(kernel="precomputed").fit(2.0 * K, two)
    np.testing.assert_allclose(scaled.decision_function(K), plain.decision_function(2.0 * K), atol=1e-8)


def test_a_function_takes_two_collections_and_gives_a_matrix():
    model = SVC(kernel=lambda A, B: A @ B.T).fit(X, two)
    linear = SVC(kernel="linear").fit(X, two)
    np.testing.assert_allclose(model.decision_function(new), linear.decision_function(new), atol=1e-6)
    with pytest.raises(InvalidInput, match="must return a matrix"):
        SVC(kernel=lambda A, B: 1.0).fit(X, two)


def test_an_infeasible_nu_is_refused_before_the_kernel_is_asked():
    def never(A, B):
        raise AssertionError

    with pytest.raises(InvalidParameter, match="specified nu is infeasible"):
        NuSVC(nu=0.9, kernel=never).fit(X, np.arange(90) < 10)


@pytest.mark.parametrize("y", [two, three])
def test_class_weights_of_nu_svc_are_costs_or_those_of_the_equivalent_svc(y):
    plain = NuSVC(nu=0.2).fit(X, y)
    np.testing.assert_allclose(
        NuSVC(nu=0.2, class_weight=dict.fromkeys(np.unique(y).tolist(), 3.0)).fit(X, y).decision_function(new),
        plain.decision_function(new),
        atol=1e-6,
    )
    first = np.unique(y).tolist()[0]
    heavy = NuSVC(nu=0.2, class_weight={first: 1e4}).fit(X, y)
    assert (heavy.predict(X) == first).sum() > (plain.predict(X) == first).sum()
    heavy.set_params(probability=True).fit(X, y).predict_proba(X)


def test_a_margin_of_zero_is_no_unit():
    with pytest.raises(InvalidInput, match="margin ρ is zero"):
        NuSVC(nu=0.9, kernel="linear").fit([[1.0], [-1.0], [1.0], [-1.0]], [0, 0, 1, 1])


def test_balanced_weights_make_room_for_nu():
    y = np.arange(90) < 10
    with pytest.raises(InvalidParameter, match="infeasible"):
        NuSVC(nu=0.5).fit(X, y)
    assert NuSVC(nu=0.5, class_weight="balanced").fit(X, y).score(X, y) > 0.5


@pytest.mark.parametrize(("model", "y"), MACHINES)
@pytest.mark.parametrize("sparse", [False, True])
def test_a_weight_is_a_number_of_copies_and_rows_without_are_left_out(model, y, sparse):
    weight = np.random.default_rng(0).integers(0, 4, 90)
    labels = np.zeros(90) if y is None else y
    rows = np.repeat(np.arange(90), weight)[::-1]
    points = scipy.sparse.csr_array(X) if sparse else X
    weighted = type(model)(**model.get_params()).fit(points, labels, sample_weight=np.where(weight > 0, weight, -1.0))
    copied = type(model)(**model.get_params()).fit(points[rows], labels[rows])
    np.testing.assert_allclose(values(weighted, new), values(copied, new), atol=1e-6)
    assert not np.isin(weighted.support_, np.flatnonzero(weight == 0)).any()
    if isinstance(model, SVC | NuSVC):
        weighted.set_params(random_state=3, probability=True).fit(points, labels, sample_weight=weight)
        copied.set_params(random_state=3, probability=True).fit(points[rows], labels[rows])
        np.testing.assert_allclose(weighted.predict_proba(new), copied.predict_proba(new), atol=1e-6)


@pytest.mark.parametrize(("model", "y"), MACHINES)
def test_what_is_fitted_on_sparse_rows_is_sparse(model, y):
    positive = np.abs(X)
    y = y if is_regressor(model) or y is None else positive[:, 0] > positive[:, 1] + 0.1 * X[:, 2]
    dense = type(model)(**{**model.get_params(), "kernel": "linear"}).fit(positive, y)
    sparse = type(model)(**{**model.get_params(), "kernel": "linear"}).fit(scipy.sparse.csr_array(positive), y)
    for name in ("support_vectors_", "dual_coef_", "coef_"):
        assert scipy.sparse.issparse(getattr(sparse, name))
        np.testing.assert_allclose(getattr(sparse, name).toarray(), getattr(dense, name), atol=1e-6)
    np.testing.assert_allclose(values(sparse, scipy.sparse.csr_array(new)), values(dense, new), atol=1e-6)
    np.testing.assert_allclose(values(sparse, new), values(dense, new), atol=1e-6)
    with pytest.raises(InvalidInput, match="cannot use sparse input"):
        values(dense, scipy.sparse.csr_array(new))


@pytest.mark.parametrize("y", [two, three])
def test_a_kernel_with_a_finite_map_has_weights(y):
    model = SVC(kernel=Polynomial(2), decision_function_shape="ovo").fit(X, y)
    features = Polynomial(2).feature_map(X)(new)
    decisions = model.decision_function(new).reshape(len(new), -1)
    np.testing.assert_allclose(features @ model.coef_.T + model.intercept_, decisions, atol=1e-6)
    with pytest.raises(ValueError, match="read-only"):
        model.coef_[0, 0] = 1.0
    for other in (SVC(kernel="poly"), SVC(kernel=RBF()), SVC(kernel="precomputed")):
        assert not hasattr(other.fit(X @ X.T if other.kernel == "precomputed" else X, y), "coef_")


def test_kernels_have_their_own_parameters():
    assert SVC(kernel=RBF(2.0)).set_params(kernel__length_scale=3.0).kernel == RBF(3.0)
    with pytest.raises(InvalidParameter, match="gamma has no effect"):
        SVC(kernel=RBF(), gamma=0.1).fit(X, two)
    assert SVC().fit(X, two)._gamma == pytest.approx(1.0 / (3.0 * X.var()))


def test_sets_can_be_classified():
    sets = [{1, 2}, {2, 3}, {7, 8}, {8, 9}]
    model = SVC(kernel=SetIntersection(), probability=True).fit(sets, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict([{1, 3}, {7, 9, 10}]), [0, 1])
    model.predict_proba(sets)


def test_a_table_of_numbers_is_read_as_its_rows():
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model, plain = (SVC(random_state=0, probability=True).fit(points, two) for points in (table, X))
    np.testing.assert_array_equal(model.decision_function(table), plain.decision_function(X))
    np.testing.assert_array_equal(model.support_vectors_, plain.support_vectors_)
    np.testing.assert_array_equal(model.predict_proba(table), plain.predict_proba(X))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X)


def test_a_fitted_machine_keeps_support_vectors_and_nothing_else_of_the_rows():
    model = SVC(random_state=0).fit(X, two)
    idle = np.setdiff1d(np.arange(len(X)), model.support_)  # once more, these change nothing
    more = SVC(random_state=0).fit(np.vstack([X, X[idle]]), np.concatenate([two, two[idle]]))
    np.testing.assert_array_equal(more.support_, model.support_)
    assert abs(len(pickle.dumps(more)) - len(pickle.dumps(model))) < 100
    model = SVC(random_state=0, probability=True).fit(X, two)
    p = model.predict_proba(new)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(new), p)


def test_a_pickle_is_about_as_small_as_that_of_scikit_learn():
    data = load_breast_cancer()
    ours, theirs = (machine().fit(data.data, data.target) for machine in (SVC, sklearn.svm.SVC))
    assert len(pickle.dumps(ours)) <= 1.3 * len(pickle.dumps(theirs))


def test_a_step_limit_is_said_and_leaves_a_model():
    with pytest.warns(UncertifiedWarning, match=r"Solver terminated early \(max_iter=3\)"):
        model = SVC(max_iter=3).fit(X, two)
    assert model.fit_status_ == 1
    assert model.certificate_.status is Status.STOPPED
    assert model.n_iter_.tolist() == [3]
    model.predict(new)


def test_a_warm_start_takes_fewer_steps_to_the_same_answer():
    model = SVC(C=10.0, warm_start=True).fit(X, two)
    cold, decisions = model.n_iter_[0], model.decision_function(new)
    model.fit(X, two)
    assert model.n_iter_[0] < cold
    np.testing.assert_allclose(model.decision_function(new), decisions, atol=1e-8)
    model.fit(X[:50], two[:50])
    np.testing.assert_allclose(
        model.decision_function(new), SVC(C=10.0).fit(X[:50], two[:50]).decision_function(new), atol=1e-6
    )


@pytest.mark.parametrize(("model", "y"), MACHINES)
def test_every_machine_starts_warm(model, y):
    warm = type(model)(**{**model.get_params(), "warm_start": True}).fit(X, y)
    decisions = values(warm, new)
    np.testing.assert_allclose(
        values(warm.fit(X, y, sample_weight=np.linspace(0.5, 2, 90)).fit(X, y), new), decisions, atol=1e-6
    )


@pytest.mark.parametrize("y", [two, three])
def test_the_path_is_that_of_separate_fits(y):
    Cs = [1.0, 0.01, 100.0, 1.0]
    models = svm_path(X, y, Cs, gamma=0.5, probability=True)
    assert [model.C for model in models] == Cs
    for C, model in zip(Cs, models, strict=True):
        alone = SVC(C=C, gamma=0.5, probability=True).fit(X, y)
        np.testing.assert_allclose(model.decision_function(new), alone.decision_function(new), atol=1e-6)
        np.testing.assert_array_equal(model.predict(new), alone.predict(new))
        assert model.get_params() == alone.get_params()
        model.predict_proba(new)
    assert len({id(model) for model in models}) == 4


def test_a_path_may_end_in_the_hard_margin():
    y = X[:, 0] > 0
    models = svm_path(X, y, [np.inf, 1.0])
    np.testing.assert_allclose(
        models[0].decision_function(new), SVC(C=np.inf).fit(X, y).decision_function(new), atol=1e-6
    )
    with pytest.raises(InvalidParameter, match="Cs"):
        svm_path(X, y, [1.0, -1.0])


def test_without_support_vectors_a_prediction_is_the_intercept():
    model = SVR().fit(X, np.full(90, 3.0))
    assert model.support_.size == 0
    np.testing.assert_allclose(model.predict(new), 3.0, atol=0.1)
    np.testing.assert_allclose(
        SVR(kernel="precomputed").fit(X @ X.T, np.full(90, 3.0)).predict(new @ X.T), 3.0, atol=0.1
    )


def test_the_smallest_problems_are_solved():
    model = SVC(C=1e6, kernel="linear").fit([[0.0], [2.0]], ["a", "b"])
    np.testing.assert_allclose(model.decision_function([[0.0], [1.0], [2.0]]), [-1.0, 0.0, 1.0], atol=1e-9)
    assert SVC().fit([[1.0], [1.0]], [0, 1]).decision_function([[5.0]]).shape == (1,)
    np.testing.assert_allclose(OneClassSVM().fit([[1.0]]).predict([[1.0]]), [1])


def test_parameters_are_checked_in_fit():
    for wrong in ({"C": 0.0}, {"C": "a"}, {"tol": 0.0}, {"max_iter": -2}, {"cache_size": 0}, {"shrinking": "no"},
                  {"decision_function_shape": "all"}, {"break_ties": 1}, {"max_time": 0.0}, {"kernel": "rbff"},
                  {"gamma": -1.0}, {"class_weight": "even"}, {"probability": "maybe"}):  # fmt: skip
        with pytest.raises(InvalidParameter):
            SVC(**wrong).fit(X, two)
    for wrong in (0.0, 1.1):
        with pytest.raises(InvalidParameter, match="nu"):
            OneClassSVM(nu=wrong).fit(X)
    with pytest.raises(InvalidParameter, match="epsilon"):
        SVR(epsilon=-0.1).fit(X, target)


def test_the_tools_of_scikit_learn_work():
    search = GridSearchCV(SVC(kernel=RBF()), {"kernel__length_scale": [0.1, 1.0], "C": [1.0, 10.0]}, cv=3).fit(X, two)
    assert search.best_score_ > 0.6
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    np.testing.assert_allclose(
        cross_val_score(SVC(kernel="precomputed"), K, two, cv=3), cross_val_score(SVC(gamma=1.0), X, two, cv=3)
    )


def test_a_linear_kernel_by_name_and_as_an_object_agree():
    np.testing.assert_allclose(
        SVC(kernel=Linear()).fit(X, three).coef_, SVC(kernel="linear").fit(X, three).coef_, atol=1e-8
    )


@pytest.mark.parametrize("seed", range(50, 56))
def test_a_margin_that_is_rounding_is_refused_and_any_other_has_its_gap(seed):
    rng = np.random.default_rng(seed)
    points, labels = rng.standard_normal((32, 5)), rng.choice([-1, 1], 32)
    try:
        model = NuSVC(kernel="linear", tol=1e-8).fit(points, labels)
    except InvalidInput as refused:
        said = str(refused)
    else:
        said = ""
        assert model.margin_[0] > 1e-8
        assert model.certificate_.relative_gap <= 1e-3
    assert not said or "margin ρ is zero" in said
    assert said or seed != 50


@pytest.mark.parametrize("machine", [SVC(C=1e4), SVR(C=1e4), NuSVR(C=1e4)], ids=lambda machine: type(machine).__name__)
def test_gap_tol_is_the_gap_that_a_fit_promises(machine):
    rng = np.random.default_rng(0)
    points, noise = rng.standard_normal((500, 5)), rng.choice([-1, 1], 500)  # more rows than are finished anyway
    gaps = {}
    for gap_tol in (np.inf, 1e-3, 1e-6):
        model = machine.set_params(gap_tol=gap_tol, gamma=1.0).fit(points, noise)
        assert model.certificate_.status is Status.MARGIN_OPTIMAL
        assert model.certificate_.relative_gap <= gap_tol
        gaps[gap_tol] = model.certificate_.relative_gap
    assert gaps[1e-6] <= gaps[1e-3] <= gaps[np.inf]
    with pytest.raises(InvalidParameter, match="gap_tol"):
        machine.set_params(gap_tol=0.0).fit(points, noise)
