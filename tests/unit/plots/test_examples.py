"""The examples of the gallery: each begins with a title, runs, and shows a picture."""

import runpy
import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").glob("plot_*.py"))
WITH_DISPLAYS = [path for path in EXAMPLES if "from mercer.plots import" in path.read_text("utf-8")]


@pytest.mark.parametrize("path", WITH_DISPLAYS, ids=lambda path: path.stem)
def test_an_example_has_a_title_and_shows_a_picture(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    quotes, title, line, blank = path.read_text("utf-8").splitlines()[:4]
    assert (quotes, set(line), len(line), blank) == ('"""', {"="}, len(title), "")
    monkeypatch.chdir(tmp_path)
    before = dict(mpl.rcParams)
    plt.switch_backend("agg")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
            runpy.run_path(str(path), run_name="__main__")
        assert plt.get_fignums()
        assert not list(tmp_path.iterdir())
        changed = {name for name, value in before.items() if mpl.rcParams[name] != value}
        assert changed <= {"backend"}
    finally:
        plt.close("all")


def test_there_are_at_least_fifteen_examples() -> None:
    assert len(WITH_DISPLAYS) >= 15
