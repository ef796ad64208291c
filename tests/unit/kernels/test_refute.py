import math

import numpy as np
import pytest

from mercer.errors import InvalidInput, InvalidParameter
from mercer.kernels.refutation import Reason
from mercer.kernels.refute import refute

RNG = np.random.default_rng(0)
PLANE = RNG.standard_normal((60, 2))
SPACE = RNG.standard_normal((60, 5))
LINE = RNG.standard_normal(50)
SETS = [frozenset(RNG.choice(8, size=RNG.integers(0, 5), replace=False).tolist()) for _ in range(40)]


def l1(x, z):
    return np.abs(x - z).sum()


def l2(x, z):
    return np.linalg.norm(x - z)


def rbf(x, z):
    return math.exp(-0.5 * l2(x, z) ** 2)


def matern32(r):
    return (1 + math.sqrt(3) * r) * math.exp(-math.sqrt(3) * r)


NOT_KERNELS = {
    "tanh(⟨x,z⟩ + 1)": (lambda x, z: math.tanh(x @ z + 1), PLANE),
    "tanh(½⟨x,z⟩ − 1)": (lambda x, z: math.tanh(0.5 * (x @ z) - 1), SPACE),
    "tanh(0.01⟨x,z⟩)": (lambda x, z: math.tanh(0.01 * (x @ z)), PLANE),
    "(⟨x,z⟩ + 1)^2.5 in 1-D": (lambda x, z: (x * z + 1) ** 2.5, np.linspace(0, 1, 30)),
    "(⟨x,z⟩ + 1)^2.5 in 2-D": (lambda x, z: (x @ z + 1) ** 2.5, PLANE),
    "(⟨x,z⟩ + 1)^2.5 in 5-D": (lambda x, z: (x @ z + 1) ** 2.5, np.abs(SPACE)),
    "(⟨x,z⟩ + 1)^2.5 with complex values": (lambda x, z: (float(x @ z) + 1) ** 2.5, SPACE),
    "exp(−2 sin²(π‖x−z‖₂)) in 2-D": (lambda x, z: math.exp(-2 * math.sin(math.pi * l2(x, z)) ** 2), PLANE),
    "exp(−2 sin²(π‖x−z‖₂)) in 5-D": (lambda x, z: math.exp(-2 * math.sin(math.pi * l2(x, z)) ** 2), SPACE),
    "Matérn 3/2 of r = ‖·‖₁ in 2-D": (lambda x, z: matern32(l1(x, z)), PLANE),
    "Matérn 3/2 of r = ‖·‖₁ in 5-D": (lambda x, z: matern32(l1(x, z)), SPACE),
    "Matérn 3/2 of r = ‖·‖₂²": (lambda x, z: matern32(l2(x, z) ** 2), PLANE),
    "rational quadratic of r = ‖·‖₂²": (lambda x, z: (1 + l2(x, z) ** 4 / 3) ** -1.5, PLANE),
    "−RBF": (lambda x, z: -rbf(x, z), PLANE),
    "RBF − 2": (lambda x, z: rbf(x, z) - 2, PLANE),
    "RBF − ½": (lambda x, z: rbf(x, z) - 0.5, PLANE),
    "1/RBF": (lambda x, z: 1 / rbf(x, z), PLANE),
    "RBF − RBF": (lambda x, z: rbf(x, z) - math.exp(-(l2(x, z) ** 2)), PLANE),
    "RBF − 0.1 RBF": (lambda x, z: rbf(x, z) - 0.1 * math.exp(-(l2(x, z) ** 2)), PLANE),
    "additive χ² with scikit-learn's sign": (lambda x, z: -((x - z) ** 2 / (x + z)).sum(), np.abs(PLANE)),
    "Epanechnikov in 1-D": (lambda x, z: max(0.0, 1 - (x - z) ** 2), LINE),
    "Epanechnikov in 2-D": (lambda x, z: max(0.0, 1 - l2(x, z) ** 2), PLANE),
    "Epanechnikov in 5-D, points far apart": (lambda x, z: max(0.0, 1 - (10 * l2(x, z)) ** 2), SPACE),
    "−‖x−z‖": (lambda x, z: -l2(x, z), PLANE),
    "overlap coefficient of sets": (lambda a, b: len(a & b) / max(1, min(len(a), len(b))), SETS),
    "−|len − len| of strings": (lambda a, b: -abs(len(a) - len(b)), ["a", "bb", "cccc"]),
    "tanh of drawn points": (lambda x, z: math.tanh(x @ z - 1), lambda rng: rng.standard_normal(3)),
}

KERNELS = {
    "RBF": (rbf, SPACE),
    "RBF as a float32": (lambda x, z: np.float32(rbf(x, z)), PLANE),
    "RBF of float32 points": (lambda x, z: math.exp(-0.5 * ((x - z) ** 2).sum()), PLANE.astype(np.float32)),
    "RBF with cancellation, far away": (lambda x, z: math.exp(-0.5 * (x @ x + z @ z - 2 * (x @ z))), PLANE + 1e4),
    "RBF with cancellation, close": (lambda x, z: math.exp(-0.5 * (x @ x + z @ z - 2 * (x @ z))), PLANE / 100 + 1e3),
    "linear": (lambda x, z: x @ z, PLANE),
    "linear in 1-D": (lambda x, z: x * z, LINE),
    "polynomial of degree 9": (lambda x, z: (x @ z + 1) ** 9, 10 * PLANE),
    "minimum": (min, np.abs(LINE)),
    "histogram intersection": (lambda x, z: np.minimum(x, z).sum(), np.abs(PLANE)),
    "χ²": (lambda x, z: (2 * x * z / (x + z)).sum(), np.abs(PLANE)),
    "Laplacian": (lambda x, z: math.exp(-l1(x, z)), SPACE),
    "Matérn 3/2": (lambda x, z: matern32(l2(x, z)), SPACE),
    "periodic in 1-D": (lambda x, z: math.exp(-2 * math.sin(math.pi * abs(x - z)) ** 2), LINE),
    "cosine": (lambda x, z: (x @ z) / math.sqrt((x @ x) * (z @ z)), SPACE),
    "exp of a large inner product": (lambda x, z: 1e30 * math.exp(x @ z), 3 * PLANE),
    "set intersection": (lambda a, b: len(a & b), SETS),
    "Jaccard": (lambda a, b: len(a & b) / len(a | b) if a | b else 1.0, SETS),
    "equality": (lambda a, b: float(a == b), list("abcabcdef")),
    "constant": (lambda _x, _z: 1.0, PLANE),
    "zero": (lambda _x, _z: 0.0, PLANE),
    "a single point": (rbf, PLANE[:1]),
}


@pytest.mark.parametrize("name", NOT_KERNELS)
def test_what_is_not_a_kernel_is_refuted_by_points_and_a_vector(name):
    fn, sample = NOT_KERNELS[name]
    found = refute(fn, sample)
    assert found
    c, points = found.c, found.points
    with np.errstate(invalid="ignore"):
        K = np.array([[complex(fn(x, z)).real for z in points] for x in points])
    np.testing.assert_allclose(K, found.gram)
    assert c @ K @ c == pytest.approx(found.value)
    assert found.value < 0


@pytest.mark.parametrize("name", NOT_KERNELS)
def test_no_point_of_a_refutation_can_be_left_out(name):
    found = refute(*NOT_KERNELS[name], move=False)
    for i in range(len(found.points) if found and found.c is not None else 0):  # some need points in between
        rest = np.delete(np.delete(found.gram, i, 0), i, 1)
        scale = np.sqrt(np.maximum(np.abs(np.diag(rest)), 1e-6 * np.abs(found.gram).max()))
        assert rest.size == 0 or np.linalg.eigvalsh(rest / np.outer(scale, scale))[0] > -1e-5


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_not_refuted_by_its_own_rounding(name):
    found = refute(*KERNELS[name])
    assert not found
    assert "not a proof" in str(found)
    assert found.n_evaluations > 0


def test_one_point_is_returned_where_one_point_suffices():
    X = np.random.default_rng(0).normal(size=(30, 2))
    found = refute(lambda x, z: np.tanh(x @ z - 1.0), X)
    assert found.reason is Reason.NEGATIVE_DIAGONAL
    assert len(found.points) == 1


def test_no_point_can_be_left_out_after_moves():
    # No point of the sample has k(x, x) < 0, but points inside its convex hull do.
    circle = np.array([[np.cos(t), np.sin(t)] for t in np.linspace(0.0, 6.0, 12)])
    found = refute(lambda x, z: x @ z - 0.9, circle)
    assert found
    for left_out in range(len(found.points)):
        rest = np.delete(np.delete(found.gram, left_out, 0), left_out, 1)
        assert rest.size == 0 or np.linalg.eigvalsh(rest)[0] > -1e-9


def test_a_function_that_is_not_symmetric_shows_the_pair():
    found = refute(lambda x, z: np.exp(x[0] - z[1]), PLANE)
    assert found.reason is Reason.NOT_SYMMETRIC
    assert len(found.points) == 2
    assert found.c is None
    assert "k(x, z) − k(z, x)" in str(found)


def test_a_function_that_is_real_nowhere_is_refuted_as_such():
    found = refute(lambda _x, _z: complex(0.0, 1.0), PLANE)
    assert found.reason is Reason.NOT_REAL


def test_single_points_and_pairs_are_preferred():
    assert refute(lambda x, z: -rbf(x, z), PLANE).reason is Reason.NEGATIVE_DIAGONAL
    assert refute(lambda x, z: 1 / rbf(x, z), PLANE).reason is Reason.CAUCHY_SCHWARZ


def test_without_moving_the_points_are_those_of_the_sample():
    found = refute(lambda x, z: max(0.0, 1 - l2(x, z) ** 2), PLANE, move=False)
    assert not found.moved
    assert all(any(np.array_equal(x, row) for row in PLANE) for x in found.points)


def test_moved_points_stay_inside_the_sample():
    found = refute(lambda x, z: math.tanh(x @ z - 1), np.abs(PLANE))
    assert all((x >= 0).all() for x in found.points)


def test_the_same_seed_gives_the_same_answer():
    fn, sample = NOT_KERNELS["Matérn 3/2 of r = ‖·‖₁ in 2-D"]
    assert refute(fn, sample, random_state=7).value == refute(fn, sample, random_state=7).value


def test_a_refutation_reads_well():
    text = str(refute(lambda x, z: max(0.0, 1 - (x - z) ** 2), LINE))
    assert text.startswith("Not a kernel: a Gram matrix has a negative eigenvalue, on 3 points")
    assert "c[0]" in text
    assert "cᵀKc = -" in text


@pytest.mark.parametrize(
    ("fn", "sample", "words"),
    [
        ("rbf", PLANE, "function of two points"),
        (rbf, [], "at least one point"),
        (rbf, 3, "sample must be"),
        (np.outer, PLANE, "one number"),
        (lambda _x, _z: "one", PLANE, "one number"),
    ],
)
def test_what_cannot_be_searched_is_an_error(fn, sample, words):
    with pytest.raises(InvalidInput, match=words):
        refute(fn, sample)


def test_at_least_one_trial_is_asked_for():
    with pytest.raises(InvalidParameter, match="trials"):
        refute(rbf, PLANE, trials=0)
