"""The scikit-learn classes that a model file may hold around a machine or behind its features, and their attributes."""

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
TRANSFORMERS: dict[str, Storable] = {
    f"sklearn.{module}.{name}": Storable(
        vars(getattr(sklearn, module))[name], " ".join((COLUMNS, *(f"{attribute}?" for attribute in own.split())))
    )
    for module, classes in FITTED.items()
    for name, own in classes.items()
}
add_estimators(TRANSFORMERS)
