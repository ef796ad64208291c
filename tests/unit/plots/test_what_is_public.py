"""mercer.plots: what it costs to import, and what it leaves alone."""

import inspect
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import mercer
from mercer import plots
from mercer.errors import InvalidInput, InvalidParameter
from mercer.plots.style import DARK, LIGHT, Theme


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_mercer_does_not_import_matplotlib() -> None:
    seen = "'matplotlib' in sys.modules"
    program = f"import sys, mercer; before = {seen}; mercer.plots; print(before, {seen})"
    assert run(program) == "False True"


def test_without_matplotlib_the_error_says_what_to_install() -> None:
    program = (
        "import sys, mercer\nsys.modules['matplotlib'] = None\ntry:\n    mercer.plots\n"
        "except ImportError as error:\n    print(error)"
    )
    assert "pip install 'mercer-kernels[plots]'" in run(program)


def test_an_unknown_name_of_mercer_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'plotz'"):
        mercer.plotz  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", plots.__all__)
def test_every_display_plots_onto_axes_in_a_theme(name: str) -> None:
    display = getattr(plots, name)
    assert {"ax", "theme"} <= set(inspect.signature(display.plot).parameters)
    made_by = [way for way in vars(display) if way.startswith("from_")]
    assert made_by
    for way in made_by:
        assert {"ax", "theme"} <= set(inspect.signature(getattr(display, way)).parameters)


def test_settings_of_matplotlib_are_left_alone() -> None:
    before = dict(mpl.rcParams)
    plots.GramDisplay.from_matrix(np.eye(3), ax=Figure().subplots(), theme="dark")
    assert dict(mpl.rcParams) == before


def test_a_theme_that_is_not_given_suits_the_axes() -> None:
    figure = Figure(facecolor="#101010")
    ax = figure.subplots()
    ax.set_facecolor("#101010")
    shown = plots.GramDisplay.from_matrix(np.eye(3), ax=ax)
    assert shown.ax_.xaxis.label.get_color() == DARK.ink
    assert shown.figure_ is figure


def test_a_theme_that_is_given_colours_the_paper() -> None:
    shown = plots.GramDisplay.from_matrix(np.eye(3), ax=Figure().subplots(), theme="dark")
    assert mpl.colors.to_hex(shown.figure_.get_facecolor()) == DARK.paper


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(InvalidParameter, match='theme must be "light", "dark"'):
        plots.GramDisplay.from_matrix(np.eye(3), theme="pink")


def test_what_are_no_axes_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="ax must be one Axes"):
        plots.GramDisplay.from_matrix(np.eye(3), ax=Figure().subplots(1, 2))


def luminance(colour: str) -> float:
    parts = np.array(mpl.colors.to_rgb(colour))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(a: str, b: str) -> float:
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_text_and_marks_can_be_read_on_the_paper(theme: Theme) -> None:
    assert min(contrast(theme.ink, theme.paper), contrast(theme.muted, theme.paper)) >= 4.5  # WCAG AA, text
    assert min(contrast(colour, theme.paper) for colour in theme.colours) >= 2.7  # WCAG AA for marks is 3


@pytest.mark.parametrize("estimator", [mercer.SVC(), mercer.KernelRidge()])
def test_a_machine_that_is_not_fitted_is_refused(estimator: object) -> None:
    with pytest.raises(InvalidInput, match="is not fitted yet"):
        plots.GramDisplay.from_estimator(estimator, np.eye(3))
