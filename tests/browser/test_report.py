"""The page of a fitted machine in a real browser: it renders, asks for nothing, and fits every paper."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from mercer import RBF, SVC, Custom, Delta, KernelLogisticRegression, KernelRidge, Matern, OneClassSVM, Standardised
from tests.browser.chromium import Chromium

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = X[:, 0] - X[:, 1] ** 2 + 0.1 * RNG.normal(size=80)
WIDE = np.tile(X, 14)[:, :40]
NASTY = "<script>window.hostile = 1</script>"
QUOTED = "\"'></style><img src=x onerror='window.hostile = 2'>"
# Where to keep pictures for people to look at.
KEPT = os.environ.get("MERCER_PICTURES")


def alike(x, z):
    return float(np.exp(-np.sum((x - z) ** 2)))


def hostile():
    rows = {NASTY: X[:, 0], QUOTED: [QUOTED if i % 2 else NASTY for i in range(80)]}
    labels = np.where(np.median(Y) < Y, NASTY, QUOTED)
    return SVC(kernel=RBF().on(NASTY) * Delta().on(QUOTED)).fit(rows, labels), rows, labels


def named():
    rows = {f"mean concavity of part {j}": X[:, j % X.shape[1]] * (1.0 + j) for j in range(12)}
    kernel = RBF("median").on(Standardised()).on(*rows)
    return KernelRidge(0.1, kernel=kernel).fit(rows, Y), rows, Y


MACHINES = {
    "ridge": lambda: (KernelRidge(0.1, kernel=Matern(1.5, "median") + 1.0).fit(X, Y), X, Y),
    "classes": lambda: (KernelLogisticRegression(C=10).fit(X, Y > 0), X, Y > 0),
    "one-class": lambda: (OneClassSVM(nu=0.1).fit(X), X, None),
    "custom": lambda: (KernelRidge(0.1, kernel=Custom(alike, because="so it is said")).fit(X, Y), X, Y),
    "wide": lambda: (
        KernelRidge(1.0, kernel=RBF(np.arange(1.0, 41.0))).fit(np.tile(X, 14)[:, :40], Y),
        np.tile(X, 14)[:, :40],
        Y,
    ),
    "hostile": hostile,
    "named": named,
}


@pytest.fixture(scope="module")
def browser():
    made = Chromium(os.environ["MERCER_BROWSER"])
    yield made
    made.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = Path(KEPT) if KEPT else tmp_path_factory.mktemp("pages")
    folder.mkdir(exist_ok=True)
    for name, make in MACHINES.items():
        machine, rows, targets = make()
        machine.report(rows, targets, path=folder / f"{name}.html")
    return folder


def test_the_tests_would_hear_a_request_a_word_and_a_script(browser, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<img src='other.png'><script>console.log('here'); window.hostile = 1</script>")
    browser.visit(bad)
    assert len(browser.heard("Network.requestWillBeSent")) == 2
    assert browser.heard("Runtime.consoleAPICalled")
    assert browser.value("window.hostile") == 1


def kept(browser, pages, name):
    if KEPT:
        browser.picture(pages / f"{name}.png")


@pytest.mark.parametrize("name", MACHINES)
def test_the_page_renders_without_a_word_on_the_console_and_without_a_request(browser, pages, name):
    browser.visit(pages / f"{name}.html")
    assert browser.heard("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded") == []
    asked = [event["params"]["request"]["url"] for event in browser.heard("Network.requestWillBeSent")]
    assert [url for url in asked if not url.startswith("data:image/png")] == [(pages / f"{name}.html").as_uri()]
    assert browser.heard("Page.javascriptDialogOpening") == []
    assert browser.value("window.hostile") is None
    assert browser.value("[...document.images].every(image => image.complete && image.naturalWidth > 100)")
    kept(browser, pages, name)


def test_formulas_are_set_in_two_dimensions(browser, pages):
    browser.visit(pages / "classes.html")
    above = "document.querySelector('.formula mfrac').children[0].getBoundingClientRect().bottom"
    below = "document.querySelector('.formula mfrac').children[1].getBoundingClientRect().top"
    assert browser.value(f"{above} <= {below}")
    assert browser.value(
        "[...document.querySelectorAll('math')].every(math => math.getBoundingClientRect().height > 5)"
    )


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_sticks_out_of_a_phone(browser, pages, name, width):
    browser.visit(pages / f"{name}.html", width=width, mobile=True)
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value("visualViewport.width") == width
    out = (
        "[...document.querySelectorAll('h1, h2, h3, p, li, dd, dt, figure, img, .callout')]"
        ".filter(each => !each.closest('.wide') && each.getBoundingClientRect().right > innerWidth + 1)"
        ".map(each => each.outerHTML.slice(0, 80))"
    )
    assert browser.value(out) == []
    kept(browser, pages, f"{name}-{width}")


def test_night_and_day_have_their_own_paper_and_pictures(browser, pages):
    seen = {}
    for dark in (False, True):
        browser.visit(pages / "ridge.html", dark=dark)
        paper = browser.value("getComputedStyle(document.body).backgroundColor")
        seen[dark] = (sum(map(int, re.findall(r"\d+", paper)[:3])), browser.value("document.images[0].currentSrc"))
        kept(browser, pages, f"ridge-{'dark' if dark else 'light'}")
    assert seen[True][0] < 200 < 600 < seen[False][0]
    assert seen[True][1] != seen[False][1]


def test_it_prints_in_black_on_white_with_the_rules_unfolded(browser, pages):
    browser.visit(pages / "ridge.html")
    light = browser.value("document.images[0].currentSrc")
    browser.visit(pages / "ridge.html", dark=True, media="print", width=720)
    assert browser.value("document.images[0].currentSrc") == light
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.value("document.querySelector('details table').getBoundingClientRect().height") > 50
    found = browser.printed()
    assert found.startswith(b"%PDF")
    assert 3 <= found.count(b"/Type /Page\n") <= 12
    if KEPT:
        (pages / "ridge.pdf").write_bytes(found)


@pytest.mark.parametrize("name", MACHINES)
def test_nothing_is_cut_on_paper(browser, pages, name):
    browser.visit(pages / f"{name}.html", media="print", width=717)  # A4 between the margins
    # What is wider makes the browser shrink all of the page, to two thirds at most; what scrolls is cut at its edge.
    cut = (
        "[...document.querySelectorAll('.formula, .wide, pre')].filter(each => each.scrollWidth > each.clientWidth + 1)"
        ".filter(each => getComputedStyle(each).overflowX !== 'visible' || each.scrollWidth > 1.5 * innerWidth)"
        ".map(each => [each.className, each.scrollWidth, each.clientWidth, each.innerHTML.slice(0, 80)])"
    )
    assert browser.value(cut) == []


def test_every_link_of_the_contents_leads_somewhere_by_keyboard(browser, pages):
    browser.visit(pages / "ridge.html")
    links = browser.value("[...document.querySelectorAll('nav a')].map(link => link.getAttribute('href'))")
    assert len(links) == 8
    for link in links:
        assert browser.value(f"document.querySelector('{link}').getBoundingClientRect().height") > 40
    browser.ask("Input.dispatchKeyEvent", type="rawKeyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)
    assert browser.value("document.activeElement.tagName") == "A"


def test_the_tree_of_accessibility_names_headings_pictures_and_tables(browser, pages):
    browser.visit(pages / "ridge.html")
    nodes = browser.ask("Accessibility.getFullAXTree")["nodes"]
    names = {}
    for node in nodes:
        if not node.get("ignored"):
            names.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    assert len(names["heading"]) > 8
    assert all(names["image"])
    assert all(name for name in names["region"])
    assert "Scores" in " ".join(names["table"])
