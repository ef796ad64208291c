import gzip
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file


@pytest.fixture
def model(mercer, flowers):
    assert mercer("fit", flowers, "-t", "kind", "-o", "m.mercer").exit_code == 0
    return "m.mercer"


def test_answers_are_csv_on_standard_output(mercer, model, flowers):
    done = mercer("predict", model, flowers)
    lines = done.stdout.splitlines()
    assert lines[0] == "prediction"
    assert len(lines) == 61
    assert set(lines[1:]) == {"iris", "rose"}


def test_the_order_of_columns_does_not_matter_and_others_are_passed_over(mercer, model, flowers):
    table = pd.read_csv(flowers).assign(further=1.5)
    table[["further", "colour", "width", "length"]].to_csv("other.csv", index=False)
    done = mercer("predict", model, "other.csv")
    assert done.stdout == mercer("predict", model, flowers).stdout
    assert "'further'" in done.stderr


@pytest.mark.parametrize("formula", ["auto", "RBF('median')"])
def test_pieces_of_any_size_give_the_same_answers(mercer, flowers, formula):
    mercer("fit", flowers, "-t", "kind", "-k", formula, "-o", "m.mercer")
    whole = mercer("predict", "m.mercer", flowers).stdout
    assert all(mercer("predict", "m.mercer", flowers, "--rows", str(k)).stdout == whole for k in (1, 7, 60, 1000))


@pytest.mark.parametrize("first", [0, 1])
def test_columns_of_sparse_rows_are_counted_as_in_the_fit_whatever_is_in_a_piece(mercer, here, first):
    rng = np.random.default_rng(0)
    lines = [
        f"{i % 2} " + " ".join(f"{j + first}:1" for j in range(6) if rng.random() < 0.4 + 0.4 * (i % 2))
        for i in range(60)
    ]
    (here / "rows.svm").write_text("\n".join(lines) + "\n")
    mercer("fit", "rows.svm", "-o", "m.mercer")
    whole = mercer("predict", "m.mercer", "rows.svm").stdout
    assert mercer("predict", "m.mercer", "rows.svm", "--rows", "1").stdout == whole
    (here / "other.svm").write_text(f"0 {2 + first}:1\n1 {1 - first}:1\n")
    done = mercer("predict", "m.mercer", "other.svm", "--rows", "1")
    assert (done.exit_code, "counted from 1" in done.stderr) == ((3, True) if first else (0, False))


@pytest.fixture
def same_rows(here):
    """Rows of units that differ, without a 0 and with a few, in a table and in LIBSVM's format."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4)) * [1.0, 30.0, 0.1, 500.0] + [0.0, 900.0, 3.0, 0.0]
    X[rng.random(X.shape) < 0.1] = 0.0
    X = X.round(6)
    y = (X[:, 0] + 0.01 * X[:, 3] + np.where(X[:, 2] > 0.0, 4.0, 0.0)).round(6)
    pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(4)]).assign(label=y).to_csv("rows.csv", index=False)
    dump_svmlight_file(X, y, "rows.svm", zero_based=False)
    return "rows.csv", "rows.svm"


def test_rows_that_are_mostly_full_are_numbers_in_any_format(mercer, answer, same_rows, here):
    table, rows = same_rows
    wanted = answer("fit", table, "-t", "label", "-o", "table.mercer")
    found = answer("fit", rows, "-o", "rows.mercer")
    assert "Standardised" in found["kernel"]
    assert found["kernel"] == wanted["kernel"]
    assert found["score"] == wanted["score"]
    expected = mercer("predict", "table.mercer", table).stdout
    for name, model in [(table, "rows.mercer"), (rows, "table.mercer"), (rows, "rows.mercer")]:
        assert mercer("predict", model, name).stdout == expected
    assert mercer("predict", "rows.mercer", rows, "--rows", "7").stdout == expected
    (here / "short.svm").write_text("0 1:0.5 2:900\n")  # columns that are left out at the end are 0
    (here / "short.csv").write_text("x1,x2,x3,x4\n0.5,900,0,0\n")
    short = [mercer("predict", "rows.mercer", f"short.{ending}").stdout for ending in ("svm", "csv")]
    assert short[0] == short[1]
    for command in (["doctor", rows, "--model", "rows.mercer"], ["report", "rows.mercer", rows, "-o", "r.html"]):
        done = mercer(*command)
        assert done.exit_code in (0, 1), done.output


def test_a_model_of_sparse_rows_takes_full_ones_too(mercer, here):
    rng = np.random.default_rng(1)
    X = sp.random(60, 8, density=0.2, random_state=1, format="csr")
    dump_svmlight_file(X, rng.normal(size=60), "sparse.svm", zero_based=False)
    mercer("fit", "sparse.svm", "-o", "sparse.mercer")
    lines = [f"{i} " + " ".join(f"{j}:{i + j}" for j in range(1, 9)) for i in range(9)]
    (here / "full.svm").write_text("\n".join(lines) + "\n")
    assert len(mercer("predict", "sparse.mercer", "full.svm").stdout.splitlines()) == 10
    done = mercer("doctor", "full.svm", "--model", "sparse.mercer")
    assert done.exit_code in (0, 1), done.output


def test_a_missing_column_is_named(mercer, model, flowers):
    pd.read_csv(flowers).rename(columns={"width": "breadth"}).to_csv("other.csv", index=False)
    done = mercer("predict", model, "other.csv")
    assert done.exit_code == 3
    assert "lacks 'width'" in done.stderr
    assert "'breadth'" in done.stderr


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.csv.gz"])
def test_answers_are_written_as_the_file_is_named(mercer, model, flowers, here, name):
    done = mercer("predict", model, flowers, "-o", name, "--keep", "colour")
    assert done.exit_code == 0, done.output
    raw = (here / name).read_bytes()
    text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode()
    lines = text.splitlines()
    if "jsonl" in name:
        assert json.loads(lines[0]).keys() == {"colour", "prediction"}
        assert len(lines) == 60
    else:
        assert lines[0] == f"colour{chr(9) if 'tsv' in name else ','}prediction"
        assert len(lines) == 61


def test_the_old_answers_survive_data_that_breaks_off(mercer, model, flowers, here):
    (here / "a.csv").write_text("old", encoding="utf-8")
    (here / "broken.csv").write_text((here / flowers).read_text("utf-8") + "1,2,3,4,5,6\n", encoding="utf-8")
    assert mercer("predict", model, "broken.csv", "-o", "a.csv", "--rows", "10").exit_code == 3
    assert (here / "a.csv").read_text("utf-8") == "old"
    assert not list(here.glob(".*"))


def test_probabilities_have_a_column_for_every_label(mercer, flowers):
    mercer("fit", flowers, "-t", "kind", "-m", "logistic", "-o", "m.mercer")
    found = pd.read_csv(pd.io.common.StringIO(mercer("predict", "m.mercer", flowers, "--proba").stdout))
    assert list(found.columns) == ["prediction", "P(iris)", "P(rose)"]
    assert np.allclose(found[["P(iris)", "P(rose)"]].sum(axis=1), 1.0)


@pytest.mark.parametrize("formula", ["auto", "RBF('median')"])
def test_standard_deviations_are_those_of_the_machine(mercer, prices, here, formula):
    mercer("fit", prices, "-t", "price", "-k", formula, "-o", "m.mercer")
    found = pd.read_csv(pd.io.common.StringIO(mercer("predict", "m.mercer", prices, "--std").stdout))
    assert list(found.columns) == ["prediction", "std"]
    assert (found["std"] > 0).all()


@pytest.mark.parametrize(("option", "words"), [("--proba", "no probabilities"), ("--std", "no standard deviations")])
def test_what_a_machine_cannot_say_is_refused_before_the_work(mercer, model, flowers, option, words):
    done = mercer("predict", model, flowers, option)
    assert done.exit_code == 2
    assert words in done.stderr


def test_a_file_that_is_no_model_is_refused(mercer, flowers):
    done = mercer("predict", flowers, flowers)
    assert done.exit_code == 3
    assert "not a model file" in done.stderr
    assert mercer("predict", "none.mercer", flowers).exit_code == 3


def test_a_damaged_model_is_refused(mercer, model, flowers, here):
    raw = (here / model).read_bytes()
    (here / "cut.mercer").write_bytes(raw[: len(raw) // 2])
    done = mercer("predict", "cut.mercer", flowers)
    assert done.exit_code == 3
    assert "Traceback" not in done.output


def test_a_stream_is_read_as_it_comes(mercer, model, flowers, here):
    rows = (here / flowers).read_bytes()
    assert mercer("predict", model, "-", input=rows).stdout == mercer("predict", model, flowers).stdout


def test_memory_does_not_grow_with_the_rows(model, flowers, here):
    head, *lines = (here / flowers).read_text("utf-8").splitlines()
    (here / "many.csv").write_text("\n".join([head, *(lines * 2500)]), encoding="utf-8")
    program = (
        "import resource; from mercer.cli.app import app\n"
        "def peak(file):\n"
        "    app(['predict', 'm.mercer', file, '-o', 'a.csv', '--rows', '2000'], standalone_mode=False)\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "few = peak('flowers.csv'); print(peak('many.csv') - few)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=here, capture_output=True, text=True, check=True)
    assert int(done.stdout.splitlines()[-1]) < 40_000  # kB; all at once takes five times as much


def test_nobody_who_reads_only_the_beginning_sees_a_traceback(model, flowers, here):
    head, *lines = (here / flowers).read_text("utf-8").splitlines()
    (here / "many.csv").write_text("\n".join([head, *(lines * 1000)]), encoding="utf-8")
    run = subprocess.Popen(
        [sys.executable, "-m", "mercer", "predict", model, "many.csv", "--rows", "100"],
        cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert run.stdout is not None
    assert run.stderr is not None
    assert run.stdout.readline() == b"prediction\n"
    run.stdout.close()
    said = run.stderr.read()
    run.stderr.close()
    assert run.wait() == 141
    assert b"Traceback" not in said
