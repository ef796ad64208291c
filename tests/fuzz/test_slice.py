"""A short slice of `make fuzz`, and that what is wrong would be found out."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.fuzz import __main__ as runner
from tests.fuzz.case import Case, is_deliberate, outcome
from tests.fuzz.machines import MACHINES, drawn, tried

# Seed and number of cases.
SLICES = {
    "ridge": (1, 30),
    "ridge-cv": (1, 30),
    "logistic": (1, 12),
    "svc": (1, 30),
    "nu-svc": (1, 15),
    "svr": (21, 30),
    "nu-svr": (1, 20),
    "one-class": (5, 25),
    "neighbours": (1, 30),
    "neighbours-mean": (1, 30),
    "smoother": (1, 30),
    "smoother-classes": (1, 30),
    "centroid": (1, 30),
    "kernel": (1, 30),
    "hostile": (88, 40),
}
# The published numbers that are made a little wrong.
PUBLISHED = {
    "ridge": "dual_coef_", "ridge-cv": "dual_coef_", "logistic": "dual_coef_", "svc": "dual_coef_",
    "nu-svc": "dual_coef_", "svr": "dual_coef_", "nu-svr": "dual_coef_", "one-class": "dual_coef_",
    "centroid": "squared_norms_", "kernel": "K", "neighbours-mean": "_y",
}  # fmt: skip


@pytest.mark.parametrize("name", MACHINES)
def test_random_problems_have_a_right_answer_or_an_error_in_words(name):
    seed, count = SLICES[name]
    found = {number: tried(name, seed, number) for number in range(count)}
    assert {number: one for number, one in found.items() if one.complaints} == {}


@pytest.mark.parametrize("name", PUBLISHED)
def test_an_answer_that_is_a_little_off_is_found_out(name):
    machine, found = MACHINES[name], 0
    for number in range(8):
        case = drawn(name, SLICES[name][0], number)
        attribute = PUBLISHED[name]

        def changed(case=case, attribute=attribute):
            model = Case.fitted(case)
            value = getattr(model, attribute)
            setattr(model, attribute, 1.01 * value + 0.01 * np.abs(value).max(initial=0.0))
            return model

        off = outcome(SimpleNamespace(**vars(case), fitted=changed), machine.check, machine.refused)
        found += bool(off.complaints)
    assert found >= 4


def test_an_error_in_words_is_told_from_a_raw_one():
    def raised(function):
        with pytest.raises(Exception) as caught:  # noqa: PT011
            function()
        return caught.value

    assert not is_deliberate(raised(lambda: np.linalg.cholesky(-np.eye(2))))
    assert not is_deliberate(raised(lambda: np.zeros(0).max()))
    assert not is_deliberate(raised(lambda: 1 / 0))
    assert is_deliberate(raised(lambda: drawn("svc", 1, 0).estimator(C=-1.0).fit([[0.0], [1.0]], [0, 1])))


def test_a_failure_is_a_line_and_a_script(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(runner, "FOLDER", tmp_path)
    row = MACHINES["kernel"]
    case = drawn("kernel", 1, 0)
    assert runner.main(["--only", "kernel", "--seed", "1", "--count", "2"]) == 0
    assert "2 fitted" in capsys.readouterr().out
    found = outcome(case, lambda case, model: ["a value is off by 1.5"], row.refused)
    runner.write_script("kernel", 1, 0, found)
    text = (tmp_path / "kernel-1-0.py").read_text()
    assert "# a value is off by 1.5" in text
    assert "python -m tests.fuzz --only kernel --seed 1 --first 0 --count 1" in text


@pytest.mark.parametrize("name", ["ridge", "svc", "neighbours", "smoother"])
def test_a_script_is_a_program_of_its_own(name):
    for number in range(8):
        text = drawn(name, 1, number).script(name, 1, number)
        compile(text, name, "exec")
        names = {}
        exec(text.split("\nmodel = ")[0], names)
        assert names["X"] is not None
