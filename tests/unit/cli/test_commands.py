import json
import os
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from mercer.cli.app import TABLE
from mercer.cli.outcome import Exit


def test_a_formula_is_proved(mercer, answer):
    done = mercer("prove", "RBF(2.0) + Linear() ** 2")
    assert done.exit_code == 0
    assert "is a kernel: every Gram matrix is positive semi-definite." in done.stdout
    said = answer("prove", "RBF(2.0)")
    assert said["derived"]
    assert said["steps"][0]["formula"] == "⟨x, z⟩"


def test_what_is_not_derived_or_only_assumed_is_a_no(mercer):
    assert mercer("prove", "RBF() - RBF(2.0)").exit_code == 1
    assert mercer("prove", "Sigmoid()").exit_code == 1
    assert mercer("prove", "what").exit_code == 2


@pytest.fixture
def functions(here):
    lines = ["import math", "def tanh(x, z):", "    return math.tanh(x @ z - 1.0)"]
    lines += ["def laplace(x, z):", "    return math.exp(-abs(x - z).sum())", "number = 3"]
    (here / "mine.py").write_text("\n".join(lines), encoding="utf-8")
    return "mine.py"


def test_a_function_is_refuted_with_points_that_show_it(answer, functions):
    said = answer("refute", f"{functions}:tanh")
    assert said["exit"] == 1
    c, K = np.array(said["c"]), np.array(said["gram"])
    assert c @ K @ c < 0
    assert not answer("refute", f"{functions}:laplace", "--trials", "9")["refuted"]


def test_points_may_come_from_a_file(answer, functions, flowers):
    assert answer("refute", f"{functions}:tanh", "--data", flowers)["refuted"]


@pytest.mark.parametrize(
    ("function", "code", "words"),
    [
        ("mine.py:tan", 2, "Did you mean 'tanh'?"),
        ("mine.py:number", 2, "not a function"),
        ("mine.py", 2, "Name a file and a function"),
        ("none.py:tanh", 3, "There is no file"),
        ("broken.py:f", 3, "ZeroDivisionError"),
        ("fails.py:f", 3, "fails.py:f fails, in line 2.\n  ZeroDivisionError"),
    ],
)
def test_a_function_that_cannot_be_found_is_refused_in_words(mercer, functions, here, function, code, words):
    (here / "broken.py").write_text("1 / 0", encoding="utf-8")
    (here / "fails.py").write_text("def f(x, z):\n    return 1 / 0", encoding="utf-8")
    done = mercer("refute", function)
    assert done.exit_code == code
    assert words in done.stderr


@pytest.mark.parametrize("formula", ["auto", "RBF('median')"])
def test_a_model_is_explained_by_proof_certificate_and_rows_in_their_own_units(mercer, answer, here, flowers, formula):
    mercer("fit", flowers, "-t", "kind", "-k", formula, "-o", "m.mercer")
    done = mercer("explain", "m.mercer")
    assert done.exit_code == 0
    assert "rule 7 (exponential)" in done.stdout or "schoenberg" in done.stdout
    assert "support vectors of 60 training rows" in done.stdout
    top = answer("explain", "m.mercer", "--rows", "4")["influential"]
    written = {tuple(line.split(",")[:3]) for line in (here / flowers).read_text("utf-8").splitlines()}
    assert len(top) == 4
    for row in top:
        assert (f"{row['length']:.3f}", f"{row['width']:.3f}", row["colour"]) in written
    influence = [row["influence"] for row in top]
    assert influence == sorted(influence, reverse=True)


def test_influence_is_how_far_f_moves_without_the_row(mercer, answer, prices, here):
    mercer("fit", prices, "-t", "price", "-o", "m.mercer")
    top = answer("explain", "m.mercer", "--rows", "1")["influential"][0]
    from mercer import load

    model = load(here / "m.mercer").model_
    f = np.abs(model.coef[:, 0]) * np.sqrt(model.binding.diag())
    assert np.isclose(top["influence"], f.max())


def test_the_doctor_finds_what_is_wrong_and_says_it_with_a_code(answer, here, flowers):
    healthy = answer("doctor", flowers, "-t", "kind")
    assert healthy["exit"] == 0
    lines = (here / flowers).read_text("utf-8").splitlines()
    leaking = [f"{line},{int('rose' in line)}" for line in lines[1:]]
    (here / "sick.csv").write_text("\n".join([lines[0] + ",leak", *leaking]), encoding="utf-8")
    sick = answer("doctor", "sick.csv", "-t", "kind")
    new = {finding["code"] for finding in sick["findings"]} - {finding["code"] for finding in healthy["findings"]}
    assert new
    assert any("leak" in finding["columns"] for finding in sick["findings"])


def test_the_doctor_takes_what_no_machine_takes(mercer, here):
    rows = [f"{i % 7},{'inf' if i == 3 else i * i % 11},same,{i % 2}" for i in range(40)]
    (here / "t.csv").write_text("\n".join(["a,b,c,y", *rows]), encoding="utf-8")
    assert mercer("fit", "t.csv", "-t", "y").exit_code == 3
    done = mercer("doctor", "t.csv", "-t", "y")
    assert done.exit_code == 1, done.output
    assert "MD0" in done.stdout


def test_the_doctor_looks_at_a_fitted_model_too(mercer, answer, flowers):
    mercer("fit", flowers, "-t", "kind", "-k", "RBF('median')", "-o", "m.mercer")
    assert "MD0" in mercer("doctor", flowers, "-t", "kind", "--model", "m.mercer").stdout


def test_a_plan_says_bytes_and_seconds(answer, prices):
    said = answer("plan", prices, "-t", "price", "-k", "RBF('median')")
    assert said["machine"] == "ridge"
    assert said["bytes"] > 0
    assert said["seconds"] > 0
    assert said["fits"]


def test_a_report_is_one_page(mercer, answer, prices, here):
    mercer("fit", prices, "-t", "price", "-o", "m.mercer")
    said = answer("report", "m.mercer", prices, "-t", "price", "-o", "page.html", "--title", "Houses & gardens")
    page = (here / "page.html").read_text("utf-8")
    assert said["bytes"] == len(page.encode())
    assert "<h1>Houses &amp; gardens</h1>" in page


def test_a_report_has_scores_where_the_file_has_the_target_of_the_fit(mercer, prices, here):
    mercer("fit", prices, "-t", "price", "-o", "m.mercer")
    done = mercer("report", "m.mercer", prices, "-o", "page.html")
    assert "warning" not in done.stderr
    assert "No targets were given" not in (here / "page.html").read_text("utf-8")
    lines = (here / prices).read_text().splitlines()
    (here / "new.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines))
    assert "no scores" in mercer("report", "m.mercer", "new.csv", "-o", "page.html").stderr


def test_the_target_of_a_model_is_remembered_and_not_called_unknown(mercer, answer, prices, here):
    mercer("fit", prices, "-t", "price", "-o", "m.mercer")
    assert answer("explain", "m.mercer")["target"] == "price"
    assert mercer("predict", "m.mercer", prices).stderr == ""


def test_influential_rows_show_dates_as_dates_and_gaps_as_gaps(mercer, answer, here):
    rng = np.random.default_rng(0)
    days = [f"2024-0{m}-1{d}" for m in range(1, 7) for d in range(1, 7)]
    heat = ["" if i == 5 else f"{rng.normal():.4f}" for i in range(len(days))]
    rows = [f"{day},{warm},{i}" for i, (day, warm) in enumerate(zip(days, heat, strict=True))]
    (here / "days.csv").write_text("\n".join(["day,heat,sold", *rows]) + "\n")
    mercer("fit", "days.csv", "-t", "sold", "-o", "m.mercer")
    shown = answer("explain", "m.mercer", "--rows", "36")["influential"]
    assert {row["day"] for row in shown} == set(days)
    assert [row["heat"] for row in shown].count(None) == 1


def test_the_demo_shows_every_command_end_as_it_should(answer, here):
    said = answer("demo", "--folder", "toys")
    assert [step["exit"] for step in said["commands"]] == [0, 1, 1, 0, 0, 0]
    assert (here / "toys" / "answers.csv").exists()


def test_the_bench_compares_answers_with_those_of_scikit_learn(answer):
    for duel in answer("bench", "--scale", "0.01")["duels"]:
        assert duel["difference"] < 0.02, duel


@pytest.mark.parametrize("name", TABLE)
def test_every_command_has_help_with_examples_and_the_common_options(mercer, name):
    done = mercer(name, "--help", env={"COLUMNS": "200"})
    assert done.exit_code == 0
    for text in ("Examples:", f"mercer {name}", "--json", "--debug", TABLE[name].summary):
        assert text in done.stdout
    assert import_module(f"mercer.cli.{name}").run.__doc__


def test_help_lists_every_command_and_every_exit_code(mercer):
    done = mercer("--help", env={"COLUMNS": "200"})
    for name, row in TABLE.items():
        assert name in done.stdout
        assert row.summary in done.stdout
    for code in Exit:
        assert f"{code.value}  {code.sentence}" in done.stdout


def test_the_version_is_told(mercer):
    assert mercer("--version").stdout.startswith("mercer ")


def test_a_misspelt_command_is_recognised(mercer):
    done = mercer("predcit")
    assert done.exit_code == 2
    assert "predict" in done.stderr


def test_the_module_runs_as_a_program_without_a_terminal(here):
    def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "mercer", *arguments], capture_output=True, text=True, check=False,
            env={**os.environ, **env},
        )  # fmt: skip

    done = run("prove", "RBF(2.0) * Linear() + RBF(2.0).on(0) * Linear().on(1)", COLUMNS="40", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) > 80  # nothing is folded for a program
    unknown = run("prove", "RBF()", "--bogus", "--json")
    assert json.loads(unknown.stdout)["error"]["message"].startswith("No such option: --bogus")
    assert unknown.returncode == 2


def test_characters_that_a_terminal_would_obey_are_shown_as_text(mercer, here):
    rows = [f"{i % 5},{i * i % 7},{i % 2}" for i in range(30)]
    (here / "t.csv").write_text("\n".join(["a\x1b[31m,<b>[red]b,y", *rows]), encoding="utf-8")
    done = mercer("fit", "t.csv", "-t", "y")
    assert "\x1b" not in done.stdout
    assert "a\\x1b[31m, <b>[red]b" in done.stdout


def test_completion_knows_the_options_of_a_command(here):
    env = {**os.environ, "_MERCER_COMPLETE": "complete_bash", "COMP_WORDS": "mercer fit --", "COMP_CWORD": "2"}
    code = "from mercer.__main__ import main; main()"
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert {"--target", "--kernel", "--json"} <= set(run.stdout.split())


def test_completion_knows_the_machines(here):
    asked = {"_MERCER_COMPLETE": "complete_bash", "COMP_WORDS": "mercer fit t.csv --machine n", "COMP_CWORD": "4"}
    done = subprocess.run(
        [sys.executable, "-c", "from mercer.__main__ import main; main()"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["nu-svc", "neighbors", "nu-svr"]


def test_the_proof_that_programs_read_is_as_short_as_that_for_people(answer, mercer, prices):
    mercer("fit", prices, "-t", "price", "-o", "m.mercer")
    proof = answer("explain", "m.mercer")["proof_text"]
    assert proof in mercer("explain", "m.mercer").stdout
    assert max(map(len, proof.splitlines())) < 200
