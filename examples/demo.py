"""A tour of mercer in nine stops, run by `make demo`.

A formula, its proof, refusals, speed, pictures, a regression, a classifier; each machine once; each kind of data once.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from scipy import sparse
from sklearn import svm
from sklearn.datasets import load_diabetes, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    L1,
    RBF,
    SVC,
    SVR,
    Custom,
    Delta,
    GlobalAlignment,
    KernelFeatures,
    KernelLogisticRegression,
    KernelNearestCentroid,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KernelRidge,
    KernelRidgeCV,
    KernelSearchCV,
    Linear,
    Matern,
    NadarayaWatson,
    NadarayaWatsonClassifier,
    NuSVC,
    NuSVR,
    Nystroem,
    OneClassSVM,
    Periodic,
    Polynomial,
    RandomFeatures,
    SetIntersection,
    SpatialPyramid,
    Spectrum,
    Tanimoto,
    WeisfeilerLehman,
    svm_path,
)

GRAMS = Path(__file__).with_name("gram.png")
PATIENTS = Path(__file__).with_name("diabetes.png")
MOONS = Path(__file__).with_name("moons.png")
ROWS, WIDTH, REPEATS = 10_000, 20, 3

Array = npt.NDArray[np.float64]

# Each of these is accepted in silence by a well-known library.
NON_KERNELS: dict[str, Callable[[], object]] = {
    "-1.0 * RBF()": lambda: -1.0 * RBF(),
    "RBF() - RBF(2.0)": lambda: RBF() - RBF(2.0),
    "RBF() + (-2.0)": lambda: RBF() + (-2.0),
    "(Linear() + 1) ** 2.5": lambda: (Linear() + 1) ** 2.5,
    "Matern(1.5).of(L1() ** 2)": lambda: Matern(1.5).of(L1() ** 2),
}


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def show_formula_and_proof() -> None:
    heading("1. A kernel is a formula")
    kernel = 0.5 * RBF(2.0) + Linear() ** 2
    print(f"k = {kernel}")
    print(f"k(x, z) in LaTeX: {kernel.latex()}")
    print(f"written down and read back, it is the same kernel: {mercer.parse(repr(kernel)) == kernel}")
    heading("2. A formula has a proof")
    print(kernel.proof())


def show_refusals() -> None:
    heading("3. What cannot be derived is refused, with the reason")
    for text, build in NON_KERNELS.items():
        try:
            build()
        except mercer.MercerError as error:
            print(f">>> {text}\n{type(error).__name__}: {error}\n")
        else:
            raise AssertionError(f"{text} was accepted")
    print("A Python function is searched for a counter-example; here, the usual 'periodic' kernel in two dimensions:")
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 2))
    print(mercer.refute(lambda x, z: np.exp(-2.0 * np.sin(np.pi * np.linalg.norm(x - z)) ** 2), points))


def median_seconds(runs: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Take turns, so that a slow moment of the machine hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(REPEATS):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(measured) for name, measured in times.items()}


def show_speed() -> None:
    heading(f"4. K @ v for {ROWS} rows in {WIDTH} dimensions, side by side")
    rng = np.random.default_rng(0)
    X, v = rng.standard_normal((ROWS, WIDTH)), rng.standard_normal(ROWS)
    X32, v32 = X.astype("float32"), v.astype("float32")
    kernel = RBF((WIDTH / 2) ** 0.5)
    peer = "scikit-learn  rbf_kernel(X) @ v     float64"
    seconds = median_seconds(
        {
            peer: lambda: rbf_kernel(X) @ v,
            "mercer        gram(RBF(ℓ), X) @ v   float64": lambda: mercer.gram(kernel, X) @ v,
            "mercer        gram(RBF(ℓ), X) @ v   float32": lambda: mercer.gram(kernel, X32) @ v32,
        }
    )
    for name, measured in seconds.items():
        print(f"{name}  {measured * 1e3:8.1f} ms  {seconds[peer] / measured:6.1f} ×")
    expected = rbf_kernel(X) @ v
    error = np.abs(mercer.gram(kernel, X) @ v - expected).max() / np.abs(expected).max()
    print(f"largest relative difference in float64: {error:.1e}")
    print(f"mercer never held the matrix of {ROWS * ROWS * 8 / 1e6:.0f} MB")


def draw_gram() -> None:
    heading("5. A picture of Gram matrices")
    x = np.linspace(0.0, 3.0, 200)[:, None]
    kernels = [RBF(0.3), Matern(0.5), Periodic(1.0), RBF(2.0) * Periodic(1.0)]
    figure = Figure(figsize=(4 * len(kernels), 4.4), layout="constrained")
    axes = figure.subplots(1, len(kernels))
    for axis, kernel in zip(axes, kernels, strict=True):
        axis.imshow(kernel(x), cmap="viridis", vmin=0.0, vmax=1.0)
        axis.set_title(repr(kernel))
        axis.set_axis_off()
    figure.savefig(GRAMS, dpi=100)
    print(f"wrote {GRAMS}")


def show_regression() -> None:
    heading("6. A regression that knows what it does not know")
    X, y = load_diabetes(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, test_size=100, random_state=0)
    scaler = StandardScaler().fit(X)
    X, X_new = scaler.transform(X), scaler.transform(X_new)
    # The kernel is the prior covariance and alpha the variance of the noise: the likelihood can choose both.
    models = [
        KernelRidge(alpha=noise**2, kernel=80.0**2 * RBF(length), fit_intercept=True).fit(X, y)
        for noise in (40.0, 55.0, 70.0)
        for length in (2.0, 5.0, 10.0)
    ]
    model = max(models, key=lambda candidate: candidate.log_marginal_likelihood_)
    mean, std = model.predict(X_new, return_std=True)
    spread = 2.0 * np.sqrt(std**2 + model.alpha)  # of a new measurement: what is not known of f, and the noise
    inside = np.abs(y_new - mean) <= spread
    print(f"{len(y)} diabetes patients; likeliest of {len(models)}: {model.kernel}, noise {model.alpha**0.5:.0f}")
    print(f"{inside.sum()} of {len(y_new)} new patients lie within ± 2 standard deviations")
    print(f"the solver's share in any of these errors is at most {model.error_bound(X_new).max():.0e}")
    print(model.certificate_)
    draw_patients(mean, 2.0 * std, spread, y_new)


def draw_patients(mean: Array, doubt: Array, spread: Array, truth: Array) -> None:
    order = np.argsort(mean)
    mean, doubt, spread, truth = mean[order], doubt[order], spread[order], truth[order]
    figure = Figure(figsize=(10, 5), layout="constrained")
    axis = figure.subplots()
    rank = np.arange(len(mean))
    axis.errorbar(rank, mean, spread, fmt="none", ecolor="#aec7e8", elinewidth=3, label="± 2 std of a new measurement")
    axis.errorbar(rank, mean, doubt, fmt="o", color="#1f77b4", ms=3, elinewidth=1.5, label="prediction ± 2 std of f")
    axis.plot(rank, truth, "x", color="#d62728", ms=5, label="measured")
    axis.set(xlabel="new patients, by prediction", ylabel="progression after a year")
    axis.legend(loc="upper left", frameon=False)
    figure.savefig(PATIENTS, dpi=100)
    print(f"wrote {PATIENTS}")


def show_classifier() -> None:
    heading(f"7. A support vector machine on {ROWS} rows, with its certificate, side by side")
    X, y = make_moons(ROWS, noise=0.3, random_state=0)
    model, peer = SVC(gamma=1.0), svm.SVC(gamma=1.0)
    slow, fast = "scikit-learn  SVC().fit", "mercer        SVC().fit"
    seconds = median_seconds({slow: lambda: peer.fit(X, y), fast: lambda: model.fit(X, y)})
    for name, measured in seconds.items():
        print(f"{name}  {measured * 1e3:8.1f} ms  {seconds[slow] / measured:6.1f} ×")
    new, truth = make_moons(2_000, noise=0.3, random_state=1)
    agree = np.mean(model.predict(new) == peer.predict(new))
    print(f"right for {model.score(new, truth):.1%} of 2000 new rows; the two agree on {agree:.1%}")
    free, bounded = len(model.free_support_), len(model.bounded_support_)
    print(f"{free} free and {bounded} bounded support vectors")
    print(f"b = {model.intercept_[0]:.4f}, on which the free ones differ by {model.intercept_spread_[0]:.0e}")
    print(model.certificate_)
    draw_moons(model, X, y)


def draw_moons(model: SVC, X: Array, y: Array) -> None:
    left, right = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
    side = np.meshgrid(np.linspace(left[0], right[0], 250), np.linspace(left[1], right[1], 200))
    values = model.decision_function(np.column_stack([part.ravel() for part in side])).reshape(side[0].shape)
    figure = Figure(figsize=(10, 6), layout="constrained")
    axis = figure.subplots()
    for label, colour in enumerate(("#0072b2", "#d55e00")):
        axis.plot(*X[y == label].T, ".", color=colour, ms=2, alpha=0.35, label=f"class {label}")
    bounded, free = X[model.bounded_support_], X[model.free_support_]
    axis.plot(*bounded.T, "x", color="#555555", ms=3, mew=0.6, alpha=0.6, label="bounded support vectors")
    axis.plot(*free.T, "o", mfc="#f0e442", mec="#111111", ms=6, label="free support vectors")
    axis.contour(*side, values, levels=[-1.0, 0.0, 1.0], colors="#111111", linestyles=["--", "-", "--"], linewidths=1.4)
    axis.set(title="the decision is 0 on the line and ±1 on the dashed ones", xticks=[], yticks=[])
    figure.legend(loc="outside lower center", ncols=4, frameon=False, markerscale=1.5)
    figure.savefig(MOONS, dpi=100)
    print(f"wrote {MOONS}")


def report(machine: Any, measured: str) -> None:
    """One line of a table: the machine, how good it is on rows it has not seen, and its certificate."""
    certificate = machine.certificate_
    mark = "✓" if certificate.is_certified else "✗"
    how = f"gap {certificate.relative_gap:.0e}" if np.isfinite(certificate.relative_gap) else "nothing to solve"
    print(f"  {type(machine).__name__:<26} {measured:<28} {mark} {how}")


def show_machines() -> None:
    heading("8. Each machine once, on rows it has not seen")
    X, labels = make_moons(1_000, noise=0.25, random_state=2)
    X, new, labels, truth = train_test_split(X, labels, test_size=0.5, random_state=0)
    print("Which half moon?")
    classifiers = [
        SVC(kernel=RBF(0.5)), NuSVC(nu=0.2, kernel=RBF(0.5)), KernelLogisticRegression(C=10.0, kernel=RBF(0.5)),
        KernelNeighborsClassifier(9, kernel=RBF(0.5)), KernelNearestCentroid(kernel=RBF(0.5)),
        NadarayaWatsonClassifier(0.15),
    ]  # fmt: skip
    for machine in classifiers:
        report(machine.fit(X, labels), f"right for {machine.score(new, truth):.1%}")
    path = svm_path(X, labels, [0.1, 1.0, 10.0], kernel=RBF(0.5))
    scores = ", ".join(f"{machine.score(new, truth):.1%}" for machine in path)
    print(f"  {'svm_path':<26} C = 0.1, 1, 10: {scores}")
    print("How high is the wave? The noise is 0.20")
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 6.0, (500, 1))
    y = np.sin(2.0 * x[:, 0]) + 0.2 * rng.standard_normal(500)
    regressors = [
        KernelRidge(alpha=0.1, kernel=RBF(0.5)), KernelRidgeCV(kernel=RBF(0.5)), SVR(epsilon=0.1, kernel=RBF(0.5)),
        NuSVR(nu=0.5, kernel=RBF(0.5)), KernelNeighborsRegressor(15, kernel=RBF(0.5)), NadarayaWatson("loo"),
    ]  # fmt: skip
    for machine in regressors:
        machine.fit(x[:300], y[:300])
        report(machine, f"typical error {np.sqrt(np.mean((machine.predict(x[300:]) - y[300:]) ** 2)):.2f}")
    print("Which rows are unusual?")
    usual = OneClassSVM(nu=0.05, kernel=RBF(0.5)).fit(X)
    far = new + np.array([4.0, 0.0])
    report(usual, f"{np.mean(usual.predict(far) < 0):.0%} of moved rows found")
    print("Which kernel, and how with fewer numbers than rows? The half moons again")
    search = KernelSearchCV(SVC(), {"kernel": [Linear(), RBF(0.5), Matern(1.5, 0.5)], "C": [0.1, 1.0, 10.0]})
    search.fit(X, labels)
    report(search.best_estimator_, f"right for {search.score(new, truth):.1%}")
    print(f"  {'':<26} KernelSearchCV found {search.best_params_['kernel']!r}, C = {search.best_params_['C']:g}")
    few = KernelLogisticRegression(C=10.0, kernel=RBF(0.5), n_landmarks=50, random_state=0, solver="landmarks")
    report(few.fit(X, labels), f"right for {few.score(new, truth):.1%} by 50 rows")
    near = RBF(0.5)
    for feature in KernelFeatures(Polynomial(3)), Nystroem(near, random_state=0), RandomFeatures(near, random_state=0):
        machine = make_pipeline(feature, LogisticRegression(C=10.0)).fit(X, labels)
        count = len(feature.get_feature_names_out())
        print(f"  {type(feature).__name__:<26} right for {machine.score(new, truth):.1%} by {count} columns and a line")


def rows(points: Any, where: slice) -> Any:
    """Some rows of points of any kind."""
    return {name: column[where] for name, column in points.items()} if isinstance(points, dict) else points[where]


def molecule(rng: np.random.Generator, rings: int) -> dict[str, Any]:
    """Rings of atoms in a chain, as a graph."""
    edges: list[tuple[int, int]] = []
    atoms = 0
    for size in rng.integers(4, 7, size=rings).tolist():
        edges += [(atoms + i, atoms + (i + 1) % size) for i in range(size)] + [(atoms - 1, atoms)] * (atoms > 0)
        atoms += size
    return {"edges": edges, "labels": rng.choice(["C", "N"], size=atoms, p=[0.8, 0.2]).tolist()}


def show_kinds_of_data() -> None:
    heading("9. Each kind of data once, a support vector machine on each")
    rng = np.random.default_rng(1)
    side = rng.random(300) < 0.5
    vectors = rng.standard_normal((300, 4)) + 1.2 * side[:, None]
    items = np.array(["tea", "milk", "rye", "figs", "oats", "plums"])
    shares = np.where(side[:, None], [0.7, 0.7, 0.3, 0.3, 0.5, 0.5], [0.3, 0.3, 0.7, 0.7, 0.5, 0.5])
    baskets = [set(items[row]) for row in rng.random((300, 6)) < shares]
    towns = np.where(rng.random(300) < 0.8, np.where(side, "Ulm", "Bonn"), "Kiel")
    words = [("ab" if one else "ba") * int(rng.integers(1, 4)) + "c" * int(rng.integers(0, 3)) for one in side]
    genes = ["".join(rng.choice(list("ACGT"), 24)) + "ACCTGA" * bool(one) for one in side]
    bags = [rng.standard_normal((int(rng.integers(3, 9)), 2)) + 0.6 * one for one in side]
    graphs = [molecule(rng, rings=2 + one) for one in side.tolist()]
    series = [np.cumsum(rng.standard_normal(int(rng.integers(20, 40))) + 0.3 * one) for one in side]
    images = rng.random((300, 8, 8))
    images[side, :, 3:5] += 0.5  # a bright stripe
    same_start = Custom(lambda a, b: float(a[:1] == b[:1]), because="equality of the first letter")
    table = {"height": vectors[:, 0], "basket": baskets, "town": towns}
    mixed = RBF().on("height") + Tanimoto(SetIntersection()).on("basket") * (1 + Delta().on("town"))
    print("Which of two groups? Rows that the machine has not seen:")
    kinds: dict[str, tuple[Any, Any]] = {
        "vectors": (RBF("median"), vectors),
        "sparse rows": (Linear(), sparse.csr_array(np.maximum(vectors, 0.0))),
        "sets": (Tanimoto(SetIntersection()), baskets),
        "a table of mixed columns": (mixed, table),
        "strings": (Spectrum(3).normalised(), genes),
        "graphs": (WeisfeilerLehman(2), graphs),
        "series": (GlobalAlignment().normalised(), series),
        "bags of vectors": (RBF().averaged(), bags),
        "images": (SpatialPyramid(2).normalised(), images),
        "any Python objects": (same_start, words),
    }
    for name, (kernel, points) in kinds.items():
        machine = SVC(kernel=kernel).fit(rows(points, slice(200)), side[:200])
        score = machine.score(rows(points, slice(200, 300)), side[200:])
        shown = "Custom(…)" if kernel is same_start else repr(kernel)
        print(f"  {name:<26} right for {score:.0%} by {shown}")


def main() -> None:
    show_formula_and_proof()
    show_refusals()
    show_speed()
    draw_gram()
    show_regression()
    show_classifier()
    show_machines()
    show_kinds_of_data()


if __name__ == "__main__":
    main()
