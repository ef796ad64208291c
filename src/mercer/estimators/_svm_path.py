"""Support vector machines along C."""

from typing import Any

from mercer.domains import TupleOf
from mercer.estimators._parameters import DOMAINS
from mercer.estimators.svm import SVC

__all__ = ["svm_path"]


def svm_path(X: Any, y: Any, Cs: Any, *, sample_weight: Any = None, **params: Any) -> list[SVC]:
    """Fit `SVC` for several values of C, each from the solution of the next smaller one.

    α(C) · C'/C lies in the box of C' and has the same sum: a good starting point. The kernel, its points and what was
    checked about them are shared.

    Parameters
    ----------
    X, y, sample_weight
        As for `SVC.fit`.
    Cs : sequence of float
        The penalties, above 0, in any order.
    **params
        The other parameters of `SVC`.

    Returns
    -------
    list of SVC
        Fitted, in the order of `Cs`.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> X = np.random.default_rng(0).standard_normal((40, 2))
    >>> models = mercer.svm_path(X, X[:, 0] > X[:, 1] ** 2, [10.0, 0.1, 1.0])
    >>> [model.C for model in models]
    [10.0, 0.1, 1.0]
    >>> [len(model.support_) for model in models]
    [13, 26, 21]
    """
    values = TupleOf(DOMAINS["C"]).check("svm_path", "Cs", Cs)
    return SVC(**params)._fit_path(X, y, values, sample_weight)  # noqa: SLF001 (SVC's other half)
