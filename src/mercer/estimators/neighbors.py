"""Classification and regression by the nearest neighbours in the feature space of a kernel."""

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from mercer.errors import InvalidInput
from mercer.estimators._kneighbors import KernelNeighbors
from mercer.estimators._targets import real_targets

__all__ = ["KernelNeighborsClassifier", "KernelNeighborsRegressor"]

Array = npt.NDArray[np.float64]


class KernelNeighborsClassifier(ClassifierMixin, KernelNeighbors):
    """Classification by a vote of the nearest neighbours in the feature space of a kernel.

    The distance is d²(x, z) = ‖φ(x) − φ(z)‖² = k(x, x) − 2k(x, z) + k(z, z), for any kernel on any points; with the
    linear kernel it is the Euclidean distance. The neighbours are exact, ties broken by index: kernels that are
    a function of ‖x − z‖² or ‖x − z‖₁ are ordered by it, found in numbers of 16 or 32 bits with a proved margin and
    ranked in float64; every other formula is evaluated in float64. There is no n × m matrix.

    Parameters
    ----------
    n_neighbors : int, default 5
        How many neighbours vote.
    kernel : Kernel, str or callable, default "linear"
        A kernel of mercer, "auto" for what `mercer.auto` proposes for X, a name that scikit-learn has, "precomputed",
        or a function of two points that returns a number.
    weights : {"uniform", "distance", "kernel"}, callable or None, default "uniform"
        The weight of a vote: 1; 1/d, where training points at distance 0 outvote all others; k(x, z), which must not be
        negative (if all are 0, the nearest decides); or a function of the distances (m, k) that returns as many
        weights.
    gamma, degree, coef0 : optional
        Parameters of a named kernel, with scikit-learn's defaults.
    kernel_params : dict, optional
        Keyword arguments of a function given as `kernel`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of such
        The labels; a list, one for each output, where there are several.
    outputs_2d_ : bool
        Whether y had several columns.
    n_samples_fit_ : int
        The number of training points.
    model_ : Model
        The fitted machine: all that predictions read.
    certificate_ : Certificate
        That there was nothing to solve, and what the kernel's proof assumes.
    binding_ : Binding
        The kernel, resolved on the training points, bound to them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from mercer.estimators.neighbors import KernelNeighborsClassifier
    >>> from mercer.kernels import SetIntersection
    >>> baskets = [{"tea", "milk"}, {"tea", "sugar", "milk"}, {"nails", "glue"}, {"glue", "wood"}]
    >>> model = KernelNeighborsClassifier(2, kernel=SetIntersection().normalised())
    >>> model = model.fit(baskets, ["food", "food", "tools", "tools"])
    >>> model.predict([{"tea"}, {"wood", "nails"}])
    array(['food', 'tools'], dtype='<U5')
    >>> model.kneighbors([{"tea"}], return_distance=False)
    array([[0, 1]])

    References
    ----------
    .. [1] K. Yu, L. Ji, X. Zhang. Kernel nearest-neighbor algorithm. Neural Processing Letters 15, 2002.
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        kernel: Any = "linear",
        weights: str | Callable[[Array], Any] | None = "uniform",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.weights = weights
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training points and their labels.

        Parameters
        ----------
        X : array-like, sparse, table, or any points the kernel can read; shape (n, d)
            Training points; the (n, n) Gram matrix where the kernel is precomputed.
        y : array-like of shape (n,) or (n, n_outputs)
            Labels.
        """
        points = self._read(X)
        labels, flat = _labels(y, len(points))
        found = [np.unique(column, return_inverse=True) for column in labels.T]
        self.outputs_2d_ = not flat
        self.classes_ = found[0][0] if flat else [classes for classes, _ in found]
        codes = np.column_stack([codes for _, codes in found]).astype(np.float64)
        self._publish(points, codes, self.classes_, tuple(len(classes) for classes, _ in found))
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label with the largest total vote; in a tie, the first in `classes_`.

        Parameters
        ----------
        X : points as in `fit`, or None
            None: the training points, which then do not vote for themselves.

        Returns
        -------
        ndarray of shape (m,) or (m, n_outputs)
        """
        shares, classes = self._shares(X), self.model_.classes
        if len(shares) == 1:
            return np.asarray(classes[np.argmax(shares[0], axis=1)])
        return np.stack([of[np.argmax(share, axis=1)] for of, share in zip(classes, shares, strict=True)], axis=1)

    def predict_proba(self, X: Any) -> Any:
        """The share of the votes for each label.

        Parameters
        ----------
        X : points as in `fit`, or None
            None: the training points, which then do not vote for themselves.

        Returns
        -------
        ndarray of shape (m, n_classes), or a list of such, one for each output
        """
        shares = self._shares(X)
        return shares[0] if len(shares) == 1 else shares

    def _shares(self, X: Any) -> list[Array]:
        found = self._find(X, None)
        return self._voting.shares(self.model_.space, found, self.model_.coef)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class KernelNeighborsRegressor(RegressorMixin, KernelNeighbors):
    """Regression by the mean of the nearest neighbours in the feature space of a kernel.

    f(x) = Σ wᵢ yᵢ / Σ wᵢ over the `n_neighbors` training points with the smallest d²(x, xᵢ) = k(x, x) − 2k(x, xᵢ) +
    k(xᵢ, xᵢ). The neighbours are found as by `KernelNeighborsClassifier`: exactly, ties by the index.

    Parameters
    ----------
    n_neighbors : int, default 5
        How many neighbours are averaged.
    kernel : Kernel, str or callable, default "linear"
        A kernel of mercer, "auto" for what `mercer.auto` proposes for X, a name that scikit-learn has, "precomputed",
        or a function of two points that returns a number.
    weights : {"uniform", "distance", "kernel"}, callable or None, default "uniform"
        A neighbour's weight: 1; 1/d, where a training point at distance 0 outweighs all others; k(x, z), which must
        not be negative (if all are 0, the nearest decides); or a function of the distances (m, k) that returns as many
        weights. "kernel" with all points as neighbours is the estimate of Nadaraya and Watson.
    gamma, degree, coef0 : optional
        Parameters of a named kernel, with scikit-learn's defaults.
    kernel_params : dict, optional
        Keyword arguments of a function given as `kernel`.

    Attributes
    ----------
    n_samples_fit_ : int
        The number of training points.
    model_ : Model
        The fitted machine: all that predictions read.
    certificate_ : Certificate
        That there was nothing to solve, and what the kernel's proof assumes.
    binding_ : Binding
        The kernel, resolved on the training points, bound to them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from mercer.estimators.neighbors import KernelNeighborsRegressor
    >>> model = KernelNeighborsRegressor(2).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0])
    >>> model.predict([[1.4], [2.9]])
    array([2.5, 6.5])
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        kernel: Any = "linear",
        weights: str | Callable[[Array], Any] | None = "uniform",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.weights = weights
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training points and their targets.

        Parameters
        ----------
        X : array-like, sparse, table, or any points the kernel can read; shape (n, d)
            Training points; the (n, n) Gram matrix where the kernel is precomputed.
        y : array-like of shape (n,) or (n, n_targets)
            Targets.
        """
        points = self._read(X)
        targets, self._is_flat = real_targets(y, len(points))
        self._publish(points, targets)
        return self

    def predict(self, X: Any) -> Array:
        """The weighted mean of the neighbours' targets.

        Parameters
        ----------
        X : points as in `fit`, or None
            None: the training points, which then are not their own neighbours.

        Returns
        -------
        ndarray of shape (m,) or (m, n_targets)
        """
        found = self._find(X, None)
        mean = self._voting.mean(self.model_.space, found, self.model_.coef)
        return mean[:, 0] if self._is_flat else mean


def _labels(y: Any, n: int) -> tuple[npt.NDArray[Any], bool]:
    """Labels as a matrix of shape (n, n_outputs), and whether there is one output."""
    if y is None:
        raise InvalidInput(
            "This estimator requires y to be passed, but the target y is None.", "", "Pass one label per row of X."
        )
    values = check_array(y, ensure_2d=False, dtype=None, input_name="y", ensure_min_samples=0)
    if values.ndim not in (1, 2):
        raise InvalidInput("y must have one or two axes.", f"Got shape {values.shape}.")
    if len(values) != n:
        raise InvalidInput(
            f"Found input variables with inconsistent numbers of samples: X has {n} rows, y has {len(values)}."
        )
    if values.ndim == 2 and values.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
    check_classification_targets(values)
    labels = values.reshape(n, -1)
    return labels, labels.shape[1] == 1
