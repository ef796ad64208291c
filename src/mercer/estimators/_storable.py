"""Which estimators a model file may hold, and what each has after fit: the only classes that a file can name."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from numbers import Integral, Real
from types import NoneType
from typing import Any, final

import numpy as np
from sklearn.base import BaseEstimator

from mercer.errors import BadModelFile, MercerError, NotStorable
from mercer.estimators.approximation import Nystroem, RandomFeatures
from mercer.estimators.centroid import KernelNearestCentroid
from mercer.estimators.features import KernelFeatures
from mercer.estimators.logistic import KernelLogisticRegression
from mercer.estimators.neighbors import KernelNeighborsClassifier, KernelNeighborsRegressor
from mercer.estimators.ridge import KernelRidge
from mercer.estimators.ridge_cv import KernelRidgeCV
from mercer.estimators.smoother import NadarayaWatson, NadarayaWatsonClassifier
from mercer.estimators.svm import SVC, NuSVC
from mercer.estimators.svr import SVR, NuSVR, OneClassSVM
from mercer.io import Reader, Row, Writer, add_row
from mercer.kernels.featuremap import FeatureMap
from mercer.models.model import Model
from mercer.problems.certificate import Certificate

__all__ = ["ESTIMATORS", "Storable", "add_estimators"]


@final
@dataclass(frozen=True)
class Storable:
    """A class of estimators that files may name.

    Parameters
    ----------
    kind : type
        The class.
    fitted : str
        The attributes that it has after fit, apart from its parameters; with a question mark those it may lack.
    needs : str
        The part that its model must have.
    unless : str
        The attribute that stands for a fit without that part.
    is_sound : callable, optional
        Whether a fitted one leads its own code nowhere beyond its arrays.
    """

    kind: type
    fitted: str
    needs: str = ""
    unless: str = ""
    is_sound: Callable[[Any], bool] | None = None

    @property
    def names(self) -> frozenset[str]:
        """All attributes."""
        return frozenset(name.rstrip("?") for name in self.fitted.split())

    @property
    def required(self) -> frozenset[str]:
        """Those that a fitted machine always has."""
        return frozenset(name for name in self.fitted.split() if not name.endswith("?"))


COLUMNS = "n_features_in_? feature_names_in_? _sklearn_output_config?"
MACHINE = f"{COLUMNS} model_ certificate_"
SOLVED = f"{MACHINE} _explanation n_iter_"
RIDGE = f"{SOLVED} _is_flat"
SUPPORT = f"{SOLVED} shape_fit_ _gamma fit_status_ support_ _is_free intercept_spread_ margin_?"
PAIRWISE = f"{SUPPORT} classes_ class_weight_ _n_support"
SMOOTHER = f"{MACHINE} bandwidth_ bandwidths_? loo_scores_? loo_score_?"

# Name in files -> the class.
ESTIMATORS: dict[str, Storable] = {
    f"mercer.{row.kind.__name__}": row
    for row in (
        Storable(KernelRidge, f"{RIDGE} landmarks_?", "uncertainty", unless="landmarks_"),
        Storable(KernelRidgeCV, f"{RIDGE} alpha_ best_score_ loo_residuals_ cv_results_?", "uncertainty"),
        Storable(KernelLogisticRegression, f"{SOLVED} classes_ landmarks_?", "classes"),
        Storable(SVC, PAIRWISE, "pairs"),
        Storable(NuSVC, PAIRWISE, "pairs"),
        Storable(SVR, SUPPORT),
        Storable(NuSVR, SUPPORT),
        Storable(OneClassSVM, f"{SUPPORT} offset_"),
        Storable(KernelNearestCentroid, f"{MACHINE} classes_", "classes"),
        Storable(KernelNeighborsClassifier, f"{MACHINE} classes_ outputs_2d_", "votes"),
        Storable(KernelNeighborsRegressor, f"{MACHINE} _is_flat", "votes"),
        Storable(NadarayaWatson, f"{SMOOTHER} _is_flat", "smoothing"),
        Storable(NadarayaWatsonClassifier, f"{SMOOTHER} classes_", "smoothing"),
        Storable(KernelFeatures, f"{COLUMNS} feature_map_"),
        Storable(Nystroem, f"{COLUMNS} component_indices_ normalization_ _given _binding _n_features_out"),
        Storable(RandomFeatures, f"{COLUMNS} amplitudes_ frequencies_ offset_ _n_features_out"),
    )
}
# What belongs to the session and not to the machine: where to go on from, what scikit-learn should pass along.
LEFT_OUT = frozenset({"_unjudged", "_last", "_metadata_request"})
# Parameters of the computer that it ran on; a file could use them to fill another.
RESET = frozenset({"memory", "n_jobs"})


def _array(value: Any, kinds: str, *shapes: tuple[int, ...]) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in kinds and (not shapes or value.shape in shapes)


def _is_same(found: Any, classes: Any) -> bool:
    """Whether the labels of the machine are those of its model."""
    if isinstance(found, list):
        return isinstance(classes, list) and len(found) == len(classes) and all(map(_is_same, found, classes))
    return isinstance(classes, np.ndarray) and isinstance(found, np.ndarray) and np.array_equal(found, classes)


def _of_rows(value: Any, model: Model) -> bool:
    return _array(value, "f") and value.ndim in (1, 2, 3) and len(value) == len(model.basis)


# Attribute -> whether its value fits the model; others are taken as they are.
FITS: dict[str, Callable[[Any, Model], bool]] = {
    "model_": lambda value, model: isinstance(value, Model),
    "certificate_": lambda value, model: isinstance(value, Certificate),
    "n_features_in_": lambda value, model: isinstance(value, Integral) and int(value) > 0,
    "feature_names_in_": lambda value, model: _array(value, "O") and value.ndim == 1,
    "_explanation": lambda value, model: isinstance(value, str),
    "_is_flat": lambda value, model: isinstance(value, bool),
    "outputs_2d_": lambda value, model: isinstance(value, bool),
    "n_iter_": lambda value, model: isinstance(value, Integral) or _array(value, "i", model.intercept.shape),
    "fit_status_": lambda value, model: isinstance(value, Integral),
    "shape_fit_": lambda value, model: isinstance(value, tuple) and all(isinstance(n, Integral) for n in value),
    "_gamma": lambda value, model: value is None or isinstance(value, Real | str),
    "support_": lambda value, model: _array(value, "i", (len(model.basis),)),
    "_is_free": lambda value, model: _array(value, "b", (len(model.basis),)),
    "intercept_spread_": lambda value, model: _array(value, "f", model.intercept.shape),
    "margin_": lambda value, model: _array(value, "f", model.intercept.shape),
    "offset_": lambda value, model: _array(value, "f", model.intercept.shape),
    "classes_": lambda value, model: _is_same(value, model.classes),
    "class_weight_": lambda value, model: _array(value, "f", (len(model.classes),)),
    "_n_support": lambda value, model: _array(value, "i", (len(model.classes),)),
    "landmarks_": lambda value, model: _array(value, "i", (len(model.basis),)),
    "loo_residuals_": _of_rows,
    "cv_results_": _of_rows,
    "bandwidth_": lambda value, model: isinstance(value, Real),
    "bandwidths_": lambda value, model: _array(value, "f") and value.ndim == 1,
    "loo_scores_": lambda value, model: _array(value, "f") and value.ndim == 1,
}


_NAMES: dict[type, str] = {}


def add_estimators(rows: dict[str, Storable]) -> None:
    """Let files name more classes."""
    ESTIMATORS.update(rows)
    _NAMES.update({row.kind: name for name, row in rows.items()})


def _take(value: BaseEstimator, writer: Writer, path: str) -> Any:
    kind = type(value)
    name = _NAMES.get(kind)
    if name is None:
        raise NotStorable(
            f"A model file cannot hold a {kind.__module__}.{kind.__qualname__} ({path}).",
            "Only classes of a fixed table can be stored, so that loading runs no code of a file: "
            f"{', '.join(row.kind.__name__ for row in ESTIMATORS.values())}.",
            "Save its best_estimator_." if "best_estimator_" in vars(value) else "",
        )
    params = value.get_params(deep=False)
    fitted = {key: part for key, part in vars(value).items() if key not in params and key not in LEFT_OUT}
    unknown = sorted(set(fitted) - ESTIMATORS[name].names)
    if unknown:
        raise NotStorable(
            f"A model file cannot hold the attribute {unknown[0]} of {path}.",
            f"The attributes of {kind.__name__} that can be stored are {', '.join(sorted(ESTIMATORS[name].names))}.",
        )
    return {
        "class": name,
        "parameters": {key: writer.value(part, f"{path}.{key}") for key, part in params.items() if key not in RESET},
        "fitted": {key: writer.value(part, f"{path}.{key}") for key, part in fitted.items()},
    }


def _make(stored: Any, reader: Reader) -> Any:
    if not isinstance(stored, dict) or set(stored) != {"class", "parameters", "fitted"}:
        raise BadModelFile("An estimator of the model file has the wrong parts.", f"Got {str(stored)[:60]}.")
    row = ESTIMATORS.get(stored["class"]) if isinstance(stored["class"], str) else None
    if row is None:
        raise BadModelFile(
            f"The model file names an estimator that it may not: {str(stored['class'])[:60]!r}.",
            "Only those of a fixed table can be loaded.",
        )
    own, name = frozenset(signature(row.kind).parameters) - RESET, row.kind.__name__
    params = {key: reader.value(part) for key, part in stored["parameters"].items()}
    fitted = {key: reader.value(part) for key, part in stored["fitted"].items()}
    if not set(params) <= own:
        raise BadModelFile(
            f"{name} of the model file has an unknown parameter.", f"Got {sorted(set(params) - own)[:5]}."
        )
    if not set(fitted) <= row.names:
        raise BadModelFile(
            f"{name} of the model file has an unknown attribute.", f"Got {sorted(set(fitted) - row.names)[:5]}."
        )
    if fitted and not row.required <= set(fitted):
        raise BadModelFile(
            f"{name} of the model file lacks attributes.", f"They are {sorted(row.required - set(fitted))[:5]}."
        )
    machine = row.kind(**params)
    _check(row, fitted)
    vars(machine).update(fitted)
    if fitted and row.is_sound is not None and not row.is_sound(machine):
        raise BadModelFile(f"The attributes of {name} in the model file do not fit each other.")
    return machine


def _check(row: Storable, fitted: dict[str, Any]) -> None:
    """Refuse attributes that do not fit the model, and a model that lacks what its machine reads."""
    if not isinstance(fitted.get("feature_map_"), FeatureMap | NoneType):
        raise BadModelFile(f"feature_map_ of {row.kind.__name__} is none.")
    if "model_" not in row.names or not fitted:
        return
    model = fitted["model_"]
    for name, value in fitted.items():
        fits = FITS.get(name)
        try:
            good = fits is None or (isinstance(model, Model) and fits(value, model))
        except (TypeError, ValueError, MercerError):
            good = False
        if not good:
            raise BadModelFile(f"{name} of {row.kind.__name__} does not fit the model of the file.")
    if row.needs and row.unless not in fitted and getattr(model, row.needs) is None:
        raise BadModelFile(f"The model of the file has no {row.needs}, which {row.kind.__name__} needs.")


add_estimators(dict(ESTIMATORS))
add_row(Row("estimator", BaseEstimator, _take, _make, is_family=True))
