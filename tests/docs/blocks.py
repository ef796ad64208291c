"""Fenced blocks and links of a Markdown file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w+-]*)[^\n]*\n(?P<body>.*?)^(?P=indent)```[ ]*$", re.M | re.S)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ +(?P<title>.+?) *$", re.M)
NOT_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True)
class Block:
    """One fenced block; `follows` if only blanks part it from the block before."""

    language: str
    text: str
    line: int
    follows: bool


def blocks(source: str) -> Iterator[Block]:
    end = 0
    for match in FENCE.finditer(source):
        indent = len(match["indent"])
        text = "".join(line[indent:] if line.strip() else "\n" for line in match["body"].splitlines(keepends=True))
        line = source.count("\n", 0, match.start("body")) + 1
        yield Block(match["language"], text, line, follows=not source[end : match.start()].strip())
        end = match.end()


def slugs(source: str) -> set[str]:
    """Anchors of the headings, as code forges make them."""
    prose = FENCE.sub("", source)
    return {NOT_SLUG.sub("", match["title"].lower()).replace(" ", "-") for match in HEADING.finditer(prose)}


def links(source: str) -> list[str]:
    return [match["target"] for match in LINK.finditer(FENCE.sub("", source))]


def documents(root: Path) -> list[Path]:
    return sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md"), root / "tests" / "README.md"])
