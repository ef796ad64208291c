"""What a diagnosis says: its findings, each with a stable code, and how they are shown."""

import html
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, final

import numpy as np

__all__ = ["Diagnosis", "Finding", "Severity"]

# Rows and columns that a text names before it says how many more there are.
NAMED = 5


class Severity(Enum):
    """How much a finding matters; the value is the sentence that explains it."""

    PROBLEM = "a fit will fail, or its answer will not be worth much"
    WARNING = "a fit will work, but probably worse than it could"
    NOTE = "good to know"

    @property
    def mark(self) -> str:
        """One character that stands for it."""
        return _MARKS[self][0]

    @property
    def colour(self) -> str:
        """Its colour in notebooks and reports."""
        return _MARKS[self][1]


_MARKS = {
    Severity.PROBLEM: ("✗", "#b3261e"),
    Severity.WARNING: ("!", "#b35900"),
    Severity.NOTE: ("·", "#57606a"),
}


@final
@dataclass(frozen=True)
class Finding:
    """One thing that was found.

    Attributes
    ----------
    code : str
        "MD001" and so on: never given to another check.
    severity : Severity
        How much it matters.
    title : str
        The check's name, in a few words.
    sentence : str
        What is the matter, with the numbers that were seen.
    remedy : str
        What would help.
    seen : dict of str to float
        The numbers, by name.
    columns : tuple of str
        The columns concerned.
    rows : tuple of int
        The rows concerned, the first hundred.
    """

    code: str
    severity: Severity
    title: str
    sentence: str
    remedy: str
    seen: Mapping[str, float] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.severity.mark} {self.code} {self.title}: {self.sentence}\n    {self.remedy}"

    def to_dict(self) -> dict[str, Any]:
        """Every field as plain Python, as JSON takes it."""
        return {
            "code": self.code,
            "severity": self.severity.name.lower(),
            "title": self.title,
            "sentence": self.sentence,
            "remedy": self.remedy,
            "seen": {name: plain(value) for name, value in self.seen.items()},
            "columns": list(self.columns),
            "rows": list(self.rows),
        }


@final
@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What `diagnose` found, the worst first.

    Attributes
    ----------
    findings : tuple of Finding
        Problems, then warnings, then notes, each by code.
    rows, columns : int
        The size of X; 0 columns where the points have none.
    sample : int
        How many rows the costly checks looked at.
    task : str
        "classification", "regression", or "" without y.
    kernel : str
        The kernel that K was computed with; empty if it was not.
    checked : tuple of str
        The codes of the checks that could be made; those that need y, say, are left out without it.
    """

    findings: tuple[Finding, ...]
    rows: int
    columns: int
    sample: int
    task: str = ""
    kernel: str = ""
    checked: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    @property
    def is_healthy(self) -> bool:
        """Whether there is nothing worse than a note."""
        return all(finding.severity is Severity.NOTE for finding in self.findings)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the findings."""
        return tuple(finding.code for finding in self.findings)

    def of(self, severity: Severity) -> tuple[Finding, ...]:
        """The findings of one severity."""
        return tuple(finding for finding in self.findings if finding.severity is severity)

    @property
    def heading(self) -> str:
        """The first line: how much was looked at, and how many things were found."""
        size = counted(self.rows, "row") + (f", {counted(self.columns, 'column')}" if self.columns else "")
        looked = f" (costly checks on {self.sample} of them)" if self.sample < self.rows else ""
        found = [counted(len(self.of(s)), s.name.lower()) for s in Severity if self.of(s)]
        what = ", ".join(found) or "nothing found"
        return f"{size}{looked}{f', {self.task}' if self.task else ''}: {what}, {len(self.checked)} checks made."

    def __str__(self) -> str:
        return "\n".join([self.heading, *(f"  {line}" for finding in self for line in str(finding).split("\n"))])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """A table for notebooks; names of columns are shown as text, whatever is in them."""
        rows = "".join(
            f'<tr><td style="color:{found.severity.colour};text-align:left"><b>{found.severity.mark}</b> {found.code}'
            f'</td><th style="text-align:left">{html.escape(found.title)}</th>'
            f'<td style="text-align:left">{html.escape(found.sentence)}<br>'
            f"<small>{html.escape(found.remedy)}</small></td></tr>"
            for found in self
        )
        table = f"<table><tbody>{rows}</tbody></table>" if rows else ""
        return f"<div><p>{html.escape(self.heading)}</p>{table}</div>"

    def to_dict(self) -> dict[str, Any]:
        """Every field as plain Python, as JSON takes it."""
        plain_fields = {name: value for name, value in vars(self).items() if name != "findings"}
        return {
            **plain_fields,
            "checked": list(self.checked),
            "is_healthy": self.is_healthy,
            "findings": [finding.to_dict() for finding in self],
        }


def plain(value: Any) -> Any:
    """A number as JSON takes it: infinite ones and NaN are None."""
    number = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(number, float) and not math.isfinite(number) else number


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(3, "class"), counted(2, "entry")
    ('1 row', '3 classes', '2 entries')
    """
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{count} {noun[:-1]}ies"
    return f"{count} {noun}{'es' if noun.endswith('s') else 's'}"


def listed(names: tuple[Any, ...] | list[Any]) -> str:
    """Some names for a sentence, the first few of them.

    Examples
    --------
    >>> listed(["a", "b"]), listed([1, 2, 3, 4, 5, 6, 7])
    ("'a' and 'b'", '1, 2, 3, 4, 5 and 2 more')
    """
    shown = [repr(name) for name in names[:NAMED]]
    if len(names) > NAMED:
        return f"{', '.join(shown)} and {len(names) - NAMED} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
