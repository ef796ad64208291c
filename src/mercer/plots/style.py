"""How all pictures look: two themes, one head above each axes, and colours told apart by every eye and in print."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_hex, to_rgb, to_rgba
from matplotlib.figure import Figure

from mercer.errors import InvalidParameter, shown

__all__ = ["DARK", "LIGHT", "MARKERS", "Theme", "canvas", "count", "figure_of", "head", "key", "label", "rows_of"]

# One for each class, beside its colour: pictures are also printed in grey.
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# A character of small text is about so wide, in font sizes; lines of a note are broken by it.
CHARACTER = 0.56
# The letters of a legend, by the least width of the axes in inches.
SIZES = ((3.2, "small"), (2.2, "x-small"), (0.0, "xx-small"))


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
    colours=("#0072b2", "#d55e00", "#009e73", "#a8487f", "#5e24b0", "#9899a8", "#474747"),
    deep=("#5c2300", "#06263f"),
)
DARK = Theme(
    name="dark",
    paper="#15181d",
    ink="#e9edf1",
    muted="#a3adb8",
    grid="#30363d",
    colours=("#5ab4f0", "#ff9152", "#3dd6a3", "#f0a3cf", "#e3d720", "#93835e", "#6a6a6a"),
    deep=("#ffe7d8", "#eaf6ff"),
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


def canvas(
    ax: Any, theme: str | None, size: tuple[float, float] = (6.4, 4.8), projection: str | None = None
) -> tuple[Axes, Theme]:
    """The axes to draw on, dressed, with its theme.

    Parameters
    ----------
    ax : Axes, optional
        A new figure of pyplot, which shows and collects it, if not given.
    theme : {"light", "dark"}, optional
        If not given, the one that suits the colour of the axes, which is then left as it is.
    size : tuple of float
        Of a new figure, in inches.
    projection : str, optional
        Of its axes.
    """
    if theme is not None and theme not in THEMES:
        raise InvalidParameter('theme must be "light", "dark" or None.', f"Got {shown(theme)}.")
    if ax is None:
        from matplotlib import pyplot as plt  # noqa: PLC0415 (it looks for a screen; only who asks for a figure needs it)

        ax = plt.subplots(figsize=size, layout="constrained", subplot_kw={"projection": projection})[1]
    if not isinstance(ax, Axes):
        raise InvalidParameter("ax must be one Axes of Matplotlib.", f"Got a {type(ax).__name__}.", "Pass ax=axes[0].")
    chosen = _suited(ax) if theme is None else THEMES[theme]
    if theme is not None:
        ax.set_facecolor(chosen.paper)
        figure_of(ax).set_facecolor(chosen.paper)
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
    style: dict[str, Any] = {
        "frameon": True, "framealpha": 0.85, "facecolor": theme.paper, "edgecolor": "none",
        "fontsize": next(name for width, name in SIZES if width <= _inches(ax)), "labelcolor": theme.ink, **where,
    }  # fmt: skip
    if handles is None:
        ax.legend(**style)
    else:
        ax.legend(handles=list(handles), **style)


def rows_of(n: int) -> str:
    """How many rows, in words."""
    return "1 row" if n == 1 else f"{count(n)} rows"


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
    faces = (to_rgba(ax.get_facecolor()), to_rgba(figure_of(ax).get_facecolor()))
    paper = next((to_hex(face) for face in faces if face[3] > 0.0), LIGHT.paper)
    theme = LIGHT if float(np.dot(to_rgb(paper), (0.2126, 0.7152, 0.0722))) > 0.4 else DARK
    return replace(theme, paper=paper)


def _wrapped(ax: Axes, text: str) -> list[str]:
    width = max(24, int(72.0 * _inches(ax) / (CHARACTER * _points("small"))))
    return textwrap.wrap(text, width, break_long_words=False)


def _inches(ax: Axes) -> float:
    """The width of the axes."""
    return float(ax.get_position().width * figure_of(ax).get_figwidth())


def _points(size: str) -> float:
    return float(mpl.rcParams["font.size"]) * {"small": 0.833}[size]
