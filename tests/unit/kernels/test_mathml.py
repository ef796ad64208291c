"""Formulas and proofs in MathML: well formed, the same mathematics as the text, and free of what users' names hold."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from mercer.kernels import (
    L1,
    RBF,
    Custom,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    Precomputed,
    Quadratic,
    RationalQuadratic,
    SetIntersection,
    Tanimoto,
    parse,
    polynomial,
)  # fmt: skip
from mercer.maps import Scale
from mercer.mathml import line

NASTY = '</math><script>alert("1")</script>'


def elements(markup):
    return ElementTree.fromstring(markup.replace("&#8289;", ""))


def shown(markup):
    return "".join(elements(markup).itertext())


def tags(markup):
    return [element.tag.rpartition("}")[2] for element in elements(markup).iter()]


def test_a_gaussian_is_set_as_a_fraction_with_squares():
    written = RBF(2.0).mathml()
    assert "<mfrac>" in written
    assert tags(written).count("msup") == 2
    assert shown(written) == "exp(−‖x−z‖22⋅22)"


def test_a_length_of_one_is_left_out():
    assert shown(RBF().mathml()).endswith("‖22)")  # the square of the norm over 2


@pytest.mark.parametrize(
    "kernel",
    [
        RBF([1.0, 2.0]), Matern(0.5), Matern(1.5, 2.0), Matern(2.5), Matern(3.5), RationalQuadratic(2.0, 3.0),
        Periodic(2.0, 24.0), Polynomial(3, 1.0, 0.5), Tanimoto(SetIntersection()), polynomial(Linear(), [1, 2, 3]),
        Quadratic([[1.0, 0.5], [0.5, 2.0]]), RBF().of(L1() ** 0.5), Linear().normalised(), Precomputed(),
        1e-7 * RBF("median").on(Scale([1.0, -2.0])) + RBF().on("age") * Linear().exp(),
    ],
    ids=repr,
)  # fmt: skip
def test_formulas_and_proofs_are_well_formed_and_hold_no_template(kernel):
    for markup in (kernel.mathml(), kernel.mathml(block=True), kernel.proof()._repr_html_()):
        assert not re.search(r"[{}@]", shown(markup))


def test_every_step_of_a_proof_is_a_row_that_names_its_rule():
    proof = (RBF(2.0) + Linear()).proof()
    found = elements(proof.table())
    rows = found.findall("tbody/tr")
    assert len(rows) == len(proof)
    for row, step in zip(rows, proof.steps, strict=True):
        assert row.find("th").text == str(step.number)
        assert step.reason() in "".join(row.findall("td")[1].itertext())


def test_powers_of_ten_and_minus_signs_are_mathematics():
    assert "<msup><mn>10</mn><mn>−7</mn></msup>" in (1e-7 * RBF()).mathml()


def test_what_users_name_is_shown_as_text():
    def claim(x, z):
        return 1.0

    claim.__name__ = NASTY
    kernel = Custom(claim, because=NASTY) + RBF().on(NASTY)
    for markup in (kernel.mathml(), kernel.proof()._repr_html_()):
        assert "<script" not in markup
        assert NASTY in shown(markup)
        assert "script" not in tags(markup)


def test_long_vectors_show_their_ends_and_large_matrices_a_name():
    assert shown(RBF(np.arange(1.0, 800.0)).mathml()).count("…") == 2
    assert len(Quadratic(np.eye(50)).mathml()) < 1000


def test_a_formula_that_was_read_back_is_written_the_same():
    kernel = 0.5 * RBF(2.0).on("age") + Linear() ** 2
    assert parse(repr(kernel)).mathml() == kernel.mathml()


def test_one_line_mathematics_becomes_scripts_bars_and_words():
    assert line("‖{x}‖²") == '<mo form="prefix">‖</mo>{x}<msup><mo form="postfix">‖</mo><mn>2</mn></msup>'
    assert line("{a:4}^{b}") == "<msup><mrow>{a:4}</mrow><mrow>{b}</mrow></msup>"
    assert "<mtext>\N{NO-BREAK SPACE}is a Python function\N{NO-BREAK SPACE}</mtext>" in line("{f} is a Python function")
    assert line("a < b") == "<mi>a</mi><mo>&lt;</mo><mi>b</mi>"
