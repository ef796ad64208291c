"""Nystroem and RandomFeatures: what they approximate, how well, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_approximation import Nystroem as Theirs
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import mercer
from mercer import (
    RBF,
    Cauchy,
    Laplacian,
    Linear,
    Matern,
    NoFiniteMap,
    Nystroem,
    RandomFeatures,
    RationalQuadratic,
    SetIntersection,
)  # fmt: skip
from mercer.errors import InvalidParameter
from mercer.kernels.spectral import LAWS, frequencies

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
SPECTRA = [
    RBF(1.5), RBF([0.5, 1.0, 2.0]), Laplacian(3.0), Matern(0.5, 2.0), Matern(1.5), Matern(2.5, 2.0),
    RationalQuadratic(1.5, 0.7), Cauchy(2.0), 3.0 * RBF(2.0), RBF(2.0) + 0.5 * Matern(1.5), RBF(2.0) * Laplacian(4.0),
]  # fmt: skip


@pytest.mark.parametrize("kernel", SPECTRA, ids=repr)
def test_random_features_have_the_kernel_as_their_mean(kernel):
    phi = RandomFeatures(kernel, n_components=20_000, random_state=0).fit_transform(X)
    K = kernel(X)
    np.testing.assert_allclose(phi @ phi.T, K, atol=0.05 * K.max())
    np.testing.assert_allclose(np.square(phi).sum(axis=1), K.diagonal())  # exact


def test_every_law_is_tested():
    assert {type(part) for kernel in SPECTRA for part in kernel.walk()} >= set(LAWS)


def test_orthogonal_frequencies_are_more_accurate():
    def error(orthogonal):
        found = [
            np.square(phi @ phi.T - RBF(2.0)(X)).mean()
            for phi in (
                RandomFeatures(RBF(2.0), n_components=12, orthogonal=orthogonal, random_state=seed).fit_transform(X)
                for seed in range(40)
            )
        ]
        return np.mean(found)

    assert error(True) < 0.8 * error(False)
    omega, _ = frequencies(RBF(), 3, 3, np.random.default_rng(0))
    np.testing.assert_allclose(omega.T @ omega, np.diag(np.square(omega).sum(axis=0)), atol=1e-12)


def test_an_odd_number_of_features_is_right_on_average():
    drawn = [RandomFeatures(RBF(), n_components=5, random_state=seed).fit_transform(X) for seed in range(800)]
    assert drawn[0].shape == (40, 5)
    np.testing.assert_allclose(np.mean([phi @ phi.T for phi in drawn], axis=0), RBF()(X), atol=0.1)


def test_sparse_rows_have_the_features_of_dense_ones():
    S = np.where(np.abs(X) > 1.0, X, 0.0)
    for make in (lambda: RandomFeatures(random_state=0), lambda: Nystroem("laplacian", n_components=9, random_state=0)):
        phi, psi = make().fit_transform(sp.csr_array(S)), make().fit_transform(S)
        np.testing.assert_allclose(phi @ phi.T, psi @ psi.T, atol=1e-8)


@pytest.mark.parametrize("kernel", [Linear(), RBF() + Linear(), mercer.Polynomial(2)], ids=repr)
def test_a_kernel_that_is_not_shift_invariant_is_refused(kernel):
    with pytest.raises(NoFiniteMap, match=r"has no spectral law"):
        RandomFeatures(kernel).fit(X)


@pytest.mark.parametrize("name", ["rbf", "linear", "laplacian", "cosine", "poly"])
def test_nystroem_has_the_features_of_scikit_learn(name):
    ours = Nystroem(name, n_components=12, random_state=3).fit(X)
    theirs = Theirs(name, n_components=12, random_state=3).fit(X)
    np.testing.assert_array_equal(ours.component_indices_, theirs.component_indices_)
    phi, psi = ours.transform(X[:7]), theirs.transform(X[:7])
    np.testing.assert_allclose(phi @ phi.T, psi @ psi.T, atol=1e-7)


@pytest.mark.parametrize("how", ["uniform", "k-means++", "rpcholesky", [3, 1, 2, 9]], ids=str)
def test_landmarks_are_reproduced_exactly(how):
    phi = Nystroem(RBF(2.0), n_components=4, landmarks=how, random_state=0).fit(X)
    features = phi.transform(X)
    chosen = phi.component_indices_
    assert len(set(chosen.tolist())) == 4
    np.testing.assert_allclose((features @ features.T)[chosen], RBF(2.0)(X)[chosen], atol=1e-8)
    assert (np.square(features).sum(axis=1) <= 1.0 + 1e-9).all()


def test_landmarks_by_pivots_leave_less_out_than_uniform_ones():
    def left(how):
        return np.mean(
            [
                40
                - np.square(Nystroem(RBF(1.5), n_components=12, landmarks=how, random_state=s).fit_transform(X)).sum()
                for s in range(20)
            ]
        )

    assert left("rpcholesky") < left("uniform")
    assert left("k-means++") < left("uniform")


def test_the_same_random_state_gives_the_same_landmarks():
    for how in ("uniform", "k-means++", "rpcholesky"):
        first, second = (Nystroem(RBF(), n_components=5, landmarks=how, random_state=7).fit(X) for _ in range(2))
        np.testing.assert_array_equal(first.component_indices_, second.component_indices_)


def test_any_formula_on_any_points():
    baskets = [{"a", "b"}, {"b"}, {"c", "a"}, {"c"}]
    phi = Nystroem(SetIntersection().normalised(), n_components=3, random_state=0).fit(baskets)
    assert phi.transform([{"a", "zzz"}]).shape == (1, 3)


def test_a_linear_machine_on_all_landmarks_is_the_kernel_machine():
    y = np.sin(X[:, 0])
    linear = make_pipeline(Nystroem(RBF(2.0), n_components=40, random_state=0), Ridge(0.1, fit_intercept=False)).fit(
        X, y
    )
    kernel = mercer.KernelRidge(0.1, kernel=RBF(2.0)).fit(X, y)
    np.testing.assert_allclose(linear.predict(X), kernel.predict(X), atol=1e-6)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "many", True])
def test_a_number_of_features_that_is_none_is_refused(wrong):
    for kind in (Nystroem, RandomFeatures):
        with pytest.raises(InvalidParameter, match="n_components must be a whole number"):
            kind(n_components=wrong).fit(X)


def test_a_choice_that_does_not_exist_is_named():
    with pytest.raises(InvalidParameter, match="no way to choose landmarks called 'best'"):
        Nystroem(landmarks="best").fit(X)
