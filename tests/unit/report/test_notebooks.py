"""What notebooks show of machines, models, proofs and certificates."""

from xml.etree import ElementTree

import numpy as np
import pytest

from mercer import RBF, SVC, KernelNeighborsClassifier, KernelRidge, estimators
from mercer.config import documented_at
from mercer.markup import element, joined
from tests.unit.report.reading import Page

X = np.random.default_rng(0).normal(size=(20, 2))
NASTY = "<script>alert(1)</script>"


def test_a_model_shows_its_kernel_in_mathematics_and_its_classes_as_text():
    model = SVC(kernel=RBF(1.5)).fit(X, np.where(X[:, 0] > 0, NASTY, "no")).model_
    shown = model._repr_html_()
    assert "<math" in shown
    assert NASTY in Page(shown).words
    assert Page(shown).all("script") == []
    votes = KernelNeighborsClassifier(3).fit(X, X[:, 0] > 0).model_._repr_html_()
    assert "α" not in Page(votes).words


def test_a_certificate_shows_each_figure_with_its_sentence():
    certificate = KernelRidge(kernel=RBF()).fit(X, X[:, 0]).certificate_
    table = ElementTree.fromstring(certificate._repr_html_()).find("table")
    rows = ["".join(row.itertext()) for row in table.iter("tr")]
    assert rows == ["".join(figure) for figure in certificate.figures()]
    assert all(meaning for label, _, meaning in certificate.figures() if label != "note")


# What those machines are made of that cannot be made of nothing.
PARTS = {"KernelSearchCV": (SVC(), {"C": [1.0]})}


@pytest.mark.parametrize("name", [name for name in estimators.__all__ if name[0].isupper()])
def test_scikit_learns_diagram_shows_every_machine_and_links_to_no_one_elses_pages(name):
    machine = vars(estimators)[name](*PARTS.get(name, ()))
    assert name in machine._repr_html_()
    assert "scikit-learn.org" not in machine._get_doc_link()


def test_the_link_to_the_documentation_is_made_of_the_published_address():
    page = "reference/api/mercer.{estimator_name}.html"
    urls = ["Source, https://code.example/mercer", "Documentation, https://docs.example/mercer/"]
    assert documented_at(page, urls) == f"https://docs.example/mercer/{page}"
    assert documented_at(page, urls[:1]) == ""

    class Published(SVC):
        _doc_link_module = __name__.partition(".")[0]
        _doc_link_template = documented_at(page, urls)

    assert Published()._get_doc_link() == "https://docs.example/mercer/reference/api/mercer.Published.html"


def test_text_is_escaped_and_markup_is_not_escaped_twice():
    inner = element("b", "a < b", title='"&"')
    assert inner == '<b title="&quot;&amp;&quot;">a &lt; b</b>'
    assert element("p", inner, None, "'&'") == f"<p>{inner}&#x27;&amp;&#x27;</p>"
    assert joined("<", inner) == f"&lt;{inner}"
    assert element("img", src="x", alt="") == '<img src="x" alt="">'
