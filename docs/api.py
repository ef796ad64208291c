"""The reference pages of the public names, one for each, for autodoc and numpydoc to fill in.

What is public is read from ``__all__``, so that a new name has its page at once; `GROUPS` says under which heading it
stands in the list of all names. This module needs no Sphinx: the tests use it to see that no name is without a page.
"""

import importlib
import importlib.util
import inspect
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import generate

import mercer
from mercer.kernels.kernel import Kernel
from mercer.term import Term

# Modules whose __all__ is public beside that of mercer; one that is not there, or empty, brings no page.
MODULES = ("mercer.testing", "mercer.plots")

# Where a name stands in the list, by the module that defines it: the longest prefix wins. In the order of the page.
GROUPS: dict[str, tuple[str, ...]] = {
    "Machines": ("mercer.estimators",),
    "What a fit returns": ("mercer.models", "mercer.problems"),
    "Kernels": ("mercer.kernels",),
    "Formulas": ("mercer.kernels.names", "mercer.kernels.parse", "mercer.kernels.series"),
    "Distances and windows": ("mercer.kernels.distances", "mercer.kernels.windows"),
    "Maps": ("mercer.maps",),
    "Gram matrices": ("mercer.grams",),
    "Checks": ("mercer.kernels.check", "mercer.kernels.refute", "mercer.testing", "mercer.doctor"),
    "Pictures and reports": ("mercer.plots", "mercer.report"),
    "Files": ("mercer.io", "mercer.estimators._saved"),
    "Errors and warnings": ("mercer.errors",),
    "Threads and versions": ("mercer.config",),
    "Further names": ("mercer",),
}
# Where the methods of all formulas are documented.
BASES = (Kernel, mercer.Distance)
# Of a formula: what is for users. Its other methods are for those who write nodes: docs/explanation/house.md.
FOR_USERS = (
    "proof", "formula", "latex", "expand", "diag", "feature_map", "n_features", "nonnegative", "on", "of", "exp",
    "log1p", "scaled_by", "normalised", "resolve", "replace", "get_params", "fit", "at",
)  # fmt: skip
SENTENCES = {
    "Machines": "Estimators with scikit-learn's interface; every ``fit`` leaves a ``model_`` and a ``certificate_``.",
    "Kernels": "Formulas with a proof. Side by side: :doc:`../kernels`.",
    "Distances and windows": "What kernels such as ``RBF`` are profiles of, and what only smoothers may weigh with.",
    "Errors and warnings": "Each with its cause and its cure: :doc:`../../how-to/errors`.",
}


@dataclass(frozen=True)
class Name:
    """A public name, the object it stands for, and its full name."""

    full: str
    value: Any

    @property
    def defined_in(self) -> str:
        """The module that the list sorts it by."""
        return self.value.__name__ if inspect.ismodule(self.value) else getattr(self.value, "__module__", "mercer")

    @property
    def group(self) -> str:
        """The heading with the longest prefix of where it is defined."""
        prefixes = [
            (len(prefix), title)
            for title, modules in GROUPS.items()
            for prefix in modules
            if f"{self.defined_in}.".startswith(f"{prefix}.")
        ]
        return max(prefixes)[1]


def public_names() -> list[Name]:
    """Every public name of mercer, and of its public modules."""
    found = {f"mercer.{name}": getattr(mercer, name) for name in mercer.__all__}
    for module_name in MODULES:
        if importlib.util.find_spec(module_name) is None:
            continue
        module = importlib.import_module(module_name)
        found[module_name] = module
        found |= {f"{module_name}.{name}": getattr(module, name) for name in module.__all__}
    return [Name(full, value) for full, value in found.items()]


def members(cls: type) -> list[str]:
    """The public methods and properties of mercer that the docstring of the class does not explain already."""
    found = []
    told = inspect.getdoc(cls) or ""
    for name, value in inspect.getmembers_static(cls):
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        function = getattr(function, "fn", function)  # of scikit-learn's available_if
        is_ours = inspect.isfunction(function) and function.__module__.startswith("mercer")
        is_told = isinstance(value, property) and re.search(rf"^(\w+, )*{name}(, \w+)* :", told, re.M)
        if not name.startswith("_") and is_ours and inspect.getdoc(function) and not is_told:
            found.append(name)
    if not issubclass(cls, Term):
        return found
    base = next((base for base in BASES if issubclass(cls, base) and cls is not base), None)
    is_new = {name: name not in vars(base) and name not in dir(base) for name in found} if base else {}
    return [name for name in found if name in FOR_USERS and is_new.get(name, True)]


def inherited(cls: type) -> list[str]:
    """The public methods that come from scikit-learn, and are documented there."""
    return [
        name
        for name, value in inspect.getmembers_static(cls, inspect.isfunction)
        if not name.startswith("_") and value.__module__.startswith("sklearn")
    ]


def heading(text: str, line: str = "=") -> list[str]:
    """A heading of reStructuredText."""
    return [text, line * len(text), ""]


def indented(text: str) -> list[str]:
    """Lines under a directive."""
    return ["", *(f"   {line}" for line in text.splitlines()), ""]


def derivation(cls: type[Term]) -> list[str]:
    """The formula in mathematics and the proof of a sample, which cannot drift from the code."""
    node = generate.sample(cls)
    lines = heading("Formula and proof", "-")
    lines += [f"Of ``{node!r}``:", "", ".. math::", *indented(node.latex())]
    return [*lines, ".. code-block:: text", *indented(str(node.proof()))]


def page(name: Name) -> str:
    """The page of one name."""
    value = name.value
    short = name.full.removeprefix("mercer.")
    lines = [
        *heading(name.full if inspect.ismodule(value) else short),
        f".. currentmodule:: {name.full.rpartition('.')[0]}",
        "",
    ]
    if inspect.ismodule(value):
        inside = [f"   {member}" for member in value.__all__]
        lines += [f".. automodule:: {name.full}", "", ".. autosummary::", "   :nosignatures:", "", *inside, ""]
    elif inspect.isclass(value):
        own = members(value)
        call = (
            generate.signature(value)[len(value.__name__) :] if issubclass(value, Term) and value not in BASES else ""
        )
        lines += [f".. autoclass:: {name.full}{call}", *([f"   :members: {', '.join(own)}"] if own else []), ""]
        for base in BASES:
            if issubclass(value, base) and value is not base:
                lines += [f"Its methods are those of every :class:`~mercer.{base.__name__}`.", ""]
        if inherited(value):
            lines += [f"As in scikit-learn: {', '.join(f'``{name}``' for name in inherited(value))}.", ""]
        if issubclass(value, BASES) and value not in BASES:
            lines += derivation(value)
    elif inspect.isfunction(value):
        lines += [f".. autofunction:: {name.full}", ""]
    else:
        lines += [f".. autodata:: {name.full}", ""]
    if not inspect.ismodule(value):
        lines += [f".. minigallery:: {name.full}", "   :add-heading: Examples that use it", "   :heading-level: -", ""]
    return "\n".join(lines)


def index(names: list[Name]) -> str:
    """The list of all names, by heading."""
    lines = [*heading("All public names"), f"Everything that ``mercer`` {mercer.__version__} promises to keep.", ""]
    for title in GROUPS:
        inside = [f"   ~{name.full}" for name in names if name.group == title]
        if inside:
            lines += [*heading(title, "-"), SENTENCES.get(title, ""), "", ".. autosummary::", "   :nosignatures:", ""]
            lines += [*inside, ""]
    entries = sorted((f"   {name.full}" for name in names), key=str.lower)
    return "\n".join([*lines, ".. toctree::", "   :hidden:", "", *entries, ""])


def pages() -> dict[str, str]:
    """All pages of the public names, by file name."""
    names = public_names()
    return {f"{name.full}.rst": page(name) for name in names} | {"index.rst": index(names)}
