"""What mercer says of itself, and who may limit its threads."""

import os
import subprocess
import sys

import joblib
import pytest
import threadpoolctl

import mercer
from mercer import _core


def test_show_config_prints_what_mercer_runs_on(capsys):
    assert mercer.show_config() is None
    printed = capsys.readouterr().out
    for fact in ("instruction set", "threads", "BLAS", "numpy", "scipy", "scikit-learn", mercer.__version__):
        assert fact in printed


def test_show_config_gives_a_dictionary_when_asked():
    facts = mercer.show_config(as_dict=True)
    assert facts["threads"] == mercer.get_num_threads()
    assert facts["instruction set"] in dict(_core.instruction_sets())


@pytest.mark.parametrize("asked", [None, *(name for name, runs in _core.instruction_sets() if runs)])
def test_the_instruction_set_is_the_best_or_the_one_asked_for(asked):
    best = [name for name, runs in _core.instruction_sets() if runs][-1]
    assert _config_of(asked).stdout.split() == [asked or best]


def test_an_instruction_set_that_cannot_be_had_is_refused_with_those_that_can():
    said = _config_of("mmx")
    assert said.returncode != 0
    assert "cannot run instruction set 'mmx'; it runs baseline" in said.stderr


def _config_of(asked):
    program = "import mercer; print(mercer.show_config(as_dict=True)['instruction set'])"
    others = {name: value for name, value in os.environ.items() if name != "MERCER_INSTRUCTION_SET"}
    wish = {} if asked is None else {"MERCER_INSTRUCTION_SET": asked}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False, text=True, env=others | wish
    )


def test_an_instruction_set_that_does_not_exist_is_refused():
    plan = _core.Plan([], [("constant", 0, -1, -1, 1.0, 0.0)], 1, 0, 0)
    with pytest.raises(ValueError, match="cannot run instruction set 'mmx'"):
        _core.Basis(plan, _core.Side(1), "mmx")


def test_threadpoolctl_sees_and_limits_the_threads():
    before = mercer.get_num_threads()
    with threadpoolctl.threadpool_limits(limits=1, user_api="mercer"):
        assert mercer.get_num_threads() == 1
        infos = [info for info in threadpoolctl.threadpool_info() if info["user_api"] == "mercer"]
        assert [info["num_threads"] for info in infos] == [1]
    assert mercer.get_num_threads() == before


def test_joblib_workers_share_the_cores():
    counts = joblib.Parallel(n_jobs=2)(joblib.delayed(_threads_in_worker)() for _ in range(2))
    assert max(counts) <= max(1, joblib.cpu_count() // 2)


def _threads_in_worker():
    program = "import mercer; print(mercer.get_num_threads())"
    return int(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout)
