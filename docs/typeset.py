"""Mathematics on the site, as MathML: no script, nothing fetched, and it can be read aloud.

Two kinds of source: formulas in Unicode (formulas.py), and LaTeX in docstrings.
"""

import re
import shutil
from pathlib import Path
from typing import Any

import ziamath
from docutils import nodes
from formulas import formula
from latex2mathml.converter import convert
from sphinx.util.docutils import SphinxDirective

FONT = "STIXTwoMath-Regular.ttf"
BARS = re.compile(r"<mo[^>]*>(?:‖|&#x0*2016;)</mo>")
LINKED = re.compile(r":obj:`([\w.]+) <[^>]*>`")
MARKUP = re.compile(r"(``.*?``|`[^`]*`_?)|(?<!\\)(\||(?<=\w)_(?=[\s,.;:)]|$))")


class Formula(SphinxDirective):
    """A block of formulas in Unicode; stage.py writes it."""

    has_content = True

    def run(self) -> list[Any]:
        """The block, as it stands in the page."""
        return [nodes.raw("", formula("\n".join(self.content)), format="html")]


def mathml(latex: str) -> str:
    """LaTeX as MathML, with bars of norms that are as high as their text."""
    return BARS.sub('<mo stretchy="false" lspace="0" rspace="0">‖</mo>', convert(latex))


def visit_math(translator: Any, node: Any) -> None:
    """LaTeX in a line."""
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_math_block(translator: Any, node: Any) -> None:
    """LaTeX on a line of its own."""
    mathematics = mathml(r"\displaystyle " + node.astext())
    translator.body.append(f'<div class="formula">{mathematics}</div>')
    raise nodes.SkipNode


def escape_prose(*event: Any) -> None:
    """Let a bar or a trailing underscore in a docstring be itself: docstrings are for the terminal too.

    Runs after numpydoc, on what reStructuredText would take for a substitution or a target. An attribute that numpydoc
    lists is explained there, and needs no link to a second explanation.
    """
    lines = event[-1]
    is_doctest = False
    for i, line in enumerate(lines):
        is_doctest = bool(line.strip()) and (is_doctest or line.lstrip().startswith(">>>"))
        line = LINKED.sub(r"**\1**", line)
        if not is_doctest and not line.lstrip().startswith(".. "):
            lines[i] = MARKUP.sub(lambda match: match[1] or f"\\{match[2]}", line)


def copy_font(app: Any, error: Exception | None) -> None:
    """The mathematical font comes with a package, so that no page asks a network for it."""
    if error is None and app.builder.format == "html":
        shutil.copyfile(Path(ziamath.__file__).parent / "fonts" / FONT, Path(app.outdir) / "_static" / FONT)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("formula", Formula)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect("autodoc-process-docstring", escape_prose, priority=900)
    app.connect("build-finished", copy_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
