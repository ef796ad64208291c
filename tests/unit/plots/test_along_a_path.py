"""Penalties, steps of a solver, proofs, shapes of kernels, and features."""

from contextlib import nullcontext

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

import mercer
from mercer import RBF, Linear, Matern, Polynomial
from mercer.errors import InvalidInput, InvalidParameter, MercerError
from mercer.plots import ConvergenceDisplay, FeatureMapDisplay, KernelShapeDisplay, PathDisplay, ProofDisplay
from mercer.plots.features import cut


@pytest.fixture
def ax() -> Axes:
    return Figure(figsize=(6, 5)).subplots()


@pytest.fixture
def space() -> Axes3D:
    return Figure(figsize=(6, 5)).add_subplot(projection="3d")


RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 2))
Y = X[:, 0] + 0.5 * RNG.standard_normal(30)
LABELS = np.where(Y > 0, "up", "down")


def note(ax: Axes) -> str:
    return " ".join(text.get_text() for text in ax.texts if text.get_gid() == "note").replace("\n", " ")


def ridge(alpha: float = 0.3) -> mercer.KernelRidge:
    return mercer.KernelRidge(alpha=alpha, kernel=RBF(1.0), fit_intercept=True).fit(X, Y)


@pytest.mark.parametrize("weight", [None, RNG.uniform(0.5, 2.0, 30)], ids=["plain", "weighted"])
def test_the_path_of_a_ridge_machine_is_the_error_of_refitting(ax: Axes, weight: np.ndarray | None) -> None:
    machine = mercer.KernelRidge(alpha=0.3, kernel=RBF(1.0)).fit(X, Y, sample_weight=weight)
    top = 1.0 if weight is None else weight.max()
    shown = PathDisplay.from_estimator(machine, alphas=[0.1 / top, 2.0 / top], ax=ax)
    w = np.ones(30) if weight is None else weight
    for alpha, error, training in zip((0.1, 2.0), shown.errors, shown.training, strict=True):  # type: ignore[arg-type]
        left = []
        for row in range(30):
            kept = np.delete(np.arange(30), row)
            part = mercer.KernelRidge(alpha=alpha, kernel=RBF(1.0)).fit(X[kept], Y[kept], sample_weight=w[kept])
            left.append(Y[row] - part.predict(X[[row]])[0])
        assert error == pytest.approx(np.mean(w / top * np.square(left)), rel=1e-8)
        whole = mercer.KernelRidge(alpha=alpha, kernel=RBF(1.0)).fit(X, Y, sample_weight=w)
        assert training == pytest.approx(np.mean(w / top * (Y - whole.predict(X)) ** 2), rel=1e-6)
    assert np.array_equal(shown.line_.get_ydata(), shown.errors)
    assert shown.chosen == pytest.approx(0.3 / top)


def test_the_least_error_is_marked(ax: Axes) -> None:
    shown = PathDisplay.from_estimator(ridge(), ax=ax)
    assert shown.best_line_.get_xdata()[0] == shown.values[np.argmin(shown.errors)]
    assert len(shown.values) == 60


def test_leaving_out_only_support_vectors_of_an_svc_is_leaving_out_all(ax: Axes) -> None:
    machine = mercer.SVC(kernel=RBF(1.0)).fit(X, LABELS)
    shown = PathDisplay.from_estimator(machine, X, LABELS, Cs=[0.5, 20.0], ax=ax)
    for C, error in zip((0.5, 20.0), shown.errors, strict=True):
        wrong = 0
        for row in range(30):
            kept = np.delete(np.arange(30), row)
            part = mercer.SVC(C=C, kernel=RBF(1.0)).fit(X[kept], LABELS[kept])
            wrong += part.predict(X[[row]])[0] != LABELS[row]
        assert error == wrong / 30


def test_the_path_of_a_precomputed_svc_is_that_of_its_kernel(ax: Axes) -> None:
    formula = mercer.SVC(kernel=RBF(1.0)).fit(X, LABELS)
    stored = mercer.SVC(kernel="precomputed").fit(RBF(1.0)(X), LABELS)
    one = PathDisplay.from_estimator(formula, X, LABELS, Cs=[1.0, 2.0], ax=ax)
    other = PathDisplay.from_estimator(stored, RBF(1.0)(X), LABELS, Cs=[1.0, 2.0], ax=Figure().subplots())
    assert np.array_equal(one.errors, other.errors)


@pytest.mark.parametrize(
    ("estimator", "rest", "kind", "said"),
    [
        (mercer.SVC().fit(X, LABELS), {}, InvalidInput, "needs X and y"),
        (mercer.SVR().fit(X, Y), {}, InvalidInput, "SVR has no formula for leave-one-out"),
        (mercer.KernelRidge(alpha=0.0, kernel="rbf").fit(X, Y), {}, InvalidInput, "penalty above 0"),
        (ridge(), {"alphas": [1.0]}, InvalidParameter, "at least two numbers above 0"),
        (ridge(), {"alphas": [1.0, -1.0]}, InvalidParameter, "at least two numbers above 0"),
    ],
)
def test_a_path_that_cannot_be_drawn_is_refused(
    estimator: object, rest: dict[str, object], kind: type[MercerError], said: str
) -> None:
    with pytest.raises(kind, match=said):
        PathDisplay.from_estimator(estimator, **rest)


MACHINES = {
    "smo": (mercer.SVC(C=5.0, kernel=RBF(1.0)), LABELS),
    "regression by smo": (mercer.SVR(C=5.0, kernel=RBF(1.0)), Y),
    "newton": (mercer.KernelLogisticRegression(C=50.0, kernel=RBF(1.0), tol=1e-10), LABELS),
    "cg": (mercer.KernelRidge(alpha=1e-3, kernel=RBF(0.3), solver="cg"), Y),
}


@pytest.mark.parametrize("name", MACHINES)
def test_each_step_is_what_a_fit_of_so_many_steps_is_certified_to_be(name: str, ax: Axes) -> None:
    machine, y = MACHINES[name]
    machine.fit(X, y)
    shown = ConvergenceDisplay.from_estimator(machine, X, y, ax=ax)
    assert shown.steps[-1] == machine.certificate_.steps
    assert shown.measure[-1] == machine.certificate_.gap
    assert (np.diff(shown.steps) > 0).all()
    assert (shown.primal - shown.dual >= -1e-12 * np.abs(shown.primal)).all()
    few = type(machine)(**{**machine.get_params(deep=False), "max_iter": int(shown.steps[0])})
    with pytest.warns(mercer.UncertifiedWarning) if shown.steps[0] < shown.steps[-1] else nullcontext():
        few.fit(X, y)
    assert shown.primal[0] == few.certificate_.primal
    gap = shown.lines_["gap"].get_ydata()
    assert np.array_equal(gap[shown.measure > 0], shown.measure[shown.measure > 0])


def test_primal_and_dual_close_in_on_each_other(ax: Axes) -> None:
    machine = mercer.SVC(C=5.0, kernel=RBF(1.0)).fit(X, LABELS)
    shown = ConvergenceDisplay.from_estimator(machine, X, LABELS, kind="values", ax=ax)
    assert np.array_equal(shown.lines_["primal"].get_ydata(), shown.primal)
    assert np.array_equal(shown.lines_["dual"].get_ydata(), shown.dual)
    assert shown.band_ is not None


def test_without_the_data_the_trace_of_the_solver_is_drawn(ax: Axes) -> None:
    machine = mercer.KernelLogisticRegression().fit(X, LABELS)
    shown = ConvergenceDisplay.from_estimator(machine, ax=ax)
    assert np.array_equal(shown.lines_["trace"].get_ydata(), machine.certificate_.trace)
    assert ax.get_ylabel() == "relative gap"


def test_what_takes_no_steps_is_refused() -> None:
    with pytest.raises(InvalidInput, match="takes no steps"):
        ConvergenceDisplay.from_estimator(ridge(), X, Y)
    with pytest.raises(InvalidInput, match="holds no trace"):
        ConvergenceDisplay.from_estimator(mercer.SVC().fit(X, LABELS))
    with pytest.raises(InvalidParameter, match='kind must be "gap" or "values"'):
        ConvergenceDisplay.from_estimator(ridge(), X, Y, kind="both")


@pytest.mark.parametrize("kernel", [RBF(2.0), (RBF(2.0) + 0.5 * Linear()) ** 2 * Matern(1.5), mercer.L1()], ids=repr)
def test_every_step_of_a_proof_is_drawn_below_what_it_shows(kernel: object, ax: Axes) -> None:
    shown = ProofDisplay.from_kernel(kernel, ax=ax)
    assert {row.step for row in shown.rows} == {step.number for step in shown.proof.steps}
    assert [text.get_text() for text in shown.formulas_] == [row.formula for row in shown.rows]
    steps = {step.number: step for step in shown.proof.steps}
    for row in shown.rows[1:]:
        assert row.step in steps[shown.rows[row.parent].step].premises
        assert row.depth == shown.rows[row.parent].depth + 1
    assert len(shown.edges_.get_paths()) == len(shown.rows) - 1


def test_an_assumption_is_told_apart(ax: Axes) -> None:
    shown = ProofDisplay.from_kernel(mercer.Sigmoid(0.5), ax=ax)
    assert [row.is_assumed for row in shown.rows] == [True]
    assert "Assumed, not derived" in note(ax)


def test_the_proof_of_a_machine_is_that_of_its_kernel_as_it_was_resolved(ax: Axes) -> None:
    machine = mercer.SVC(kernel=RBF("median")).fit(X, LABELS)
    assert ProofDisplay.from_estimator(machine, ax=ax).proof.subject == machine.model_.kernel


def test_the_text_of_a_proof_stays_within_its_axes() -> None:
    figure = Figure(figsize=(5, 4), layout="constrained")
    shown = ProofDisplay.from_kernel((RBF(2.0) + 0.5 * Linear()) ** 2 * Matern(1.5), ax=figure.subplots())
    figure.draw_without_rendering()
    right = shown.ax_.get_window_extent().x1
    assert max(text.get_window_extent().x1 for text in [*shown.formulas_, *shown.reasons_]) <= right


def test_what_has_no_proof_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="Got a str"):
        ProofDisplay.from_kernel("rbf")
    window = mercer.NadarayaWatson(kernel=mercer.Window("uniform", bandwidth=2.0)).fit(X, Y)
    with pytest.raises(InvalidInput, match="It is a window"):
        ProofDisplay.from_estimator(window)


def test_sections_are_kernel_values_to_three_points(ax: Axes) -> None:
    shown = KernelShapeDisplay.from_kernel(RBF(0.7) * Linear(), ax=ax)
    z = [float(text.removeprefix("z = ")) for text in shown.labels]
    expected = (RBF(0.7) * Linear())(shown.x[:, None], np.array(z)[:, None]).T
    assert np.allclose([line.get_ydata() for line in shown.lines_], expected)


def test_a_profile_is_drawn_over_the_distance(ax: Axes) -> None:
    shown = KernelShapeDisplay.from_kernel(mercer.Laplacian(1.5), kind="distance", span=(0, 4), ax=ax)
    assert np.allclose(shown.lines_[0].get_ydata(), np.exp(-shown.x / 1.5))
    with pytest.raises(InvalidInput, match="not a function of the distance"):
        KernelShapeDisplay.from_kernel(Linear(), kind="distance")


def test_samples_have_the_kernel_as_covariance(ax: Axes) -> None:
    shown = KernelShapeDisplay.from_kernel(2.0 * RBF(1.0), kind="samples", samples=4000, ax=ax)
    covariance = shown.curves.T @ shown.curves / 4000
    assert np.abs(covariance - 2.0 * RBF(1.0)(shown.x[:, None])).max() < 0.25
    assert shown.band_ is not None
    assert np.allclose(shown.deviation, np.sqrt(2.0))


def test_samples_are_the_same_for_the_same_seed() -> None:
    curves = [
        KernelShapeDisplay.from_kernel(RBF(1.0), kind="samples", seed=3, ax=Figure().subplots()).curves
        for _ in range(2)
    ]
    assert np.array_equal(*curves)


def test_the_line_goes_through_the_data(ax: Axes) -> None:
    machine = mercer.KernelRidge(kernel=RBF("median")).fit(X, Y)
    shown = KernelShapeDisplay.from_estimator(machine, X, feature=1, ax=ax)
    assert shown.x[0] < X[:, 1].min() < X[:, 1].max() < shown.x[-1]
    assert "x₁ at its median" in note(ax)


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ({"kind": "heat"}, "kind must be one of"),
        ({"span": (1.0, 1.0)}, "span must be two numbers"),
        ({"kind": "samples", "samples": 0}, "samples must be a whole number"),
        ({"kernel": "rbf"}, "kernel must be a Kernel"),
    ],
)
def test_shapes_that_cannot_be_drawn_are_refused(rest: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        KernelShapeDisplay.from_kernel(**{"kernel": RBF(1.0), **rest})


def test_the_features_of_the_squared_inner_product_are_its_three_monomials(space: Axes3D) -> None:
    shown = FeatureMapDisplay.from_kernel(Linear() ** 2, X, LABELS, ax=space)
    u, v = X.T
    assert np.allclose(shown.features, np.column_stack([u * u, np.sqrt(2) * u * v, v * v]))
    assert [axis.get_label_text() for axis in (space.xaxis, space.yaxis, space.zaxis)] == ["x₁²", "√2·x₁x₂", "x₂²"]
    drawn = np.column_stack(shown.points_["up"]._offsets3d)
    assert np.allclose(drawn, shown.features[LABELS == "up"])


def test_the_plane_of_a_machine_is_where_its_decision_is_zero(space: Axes3D) -> None:
    ring = np.linalg.norm(X, axis=1) > 1.0
    machine = mercer.SVC(C=100.0, kernel=Linear() ** 2).fit(X, ring)
    shown = FeatureMapDisplay.from_estimator(machine, X, ring, ax=space)
    assert shown.plane is not None
    assert np.allclose(shown.features @ shown.plane[:3] + shown.plane[3], machine.decision_function(X))
    assert shown.plane_ is not None
    corners = cut(shown.plane[:3], shown.plane[3], shown.features.min(axis=0), shown.features.max(axis=0))
    assert len(corners) >= 3
    assert np.abs(corners @ shown.plane[:3] + shown.plane[3]).max() < 1e-8


def test_more_features_than_three_are_said_and_chosen(space: Axes3D) -> None:
    shown = FeatureMapDisplay.from_kernel(Polynomial(2), X, features=(3, 4, 5), ax=space)
    assert "3 of 6 features" in note(space)
    assert len(shown.names) == 3


@pytest.mark.parametrize(
    ("kernel", "rest", "kind", "said"),
    [
        (Linear(), {}, InvalidInput, "has 2 features here"),
        (RBF(1.0), {}, MercerError, "finite"),
        (Linear() ** 2, {"features": (0, 0, 1)}, InvalidParameter, "three different numbers"),
    ],
)
def test_kernels_without_three_features_are_refused(
    kernel: object, rest: dict[str, object], kind: type[MercerError], said: str
) -> None:
    with pytest.raises(kind, match=said):
        FeatureMapDisplay.from_kernel(kernel, X, **rest)


def test_flat_axes_hold_no_space(ax: Axes) -> None:
    with pytest.raises(InvalidParameter, match='projection="3d"'):
        FeatureMapDisplay.from_kernel(Linear() ** 2, X, ax=ax)
