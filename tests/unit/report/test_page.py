"""The page of a fitted machine: whole, safe, and true."""

import re
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    RBF,
    SVC,
    SVR,
    Custom,
    Delta,
    KernelLogisticRegression,
    KernelNearestCentroid,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KernelRidge,
    KernelRidgeCV,
    Linear,
    Matern,
    NadarayaWatson,
    NadarayaWatsonClassifier,
    NuSVC,
    NuSVR,
    OneClassSVM,
    SetIntersection,
    Tanimoto,
    UncertifiedWarning,
)  # fmt: skip
from mercer.errors import InvalidInput
from mercer.report import report
from tests.unit.report.reading import Page

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = X[:, 0] - X[:, 1] ** 2 + 0.1 * RNG.normal(size=40)
LABELS = np.where(np.median(Y) < Y, "up", "down")
MANY = np.array(["a", "b", "c"])[np.digitize(Y, np.quantile(Y, [0.3, 0.7]))]
SETS = [{"tea", "milk", i % 3} if i % 2 else {"nails", "glue", i % 3} for i in range(40)]
NASTY = "<script>alert(1)</script>"
QUOTED = 'it\'s "quoted" </style><img src=x onerror=alert(2)>'


def alike(x, z):
    return float(np.exp(-np.sum((x - z) ** 2)))


MACHINES = {
    "two classes": (SVC(), X, LABELS),
    "many classes": (SVC(C=10, kernel=RBF("median") + 0.1 * Linear()), X, MANY),
    "nu": (NuSVC(nu=0.3), X, LABELS),
    "ridge": (KernelRidge(0.1, kernel=Matern(1.5, "median"), fit_intercept=True), X, Y),
    "targets": (KernelRidge(0.1, kernel="rbf"), X, np.column_stack([Y, -Y])),
    "search of a penalty": (KernelRidgeCV(kernel="rbf"), X, Y),
    "tube": (SVR(), X, Y),
    "nu of a tube": (NuSVR(), X, Y),
    "one class": (OneClassSVM(nu=0.2), X, None),
    "logistic": (KernelLogisticRegression(), X, LABELS),
    "softmax": (KernelLogisticRegression(), X, MANY),
    "neighbours": (KernelNeighborsClassifier(3), X, MANY),
    "neighbours' mean": (KernelNeighborsRegressor(3), X, Y),
    "smoother": (NadarayaWatson(0.5, kernel="epanechnikov"), X, Y),
    "smooth votes": (NadarayaWatsonClassifier(0.5), X, LABELS),
    "centroid": (KernelNearestCentroid(kernel="rbf"), X, MANY),
    "sets": (SVC(kernel=Tanimoto(SetIntersection())), SETS, LABELS),
    "sparse": (SVC(kernel="linear"), sp.csr_array(np.maximum(X, 0.0)), LABELS),
    "precomputed": (SVC(kernel="precomputed"), RBF(1.0)(X), LABELS),
    "precomputed ridge": (KernelRidge(1.0, kernel="precomputed"), RBF(1.0)(X), Y),
    "custom": (KernelRidge(0.1, kernel=Custom(alike, because="a colleague says so")), X, Y),
    "function": (SVC(kernel=lambda A, B: A @ B.T), X, LABELS),
    "pipeline": (make_pipeline(StandardScaler(), KernelRidge(0.1, kernel="rbf")), X, Y),
    "two rows": (KernelRidge(1.0), [[1.0], [2.0]], [1.0, 2.0]),
}
# Pictures take most of the time: each of them is on one of these pages.
DRAWN = {"many classes", "ridge", "logistic", "targets", "smoother", "precomputed", "function", "pipeline"}


def hostile():
    table = {"age": X[:, 0], NASTY: X[:, 1], QUOTED: ["red" if i % 2 else QUOTED for i in range(40)]}
    labels = np.where(np.median(Y) < Y, NASTY, QUOTED)
    kernel = RBF().on("age") * Delta().on(QUOTED) + RBF().on(NASTY)
    return SVC(kernel=kernel).fit(table, labels), table, labels


@pytest.fixture(scope="module")
def pages():
    """Each machine's page, made when it is first asked for."""
    known = {}

    def page(name):
        if name not in known:
            machine, rows, targets = MACHINES[name]
            machine.fit(rows, targets)
            known[name] = report(machine, rows, targets, pictures=name in DRAWN)
        return known[name]

    return page


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_has_a_page_that_is_whole_and_loads_nothing(pages, name):
    markup = pages(name)
    page = Page(markup)
    assert len(page.ids) == len(set(page.ids))
    for address in page.loaded:
        assert address.startswith("data:image/png;base64,") or address.removeprefix("#") in page.ids
    assert page.all("script") == []
    assert any("default-src 'none'" in each["content"] for each in page.all("meta") if "http-equiv" in each)
    assert "url(" not in markup
    assert "@import" not in markup
    assert not any(key.startswith("on") for _, each in page.elements for key in each)
    assert len(markup) < 1_000_000


@pytest.mark.parametrize("name", ["logistic", "ridge", "neighbours"])
def test_it_can_be_read_without_eyes(pages, name):
    page = Page(pages(name))
    assert page.all("html")[0]["lang"] == "en"
    assert len(page.all("h1")) == 1
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(each["alt"] for each in page.all("img"))
    assert all(each.get("scope") in ("col", "row") for each in page.all("th"))
    assert len(page.all("caption")) + page.all("table").count({"class": "proof"}) == len(page.all("table"))
    titles = [each["aria-labelledby"] for each in page.all("section")]
    assert set(titles) <= set(page.ids)
    assert len(titles) >= 7


def test_what_users_name_is_shown_as_text():
    machine, table, labels = hostile()
    markup = report(machine, table, labels, title=f"{NASTY}{QUOTED}")
    page = Page(markup)
    assert page.all("script") == []
    assert len(page.all("style")) == 1
    assert "x" not in [each["src"] for each in page.all("img")]
    assert not any(key.startswith("on") for _, each in page.elements for key in each)
    assert page.inside("h1") == [f"{NASTY}{QUOTED}"]
    for name in (NASTY, QUOTED):
        assert page.words.count(name) >= 3


def test_marks_of_direction_and_control_characters_do_not_reach_the_page():
    rows = {"a\u202egnp.exe": X[:, 0], "b\x00\x1b[31m": X[:, 1], "c\ud800": X[:, 1]}
    markup = report(KernelRidge().fit(rows, Y), rows, Y, pictures=False)
    assert not re.search("[\x00\x1b\u202e\ud800]", markup)
    assert markup.encode("utf-8")


def test_an_uncertified_fit_says_so_in_the_first_lines():
    with pytest.warns(UncertifiedWarning):
        machine = SVC(C=1e4, max_iter=2).fit(X, LABELS)
    words = Page(report(machine, X, LABELS, pictures=False)).words
    assert words.index("✗ Not certified.") < words.index("Fitted on")
    assert "✓ Certified" not in words


def test_an_assumption_is_said_in_the_first_lines_and_in_the_proof(pages):
    words = Page(pages("custom")).words
    assert words.index("a colleague says so") < words.index("Fitted on")
    assert "✓ Certified, if an assumption holds" in words
    assert "Assumed, not derived." in words
    assert "nothing is assumed" not in words
    assert "nothing is assumed" in Page(pages("ridge")).words


def test_every_step_of_the_proof_and_every_figure_of_the_certificate_is_there(pages):
    words = Page(pages("ridge")).words
    machine = MACHINES["ridge"][0]
    for step in machine.model_.kernel.proof().steps:
        assert step.reason() in words
    for label, text, meaning in machine.certificate_.figures():
        assert label in words
        assert text in words
        assert meaning in words


def test_the_code_on_the_page_makes_the_same_machine(pages):
    for name in ("ridge", "many classes"):
        code = "".join(Page(pages(name)).inside("pre"))
        machine, rows, targets = MACHINES[name]
        names = {"X": rows, "y": targets}
        exec(code.rpartition("\n")[0], names)
        assert repr(names["machine"]) == repr(machine)
        np.testing.assert_array_equal(names["machine"].predict(rows), machine.predict(rows))


def test_the_text_of_the_kernel_on_the_page_reads_back(pages):
    found = [text for text in Page(pages("many classes")).inside("code") if text.startswith("RBF(")]
    assert MACHINES["many classes"][0].model_.kernel in map(mercer.parse, found)


def test_the_fingerprint_tells_one_data_set_from_another(pages):
    machine, rows, targets = MACHINES["ridge"]
    first = re.search(r"[0-9a-f]{64}", pages("ridge"))[0]
    assert first in report(machine, rows.copy(), targets, pictures=False)
    assert first not in report(machine, rows + 1e-9, targets, pictures=False)


def test_rows_with_the_answer_in_sight_are_told_from_rows_without():
    machine = SVC(kernel=RBF(1.0)).fit(X, LABELS)
    assert "the rows that the machine was fitted on" in report(machine, X, LABELS, pictures=False)
    assert "The rows were held out" in report(machine, X + 0.01, LABELS, pictures=False)
    assert "the scores are too good" in report(
        machine, np.vstack([X[:20], X[:20] + 0.01]), [*LABELS[:20], *LABELS[:20]]
    )
    assert "The rows were held out" in report(machine, X, LABELS, test=(X + 0.01, LABELS), pictures=False)
    assert "Exact leave-one-out" in report(KernelRidge().fit(X, Y), X, Y, pictures=False)


def test_without_targets_there_are_no_scores_and_the_page_says_what_to_pass():
    words = Page(report(SVC().fit(X, LABELS), X, pictures=False)).words
    assert "No targets were given" in words
    assert "Pass y" in words
    assert "Accuracy" not in words


def test_steps_before_the_machine_and_searches_are_read_through():
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]}, cv=2).fit(X, LABELS)
    words = Page(report(search, X, LABELS, pictures=False)).words
    assert "SVC on 40 rows" in words
    assert "StandardScaler" in words
    assert "SVM" not in words


def test_the_file_holds_the_page_and_a_failed_write_leaves_what_was_there(tmp_path):
    machine = KernelRidge().fit(X, Y)
    path = tmp_path / "report.html"
    page = machine.report(X, Y, path=path, title="First", pictures=False)
    assert path.read_text(encoding="utf-8") == page
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(FileNotFoundError):
        machine.report(X, Y, path=tmp_path / "nowhere" / "report.html", pictures=False)
    with pytest.raises(IsADirectoryError):
        machine.report(X, Y, path=tmp_path, pictures=False)
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_what_cannot_be_reported_is_refused_in_words():
    with pytest.raises(InvalidInput, match="not a kernel machine of mercer"):
        report(StandardScaler().fit(X), X)
    with pytest.raises(InvalidInput, match="not fitted yet"):
        report(SVC(), X)
    machine = KernelRidge().fit(X, Y)
    with pytest.raises(InvalidInput, match="one entry for each of the 40 rows"):
        report(machine, X, Y[:-1])
    with pytest.raises(InvalidInput, match="test must be a pair"):
        report(machine, X, Y, test=X)
    with pytest.raises(InvalidInput, match="The y of test"):
        report(machine, X, Y, test=(X, Y[:3]))


def test_the_page_of_ten_thousand_rows_is_small():
    rows = RNG.normal(size=(10_000, 5))
    machine = KernelNeighborsClassifier(3).fit(rows, rows[:, 0] > 0)
    assert len(report(machine, rows, rows[:, 0] > 0)) < 1_000_000


def test_the_same_machine_has_the_same_page_each_time(pages):
    machine, rows, targets = MACHINES["ridge"]
    assert report(machine, rows, targets) == pages("ridge")


def test_without_matplotlib_only_the_pictures_are_missing():
    code = (
        "import sys; sys.modules['matplotlib'] = None; import mercer; "
        "print(mercer.KernelRidge().fit([[1.0], [2.0]], [1.0, 2.0]).report([[1.0], [2.0]], [1.0, 2.0]))"
    )
    page = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout
    assert "Matplotlib is not installed" in page
    assert "leave-one-out" in page


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def test_text_stands_out_from_its_paper_in_both_themes(pages):
    style = re.search(r"<style>(.*?)</style>", pages("ridge"), re.DOTALL)[1]
    themes = [
        dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    ]
    for theme in themes[:2]:
        for ink, paper in (
            ("ink", "paper"), ("ink", "raised"), ("muted", "paper"), ("muted", "raised"), ("accent", "paper"),
            ("ink", "good-paper"), ("good", "good-paper"), ("ink", "warn-paper"), ("warn", "warn-paper"),
        ):  # fmt: skip
            high, low = sorted((luminance(theme[ink]), luminance(theme[paper])), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, paper)


def test_a_mixed_table_is_told_column_by_column_with_what_is_missing_and_the_name_of_the_target():
    towns = [None if i % 10 == 0 else "Cork" if i % 3 else "Ghent" for i in range(40)]
    names = [f"width {j}" for j in range(6)]
    table = pd.DataFrame({**{name: RNG.normal(size=40) for name in names}, "town": towns})
    machine = KernelRidge(kernel="auto").fit(table, Y)
    page = Page(report(machine, table, pd.Series(Y, name="price"), pictures=False))
    assert "2 different, most often Cork (24 times); 4 missing" in page.words
    assert {"colspan": "5"} in page.all("td")
    assert "price" in page.inside("th")
    # Formulas name the first of many columns, and the text that reads back names all.
    assert sum("width 5" in text for text in page.inside("math")) == 0
    assert sum("width 5" in text for text in page.inside("code")) > 0
