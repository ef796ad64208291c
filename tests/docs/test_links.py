"""Every link of the documents that points into the project leads somewhere."""

from pathlib import Path

import pytest

from tests.docs.blocks import documents, links, slugs

ROOT = Path(__file__).resolve().parents[2]


def broken(path: Path, target: str) -> bool:
    if target.startswith(("https://", "http://", "mailto:")):
        return False
    name, _, anchor = target.partition("#")
    file = (path.parent / name).resolve() if name else path
    return not file.exists() or (file.suffix == ".md" and anchor != "" and anchor not in slugs(file.read_text("utf-8")))


@pytest.mark.parametrize("path", documents(ROOT), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    assert [target for target in links(path.read_text("utf-8")) if broken(path, target)] == []


def test_the_index_lists_every_page_once() -> None:
    docs = ROOT / "docs"
    listed = [target for target in links((docs / "index.md").read_text("utf-8")) if not target.startswith("..")]
    pages = [path.relative_to(docs).as_posix() for path in documents(ROOT) if docs in path.parents]
    assert sorted(listed) == sorted(page for page in pages if page != "index.md" and not page.startswith("_"))
