"""Writes docs/reference/kernels.md and doctor.md from the code: what is derived cannot drift.

Run it after a change to a kernel, a distance, a map, a rule or a check of the doctor; ``--check`` (used by the tests)
only compares.
"""

import inspect
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer import kernels as mk
from mercer import maps as mm
from mercer.doctor import CHECKS
from mercer.kernels.kernel import Distance, Kernel
from mercer.kernels.parse import NODES
from mercer.kernels.rules import CITATIONS, TABLE
from mercer.kernels.tape import compile_plan
from mercer.points import Domain
from mercer.points.base import ANYTHING
from mercer.term import Term

TARGET = Path(__file__).parent / "reference" / "kernels.md"
DOCTOR = TARGET.with_name("doctor.md")

# One instance of each node whose constructor has required arguments; the others are made without any.
SAMPLES: dict[str, Term] = {
    type(node).__name__: node
    for node in (
        mk.Constant(1.0), mk.Custom(max, because="…"), mk.GlobalAlignment(1.0), mk.Matern(1.5), mk.Polynomial(3),
        mk.Quadratic(np.eye(1)),
        2.0 * mk.Linear(), mk.RBF() + mk.Linear(), mk.RBF() * mk.Linear(), mk.Linear() ** 3, mk.RBF() ** 0.5,
        mk.polynomial(mk.Linear(), [1, 0, 2]), mk.Linear().exp(), mk.Linear().scaled_by(mk.NormPower(1)),
        mk.Linear().normalised(), mk.Linear().on(mm.UnitRows()), mk.RBF().of(mk.L1()),
        mk.PowerSeries(mk.Cosine(), "arccosine0"), mk.InverseSum(mk.Linear()), mk.Share(mk.Linear()),
        mk.Polarised(mk.Linear()), mk.L1() + mk.L1(), 2.0 * mk.L1(), mk.L1() ** 0.5, mk.L1().log1p(), mk.L1().on(0),
        mk.OrMissing(mk.RBF().on("age")), mk.IsPresent(["age"]), mk.IsMissing(["age"]),
        mk.RBF().summed(), mk.RBF().averaged(),
    )
}  # fmt: skip

# How a node that is not called by its name is written.
WRITTEN = {
    "Scaled": "2.0 * k", "Sum": "k1 + k2", "Product": "k1 * k2", "Power": "k ** 3", "FractionalPower": "k ** 0.5",
    "PolynomialOf": "polynomial(k, [1, 0, 2])", "Exp": "k.exp()", "Congruence": "k.scaled_by(f)",
    "Normalised": "k.normalised()", "Pullback": "k.on(map)", "Of": "k.of(distance)", "DistanceSum": "d1 + d2",
    "ScaledDistance": "2.0 * d", "BernsteinPower": "d ** 0.5", "BernsteinLog": "d.log1p()",
    "DistancePullback": "d.on(map)", "Summed": "k.summed()", "Averaged": "k.averaged()",
}  # fmt: skip

# What a leaf of the plan reads, seen without a map.
LEAF_DOMAINS = {
    "dot": "vectors", "l1": "vectors", "min": "vectors ≥ 0", "chi2": "vectors ≥ 0",
    "equal": "any values", "subsequence": "strings", "weighted_degree": "strings", "walks": "graphs",
    "alignment": "series", "signature": "series", "convolution": "bags",
    "stored": Domain.GRAM.value, "callback": "any points",
}  # fmt: skip

HEAD = """# Kernels, distances, maps and rules

Generated from the code by `docs/generate.py`; do not edit.
What the columns mean: [Kernels and proofs](../explanation/kernels-and-proofs.md).
The symbols: [Notation](../explanation/notation.md).

"Vectors" are rows of a dense array or of a sparse matrix. Sparse rows stay sparse in kernels of ⟨x, z⟩ and of ‖x − z‖²;
sums over coordinates such as ‖x − z‖₁ need a dense copy, and `Torus` refuses sparse rows.
"""


DOCTOR_HEAD = """# The doctor's checks

Generated from the code by `docs/generate.py`; do not edit.
How to use them: [Look before you fit](../how-to/look-before-you-fit.md).

Codes are stable: a code is never given to another check. A *problem* means that a fit will fail, or that its answer
will not be worth much; a *warning* that a fit will work, but probably worse than it could; a *note* is good to know.
The table itself is `mercer.doctor.CHECKS`.
"""


def sample(cls: type[Term]) -> Any:
    """An instance of a node."""
    return SAMPLES[cls.__name__] if cls.__name__ in SAMPLES else cls()


def paragraphs(cls: type) -> list[str]:
    """The docstring's paragraphs, each in one line."""
    return [" ".join(part.split()) for part in (inspect.getdoc(cls) or "").split("\n\n")]


def statement(cls: type) -> tuple[str, str]:
    """The formula, and why it is what it is, from the docstring."""
    body = next(part for part in paragraphs(cls) if re.search(r"(Positive b|A distance because)", part))
    formula, because = re.split(r"\. (?=Positive b|A distance because)", body, maxsplit=1)
    return formula, re.sub(r"^(Positive|A distance) (because,? )?", "", because).replace("``", "`")


def domain(cls: type[Term]) -> str:
    """What the kernel reads, from the leaves of its plan and the maps before them."""
    node = sample(cls)
    if any(isinstance(child, Kernel) for child in node.children()):
        return "that of its kernel"
    plan = compile_plan(node)
    found = []
    for leaf in plan.leaves:
        maps = plan.views[leaf.view]
        found.append(" or ".join(sorted(d.value for d in maps[0].needs)) if maps else LEAF_DOMAINS[leaf.kind])
    return ", ".join(dict.fromkeys(found)) or "any points"


def rules(cls: type[Term]) -> str:
    """The rules of the proof, in order of first use."""
    return ", ".join(str(rule.number or rule.name) for rule in sample(cls).proof().rules)


def cell(text: str) -> str:
    """Text that a table of Markdown takes."""
    return text.replace("|", "\\|")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of Markdown."""
    heads = list(head)
    lines = [heads, ["---"] * len(heads), *([cell(entry) for entry in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def signature(cls: type) -> str:
    """The call with its defaults."""
    parameters = inspect.signature(cls).parameters.values()
    return f"{cls.__name__}({', '.join(str(p).split(':')[0] + _default(p) for p in parameters)})"


def _default(parameter: inspect.Parameter) -> str:
    return "" if parameter.default is inspect.Parameter.empty else f"={parameter.default!r}"


def kernel_rows(classes: Iterable[type[Term]], *, written: bool) -> Iterable[list[str]]:
    """Name, formula, reason, rules, domain of each class."""
    for cls in sorted(classes, key=lambda cls: cls.__name__.lower()):
        formula, because = statement(cls)
        row = [f"`{WRITTEN[cls.__name__] if written else signature(cls)}`", formula, because]
        yield row if written else [*row, rules(cls), domain(cls)]


def page() -> str:
    """The whole page."""
    kernels = [cls for cls in NODES if issubclass(cls, Kernel)]
    distances = [cls for cls in NODES if issubclass(cls, Distance)]
    named = [cls for cls in kernels if cls.__name__ in mercer.__all__]
    inner = [cls for cls in kernels if cls not in named and cls.__name__ not in WRITTEN]
    maps = [getattr(mm, name) for name in mm.__all__]
    maps = [cls for cls in maps if issubclass(cls, mm.Map) and not inspect.isabstract(cls)]
    head = ["kernel", "formula", "positive because", "rules of the proof", "domain"]
    parts = [
        HEAD,
        "## Kernels\n",
        table(head, kernel_rows(named, written=False)),
        "## Operations on kernels\n",
        table(["written", "formula", "positive because"], kernel_rows(_written(kernels), written=True)),
        "Parts of the expansions of others, in `mercer.kernels`:\n",
        table(head, kernel_rows(inner, written=False)),
        "## Distances\n",
        table(
            ["distance", "formula", "a distance because", "rules of the proof", "domain"],
            kernel_rows([cls for cls in distances if cls.__name__ not in WRITTEN], written=False),
        ),
        table(["written", "formula", "a distance because"], kernel_rows(_written(distances), written=True)),
        "## Maps\n",
        "Any function of points is a map too: `k.on(fn)`. `FunctionMap` is in `mercer.maps`.\n",
        table(["map", "what it does", "domain"], ([f"`{signature(cls)}`", *_map_facts(cls)] for cls in maps)),
        "## Rules\n",
        table(
            ["#", "rule", "statement", "proved in"],
            ([str(r.number or ""), r.name, r.statement, CITATIONS[r.citation].rstrip(".")] for r in TABLE),
        ),
    ]
    return "\n".join(parts)


def doctor_page() -> str:
    """The page of the doctor's checks."""
    rows = (
        [check.code, check.title, check.severity.name.lower(), check.fires.format(limit=f"{check.limit:g}"), check.why,
         check.remedy]
        for check in CHECKS.values()
    )  # fmt: skip
    return DOCTOR_HEAD + "\n" + table(["code", "finds", "severity", "fires when", "matters because", "remedy"], rows)


def _written(classes: Iterable[type[Term]]) -> list[type[Term]]:
    return [cls for cls in classes if cls.__name__ in WRITTEN]


def _map_facts(cls: type[mm.Map]) -> list[str]:
    needs = "any points" if cls.needs is ANYTHING else " or ".join(sorted(d.value for d in cls.needs))
    return [paragraphs(cls)[0], needs]


def main(arguments: list[str]) -> int:
    """Write the pages, or with --check say whether they are up to date."""
    late = []
    for target, text in ((TARGET, page()), (DOCTOR, doctor_page())):
        if "--check" not in arguments:
            target.write_text(text, "utf-8")
        elif not target.exists() or target.read_text("utf-8") != text:
            late.append(str(target.relative_to(target.parents[2])))
    if late:
        print(f"{', '.join(late)} out of date: run python docs/generate.py", file=sys.stderr)
    return int(bool(late))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
