"""How all pictures look: two themes, one head above each axes, and colours told apart by every eye and in print."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_hex, to_rgb
from matplotlib.figure import Figure

from mercer.errors import InvalidParameter, shown

__all__ = ["DARK", "LIGHT", "MARKERS", "Theme", "canvas", "count", "head", "key", "label"]

# One for each class, beside its colour: pictures are also printed in grey.
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# A character of small text is about so wide, in font sizes; lines of a note are broken by it.
CHARACTER = 0.56


@final
@dataclass(frozen=True)
class Theme:
    """The colours of a picture.

    Attributes
    ----------
    name : str
        "light" or "dark".
    paper, ink, muted, grid : str
        What is drawn on, text and main lines, lesser text, and lines that only guide.
    colours : tuple of str
        For classes and curves, in this order; with `MARKERS` beside them.
    deep : tuple of two str
        The far ends of scales: of negative values, and of positive ones.
    """

    name: str
    paper: str
    ink: str
    muted: str
    grid: str
    colours: tuple[str, ...]
    deep: tuple[str, str]

    def colour(self, i: int) -> str:
        """Of the class or curve number i."""
        return self.colours[i % len(self.colours)]

    def tint(self, colour: str, share: float) -> str:
        """So much of the colour on the paper, for areas; opaque, so that areas do not add up."""
        top, below = np.array(to_rgb(colour)), np.array(to_rgb(self.paper))
        return to_hex(tuple(share * top + (1.0 - share) * below))

    @cached_property
    def sequential(self) -> Colormap:
        """From the paper, for 0, to the deepest colour."""
        first = self.colours[0]
        return LinearSegmentedColormap.from_list(
            f"mercer-{self.name}", [self.paper, self.tint(first, 0.35), first, self.deep[1]]
        )

    @cached_property
    def diverging(self) -> Colormap:
        """Negative values, the paper for 0, positive values."""
        plus, minus = self.colours[:2]
        ramp = [self.deep[0], minus, self.tint(minus, 0.35), self.paper, self.tint(plus, 0.35), plus, self.deep[1]]
        return LinearSegmentedColormap.from_list(f"mercer-{self.name}-diverging", ramp)


LIGHT = Theme(
    name="light",
    paper="#ffffff",
    ink="#1f2328",
    muted="#59626c",
    grid="#e2e5e9",
    colours=("#0072b2", "#d55e00", "#009e73", "#a8487f", "#b8860b", "#4aa3d9", "#6b7280"),
    deep=("#5c2300", "#06263f"),
)
DARK = Theme(
    name="dark",
    paper="#15181d",
    ink="#e9edf1",
    muted="#a3adb8",
    grid="#30363d",
    colours=("#5ab4f0", "#ff9152", "#3dd6a3", "#f0a3cf", "#ffd166", "#c5b3ff", "#aab4bf"),
    deep=("#ffe7d8", "#eaf6ff"),
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


def canvas(ax: Any, theme: str | None, size: tuple[float, float] = (6.4, 4.8)) -> tuple[Axes, Theme]:
    """The axes to draw on, dressed, with its theme.

    Parameters
    ----------
    ax : Axes, optional
        A new figure of pyplot, which shows and collects it, if not given.
    theme : {"light", "dark"}, optional
        If not given, the one that suits the colour of the axes, which is then left as it is.
    size : tuple of float
        Of a new figure, in inches.
    """
    if theme is not None and theme not in THEMES:
        raise InvalidParameter('theme must be "light", "dark" or None.', f"Got {shown(theme)}.")
    if ax is None:
        from matplotlib import pyplot as plt  # noqa: PLC0415 (it looks for a screen; only who asks for a figure needs it)

        ax = plt.subplots(figsize=size, layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise InvalidParameter("ax must be one Axes of Matplotlib.", f"Got a {type(ax).__name__}.", "Pass ax=axes[0].")
    chosen = _suited(ax) if theme is None else THEMES[theme]
    if theme is not None:
        ax.set_facecolor(chosen.paper)
        ax.get_figure(root=True).set_facecolor(chosen.paper)  # type: ignore[union-attr]  # axes drawn on have a figure
    _dress(ax, chosen)
    return ax, chosen


def figure_of(ax: Axes) -> Figure:
    """The figure that the axes belong to."""
    found = ax.get_figure(root=True)
    assert found is not None
    return found


def head(ax: Axes, theme: Theme, title: str, note: str = "") -> None:
    """A title, and below it a note in smaller letters, broken into lines as wide as the axes."""
    lines = _wrapped(ax, note)
    small = _points("small")
    ax.set_title(
        title, loc="left", fontsize="medium", fontweight="bold", color=theme.ink, pad=6.0 + 1.25 * small * len(lines)
    )
    if lines:
        ax.annotate(
            "\n".join(lines), (0.0, 1.0), xytext=(0.0, 5.0), xycoords="axes fraction", textcoords="offset points",
            ha="left", va="bottom", fontsize="small", color=theme.muted, linespacing=1.15, annotation_clip=False,
            gid="note",
        )  # fmt: skip


def label(ax: Axes, theme: Theme, x: str = "", y: str = "") -> None:
    """What the axes measure."""
    ax.set_xlabel(x, color=theme.ink)
    ax.set_ylabel(y, color=theme.ink)


def key(ax: Axes, theme: Theme, handles: Sequence[Any] | None = None, **where: Any) -> None:
    """The legend, on the paper."""
    given = {} if handles is None else {"handles": list(handles)}
    style = {"frameon": True, "framealpha": 0.85, "facecolor": theme.paper, "edgecolor": "none", "fontsize": "small"}
    ax.legend(**given, **style, labelcolor=theme.ink, **where)


def count(n: int) -> str:
    """A number of things, in groups of three digits: 100 000."""
    return f"{n:,}".replace(",", "\u202f")


def _dress(ax: Axes, theme: Theme) -> None:
    ax.tick_params(colors=theme.muted, labelcolor=theme.ink, labelsize="small")
    for side, spine in ax.spines.items():
        spine.set_color(theme.muted)
        spine.set_visible(side in ("left", "bottom"))
    ax.set_axisbelow(True)


def _suited(ax: Axes) -> Theme:
    """The theme for the paper that is there."""
    face = ax.get_facecolor()
    if face[3] == 0.0:
        face = figure_of(ax).get_facecolor()  # type: ignore[assignment]  # four numbers too
    paper = to_hex(face) if face[3] > 0.0 else LIGHT.paper
    theme = LIGHT if float(np.dot(to_rgb(paper), (0.2126, 0.7152, 0.0722))) > 0.4 else DARK
    return replace(theme, paper=paper)


def _wrapped(ax: Axes, text: str) -> list[str]:
    points = 72.0 * ax.get_position().width * float(figure_of(ax).get_figwidth())
    width = max(24, int(points / (CHARACTER * _points("small"))))
    return textwrap.wrap(text, width, break_long_words=False)


def _points(size: str) -> float:
    return float(mpl.rcParams["font.size"]) * {"small": 0.833}[size]
