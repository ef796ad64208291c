"""A slice of `make fuzz-files`: ten thousand mutated model files."""

import pytest

from tests.fuzz.files import MUTATIONS, judged, run, whole_files


@pytest.mark.parametrize("seed", range(4))
def test_a_mutated_file_loads_or_is_refused(seed):
    outcomes = run(2500, seed)
    # Every part of the validation has work to do: few files are refused by the digest, few are left as they were.
    assert len(outcomes) > 50
    assert outcomes["loaded"] < 750
    assert outcomes["The model file is damaged: its digest does not fit its bytes."] < 750


def test_the_files_that_are_mutated_are_good_themselves():
    assert {judged(file) for file in whole_files()} == {"loaded"}
    assert len(MUTATIONS) >= 4
