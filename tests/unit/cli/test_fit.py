import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer import load
from mercer.cli.machines import MACHINES


def test_a_fit_says_machine_kernel_proof_score_and_certificate(mercer, flowers):
    done = mercer("fit", flowers, "--target", "kind")
    assert done.exit_code == 0, done.output
    labels = [line.split()[0] for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert labels == [
        "data",
        "target",
        "numbers",
        "categories",
        "machine",
        "kernel",
        "proof",
        "score",
        "certificate",
        "cost",
    ]
    assert "\x1b" not in done.stdout


def test_everything_is_said_in_one_json_object_as_well(answer, flowers):
    said = answer("fit", flowers, "-t", "kind", "--cv", "3", "-o", "m.mercer")
    assert said["task"] == "classification"
    assert said["machine"] == "SVC"
    assert said["certificate"]["status"] == "MARGIN_OPTIMAL"
    assert said["proof"]["derived"]
    assert said["score"]["how"] == "3-fold cross-validation"
    assert said["score"]["value"] > 0.7 > said["score"]["baseline"]
    assert {column["name"]: column["kind"] for column in said["columns"]} == {
        "length": "numbers", "width": "numbers", "colour": "categories",
    }  # fmt: skip
    assert said["model"] == "m.mercer"


def test_the_standard_error_of_a_share_is_that_of_a_mean(answer, flowers):
    score = answer("fit", flowers, "-t", "kind")["score"]
    p, n = score["value"], score["rows"]
    assert n == 60
    assert np.isclose(score["error"], np.sqrt(p * (1 - p) / (n - 1)))


def test_the_same_seed_gives_the_same_score_and_model(answer, flowers, here):
    first, again = (answer("fit", flowers, "-t", "kind", "--seed", "3", "-o", f"{i}.mercer") for i in "12")
    assert first["score"] == again["score"]
    one, two = load(here / "1.mercer"), load(here / "2.mercer")
    assert np.array_equal(one.model_.coef, two.model_.coef)


@pytest.mark.parametrize("machine", ["svc", "nu-svc", "logistic", "neighbors", "smoother", "centroid"])
def test_every_machine_for_labels_is_fitted_stored_and_predicts(mercer, answer, flowers, machine):
    said = answer("fit", flowers, "-t", "kind", "-m", machine, "-o", "m.mercer", "--test-size", "0.3")
    assert said["exit"] == 0, said
    answers = answer("predict", "m.mercer", flowers)["predictions"]
    assert {row["prediction"] for row in answers} == {"iris", "rose"}


@pytest.mark.parametrize("machine", ["ridge", "svr", "nu-svr", "neighbors", "smoother"])
def test_every_machine_for_numbers_is_fitted_stored_and_predicts(answer, prices, machine):
    said = answer("fit", prices, "-t", "price", "-m", machine, "-o", "m.mercer", "--test-size", "0.3")
    assert said["task"] == "regression"
    assert said["score"]["value"] > 0.3, said["score"]
    assert len(answer("predict", "m.mercer", prices)["predictions"]) == 60


@pytest.mark.parametrize("asked", [["--task", "outliers"], ["-m", "one-class"]])
def test_without_a_target_what_is_normal_is_learnt_if_that_is_asked_for(answer, prices, asked):
    said = answer("fit", prices, "-o", "m.mercer", *asked)
    assert said["machine"] == "OneClassSVM"
    assert {row["prediction"] for row in answer("predict", "m.mercer", prices)["predictions"]} <= {-1, 1}


@pytest.mark.parametrize(("machine", "target", "data"), [("svc", "kind", "flowers"), ("ridge", "price", "prices")])
def test_tuning_searches_over_scale_and_penalty_in_every_training_part(request, answer, machine, target, data):
    file = request.getfixturevalue(data)
    said = answer("fit", file, "-t", target, "-m", machine, "--tune", "--test-size", "0.3")
    assert said["tuned"]["tried"] == 5 * {"svc": 5, "ridge": 6}[machine]
    assert said["tuned"]["params"].keys() == said["parameters"].keys()
    assert said["score"]["rows"] == 18


def test_a_tuned_parameter_that_is_given_is_not_searched(answer, prices):
    said = answer("fit", prices, "-t", "price", "--tune", "--set", "alpha=0.5", "--test-size", "0.3")
    assert said["tuned"]["tried"] == 5
    assert said["parameters"] == {"alpha": 0.5}


def test_a_formula_that_names_no_columns_gets_them_prepared(answer, here, flowers):
    said = answer("fit", flowers, "-t", "kind", "-k", "RBF('median') + Linear()", "-o", "m.mercer")
    assert said["exit"] == 0
    steps = load(here / "m.mercer")
    assert [kind for kind, _, _ in steps[0].transformers] == ["numbers", "categories"]


def test_a_formula_that_names_columns_reads_these_alone(answer, here, flowers):
    answer("fit", flowers, "-t", "kind", "-k", "RBF('median').on('length') * Delta().on('colour')", "-o", "m.mercer")
    assert list(load(here / "m.mercer").feature_names_in_) == ["length", "colour"]
    pd.read_csv(flowers)[["colour", "length"]].to_csv("few.csv", index=False)
    assert len(answer("predict", "m.mercer", "few.csv")["predictions"]) == 60


def test_labels_that_are_whole_numbers_stay_whole_numbers(answer, flowers):
    table = pd.read_csv(flowers)
    table["kind"] = (table["kind"] == "rose") * 2 + 1
    table.to_csv("numbered.csv", index=False)
    answer("fit", "numbered.csv", "-t", "kind", "-o", "m.mercer")
    assert {row["prediction"] for row in answer("predict", "m.mercer", "numbered.csv")["predictions"]} == {1, 3}


def test_dates_and_rows_without_target_are_understood(answer, prices):
    table = pd.read_csv(prices)
    table["sold"] = pd.date_range("2020-01-01", periods=60).strftime("%Y-%m-%d")
    table.loc[[3, 5], "price"] = np.nan
    table.to_csv("dated.csv", index=False)
    said = answer("fit", "dated.csv", "-t", "price", "-o", "m.mercer")
    assert said["rows"] == 58
    assert said["notes"] == ["2 rows without 'price' were left out"]
    assert {column["name"]: column["kind"] for column in said["columns"]}["sold"] == "dates"
    assert len(answer("predict", "m.mercer", "dated.csv")["predictions"]) == 60


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["-t", "knd"], 2, "Did you mean 'kind'?"),
        (["-t", "kind", "--drop", "lenght"], 2, "Did you mean 'length'?"),
        (["-t", "kind", "-m", "svm"], 2, "There is no machine 'svm'"),
        (["-t", "kind", "-m", "ridge"], 2, "holds texts"),
        (["-t", "length", "-m", "svc"], 2, "--task regression"),
        (["-t", "kind", "-m", "one-class"], 2, "takes no --target"),
        (["-m", "svc"], 2, "needs a --target"),
        ([], 2, "Which column is to be predicted is not said"),
        (["-t", "kind", "-k", "RBF("], 2, "not a formula"),
        (["-t", "kind", "-k", "RBF().on('size')"], 2, "names a column 'size'"),
        (["-t", "kind", "-k", "L1()"], 2, "is a distance"),
        (["-t", "kind", "-k", "RBF() - Linear()"], 1, "cannot be derived"),
        (["-t", "kind", "--set", "D=1"], 2, "not a parameter of svc"),
        (["-t", "kind", "--set", "C=-1"], 2, "C of SVC"),
        (["-t", "kind", "--kind", "colour=smell"], 2, "takes a kind"),
        (["-t", "kind", "--kind", "colour=numbers"], 3, "holds no numbers"),
        (["-t", "kind", "--cv", "3", "--test-size", "0.5"], 2, "not both"),
        (["-t", "kind", "--test-size", "1.0"], 2, "between 0 and 1"),
        (["-t", "kind", "--tune", "-m", "centroid", "-k", "Linear()"], 2, "nothing to search"),
        (["-t", "kind", "-o", "nowhere/m.mercer"], 4, "There is no folder"),
        (["-t", "kind", "-o", "."], 4, "is a folder"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words_with_its_exit_code(mercer, flowers, arguments, code, words):
    done = mercer("fit", flowers, *arguments)
    assert done.exit_code == code, done.output
    assert words in done.stderr
    assert "Traceback" not in done.output
    as_json = mercer("fit", flowers, *arguments, "--json")
    assert json.loads(as_json.stdout)["error"]["exit"] == code


def test_the_usual_target_of_a_format_is_taken_and_said(answer, here):
    X = np.random.default_rng(0).standard_normal((40, 2))
    np.savez("t.npz", X=X, y=(X[:, 0] > 0).astype(int))
    said = answer("fit", "t.npz")
    assert (said["target"], said["task"]) == ("y", "classification")
    assert "the target is 'y'" in said["notes"][0]
    assert [column["name"] for column in said["columns"]] == ["x1", "x2"]
    assert answer("fit", "t.npz", "--drop", "y", "--task", "outliers")["target"] is None
    assert answer("fit", "t.npz", "-t", "x2")["target"] == "x2"


def test_every_machine_that_can_keep_the_best_after_ctrl_c_does():
    assert [row.name for row in MACHINES if row.keeps_best != ("keep_best" in row.kind().get_params())] == []


def test_a_label_with_one_row_is_named(mercer, flowers):
    Path("rare.csv").write_text(Path(flowers).read_text("utf-8") + "1,2,red,tulip\n", encoding="utf-8")
    done = mercer("fit", "rare.csv", "-t", "kind")
    assert done.exit_code == 3
    assert "Label 'tulip' has one row only" in done.stderr


def test_a_traceback_is_there_when_it_is_asked_for(mercer, flowers):
    assert "Traceback" in mercer("fit", flowers, "-t", "knd", "--debug").stderr


def test_an_answer_that_is_not_certified_has_exit_code_1_and_is_stored(answer, flowers, here):
    said = answer("fit", flowers, "-t", "kind", "--set", "max_iter=1", "-o", "m.mercer")
    assert said["exit"] == 1
    assert not load(here / "m.mercer").certificate_.is_certified
    assert "terminated early" in said["warnings"][0]


def test_the_score_is_said_also_where_the_model_cannot_be_stored(flowers, here):
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); "
    code += "from mercer.__main__ import main; main()"
    command = [sys.executable, "-c", code, "fit", flowers, "-t", "kind", "-o", "m.mercer"]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    assert done.returncode == 4, done.stderr
    assert "score" in done.stdout
    assert "could not be written" in done.stderr
    assert not (here / "m.mercer").exists()


def test_an_old_model_survives_a_fit_that_fails(mercer, flowers, here):
    assert mercer("fit", flowers, "-t", "kind", "-o", "m.mercer").exit_code == 0
    before = (here / "m.mercer").read_bytes()
    assert mercer("fit", flowers, "-t", "kind", "-o", "m.mercer", "-k", "RBF(").exit_code == 2
    assert (here / "m.mercer").read_bytes() == before


def test_ctrl_c_ends_a_long_fit_in_words(here):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((4000, 6))
    lines = [",".join(f"{value:.4f}" for value in row) + f",{rng.random():.4f}" for row in rows]
    (here / "long.csv").write_text("\n".join(["a,b,c,d,e,f,y", *lines]), encoding="utf-8")
    # A shell that runs the tests in the background has SIGINT ignored.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    code += "from mercer.__main__ import main; main()"
    command = [sys.executable, "-c", code, "fit", "long.csv", "-t", "y", "-m", "svr", "--tune", "--cv", "20"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=here)
    assert run.stdout is not None
    assert run.stdout.readline().startswith("data")
    while not run.stdout.readline().startswith("numbers"):
        pass
    run.send_signal(signal.SIGINT)
    _, said = run.communicate()
    assert run.returncode == 130, said
    assert "Ctrl-C" in said
    assert "Traceback" not in said
