"""mercer.plots: what it costs to import, and what it leaves alone."""

import inspect
import itertools
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


def light(colour: str) -> np.ndarray:  # (3,)
    """Linear light of sRGB."""
    parts = np.array(mpl.colors.to_rgb(colour))
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(light(colour) @ [0.2126, 0.7152, 0.0722])


# What is seen in place of linear light, by G. M. Machado and others (2009).
EYES = {
    "usual": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


def lab(seen: np.ndarray) -> np.ndarray:  # (3,)
    x, y, z = np.cbrt(TO_XYZ @ np.clip(seen, 1e-3, 1.0) / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_every_eye_tells_the_colours_apart(theme: Theme, eye: str) -> None:
    seen = [lab(EYES[eye] @ light(colour)) for colour in theme.colours]
    nearest = min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2))
    assert nearest > 12.0  # about five times what is just noticed


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


@pytest.mark.parametrize("estimator", [None, 3, mercer.SVC], ids=repr)
def test_what_is_no_estimator_is_refused(estimator: object) -> None:
    with pytest.raises(InvalidInput, match="is not a kernel machine of mercer"):
        plots.GramDisplay.from_estimator(estimator, np.eye(3))


def test_a_kernel_by_name_is_refused_with_what_would_work() -> None:
    with pytest.raises(InvalidParameter, match=r'Try parse\("RBF'):
        plots.GramDisplay.from_kernel("rbf", np.eye(3))


def test_a_legend_has_smaller_letters_on_smaller_axes() -> None:
    sizes = []
    for width in (8.0, 3.5):
        ax = Figure(figsize=(width, 4)).subplots()
        legend = plots.SpectrumDisplay.from_eigenvalues([2.0, 1.0], ax=ax).ax_.get_legend()
        assert legend is not None
        sizes.append(legend.get_texts()[0].get_fontsize())
    assert sizes[0] > sizes[1]
