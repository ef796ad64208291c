"""Counts of substrings: dictionaries, what they lack, and keys of any size."""

from collections import Counter

import numpy as np
import pytest

from mercer import SVC, BlendedSpectrum, DomainMismatch, GappedKmer, InvalidParameter, Spectrum, WeightedDegree
from mercer.maps import GappedKmers, Kmers, PositionedKmers, counting
from mercer.points import Strings

RNG = np.random.default_rng(0)


def words(n, letters, longest=12):
    return ["".join(RNG.choice(list(letters), RNG.integers(0, longest))) for _ in range(n)]


def spectrum(s, t, k):
    one, other = (Counter(u[i : i + k] for i in range(len(u) - k + 1)) for u in (s, t))
    return sum(count * other[key] for key, count in one.items())


@pytest.mark.parametrize("k", [1, 3, 15, 40])
@pytest.mark.parametrize("letters", ["AC", "ACGT", "abcdefghijklmnopqrstuvwxyzé𝒳"])
def test_keys_of_any_number_of_bits_count_the_same(k, letters):
    basis, new = words(8, letters, 60), words(6, letters + "?!", 60)
    for X, Z in ((basis, basis), (new, basis), (new, new)):
        expected = [[spectrum(s, t, k) for t in Z] for s in X]
        np.testing.assert_array_equal(Spectrum(k)(X, Z), expected)
    np.testing.assert_array_equal(Spectrum(k).diag(new), [spectrum(s, s, k) for s in new])


def test_new_substrings_have_no_column_but_count_in_the_norm():
    fitted = Kmers(2).fit(Strings(["abab"]))
    image = fitted(Strings(["abzz", "??", "?"])).raw().toarray()
    np.testing.assert_array_equal(image, [[1.0, 0.0, np.sqrt(2.0)], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])


def test_two_unknown_letters_are_not_one():
    fitted = Kmers(1).fit(Strings(["a"]))
    image = fitted(Strings(["xy", "xx"])).raw().toarray()
    np.testing.assert_allclose(image[:, 1], [np.sqrt(2.0), 2.0])


def test_counting_in_blocks_changes_nothing(monkeypatch):
    X, Z = words(40, "ACGT", 30), words(20, "ACGTN", 40)
    kernels = [Spectrum(3), BlendedSpectrum(4, 0.7), GappedKmer(5, 3), WeightedDegree(4, 2)]
    whole = [kernel(Z, X) for kernel in kernels]
    monkeypatch.setattr(counting, "LETTERS_AT_ONCE", 50)
    for kernel, expected in zip(kernels, whole, strict=True):
        np.testing.assert_allclose(kernel(Z, X), expected, rtol=1e-14)


def test_tokens_and_bytes_are_letters_too():
    assert Spectrum(2)([b"abab", b"ab"]).tolist() == [[5.0, 2.0], [2.0, 1.0]]
    points = Strings([["to", "be", "or", "not", "to", "be"], ["to", "be"]])
    assert Spectrum(2)(points).tolist() == [[7.0, 2.0], [2.0, 1.0]]
    with pytest.raises(DomainMismatch, match="fitted on strings of characters"):
        Spectrum(2)([b"ab"], ["ab"])


def test_a_place_beyond_every_string_of_the_basis_is_new():
    kernel = WeightedDegree(1, 2)
    long = "b" * 5000 + "a"
    assert kernel([long], ["a"]).tolist() == [[0.0]]
    assert kernel(["ba"], ["a"]) == pytest.approx(2.0 / 3.0)
    assert kernel.diag([long])[0] == pytest.approx(5001.0 + 2 * (4999 * 2 / 3 + 4998 / 3))


@pytest.mark.parametrize("wrong", [Kmers(2, 3), GappedKmers(3, 4), GappedKmers(40, 20)])
def test_windows_that_cannot_be_are_refused(wrong):
    with pytest.raises(InvalidParameter, match=r"Kmers\("):
        wrong.fit(Strings(["ab"]))


def test_strings_without_any_window_are_the_zero_vector():
    for m in (Kmers(5), GappedKmers(6, 4), PositionedKmers(1)):
        points = Strings(["", ""])
        assert m.fit(points)(points).raw().toarray().tolist() == [[0.0], [0.0]]


def test_a_machine_learns_from_strings_and_predicts_new_ones():
    X = np.array([a + word + b for word in ("GATTA", "CCTAC") for a in ("", "A", "CG") for b in ("", "T", "GG")])
    y = np.repeat(["one", "other"], 9)
    model = SVC(kernel=Spectrum(3).normalised(), C=10.0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert list(model.predict(["NNGATTANN", "???CCTAC"])) == ["one", "other"]
    assert model.certificate_.status.is_certified
