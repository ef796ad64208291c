import re

import pytest

from mercer import maps as mm
from mercer.kernels import (
    L1,
    RBF,
    ArcCosine,
    Cauchy,
    Custom,
    HistogramIntersection,
    IntersectionExp,
    Laplacian,
    Linear,
    Matern,
    Normalised,
    Periodic,
    Polarised,
    Precomputed,
    Quadratic,
    RationalQuadratic,
    SetIntersection,
    Sigmoid,
    Tanimoto,
)


def rules_of(kernel):
    return [step.rule.number or step.rule.name for step in kernel.proof().steps if step.rule is not None]


def test_the_gaussian_kernel_is_derived_by_rules_1_2_7_6():
    proof = RBF(2.0).proof()
    assert rules_of(RBF(2.0)) == [1, 2, 7, 6]
    assert proof.text() == (
        "RBF(2.0) is a kernel: every Gram matrix is positive semi-definite.\n"
        "  1. ⟨x, z⟩                                                rule 1 (inner-product)\n"
        "  2. 0.25·⟨x, z⟩                                           rule 2 (scaling) of 1; c = 0.25 ≥ 0\n"
        "  3. exp(0.25·⟨x, z⟩)                                      rule 7 (exponential) of 2\n"
        "  4. exp(−‖x‖²/(2·2²))·exp(0.25·⟨x, z⟩)·exp(−‖z‖²/(2·2²))  "
        "rule 6 (congruence) of 3; f(x) = exp(−‖x‖²/(2·2²))\n"
        "  5. exp(−‖x − z‖²/(2·2²))                                 the same function as 4"
    )
    assert proof.assumptions == ()


def test_the_set_kernel_is_derived_by_rules_1_and_7_through_the_indicator():
    assert rules_of(IntersectionExp()) == [1, "pullback", 7]
    assert "φ = Indicator()" in IntersectionExp().proof().text()


@pytest.mark.parametrize(
    ("kernel", "rules"),
    [
        (Linear() ** 2 + 1, [1, 4, "constant", 3]),
        (Laplacian(), ["city-block", "schoenberg"]),
        (Matern(1.5).of(L1() ** 0.5), ["city-block", "bernstein", "schoenberg"]),
        (Matern(0.5), [1, "polarisation", "schoenberg"]),
        (ArcCosine(1), [1, 6, "power-series", 6]),
        (Tanimoto(), [1, "inverse-sum", 5, "power-series", "constant", 6, 3]),
        (Linear().on("a") + Linear().on("b"), [1, "pullback", "pullback", "direct-sum"]),
        (Linear().on("a") * Linear().on("b"), [1, "pullback", "pullback", "tensor"]),
        (Linear().on("a", "b") + Linear().on("b"), [1, "pullback", "pullback", 3]),
        (Linear().on(0) + Linear().on("b"), [1, "pullback", "pullback", 3]),
        (RBF("median"), [1, "polarisation", "schoenberg"]),
        (RBF([1.0, 2.0]), [1, 2, 7, 6, "pullback"]),
    ],
)
def test_kernel_is_derived_by_these_rules(kernel, rules):
    assert rules_of(kernel) == rules
    assert kernel.proof().is_derived


def test_shared_subexpressions_are_proved_once():
    shared = Linear() ** 2
    proof = (shared + shared * RBF()).proof()
    assert [step.formula for step in proof.steps].count("⟨x, z⟩^2") == 1


def test_long_formulas_are_written_in_terms_of_earlier_steps():
    kernel = RBF(1.25)
    for _ in range(12):
        kernel = Normalised(kernel + Linear())
    proof = kernel.proof()
    assert max(len(step.formula) for step in proof.steps) < 200
    assert len(proof.latex()) < 20_000


def test_assumptions_are_carried_to_the_top():
    def fn(x, z):
        return 1.0

    kernel = RBF() * Custom(fn, because="it is constant") + Precomputed()
    assert [claim.split(":")[0] for claim in kernel.proof().assumptions] == [
        "Custom(fn, 'it is constant')",
        "Precomputed()",
    ]
    assert "Assumed, not derived" in str(kernel.proof())


@pytest.mark.parametrize(
    ("kernel", "claim"),
    [
        (Sigmoid(), "Sigmoid() is a kernel if its assumption holds: every"),
        (Precomputed() + Sigmoid(), "Precomputed() + Sigmoid() is a kernel if its assumptions hold: every"),
        (Polarised(Sigmoid()), "Polarised(Sigmoid()) is a distance if its assumption holds: cond"),
        (RBF(), "RBF() is a kernel: every"),
    ],
)
def test_the_claim_says_what_is_assumed(kernel, claim):
    assert str(kernel.proof()).startswith(claim)


def test_an_assumption_cites_nobody():
    assert Sigmoid().proof().citations == ("The user's claim, proved nowhere.",)


def test_a_python_function_goes_by_its_name():
    def f(X):
        return X[:, 0]

    assert Linear().scaled_by(f).proof().steps[-1].condition == "f(x) is a Python function"


def test_a_proof_names_its_citations():
    assert any("Schoenberg" in citation for citation in Matern(1.5).proof().citations)


def test_latex_of_kernels_and_proofs():
    assert RBF(2.0).latex() == r"\exp\left(-\frac{\lVert x - z \rVert^2}{2 \cdot 2^2}\right)"
    assert (0.5 * Linear() ** 2)._repr_latex_() == r"$\displaystyle 0.5 \, \langle x, z \rangle^{2}$"
    assert Quadratic([[1, 0], [0, 2]]).latex() == r"x^\top \begin{pmatrix} 1 & 0 \\ 0 & 2 \end{pmatrix} \, z"
    assert RBF().proof().latex().startswith(r"\begin{align*}")
    assert Matern(1.5)._repr_latex_().count("{") == Matern(1.5)._repr_latex_().count("}")


@pytest.mark.parametrize(
    "kernel", [RBF(), Laplacian(), Matern(0.5), Matern(2.5), RationalQuadratic(), Cauchy(), Periodic()]
)
def test_a_parameter_of_one_is_left_out_of_latex(kernel):
    assert "{1}" not in kernel.latex().replace(r"\frac{1}", "")
    assert not re.search(r"(/|\\cdot) 1\b", kernel.latex())


@pytest.mark.parametrize(
    ("kernel", "nonnegative"),
    [
        (RBF(), True),
        (Linear(), False),
        (Linear() ** 2, True),
        (Linear() ** 3, False),
        (SetIntersection(), True),
        (Linear().on(mm.Indicator()) ** 3, True),
        (Linear().on(mm.Scale(2.0)).on(mm.Indicator()), True),
        (Linear().on(mm.Scale(-2.0)).on(mm.Indicator()), False),
        (RBF() + Linear(), False),
        (RBF() * HistogramIntersection() + 1, True),
        (Tanimoto(SetIntersection()), True),
        (Tanimoto(), False),
        (ArcCosine(0), True),
        (RBF().scaled_by(len), False),
        (Linear().exp().normalised(), True),
    ],
)
def test_nonnegative_values_are_derived(kernel, nonnegative):
    assert kernel.nonnegative is nonnegative
