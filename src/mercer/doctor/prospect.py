"""A plan, as it is shown."""

import html
from dataclasses import dataclass
from typing import Any, final

from mercer.budget import in_bytes, memory_there
from mercer.doctor.findings import plain

__all__ = ["Plan", "in_seconds"]


@final
@dataclass(frozen=True, repr=False)
class Plan:
    """What a fit would cost on this machine.

    Attributes
    ----------
    machine : str
        What is planned: a row of `mercer.doctor.MACHINES`.
    kernel : str
        Its kernel, resolved on a sample.
    rows, columns : int
        The size of X; 0 columns where the points have none.
    solver : str
        The row of the table of solvers that would be used; empty where nothing is solved.
    bytes : int
        The most memory that the fit takes at a time, beside X.
    entries : int
        Entries of K that are computed, to compare with the `evaluations` of a certificate.
    steps : int
        Iterations; 0 for a direct method.
    seconds : float
        What the fit takes.
    seconds_to_predict : float
        What 1000 predictions take.
    explanation : str
        Which solvers there are, and why this one.
    notes : tuple of str
        What the estimate rests on.
    """

    machine: str
    kernel: str
    rows: int
    columns: int
    solver: str
    bytes: int
    entries: int
    steps: int
    seconds: float
    seconds_to_predict: float
    explanation: str
    notes: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether there is as much memory now."""
        return self.bytes <= memory_there()

    @property
    def heading(self) -> str:
        """The first line."""
        size = f"{self.rows} rows" + (f", {self.columns} columns" if self.columns else "")
        return f"{self.machine} on {size}: about {in_seconds(self.seconds)} and {in_bytes(self.bytes)}."

    def lines(self) -> list[tuple[str, str]]:
        """What there is to say, as pairs of a label and a text."""
        there = "" if self.fits else f"; only {in_bytes(memory_there())} are available"
        found = [
            ("kernel", self.kernel),
            ("solver", self.solver or "none: there is nothing to solve"),
            ("memory", in_bytes(self.bytes) + there),
            ("kernel values", f"{self.entries:.3g}, {self.entries / self.rows**2:.3g} n²"),
            ("steps", str(self.steps) if self.steps else ""),
            ("time to fit", in_seconds(self.seconds)),
            ("to predict", f"{in_seconds(self.seconds_to_predict)} for 1000 rows"),
            *(("note", note) for note in self.notes),
        ]
        return [(label, text) for label, text in found if text]

    def __str__(self) -> str:
        table = [f"  {label:<14} {text}" for label, text in self.lines()]
        return "\n".join([self.heading, *table, *(f"  {line}" for line in self.explanation.split("\n") if line)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th style="text-align:left">{html.escape(label)}</th>'
            f'<td style="text-align:left">{html.escape(text)}</td></tr>'
            for label, text in self.lines()
        )
        return f"<div><p>{html.escape(self.heading)}</p><table><tbody>{rows}</tbody></table></div>"

    def to_dict(self) -> dict[str, Any]:
        """Every field as plain Python, as JSON takes it."""
        return {
            **{name: plain(value) for name, value in vars(self).items()},
            "notes": list(self.notes),
            "fits": self.fits,
        }


def in_seconds(seconds: float) -> str:
    """A time in readable units.

    Examples
    --------
    >>> in_seconds(0.00123), in_seconds(2.5), in_seconds(200.0), in_seconds(40000.0), in_seconds(1e6)
    ('1.2 ms', '2.5 s', '3.3 minutes', '11 hours', '12 days')
    """
    if seconds < 1.0:
        return f"{1e3 * seconds:.2g} ms"
    for most, unit, size in ((120.0, "s", 1.0), (7200.0, "minutes", 60.0), (172_800.0, "hours", 3600.0)):
        if seconds < most:
            return f"{seconds / size:.2g} {unit}" if seconds / size < 99.5 else f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86_400.0:.2g} days"
