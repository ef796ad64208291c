"""Lays out the source of the site: the project's documents where Sphinx wants them, and what is generated.

    python docs/stage.py build/docs/source

The documents stay plain Markdown, good to read in an editor or on a forge; this script adds what only the site needs.
It moves those that live outside docs/ into it and mends their links, makes an index page with a table of contents for
each section out of docs/index.md, and writes the reference pages (api.py). A page that docs/index.md does not list yet
is put at the end of its section.
"""

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import api

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

# Where documents from elsewhere in the project stand on the site.
MOVED = {
    "docs/index.md": "index.md",  # a link to the list of pages leads to the front page, which the site has of its own
    "docs/_site/index.md": "index.md",  # its own
    "README.md": "index.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "tests/README.md": "project/tests.md",
    "benchmarks/README.md": "benchmarks/how-they-are-measured.md",
    "benchmarks/RESULTS.md": "benchmarks/index.md",
}
NOT_STAGED = {"docs/index.md", "README.md"}

# The folders of docs/ that are sections; the gallery is written by sphinx-gallery.
SECTIONS = ("tutorials", "how-to", "explanation", "reference", "decisions")
# The parts of the site, in the order of its top line.
PARTS = {
    "tutorials": "Tutorials", "how-to": "How-to", "explanation": "The dual view", "gallery": "Gallery",
    "reference": "Reference", "benchmarks": "Benchmarks", "project": "The project",
}  # fmt: skip
# The pages of the public names are not among the documents.
API = "\n[All public names](api/index.rst): a page for each, with its parameters, methods and an example.\n"
PROJECT = """# The project

| page | it tells |
|---|---|
| [The house on one page](architecture.md) | how mercer is built, and where a line of code belongs |
| [Contributing](contributing.md) | how to build, test and change it |
| [The tests](tests.md) | what is tested, and where |
| [Changelog](changelog.md) | what changed |
| [Decisions](../decisions/index.md) | why it is the way it is |
"""
FENCED = re.compile(r"^(?P<indent> *)(?P<fence>```+).*?^(?P=indent)(?P=fence) *$", re.M | re.S)
LINK = re.compile(r"(?P<before>!?\[[^\]]*\]\()(?P<target>[^)\s]+)(?P<after>\))")
FORMULA = re.compile(r"(?<=\n\n)(?: {4,}\S.*\n|\n(?= {4,}\S))+")
SECTION = re.compile(r"^## (?P<title>.+?)\n(?P<body>.*?)(?=^## |^Elsewhere|\Z)", re.M | re.S)


def place(path: Path) -> Path:
    """Where a file of the project stands on the site, from its top."""
    name = path.relative_to(ROOT).as_posix()
    if name in MOVED:
        return Path(MOVED[name])
    if path.is_dir():
        return place(path / "index.md")
    if name == "examples/README.rst":
        return Path("gallery/index.rst")
    if path.suffix == ".py" and path.parent == ROOT / "examples" and path.name.startswith("plot_"):
        return Path("gallery") / path.with_suffix(".rst").name
    if name.startswith("docs/"):
        return Path(name).relative_to("docs")
    return Path("files") / name


def documents() -> Iterator[Path]:
    """Every document of the site that is not generated."""
    yield from sorted(path for path in DOCS.rglob("*.md") if path.relative_to(ROOT).as_posix() not in NOT_STAGED)
    yield from (ROOT / name for name in MOVED if not name.startswith("docs/") and name not in NOT_STAGED)


def relinked(text: str, origin: Path, found: set[Path]) -> str:
    """The text with links as they are from its place on the site; `found` gains the files that must come along."""

    def mend(match: re.Match[str]) -> str:
        target, _, anchor = match["target"].partition("#")
        path = (origin.parent / target).resolve()
        if not target or "://" in target or target.startswith("mailto:") or not path.exists():
            return match[0]
        if path.is_file() and path.suffix != ".md":
            found.add(path)
        relative = os.path.relpath(place(path), place(origin).parent)
        return f"{match['before']}{relative}{'#' + anchor if anchor else ''}{match['after']}"

    return outside_fences(text, lambda prose: LINK.sub(mend, prose))


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Only prose is changed; code blocks stay as they are."""
    parts, end = [], 0
    for match in FENCED.finditer(text):
        parts += [change(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*parts, change(text[end:])])


def formulas(text: str) -> str:
    """The text with its indented formulas marked as such; what is indented below an item of a list belongs to it."""

    def mark(match: re.Match[str]) -> str:
        before = match.string[: match.start()].rstrip("\n").rpartition("\n\n")[2]
        if re.match(r" |[-*] |\d+\. ", before):
            return match[0]
        return f"```{{formula}}\n{textwrap.dedent(match[0])}```\n"

    return outside_fences(text, lambda prose: FORMULA.sub(mark, prose))


def toctree(entries: list[str], *options: str) -> str:
    """A table of contents for the sidebar."""
    return "\n".join(["", "```{toctree}", ":hidden:", *options, "", *entries, "```", ""])


def listed(section: str) -> tuple[str, str]:
    """The title and the text of a section of docs/index.md: that whose first link leads into its folder."""
    for match in SECTION.finditer((DOCS / "index.md").read_text("utf-8")):
        links = [link["target"] for link in LINK.finditer(match["body"])]
        if links and links[0].startswith(f"{section}/"):
            return match["title"], match["body"]
    raise LookupError(f"docs/index.md has no section whose first link leads into {section}/")


def section_index(section: str) -> str:
    """The index page of a section: what docs/index.md says of it, and all its pages in the order of their links."""
    title, body = listed(section)
    own = [link["target"].split("#")[0] for link in LINK.finditer(body)]
    ordered = [name.removeprefix(f"{section}/").removesuffix(".md") for name in own if name.startswith(f"{section}/")]
    there = sorted(path.stem for path in (DOCS / section).glob("*.md"))
    entries = list(dict.fromkeys([*(name for name in ordered if name in there), *there]))
    text = relinked(body, DOCS / "index.md", set())  # links from the top of the site …
    text = re.sub(rf"\]\({section}/", "](", text)  # … and now from within the folder
    text = re.sub(r"\]\((?=(?:" + "|".join(s for s in SECTIONS if s != section) + r")/)", "](../", text)
    if section == "reference":
        text += API
        entries.append("api/index")
    return f"# {title}\n{text.rstrip()}\n{toctree(entries)}"


def write(target: Path, text: str) -> None:
    """Only what changed, so that Sphinx reads only that again."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or target.read_text("utf-8") != text:
        target.write_text(text, "utf-8")


def stage(source: Path) -> None:
    """Write the whole source of the site."""
    pages: dict[Path, str] = {}
    files: set[Path] = set()
    for path in documents():
        pages[place(path)] = formulas(relinked(path.read_text("utf-8"), path, files))
    for section in SECTIONS:
        pages[Path(section) / "index.md"] = section_index(section)
    pages[Path("benchmarks/index.md")] += toctree(["how-they-are-measured"])
    project = ["architecture", "contributing", "tests", "changelog", "../decisions/index"]
    pages[Path("project/index.md")] = PROJECT + toctree(project)
    pages[Path("index.md")] += toctree([f"{title} <{part}/index>" for part, title in PARTS.items()])
    pages |= {Path("reference/api") / name: text for name, text in api.pages().items()}
    for name, text in pages.items():
        write(source / name, text)
    for path in files:
        if place(path).suffix != ".rst":  # those are written by sphinx-gallery
            target = source / place(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    for stale in set(source.rglob("*.md")) | set((source / "reference" / "api").glob("*.rst")):
        if stale.relative_to(source) not in pages:
            stale.unlink()
    for made in (source / "gallery").glob("plot_*"):  # sphinx-gallery keeps the pages of examples that are gone
        if not (ROOT / "examples" / f"{made.name.split('.')[0]}.py").exists():
            made.unlink()


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
