"""The tables are complete: a new row brings its own tests, a missing one fails here."""

import dataclasses
import inspect
from xml.etree import ElementTree

import pytest

import mercer
from mercer import _core
from mercer import kernels as mk
from mercer import maps as mm
from mercer.kernels import lengths, names, profiles, rules, series
from mercer.kernels.kernel import BUILD, Distance, Kernel, RowFunction
from mercer.kernels.node import Node
from mercer.kernels.parse import MAPS, METHODS, NAMES, NODES, parse
from mercer.kernels.plan import LEAVES, OPERATIONS
from mercer.kernels.sources import SOURCES
from mercer.kernels.tape import Tape
from mercer.maps.filled import Filled
from mercer.maps.percolumn import PerColumn
from mercer.maps.transform import Transform
from mercer.notation import Style, render
from tests.oracles import kernels as kernel_oracle
from tests.oracles import profiles as profile_oracle
from tests.oracles import tape as tape_oracle


def claim(x, z):
    return 1.0


# One instance of every node.
EXAMPLES = {
    type(node): node
    for node in (
        mk.ArcCosine(), mk.L1().log1p(), mk.L1() ** 0.5, mk.Cauchy(), mk.ChiSquared(),
        mk.Linear().scaled_by(mk.NormPower(1)), mk.Constant(1.0), mk.Cosine(), mk.Custom(claim, because="of a test"),
        mk.Delta(), mk.Diagonal(mk.Linear()), mk.L1().on(0), mk.L1() + mk.SquaredEuclidean(), mk.Linear().exp(),
        mk.ExponentialChiSquared(), mk.RBF() ** 0.5, mk.GaussianEnvelope(1.0), mk.HistogramIntersection(),
        mk.IntersectionExp(), mk.InverseRoot(mk.Linear()), mk.InverseSum(mk.Linear()), mk.IsPositive(mk.Linear()),
        mk.IsZero(mk.Linear()), mk.L1(), mk.Laplacian(), mk.Linear(), mk.Matern(1.5), mk.Linear().normalised(),
        mk.NormPower(1), mk.RBF().of(mk.L1()), mk.Periodic(), mk.Polarised(mk.Linear()), mk.Polynomial(2),
        mk.polynomial(mk.Linear(), [1, 2]), mk.Linear() ** 2, mk.PowerSeries(mk.Cosine(), "arccosine1"),
        mk.Precomputed(), mk.RBF() * mk.Linear(), mk.RBF().on(0), mk.Quadratic([[1.0]]), mk.RationalQuadratic(),
        mk.RBF(), 2 * mk.RBF(), 2 * mk.L1(), mk.SetIntersection(), mk.Share(mk.Linear()), mk.Sigmoid(),
        mk.SquaredEuclidean(), mk.RBF() + mk.Linear(), mk.Tanimoto(), mk.UserFunction(len),
        mk.OrMissing(mk.RBF().on("a")), mk.IsPresent(["a"]), mk.IsMissing(["a"]),
        mk.Spectrum(), mk.BlendedSpectrum(), mk.GappedKmer(), mk.WeightedDegree(), mk.Subsequence(), mk.Mismatch(),
        mk.WeisfeilerLehman(), mk.WeisfeilerLehmanAssignment(), mk.ShortestPath(), mk.Graphlet(), mk.RandomWalk(),
        mk.VertexHistogram(), mk.EdgeHistogram(),
        mk.GlobalAlignment(), mk.Signature(), mk.MinMax(),
        mk.RBF().summed(), mk.RBF().averaged(), mk.InverseSize(), mk.SpatialPyramid(),
    )
}  # fmt: skip


# Of the maps that need some; and the maps that kernels put behind themselves, which users do not write.
MAP_ARGUMENTS = {
    mm.ColourLevels: (2,), mm.Columns: ("a",), mm.LocalTime: ("Europe/Berlin",),
    mm.Metric: ([[2.0, 1.0], [1.0, 2.0]],), mm.MismatchKmers: (3, 1, "ACGT"),
    mm.Ranks: (["a", "b"],), mm.Scale: ([1.0, 2.0],),
}  # fmt: skip
BEHIND = (Filled, PerColumn, Transform)


def final_nodes(cls=Node):
    for below in cls.__subclasses__():
        if below.__module__.startswith("mercer."):
            yield from final_nodes(below)
            if dataclasses.is_dataclass(below):
                yield below


def test_every_node_is_in_the_table_of_parse_and_has_an_example():
    assert set(final_nodes()) == set(NODES) == set(EXAMPLES)


@pytest.mark.parametrize("cls", [cls for cls in NODES if not issubclass(cls, RowFunction)])
def test_every_node_has_a_rule_or_an_expansion(cls):
    node = EXAMPLES[cls]
    assert (node.by() is None) != (node.expand() is None)
    if node.by() is not None:
        assert node.by() in rules.TABLE
        assert "lower" in vars(cls)
    assert node.proof().steps[-1].sort == ("kernel" if isinstance(node, Kernel) else "distance")


@pytest.mark.parametrize("cls", NODES)
def test_every_node_has_notation_a_docstring_and_a_formula_in_the_oracle(cls):
    node = EXAMPLES[cls]
    assert isinstance(node, Kernel | Distance | RowFunction)
    assert node.writing().text
    assert node.writing().latex
    assert render(node, Style.LATEX).written.count("{") == render(node, Style.LATEX).written.count("}")
    ElementTree.fromstring(node.mathml().replace("&#8289;", ""))
    assert ">>>" in inspect.getdoc(cls)
    if isinstance(node, Kernel):
        assert "Positive b" in inspect.getdoc(cls)
    # A precomputed matrix is its own oracle.
    assert cls in kernel_oracle.known_nodes() or cls is mk.Precomputed


def test_every_node_is_public():
    assert {cls.__name__ for cls in NODES} <= set(mk.__all__)
    assert sorted(mk.__all__, key=lambda name: (not name.isupper(), name[0].islower(), name)) == mk.__all__
    assert set(NAMES) >= {cls.__name__ for cls in NODES}


@pytest.mark.parametrize("rule", rules.TABLE, ids=lambda rule: rule.name)
def test_every_rule_has_a_statement_and_a_citation(rule):
    assert rule.statement.endswith(".")
    assert rule.latex
    assert rule.citation in rules.CITATIONS
    assert rule.concludes in ("kernel", "distance")


def test_the_eight_rules_of_the_textbook_have_their_numbers():
    numbered = {rule.number: rule.name for rule in rules.TABLE if rule.number}
    assert numbered == {
        1: "inner-product",
        2: "scaling",
        3: "sum",
        4: "integer-power",
        5: "product",
        6: "congruence",
        7: "exponential",
        8: "quadratic-form",
    }
    assert len({rule.name for rule in rules.TABLE}) == len(rules.TABLE)


@pytest.mark.parametrize("cls", [cls for cls in final_nodes(mm.Map) if cls not in (*BEHIND, mm.FunctionMap)])
def test_every_map_is_public_and_is_read_back_in_a_formula(cls):
    assert cls in MAPS
    assert getattr(mercer, cls.__name__) is cls
    assert cls.__name__ in mm.__all__
    kernel = mk.Linear().on(cls(*MAP_ARGUMENTS.get(cls, ())))
    assert parse(repr(kernel)) == kernel


def test_every_rule_is_used_by_a_node():
    used = {node.by() for node in EXAMPLES.values()} | {rules.DIRECT_SUM, rules.TENSOR}
    assert used - {None} == set(rules.TABLE)


def test_every_profile_has_an_oracle_and_a_citation():
    assert set(profiles.TABLE) == set(profile_oracle.PROFILES)
    assert all(row.citation in rules.CITATIONS and row.because for row in profiles.TABLE.values())
    assert all(row.citation in rules.CITATIONS for row in series.TABLE.values())


def test_every_operation_is_known_to_the_interpreter_and_to_the_tape():
    assert tape_oracle.operations() == set(OPERATIONS)
    assert tape_oracle.leaf_kinds() == set(LEAVES)
    assert set(OPERATIONS) <= set(dir(Tape))


def test_every_operation_says_its_operands():
    assert OPERATIONS["inner"] == OPERATIONS["value"] == ("leaf",)
    assert OPERATIONS["affine"] == ("a", "s", "t")
    assert OPERATIONS["mul"] == ("a", "b")
    assert OPERATIONS["powi"] == ("a", "s")
    assert OPERATIONS["tanimoto"] == ("a", "row")
    assert OPERATIONS["inverse_sum"] == ("row",)


def test_every_leaf_has_a_text_and_a_source_that_makes_what_it_takes():
    assert {kind.takes for kind in LEAVES.values()} <= set(SOURCES) == set(_core.sources())
    assert all(kind.text for kind in LEAVES.values())


def test_methods_of_formulas_exist():
    for method in METHODS:
        assert callable(getattr(Kernel, method, None) or getattr(Distance, method))


def test_every_operator_has_its_node():
    assert {"add", "multiply", "power", "exp", "normalised", "scaled_by", "pullback", "of", "add_distances"} <= set(
        BUILD
    )


def test_rules_for_parameters_are_the_ones_that_domains_accept():
    for rule in lengths.TABLE:
        assert mk.RBF(rule).unresolved
    assert {
        "rbf",
        "linear",
        "poly",
        "polynomial",
        "laplacian",
        "chi2",
        "additive_chi2",
        "cosine",
        "sigmoid",
        "precomputed",
    } == set(names.TABLE)
