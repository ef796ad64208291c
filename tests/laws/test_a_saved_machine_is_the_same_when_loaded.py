"""Law: a machine that was saved and loaded is the same: its numbers, its attributes, and the file it saves to again."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.pipeline import make_pipeline

import mercer
from mercer import (
    L1,
    RBF,
    SVC,
    SVR,
    BlendedSpectrum,
    Columns,
    Constant,
    Custom,
    Delta,
    Distance,
    GlobalAlignment,
    Indicator,
    Kernel,
    KernelFeatures,
    KernelLogisticRegression,
    KernelNearestCentroid,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KernelRidge,
    KernelRidgeCV,
    Linear,
    Mismatch,
    NadarayaWatson,
    NadarayaWatsonClassifier,
    NuSVC,
    NuSVR,
    Nystroem,
    OneClassSVM,
    Patches,
    Pixels,
    Polynomial,
    Precomputed,
    Quadratic,
    RandomFeatures,
    RandomWalk,
    Scale,
    SetIntersection,
    ShortestPath,
    Signature,
    SpatialPyramid,
    Spectrum,
    Subsequence,
    WeightedDegree,
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
    Window,
    WordSequence,
)
from mercer.estimators._storable import ESTIMATORS, LEFT_OUT
from mercer.io.points import POINTS
from mercer.kernels import UserFunction
from mercer.points import Bags, Blocks, Objects, Series, Strings
from tests.contracts.test_tables import EXAMPLES, claim

RNG = np.random.default_rng(0)
N = 30
X = RNG.normal(size=(N, 3))
NUMBERS = 2.0 * X[:, 0] + np.sin(X[:, 1])
LABELS = np.array(["high", "low", "middle"])[np.argsort(np.argsort(NUMBERS)) // 10]
WORDS = ["to", "be", "or", "not", "that", "is", "the", "question", "whether", "tis"] * 3
SETS = [set(RNG.integers(0, 8, size=3).tolist()) for _ in range(N)]
MIXED = [(len(word), word, None, frozenset([word]), 0.1) for word in WORDS]
GRAPHS = [
    {
        "edges": [(0, 1), (1, 2), (2, 3), (i % 3, 4)],
        "labels": [word, "x", ("a tuple", 1), 2, 2.5],
        "edge_labels": [1, 2, "3", i % 2],
        "attributes": [[float(i)]] * 5,
        "directed": i % 2 == 0,
    }
    for i, word in enumerate(WORDS)
]
BAGS = [RNG.normal(size=(i % 4, 2)) for i in range(N)]
SERIES = [RNG.normal(size=(1 + i % 5, 2)) for i in range(N)]
IMAGES = RNG.random((N, 5, 5))
TABLE = {"a": X[:, 0], "b": X[:, 1].astype(np.float32), "word": WORDS, "set": SETS}

MACHINES: dict[str, Any] = {
    "ridge": KernelRidge(alpha=0.1),
    "ridge, alpha by leave-one-out": KernelRidgeCV(store_cv_results=True),
    "logistic": KernelLogisticRegression(),
    "svc": SVC(),
    "nu-svc": NuSVC(nu=0.6),
    "svr": SVR(),
    "nu-svr": NuSVR(),
    "one-class": OneClassSVM(),
    "centroid": KernelNearestCentroid(),
    "neighbours, labels": KernelNeighborsClassifier(3),
    "neighbours, numbers": KernelNeighborsRegressor(3),
    "smoother": NadarayaWatson(),
    "smoother, labels": NadarayaWatsonClassifier(),
}


def same_length(x: str, z: str) -> float:
    return float(len(x) == len(z)) + float(x == z)


def products(A: Any, B: Any) -> Any:
    # Not by BLAS, whose last bits depend on where the arrays lie in memory.
    return np.einsum("id,jd->ij", np.asarray(A), np.asarray(B))


def lengths(words: Any) -> Any:
    return [[float(len(word)), float(word.count("t"))] for word in words]


def size(points: Any) -> Any:
    return np.full(points.shape[0] if hasattr(points, "shape") else len(points), 2.0)


@dataclass(frozen=True)
class Case:
    """Training points and a kernel for them."""

    points: Any
    kernel: Any
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)


DOMAINS: dict[str, Case] = {
    "dense rows": Case(X, RBF(1.5)),
    "dense rows of float32": Case(X.astype(np.float32), RBF([1.0, 2.0, 3.0])),
    "sparse rows": Case(sp.csr_array(np.where(X > 0.0, X, 0.0)), RBF("median") + 0.5 * Linear()),
    "explicit features": Case(X, Linear() + 1.0),
    "a matrix in the kernel": Case(X @ np.ones((3, 6)), Quadratic(np.eye(6) + 0.25).exp()),
    "a long array in the kernel": Case(RNG.normal(size=(N, 40)), RBF().on(Scale(np.linspace(0.1, 0.3, 40)))),
    "sets": Case(SETS, SetIntersection()),
    "sets as vectors": Case(SETS, RBF().on(Indicator())),
    "strings": Case(WORDS, Delta() + 1.0),
    "strings of characters": Case(WORDS, Subsequence(2) + Spectrum(2) + WeightedDegree(2)),
    "strings of tokens": Case(
        Strings([list(word) for word in WORDS]), Mismatch(2, 1).normalised() + BlendedSpectrum(2)
    ),
    "graphs": Case(GRAPHS, WeisfeilerLehmanAssignment(2).normalised() + ShortestPath()),
    "walks in graphs": Case(GRAPHS, RandomWalk(0.05)),
    "strings, read before": Case(Strings(WORDS), Spectrum(2)),
    "strings of bytes": Case([word.encode() for word in WORDS], Mismatch(2, 1) + Subsequence(2)),
    "strings of words": Case(Strings([["to", word] for word in WORDS]), Spectrum(1) + 1.0),
    "series": Case(SERIES, GlobalAlignment(1.0).normalised() + Signature(2)),
    "series of one channel": Case(Series([each[:, 0] for each in SERIES]), GlobalAlignment(3.0, 4).normalised()),
    "texts": Case(
        [f"{word}, or {other}" for word, other in zip(WORDS, WORDS[1:] + WORDS[:1], strict=True)],
        Spectrum(1).on(WordSequence()) + Mismatch(3, 1).normalised(),
    ),
    "bags of vectors": Case(BAGS, RBF().averaged() + 0.5 * Linear().summed().normalised()),
    "bags of strings": Case(Bags([[word, word[1:]] for word in WORDS]), Delta().summed() + 1.0),
    "images": Case(IMAGES, RBF().on(Pixels()).summed().normalised().on(Patches(3, flat="drop")) + SpatialPyramid(2)),
    "objects of any kind": Case(Objects(MIXED), Delta() + 1.0),
    "a table": Case(
        TABLE, RBF().on(Columns("a", "b")) * Delta().on(Columns("word")) + SetIntersection().on(Columns("set"))
    ),
    "a table of objects": Case(
        {"word": WORDS, "graph": GRAPHS, "bag": BAGS, "image": list(IMAGES)},
        Spectrum(2).on("word") * WeisfeilerLehman(1).normalised().on("graph")
        + RBF().averaged().on("bag") * SpatialPyramid(2).on("image"),
    ),
    "a table of numbers": Case({"a": X[:, 0], "b": X[:, 1]}, RBF()),
    "a precomputed matrix": Case(np.abs(X) @ np.abs(X).T, "precomputed"),
    "a formula of a precomputed matrix": Case(np.abs(X) @ np.abs(X).T, 2.0 * Precomputed()),
    "a function of two points": Case(WORDS, Custom(same_length, because="of ours"), {"same_length": same_length}),
    "a map by a function": Case(WORDS, RBF().on(lengths), {"lengths": lengths}),
    "a name": Case(X, "rbf"),
}
# Weights of a mean must be known to be ≥ 0, which these kernels do not promise.
WITH_SIGNS = {
    "series",
    "bags of vectors",
    "explicit features",
    "sparse rows",
    "a function of two points",
    "a formula of a precomputed matrix",
}


def fitted(machine: Any, case: Case) -> Any:
    machine = clone(machine).set_params(kernel=case.kernel)
    return machine.fit(case.points, LABELS if is_classifier(machine) else NUMBERS)


def round_trip(machine: Any, path: Path, functions: dict[str, Any], X: Any = None) -> Any:
    """Save and load, and make sure that the loaded one saves to the same bytes."""
    mercer.save(machine, path, X=X)
    loaded = mercer.load(path, functions=functions)
    before = path.read_bytes()
    mercer.save(loaded, path, X=X)
    assert path.read_bytes() == before
    return loaded


def assert_same(machine: Any, loaded: Any, new: Any) -> None:
    for method in ("predict", "predict_proba", "decision_function", "score_samples"):
        if hasattr(machine, method):
            mine, other = getattr(machine, method)(new), getattr(loaded, method)(new)
            assert np.array_equal(mine, other), method
            assert isinstance(mine, list) or mine.dtype == other.dtype, method


PAIRS = [
    pytest.param(machine, domain, id=f"{machine} on {domain}")
    for machine in MACHINES
    for domain in DOMAINS
    if not ("smoother" in machine and domain in WITH_SIGNS)
]


@pytest.mark.filterwarnings("ignore::mercer.UncertifiedWarning")
@pytest.mark.parametrize(("name", "domain"), PAIRS)
def test_every_machine_on_every_domain_comes_back_the_same(name: str, domain: str, tmp_path: Path) -> None:
    case = DOMAINS[domain]
    machine = fitted(MACHINES[name], case)
    loaded = round_trip(machine, tmp_path / "machine.mercer", case.functions)
    assert_same(machine, loaded, case.points)
    assert vars(loaded).keys() == vars(machine).keys() - LEFT_OUT
    assert str(loaded.certificate_) == str(machine.certificate_)
    assert repr(loaded) == repr(machine)
    assert repr(clone(loaded)) == repr(clone(machine))
    assert loaded.explain() == machine.explain()
    assert loaded.model_.kernel == machine.model_.kernel


PUBLISHED = (
    "alpha_", "best_score_", "bandwidth_", "bandwidths_", "bounded_support_", "class_weight_", "classes_", "coef_",
    "cv_results_", "dual_coef_", "fit_status_", "free_support_", "intercept_", "intercept_spread_",
    "log_marginal_likelihood_", "loo_residuals_", "loo_score_", "loo_scores_", "margin_", "n_features_in_", "n_iter_",
    "n_samples_fit_", "n_support_", "offset_", "outputs_2d_", "shape_fit_", "squared_norms_", "support_",
    "support_vectors_",
)  # fmt: skip


@pytest.mark.parametrize("name", MACHINES)
def test_every_fitted_attribute_comes_back_the_same(name: str, tmp_path: Path) -> None:
    machine = fitted(MACHINES[name], DOMAINS["dense rows"])
    loaded = round_trip(machine, tmp_path / "machine.mercer", {})
    for attribute in PUBLISHED:
        assert hasattr(machine, attribute) == hasattr(loaded, attribute), attribute
        if hasattr(machine, attribute):
            mine, other = getattr(machine, attribute), getattr(loaded, attribute)
            assert type(mine) is type(other), attribute
            assert np.array_equal(mine, other), attribute
    for mine, other in zip(machine.get_params().values(), loaded.get_params().values(), strict=True):
        assert type(mine) is type(other)
        assert mine == other


SETTINGS: dict[str, tuple[Any, dict[str, Any]]] = {
    "several targets": (KernelRidge([1.0, 2.0], kernel=RBF()).fit(X, np.c_[NUMBERS, -NUMBERS]), {}),
    "votes by distance": (KernelNeighborsRegressor(kernel=RBF(), weights="distance").fit(X, NUMBERS), {}),
    "several outputs": (KernelNeighborsClassifier(kernel=RBF()).fit(X, np.c_[LABELS, LABELS[::-1]]), {}),
    "votes by a function": (
        KernelNeighborsRegressor(kernel=RBF(), weights=np.exp).fit(X, NUMBERS), {"exp": np.exp}
    ),
    "labels that are objects": (SVC().fit(X, LABELS.astype(object)), {}),
    "labels that are booleans, with weights": (SVC(class_weight={True: 2.0, False: 1.0}).fit(X, NUMBERS > 0.0), {}),
    "five classes": (SVC().fit(X, np.arange(N) % 5), {}),
    "no support vectors": (SVR(epsilon=100.0).fit(X, NUMBERS), {}),
    "no support vectors, sparse rows": (SVR(epsilon=100.0).fit(sp.csr_array(X), NUMBERS), {}),
    "a function of two collections": (SVC(kernel=products).fit(X, LABELS), {"products": products}),
    "a function of two lists": (SVR(kernel=products).fit(X.tolist(), NUMBERS), {"products": products}),
    "a window": (NadarayaWatson(2.0, kernel="epanechnikov").fit(X, NUMBERS), {}),
    "a window of another distance": (NadarayaWatson("loo", kernel=Window("tricube", L1())).fit(X, NUMBERS), {}),
    "a warm start": (SVC(warm_start=True).fit(X, LABELS), {}),
    "numbers of NumPy as parameters": (SVC(C=np.float64(2.0), tol=np.float32(1e-3)).fit(X, LABELS), {}),
    "an infinite parameter": (SVR(C=np.inf, epsilon=3.0).fit(X, NUMBERS), {}),
    "alphas as an array": (KernelRidgeCV(np.logspace(-2, 2, 5), kernel=RBF(), cv=3).fit(X, NUMBERS), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_comes_back_the_same(name: str, tmp_path: Path) -> None:
    machine, functions = SETTINGS[name]
    loaded = round_trip(machine, tmp_path / "machine.mercer", functions)
    assert_same(machine, loaded, machine.model_.basis.collection if "function of two" in name else X)


# Points of which every kernel can read some.
POINTS_OF_KERNELS: tuple[Any, ...] = (
    *{id(case.points): case.points for case in DOMAINS.values()}.values(),
    np.abs(X), np.abs(X[:, :1]), {"a": np.where(X[:, 0] > 1.0, np.nan, X[:, 0])}, ["nota bene"] * N,
    RNG.random((N, 4, 4)), [RNG.normal(size=(2 + i % 3, 2)) for i in range(N)],
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::mercer.UncertifiedWarning")
@pytest.mark.parametrize(
    "node", {**EXAMPLES, UserFunction: UserFunction(size)}.values(), ids=lambda node: type(node).__name__
)
def test_every_kernel_comes_back_the_same(node: Any, tmp_path: Path) -> None:
    if not isinstance(node, Kernel | Distance):
        node = Constant(1.0).scaled_by(node)
    kernel = RBF().of(node) if isinstance(node, Distance) else node
    functions = {"claim": claim, "size": size}
    fits = 0
    for points in POINTS_OF_KERNELS:
        try:
            machine = KernelRidge(kernel=kernel).fit(points, NUMBERS)
        except mercer.MercerError:  # not of its domain
            continue
        loaded = round_trip(machine, tmp_path / "machine.mercer", functions)
        assert loaded.model_.kernel == machine.model_.kernel
        assert np.array_equal(loaded.predict(points), machine.predict(points))
        fits += 1
    assert fits > 0


FEATURES: dict[str, tuple[Any, Any]] = {
    "of vectors": (KernelFeatures(Polynomial(2)), X),
    "of sparse rows": (KernelFeatures(Linear() + 1.0), sp.csr_array(np.where(X > 0.0, X, 0.0))),
    "cut off": (KernelFeatures(RBF(3.0), order=3), X),
    "by name": (KernelFeatures("poly", degree=2), X),
    "of words": (KernelFeatures(Delta()), WORDS),
    "of sets": (KernelFeatures((SetIntersection() + 1.0) ** 2), SETS),
    "by landmarks": (Nystroem(RBF(1.5), n_components=5, random_state=0), X),
    "by landmarks in a table": (Nystroem(SetIntersection().on("set"), n_components=5, random_state=0), TABLE),
    "by landmarks among sets": (Nystroem(SetIntersection(), n_components=5, random_state=0), SETS),
    "by random frequencies": (RandomFeatures(RBF(1.5), n_components=7, random_state=0), X),
    "of a table": (KernelFeatures(Linear().on("a") * Delta().on("word") + SetIntersection().on("set")), TABLE),
}


@pytest.mark.parametrize("name", FEATURES)
def test_features_come_back_the_same(name: str, tmp_path: Path) -> None:
    features, points = FEATURES[name]
    phi = clone(features).fit(points)
    loaded = round_trip(phi, tmp_path / "features.mercer", {}, points)
    assert np.array_equal(loaded.transform(points), phi.transform(points))
    assert loaded.get_feature_names_out().tolist() == phi.get_feature_names_out().tolist()
    assert repr(loaded) == repr(phi)
    pipeline = make_pipeline(features, KernelRidge()).fit(points, NUMBERS)
    assert_same(pipeline, round_trip(pipeline, tmp_path / "pipeline.mercer", {}), points)


def test_a_file_of_features_holds_no_more_points_than_teach_them(tmp_path: Path) -> None:
    seen = []
    for count in (1, 100):
        path = tmp_path / f"{count}.mercer"
        mercer.save(KernelFeatures(Delta() + 1.0).fit(WORDS * count), path)
        seen.append(len(path.read_bytes()))
    assert seen[0] == seen[1]


def test_probabilities_come_back_the_same(tmp_path: Path) -> None:
    with pytest.warns(FutureWarning):
        machine = SVC(probability=True).fit(X, LABELS)
    assert_same(machine, round_trip(machine, tmp_path / "machine.mercer", {}), X)


@pytest.mark.parametrize("machine", [KernelRidge(), KernelLogisticRegression()], ids=["ridge", "logistic"])
@pytest.mark.parametrize("domain", ["dense rows", "sparse rows", "blocks", "sets", "a table", "strings", "graphs"])
def test_machines_on_landmarks_come_back_the_same(machine: Any, domain: str, tmp_path: Path) -> None:
    blocks = Case(Blocks(lambda: (X[i : i + 10] for i in range(0, N, 10))), RBF(1.5))
    case = DOMAINS.get(domain, blocks)
    machine = clone(machine).set_params(solver="landmarks", n_landmarks=6, random_state=0)
    machine = fitted(machine, case)
    assert_same(machine, round_trip(machine, tmp_path / "machine.mercer", {}), X if case is blocks else case.points)


def test_error_bars_come_back_the_same(tmp_path: Path) -> None:
    machine = KernelRidge(kernel=RBF()).fit(X, NUMBERS)
    loaded = round_trip(machine, tmp_path / "machine.mercer", {})
    assert np.array_equal(machine.predict(X, return_std=True)[1], loaded.predict(X, return_std=True)[1])
    assert np.array_equal(machine.error_bound(X), loaded.error_bound(X))


def test_the_law_is_about_every_machine_and_every_kind_of_points() -> None:
    ours = {row.kind for name, row in ESTIMATORS.items() if name.startswith("mercer.")}
    assert ours == {type(machine) for machine in MACHINES.values()} | {KernelFeatures, Nystroem, RandomFeatures}
    assert ours | {mercer.KernelSearchCV} == {  # of a search, the best machine is saved
        kind
        for name in mercer.__all__
        if isinstance(kind := getattr(mercer, name), type) and issubclass(kind, BaseEstimator)
    }
    from mercer.points import __all__ as names

    kinds = {getattr(mercer.points, name) for name in names if isinstance(getattr(mercer.points, name), type)}
    # Rows that come in blocks are read by a fit, and a model rests on some of them.
    assert {kind for kind in kinds if isinstance(vars(kind).get("domain"), mercer.points.Domain)} == {*POINTS, Blocks}
