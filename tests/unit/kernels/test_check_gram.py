import numpy as np
import pytest

from mercer.errors import InvalidInput, InvalidParameter, NotFinite, NotPositive
from mercer.kernels import check
from mercer.kernels.check import Evidence, check_gram
from mercer.kernels.repair import REPAIRS


def rbf(X, Z, gamma=0.5):
    return np.exp(-gamma * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def indefinite(rng):
    A = rng.standard_normal((12, 12))
    return A + A.T


# The three ways a verdict is reached, forced on small matrices by moving the borders between them.
BORDERS = {
    "spectrum": (2_000, 20_000),
    "cholesky": (5, 20_000),
    "lanczos": (5, 5),
}


@pytest.fixture(params=BORDERS)
def way(request, monkeypatch):
    rows, largest = BORDERS[request.param]
    monkeypatch.setattr(check, "SPECTRUM_ROWS", rows)
    monkeypatch.setattr(check, "CHOLESKY_ROWS", largest)
    return request.param


def test_a_gram_matrix_passes_however_it_is_checked(way, rng):
    X = rng.standard_normal((60, 2))
    report = check_gram(rbf(X, X))
    assert report.is_psd
    assert report.witness is None
    assert report.is_established == (way != "lanczos")


def test_the_witness_of_an_indefinite_matrix_is_negative_however_it_is_checked(way, indefinite):
    report = check_gram(indefinite)
    assert not report.is_psd
    c = report.witness
    assert np.linalg.norm(c) == pytest.approx(1.0)
    assert c @ indefinite @ c == pytest.approx(report.value)
    assert report.value < 0
    assert report.value == pytest.approx(np.linalg.eigvalsh(indefinite)[0], rel=1e-2)


def test_a_faint_negative_direction_is_found_by_the_breakdown_of_cholesky(monkeypatch, rng):
    monkeypatch.setattr(check, "SPECTRUM_ROWS", 5)
    V = np.linalg.qr(rng.standard_normal((40, 40)))[0]
    eigenvalues = np.r_[np.linspace(0, 1, 39), -1e-9]
    report = check_gram((V * eigenvalues) @ V.T)
    assert report.evidence is Evidence.MINOR
    assert report.value < 0


def test_the_factor_gives_the_matrix_back(rng):
    X = rng.standard_normal((30, 2))
    K = rbf(X, X)
    P = check_gram(K).factor
    assert P.shape[0] <= 30
    np.testing.assert_allclose(P.T @ P, K, atol=1e-12)


def test_an_indefinite_matrix_has_no_factor(indefinite):
    with pytest.raises(NotPositive, match="smallest eigenvalue"):
        check_gram(indefinite).factor


def test_an_asymmetric_matrix_names_its_worst_pair():
    K = np.eye(4)
    K[1, 3] = 0.25
    report = check_gram(K)
    assert not report.is_symmetric
    assert not report.is_psd
    assert report.worst_pair == (1, 3)
    assert "K[1, 3] − K[3, 1]" in str(report)


def test_rounding_is_not_taken_for_indefiniteness(rng):
    X = rng.standard_normal((200, 1))
    assert check_gram(rbf(X, X)).is_psd
    assert check_gram(rbf(X, X).astype(np.float32)).is_psd


def test_the_zero_matrix_is_positive(way):
    assert check_gram(np.zeros((8, 8))).is_psd


@pytest.mark.parametrize("how", REPAIRS)
def test_a_repaired_matrix_is_positive_and_says_how_far_it_moved(how, indefinite):
    repair = check_gram(indefinite).repair(how)
    assert check_gram(repair.K, tol=1e-12).is_psd
    assert repair.change == pytest.approx(np.linalg.norm(repair.K - indefinite))
    assert repair.relative_change == pytest.approx(repair.change / np.linalg.norm(indefinite))
    assert how in str(repair)


@pytest.mark.parametrize("how", ["clip", "flip"])
def test_training_rows_sent_through_a_repair_are_the_rows_of_the_repaired_matrix(how, indefinite):
    repair = check_gram(indefinite).repair(how)
    np.testing.assert_allclose(repair.rows(indefinite), repair.K, atol=1e-12)


def test_a_shift_leaves_test_rows_alone(indefinite):
    rows = indefinite[:3] + 1.0
    np.testing.assert_array_equal(check_gram(indefinite).repair("shift").rows(rows), rows)


def test_clipping_moves_no_further_than_any_other_repair(indefinite):
    report = check_gram(indefinite)
    changes = {how: report.repair(how).change for how in REPAIRS}
    assert changes["clip"] == min(changes.values())


@pytest.mark.parametrize("how", REPAIRS)
def test_a_matrix_that_is_positive_already_is_not_changed(how, rng):
    X = rng.standard_normal((50, 1))
    K = rbf(X, X)
    repair = check_gram(K).repair(how)
    assert repair.change == 0.0
    np.testing.assert_array_equal(repair.rows(K[:4]), K[:4])


def test_a_report_reads_well(indefinite, rng):
    text = str(check_gram(indefinite))
    assert "NOT a Gram matrix" in text
    assert "cᵀKc = " in text
    assert "positive semi-definite" in str(check_gram(np.eye(3)))


@pytest.mark.parametrize(
    ("K", "words"),
    [
        (np.ones((2, 3)), "square"),
        (np.ones(3), "square"),
        (np.empty((0, 0)), "at least one row"),
        ([[1.0, np.nan], [np.nan, 1.0]], r"K\[0, 1\] is nan"),
        ([["a", "b"], ["c", "d"]], "real numbers"),
        (np.eye(2) * 1j, "real numbers"),
        ([[1.0, 2.0], [3.0]], "not a matrix"),
        ([[object(), 1], [1, 2]], "not a matrix"),
    ],
)
def test_what_is_not_a_square_matrix_of_numbers_is_refused(K, words):
    with pytest.raises(InvalidInput, match=words):
        check_gram(K)


def test_an_unknown_repair_and_a_senseless_tolerance_are_refused():
    with pytest.raises(InvalidParameter, match="'clip'"):
        check_gram(np.eye(2)).repair("jitter")
    with pytest.raises(InvalidParameter, match="tol"):
        check_gram(np.eye(2), tol=-1.0)


def test_test_rows_of_the_wrong_width_are_refused(indefinite):
    with pytest.raises(InvalidInput, match="12 training points"):
        check_gram(indefinite).repair("clip").rows(np.ones((2, 5)))


def test_a_symmetric_matrix_is_just_symmetric():
    assert "  symmetric    yes\n" in str(check_gram(np.eye(3)))
    assert "no (worst pair |K[0, 1] − K[1, 0]| = 1)" in str(check_gram([[1.0, 1.0], [0.0, 1.0]]))


def test_values_whose_squares_overflow_are_refused():
    with pytest.raises(NotFinite, match="values of K are too large"):
        check_gram(np.full((3, 3), 1e308))
