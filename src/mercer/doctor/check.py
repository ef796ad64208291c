"""What a row of the table of checks is."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import final

from mercer.doctor.case import Case
from mercer.doctor.findings import Finding, Severity

__all__ = ["Check", "Seen"]

# Rows that a finding lists.
LISTED_ROWS = 100


@final
@dataclass(frozen=True)
class Seen:
    """What a check saw: everything of a finding that is not the same each time."""

    sentence: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    columns: Iterable[str] = ()
    rows: Iterable[int] = ()
    remedy: str = ""  # where it depends on what was seen


@final
@dataclass(frozen=True)
class Check:
    """One row: a check, when it can be made, and where it begins to speak.

    Attributes
    ----------
    code : str
        "MD001" and so on; the code of a check that is gone is never used again.
    title : str
        A few words.
    severity : Severity
        Of its findings.
    limit : float
        The threshold: the only number that decides.
    fires : str
        When it fires, for the reference; ``{limit}`` stands for the threshold.
    why : str
        Why it matters to a kernel machine.
    remedy : str
        What would help.
    needs : callable (Case) -> bool
        Whether there is what it looks at.
    look : callable (Case, limit) -> iterable of Seen
        The check.
    """

    code: str
    title: str
    severity: Severity
    limit: float
    fires: str
    why: str
    remedy: str
    needs: Callable[[Case], bool]
    look: Callable[[Case, float], Iterable[Seen]]

    def findings(self, case: Case) -> list[Finding]:
        """What it finds."""
        return [
            Finding(
                self.code,
                self.severity,
                self.title,
                seen.sentence,
                seen.remedy or self.remedy,
                dict(seen.numbers),
                tuple(seen.columns),
                tuple(int(row) for row in seen.rows)[:LISTED_ROWS],
            )
            for seen in self.look(case, self.limit)
        ]
