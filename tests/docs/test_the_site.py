"""The source of the site: every page is reached, every public name has a page, formulas become mathematics.

Whether Sphinx builds it without a warning is what `make docs` sees; these tests need no Sphinx.
"""

import importlib.util
import re
import runpy
import sys
import types
from pathlib import Path
from xml.etree import ElementTree

import pytest

import mercer
from tests.docs.blocks import links

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def module(name: str) -> types.ModuleType:
    """A module of docs/, which is no package."""
    if name not in sys.modules:
        sys.path.insert(0, str(DOCS))
        try:
            importlib.import_module(name)
        finally:
            sys.path.remove(str(DOCS))
    return sys.modules[name]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("site")
    module("stage").stage(top)
    return top


def in_toctrees(page: Path) -> set[Path]:
    """The pages that the tables of contents of a page lead to."""
    text = page.read_text("utf-8")
    trees = re.findall(r"```\{toctree\}\n(.*?)```", text, re.S) + re.findall(r"\.\. toctree::\n((?: +.*\n|\n)*)", text)
    entries = [line.strip() for tree in trees for line in tree.splitlines() if line.strip() and ":" not in line]
    targets = [match[1] if (match := re.search(r"<(.*)>$", entry)) else entry for entry in entries]
    return {(page.parent / target).resolve() for target in targets}


def test_every_public_name_has_a_page_and_stands_in_the_list(source: Path) -> None:
    names = [f"mercer.{name}" for name in mercer.__all__] + [
        f"mercer.testing.{name}" for name in mercer.testing.__all__
    ]
    if importlib.util.find_spec("mercer.plots") is not None:
        plots = importlib.import_module("mercer.plots")
        names += [f"mercer.plots.{name}" for name in plots.__all__]
    folder = source / "reference" / "api"
    assert [name for name in names if not (folder / f"{name}.rst").exists()] == []
    listed = (folder / "index.rst").read_text("utf-8")
    assert [name for name in names if f"~{name}\n" not in listed] == []


def test_the_page_of_a_kernel_has_its_formula_and_its_proof(source: Path) -> None:
    text = (source / "reference" / "api" / "mercer.Matern.rst").read_text("utf-8")
    node = mercer.Matern(1.5)
    assert node.latex() in text
    assert all(line in text for line in str(node.proof()).splitlines())


def test_every_page_is_reached_from_the_front_page(source: Path) -> None:
    reached: set[Path] = set()
    waiting = {(source / "index").resolve()}
    while waiting:
        page = waiting.pop()
        reached.add(page)
        for suffix in (".md", ".rst"):
            if page.with_name(page.name + suffix).exists():
                waiting |= in_toctrees(page.with_name(page.name + suffix)) - reached
    pages = [path for suffix in ("md", "rst") for path in source.rglob(f"*.{suffix}")]
    unreached = [path for path in pages if path.with_suffix("").resolve() not in reached]
    assert [str(path.relative_to(source)) for path in unreached] == []


def test_links_lead_somewhere_on_the_site_too(source: Path) -> None:
    broken = []
    for page in source.rglob("*.md"):
        for link in links(page.read_text("utf-8")):
            target = link.partition("#")[0]
            is_made_by_the_gallery = "gallery/" in target
            if target and "://" not in target and not is_made_by_the_gallery and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(source)}: {link}")
    assert broken == []


def test_a_page_that_no_list_names_appears_at_the_end_of_its_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = module("stage")
    (tmp_path / "how-to").mkdir()
    for name in ("about-all", "second", "first"):
        (tmp_path / "how-to" / f"{name}.md").write_text(f"# {name}\n", "utf-8")
    (tmp_path / "index.md").write_text("## How-to\n\n[first](how-to/first.md) [second](how-to/second.md)\n", "utf-8")
    monkeypatch.setattr(stage, "DOCS", tmp_path)
    monkeypatch.setattr(stage, "ROOT", tmp_path.parent)
    text = stage.section_index("how-to")
    assert text.endswith("first\nsecond\nabout-all\n```\n")


@pytest.mark.parametrize("script", sorted((DOCS / "pictures").glob("*.py")), ids=lambda path: path.stem)
def test_a_picture_of_the_documents_is_made_by_its_script(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script), run_name="__main__")
    made = {path.name for path in tmp_path.iterdir()}
    kept = {path.name for path in DOCS.glob("*/*") if path.is_file()}
    assert made
    assert made <= kept


def set_text(line: str) -> ElementTree.Element:
    return ElementTree.fromstring(module("formulas").mathematics(line))


def test_indices_and_powers_stand_below_and_above() -> None:
    found = set_text("xᵢ² + αᵀKa")
    both = found.find(".//msubsup")
    assert both is not None
    assert ["".join(part.itertext()) for part in both] == ["x", "i", "2"]
    above = found.find(".//msup")
    assert above is not None
    assert "".join(above.itertext()) == "α⊤"
    assert [letter.text for letter in found.iter("mi")][-2:] == ["K", "a"]


def test_words_in_a_formula_stay_words_with_their_spaces() -> None:
    found = set_text("minimise  ½‖w‖²  such that  y ≥ 1")
    assert [word.text for word in found.iter("mtext")] == ["minimise", "such", "that"]
    assert len(list(found.iter("mspace"))) == 4


def test_a_root_covers_what_stands_under_it() -> None:
    for line, under in (("√2 x", "2"), ("√(2πσ²)/n", "2πσ2"), ("√k(x, x)", "k(x,x)")):
        root = set_text(line).find(".//msqrt")
        assert root is not None
        assert "".join(root.itertext()) == under


def test_every_formula_of_the_documents_is_well_formed(source: Path) -> None:
    count = 0
    for page in source.rglob("*.md"):
        for block in re.findall(r"```\{formula\}\n(.*?)```", page.read_text("utf-8"), re.S):
            for line in block.splitlines():
                set_text(line)
                count += 1
    assert count > 50


def test_what_is_indented_below_an_item_of_a_list_is_no_formula() -> None:
    text = "- an item\n\n    its second paragraph\n\nProse:\n\n    x = y\n\nMore.\n"
    marked = module("stage").formulas(text)
    assert "    its second paragraph" in marked
    assert "```{formula}\nx = y\n```" in marked
