"""Estimators from the model files of LIBSVM."""

from typing import Any

import numpy as np

from mercer.estimators._svm import SupportVectorMachine
from mercer.estimators.svm import SVC, NuSVC
from mercer.estimators.svr import SVR, NuSVR, OneClassSVM
from mercer.io.libsvm import read_libsvm
from mercer.points.stored import Places
from mercer.problems.certificate import Certificate, Status

__all__ = ["from_libsvm"]

MACHINES: dict[str, type[SupportVectorMachine]] = {
    "c-svc": SVC,
    "nu-svc": NuSVC,
    "epsilon-svr": SVR,
    "nu-svr": NuSVR,
    "one-class": OneClassSVM,
}


def from_libsvm(path: Any, n_features: int | None = None) -> Any:
    """Read a model file of LIBSVM as a fitted SVC, NuSVC, SVR, NuSVR or OneClassSVM.

    It predicts what LIBSVM predicts. What the file does not say (C, nu, which training rows were support vectors) is
    not known: those parameters have their defaults, `support_` is −1 (but of a precomputed kernel), and the
    certificate says that there is none. More than two classes keep the order of the file, whose first wins a tie of
    votes. Probabilities of a regression and of a one-class machine, which mercer's do not have, are left out.

    Parameters
    ----------
    path : str, path or binary file
        Written by svm-train, svm_save_model or `mercer.to_libsvm`.
    n_features : int, optional
        The number of columns of new points; of a precomputed kernel, of training points. The file does not say it;
        without it, the last column that a support vector has is taken for the last.

    Returns
    -------
    SVC, NuSVC, SVR, NuSVR or OneClassSVM

    Raises
    ------
    BadModelFile
        If the file is none of LIBSVM, or damaged; the line is named.

    Examples
    --------
    >>> import io
    >>> text = b'''svm_type c_svc
    ... kernel_type linear
    ... nr_class 2
    ... total_sv 2
    ... rho 0
    ... label 1 2
    ... nr_sv 1 1
    ... SV
    ... 0.25 1:-1 2:-1
    ... -0.25 1:1 2:1
    ... '''
    >>> model = from_libsvm(io.BytesIO(text))
    >>> model
    SVC(kernel='linear')
    >>> model.predict([[-2.0, 0.5], [3.0, 1.0]])
    array([1, 2])
    """
    found = read_libsvm(path, n_features)
    model = found.model
    estimator = MACHINES[found.machine](**found.settings)
    rows, columns = len(model.basis), len(model.intercept)
    is_stored = isinstance(model.basis, Places)
    state: dict[str, Any] = {
        "model_": model,
        "certificate_": Certificate(Status.FOREIGN, machine=found.machine, columns=columns),
        "_explanation": "Read from a model file of LIBSVM, which has solved it.",
        "n_features_in_": found.width,
        "shape_fit_": (rows, found.width),
        "fit_status_": 0,
        "_gamma": found.settings.get("gamma", 0.0),
        "intercept_spread_": np.full(columns, np.nan),
        "support_": (model.basis.raw() if is_stored else np.full(rows, -1)).astype(np.int32),
        "_is_free": np.zeros(rows, dtype=bool),
        "n_iter_": 0,
    }
    if model.pairs is not None:
        state |= {
            "classes_": model.classes,
            "class_weight_": np.ones(model.pairs.k),
            "_n_support": np.diff(model.pairs.starts).astype(np.int32),
            "n_iter_": np.zeros(columns, dtype=np.int32),
        }
    if found.machine == "one-class":
        state["offset_"] = -model.intercept
    for name, value in state.items():
        setattr(estimator, name, value)
    return estimator
