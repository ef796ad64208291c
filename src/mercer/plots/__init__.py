"""Pictures of kernels and fitted machines, as displays in scikit-learn's convention.

A display is made and drawn by `from_estimator(…, ax=None, theme=None)` or another `from_…`; it keeps the numbers that
it shows, the artists that show them, `ax_` and `figure_`, and `plot` draws it again elsewhere. Matplotlib's settings
are never changed.
"""

from mercer.errors import lay_out

try:
    from mercer.plots.calibration import CalibrationDisplay
    from mercer.plots.gram import GramDisplay
    from mercer.plots.influence import InfluenceDisplay
    from mercer.plots.prediction import ConfusionDisplay, PredictionDisplay
    from mercer.plots.spectrum import SpectrumDisplay
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "matplotlib":
        raise
    wrong = "mercer.plots needs Matplotlib, which is not installed."
    raise ImportError(lay_out(wrong, "", "Try pip install 'mercer-kernels[plots]'."), name="matplotlib") from error

__all__ = [
    "CalibrationDisplay",
    "ConfusionDisplay",
    "GramDisplay",
    "InfluenceDisplay",
    "PredictionDisplay",
    "SpectrumDisplay",
]
