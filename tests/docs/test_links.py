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
