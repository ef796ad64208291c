"""The scikit-learn classes that a model file may hold around a machine or behind its features, and their attributes."""

from collections.abc import Callable
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn.compose
import sklearn.decomposition
import sklearn.feature_selection
import sklearn.impute
import sklearn.linear_model
import sklearn.pipeline
import sklearn.preprocessing

from mercer.estimators._storable import COLUMNS, Storable, add_estimators

__all__ = ["TRANSFORMERS"]

DISCRETE = "categories_ _infrequent_enabled _infrequent_indices _default_to_infrequent_mappings _missing_indices"
SPECTRUM = "components_ explained_variance_ explained_variance_ratio_ singular_values_"
ENCODER = f"{DISCRETE} drop_idx_ _drop_idx_after_grouping _n_features_outs"

# Module -> class -> its own attributes; a class may lack any of them, for a Pipeline holds unfitted ones too.
FITTED: dict[str, dict[str, str]] = {
    "compose": {
        "ColumnTransformer": "transformers_ output_indices_ sparse_output_ _columns _feature_names_in _n_features "
        "_name_to_fitted_passthrough _remainder _transformer_to_input_indices",
        "TransformedTargetRegressor": "regressor_ transformer_ _training_dim",
    },
    "decomposition": {
        "PCA": f"{SPECTRUM} mean_ n_components_ n_samples_ noise_variance_ _fit_svd_solver",
        "TruncatedSVD": SPECTRUM,
    },
    "feature_selection": {"VarianceThreshold": "variances_"},
    "impute": {
        "MissingIndicator": "features_ _n_features _precomputed",
        "SimpleImputer": "statistics_ indicator_ _fit_dtype _fill_dtype",
    },
    "linear_model": {
        "LinearRegression": "coef_ intercept_ rank_ singular_",
        "LogisticRegression": "C_ classes_ coef_ intercept_ l1_ratio_ n_iter_",
        "Ridge": "coef_ intercept_ n_iter_ solver_",
        "RidgeClassifier": "_label_binarizer classes_ coef_ intercept_ n_iter_ solver_",
    },
    "pipeline": {"FeatureUnion": "", "Pipeline": ""},
    "preprocessing": {
        "Binarizer": "",
        "FunctionTransformer": "",
        "KBinsDiscretizer": "bin_edges_ n_bins_ _encoder",
        "LabelBinarizer": "classes_ sparse_input_ y_type_",
        "LabelEncoder": "classes_",
        "MaxAbsScaler": "max_abs_ n_samples_seen_ scale_",
        "MinMaxScaler": "data_max_ data_min_ data_range_ min_ n_samples_seen_ scale_",
        "Normalizer": "",
        "OneHotEncoder": ENCODER,
        "OrdinalEncoder": DISCRETE,
        "PolynomialFeatures": "n_output_features_ _max_degree _min_degree _n_out_full",
        "PowerTransformer": "lambdas_ _scaler",
        "QuantileTransformer": "n_quantiles_ quantiles_ references_",
        "RobustScaler": "center_ scale_",
        "StandardScaler": "mean_ n_samples_seen_ scale_ var_",
        "TargetEncoder": f"{DISCRETE} classes_ encodings_ target_mean_ target_type_ _label_encoder",
    },
}


def _one_hot_is_sound(encoder: Any) -> bool:
    """Whether every code of a category leads into the columns of its own: SciPy writes there without a look."""
    widths = encoder._n_features_outs  # noqa: SLF001 (as it was stored)
    if not (isinstance(widths, list) and all(isinstance(width, Integral) for width in widths)):
        return False
    if not isinstance(encoder.categories_, list) or len(encoder.categories_) != len(widths):
        return False
    return all(_codes_fit(encoder, column, int(width)) for column, width in enumerate(widths))


def _codes_fit(encoder: Any, column: int, width: int) -> bool:
    categories = encoder.categories_[column]
    if not (isinstance(categories, np.ndarray) and categories.ndim == 1 and _can_be_searched(categories)):
        return False
    codes = np.arange(len(categories))
    if encoder._infrequent_enabled:  # noqa: SLF001
        rare = encoder._infrequent_indices[column]  # noqa: SLF001
        grouped = encoder._default_to_infrequent_mappings[column]  # noqa: SLF001
        if (rare is None) != (grouped is None):
            return False
        if grouped is not None:
            if not (_are_codes(grouped, len(codes)) and _are_codes(rare) and np.isin(rare, codes).all()):
                return False
            codes = grouped
    if encoder._drop_idx_after_grouping is not None:  # noqa: SLF001
        dropped = encoder._drop_idx_after_grouping[column]  # noqa: SLF001
        if dropped is not None:
            kept = codes[codes != int(dropped)]
            codes = kept - (kept > int(dropped))
    return not codes.size or bool(codes.min() >= 0 and codes.max() < width)


def _can_be_searched(categories: npt.NDArray[Any]) -> bool:
    """Numbers are found by bisection, so they must be in order; texts are found in a table."""
    if categories.dtype.kind in "US":
        return True
    numbers = [value for value in categories.tolist() if isinstance(value, Real) and value == value]
    return len(categories) > 0 and all(one < other for one, other in pairwise(numbers))


def _are_codes(value: Any, size: int | None = None) -> bool:
    good = isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.ndim == 1 and len(value) > 0
    return good and size in (None, len(value))


# Class -> whether a fitted one is sound, where numbers of its own are followed without a look.
SOUND: dict[str, Callable[[Any], bool]] = {"OneHotEncoder": _one_hot_is_sound}
TRANSFORMERS: dict[str, Storable] = {
    f"sklearn.{module}.{name}": Storable(
        vars(getattr(sklearn, module))[name],
        " ".join((COLUMNS, *(f"{attribute}?" for attribute in own.split()))),
        is_sound=SOUND.get(name),
    )
    for module, classes in FITTED.items()
    for name, own in classes.items()
}
add_estimators(TRANSFORMERS)
