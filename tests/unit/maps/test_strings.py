"""Counts of substrings: dictionaries, what they lack, and keys of any size."""

import pickle
from collections import Counter

import numpy as np
import pytest

from mercer import SVC, DomainMismatch, InvalidParameter, Mismatch, Spectrum, Subsequence, WeightedDegree, _core
from mercer.maps import GappedKmers, Kmers, MismatchKmers, PositionedKmers, WordSequence
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


def test_counts_are_the_same_for_any_number_of_threads():
    X, Z = words(3000, "ACGT", 60), words(2000, "ACGTN", 80)
    maps = (Kmers(3), Kmers(12, 2, 0.7), GappedKmers(5, 3), PositionedKmers(4, 2), MismatchKmers(4, 1, "ACG"))
    before = _core.thread_count()
    try:
        for m in maps:
            images = []
            for threads in (1, 3):
                _core.set_thread_count(threads)
                images.append(m.fit(Strings(X))(Strings(Z)).raw())
            assert (images[0] != images[1]).nnz == 0
            np.testing.assert_array_equal(images[0].indices, images[1].indices)
    finally:
        _core.set_thread_count(before)


@pytest.mark.parametrize("m", [Kmers(2), Kmers(30), GappedKmers(4, 2), PositionedKmers(2, 1), MismatchKmers(3, 1)])
def test_a_pickled_fitted_map_counts_the_same(m):
    basis, new = Strings(words(9, "abcdefgh", 60)), Strings(words(5, "abcdefghXYZ", 60))
    fitted = m.fit(basis)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again(new).raw() != fitted(new).raw()).nnz == 0


def test_a_word_may_be_misread_in_few_letters():
    # AAA and AAT have the neighbours AA? in common, four of them, and those of their own near each other.
    K = Mismatch(3, 1, "ACGT")(["AAA", "AAT", "ATT", "TTT"])
    np.testing.assert_array_equal(K[0], [10.0, 4.0, 2.0, 0.0])


def test_the_alphabet_of_the_training_points_stands_in_the_fitted_formula():
    kernel = Mismatch(2, 1)
    assert kernel.unresolved
    assert kernel.resolve(["ACA", "GT"]) == Mismatch(2, 1, "ACGT")
    assert kernel.resolve([b"AC"]) == Mismatch(2, 1, b"AC")
    assert kernel.resolve(Strings([["to", "be"]])) == Mismatch(2, 1, ("to", "be"))
    model = SVC(kernel=kernel.normalised()).fit(["ACACA", "GTGTG"], [0, 1])
    assert model.model_.kernel == Mismatch(2, 1, "ACGT").normalised()
    assert list(model.predict(["NCACN", "GTG"])) == [0, 1]


def test_an_alphabet_of_less_than_two_letters_is_filled_up():
    assert Mismatch(1, 1).resolve(["aa", ""]) == Mismatch(1, 1, "a?")
    assert Mismatch(1, 0)(["", ""]).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("letters", ["A", "", "AA", 3, ("a", "a"), ([], 1)])
def test_an_alphabet_has_at_least_two_different_letters(letters):
    with pytest.raises(InvalidParameter, match="at least 2 different letters"):
        Mismatch(2, 1, letters)


@pytest.mark.parametrize("wrong", [Mismatch(2, 3, "AB"), Mismatch(12, 6, "ACGT"), Mismatch(40, 1, "ACGT")])
def test_a_map_of_too_many_neighbours_says_so(wrong):
    with pytest.raises(InvalidParameter, match="at most 100000 substrings may be near one"):
        wrong(["ACGT" * 20])


def test_words_are_letters_too():
    texts = ["To be, or not to be", "not to be"]
    assert Spectrum(2).on(WordSequence())(texts).tolist() == [[7.0, 3.0], [3.0, 2.0]]
    assert Subsequence(2, 1.0).on(WordSequence())(texts)[0, 1] == 5.0


def test_a_string_of_a_million_letters_is_counted():
    long = "ACGT" * 250_000
    assert Spectrum(4)([long, "ACGT"])[0, 1] == 250_000.0
    assert Mismatch(3, 1, "ACGT")([long], ["ACG"])[0, 0] > 0.0
    assert WeightedDegree(2)([long], [long])[0, 0] == pytest.approx(1e6 * 2 / 3 + (1e6 - 1) / 3)
    assert Subsequence(2, 0.5)([long], ["AC"])[0, 0] == pytest.approx(0.25 * 250_000 * 0.25, rel=0.1)


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


def test_features_are_named_by_what_counts_them():
    assert Spectrum(2).feature_map(["ab"]).get_feature_names_out()[0] == "Kmers(2): x0"
    names = Mismatch(1, 1).feature_map(["ab"]).get_feature_names_out()
    assert names[0] == "MismatchKmers(1, alphabet='ab'): x0"


def test_a_machine_learns_from_strings_and_predicts_new_ones():
    X = np.array([a + word + b for word in ("GATTA", "CCTAC") for a in ("", "A", "CG") for b in ("", "T", "GG")])
    y = np.repeat(["one", "other"], 9)
    model = SVC(kernel=Spectrum(3).normalised(), C=10.0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert list(model.predict(["NNGATTANN", "???CCTAC"])) == ["one", "other"]
    assert model.certificate_.status.is_certified
