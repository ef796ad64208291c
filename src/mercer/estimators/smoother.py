"""Nadaraya-Watson smoothing: the mean of the targets, weighted by a kernel or a window."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from mercer.errors import InvalidInput
from mercer.estimators._smoothing import Smoother
from mercer.estimators._targets import real_targets, weights
from mercer.models.smoothing import Mean, of_classes, of_targets

__all__ = ["NadarayaWatson", "NadarayaWatsonClassifier"]

Array = npt.NDArray[np.float64]


class NadarayaWatson(MultiOutputMixin, RegressorMixin, Smoother):
    """Kernel smoothing: the mean of the targets, weighted by nearness.

    f(x) = Σᵢ wᵢ k(x, xᵢ) yᵢ / Σᵢ wᵢ k(x, xᵢ), the soft nearest neighbour. It is a mean, so it never leaves the range of
    the targets. There is nothing to solve: one product of the kernel with the targets, made tile by tile.

    Parameters
    ----------
    bandwidth : float or "loo", default 1.0
        The width h. It multiplies every length scale of the kernel (``RBF(2.0)`` with 0.5 is ``RBF(1.0)``), so that a
        named kernel has h as its length scale; a window vanishes from the distance h on. "loo" takes the one of
        `bandwidths` with the least mean squared error of leave-one-out.
    kernel : Kernel, Window or str, default "rbf"
        A kernel whose values are derived to be ≥ 0; "auto" for what `mercer.auto` proposes for X; a `Window`; "rbf" or
        "laplacian" with length scale 1; a window's name, "uniform", "epanechnikov" or "tricube"; or "precomputed", with
        values that are checked to be ≥ 0.
    bandwidths : array-like of shape (n_bandwidths,), optional
        What "loo" tries. None: 7 widths, each four times the one before, from 0.003 to 12 times the one at which the
        length scale is the median distance between (at most 100) training points; then, around the best, widths at
        which the parabola through it and its two neighbours, over the logarithm of the width, has its top: three one
        after the other; for a Gaussian kernel one with a neighbour on each side, √2 times as wide or narrow, and then
        one more.

    Attributes
    ----------
    bandwidth_ : float
        The width in use.
    bandwidths_, loo_scores_ : ndarray of shape (n_bandwidths,)
        With "loo", the widths tried, and the negative mean (weighted, over all targets) of the squared errors of
        leave-one-out. Of equally good widths the largest is taken.
    loo_score_ : float
        The largest of them.
    model_ : Model
        The fitted machine: all that predictions read.
    certificate_ : Certificate
        That there was nothing to solve, and what the kernel's proof assumes.
    binding_ : Binding
        The kernel, or the window, with the training points.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Leave-one-out is exact: the prediction for row i without it lacks wᵢ k(xᵢ, xᵢ) in both sums. Rows are left out with
    their whole weight.

    Where all weights vanish (a window without points, or a kernel that underflows) the nearest training point
    predicts: by the distance of the kernel's profile where it has one, else in feature space, ties by index.
    `has_support` tells where that happens.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators.smoother import NadarayaWatson
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = NadarayaWatson(0.2).fit(X, np.sin(X[:, 0]))
    >>> np.round(model.predict([[1.5], [3.0]]), 2)
    array([0.98, 0.14])
    >>> chosen = NadarayaWatson("loo", kernel="epanechnikov", bandwidths=[0.1, 0.3, 1.0]).fit(X, np.sin(X[:, 0]))
    >>> chosen.bandwidth_
    0.3

    References
    ----------
    .. [1] E. A. Nadaraya. On estimating regression. Theory of Probability and its Applications 9 (1964), 141–142.
    .. [2] G. S. Watson. Smooth regression analysis. Sankhyā A 26 (1964), 359–372.
    .. [3] W. Härdle, M. Müller, S. Sperlich, A. Werwatz. Nonparametric and Semiparametric Models. Springer 2004,
           sections 4.1 to 4.4.
    """

    def __init__(self, bandwidth: Any = 1.0, *, kernel: Any = "rbf", bandwidths: Any = None) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.bandwidths = bandwidths

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Store the points, and choose the bandwidth if it is "loo".

        Parameters
        ----------
        X : array-like, sparse, table, or any points the kernel can read; shape (n, d)
            Training points; the (n, n) matrix of weights between them where the kernel is precomputed.
        y : array-like of shape (n,) or (n, n_targets)
            Targets.
        sample_weight : float or array-like of shape (n,), optional
            Weights wᵢ ≥ 0.
        """
        points = self._read_checked(X, fitting=True)
        targets, self._is_flat = real_targets(y, len(points))
        self._fit(points, *of_targets(targets, weights(sample_weight, len(points))))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the weighted mean, and optionally its standard error.

        With sᵢ = wᵢ k(x, xᵢ) the standard error of f(x) = Σ sᵢ yᵢ/Σ sᵢ is √(Σ sᵢ² σ̂²(x))/Σ sᵢ. The variance of the
        noise is that of the targets around f(x), σ̂²(x) = [Σ sᵢ (yᵢ − f(x))²/Σ sᵢ]/(1 − Σ sᵢ²/(Σ sᵢ)²), as in section
        4.4 of [3]_; the divisor makes it unbiased where the mean is constant over the window. It says nothing about the
        bias of smoothing.

        Parameters
        ----------
        X : like the X of `fit`
            New points; the (m, n) matrix of weights to the training points where the kernel is precomputed.
        return_std : bool
            Whether to give the standard error too. It is inf where a single point has all the weight, and where none
            has any.

        Returns
        -------
        mean : ndarray of shape (m,) or (m, n_targets)
        std : ndarray of the same shape
            Only with `return_std`.
        """
        if not return_std:
            return self._targets(self._predictions(X))
        self._check_fitted()
        found, std = self._smoothing.with_errors(self.model_.binding, self.model_.coef, self._read_checked(X))
        return self._targets(found), self._shaped(self._mean.scale * std)

    def leave_one_out(self) -> Array:
        """The prediction for every training point from all others: (n,) or (n, n_targets)."""
        return self._targets(self._left_out())

    @property
    def _mean(self) -> Mean:
        assert isinstance(self._smoothing.ratio, Mean)
        return self._smoothing.ratio

    def _targets(self, values: Array) -> Array:
        return self._shaped(self._mean.targets(values))

    def _shaped(self, found: Array) -> Array:  # (m, t) -> (m,) or (m, t)
        return found[:, 0] if self._is_flat else found


class NadarayaWatsonClassifier(ClassifierMixin, Smoother):
    """Classification by votes, weighted by nearness.

    P(c | x) = Σ_{i: yᵢ = c} wᵢ k(x, xᵢ) / Σᵢ wᵢ k(x, xᵢ): every training point votes for its class with the weight
    k(x, xᵢ).

    Parameters
    ----------
    bandwidth, kernel, bandwidths
        As in `NadarayaWatson`. "loo" takes the bandwidth with the least Brier score of leave-one-out, the mean over the
        rows of Σ_c ([yᵢ = c] − P(c | xᵢ))².

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    bandwidth_, bandwidths_, loo_scores_, loo_score_, model_, certificate_, binding_, n_features_in_, feature_names_in_
        As in `NadarayaWatson`; scores are negative Brier scores.

    Notes
    -----
    Where no training point has weight, the class of the nearest one has probability 1; `has_support` tells where.

    Examples
    --------
    >>> from mercer.estimators.smoother import NadarayaWatsonClassifier
    >>> model = NadarayaWatsonClassifier(0.5).fit([[0.0], [1.0], [2.0]], ["low", "low", "high"])
    >>> model.predict([[0.2], [1.9]])
    array(['low', 'high'], dtype='<U4')
    >>> model.predict_proba([[1.5]]).round(2)
    array([[0.5, 0.5]])
    """

    classes_: npt.NDArray[Any]

    def __init__(self, bandwidth: Any = 1.0, *, kernel: Any = "rbf", bandwidths: Any = None) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.bandwidths = bandwidths

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Store the points, and choose the bandwidth if it is "loo".

        Parameters
        ----------
        X : array-like, sparse, table, or any points the kernel can read; shape (n, d)
            Training points; the (n, n) matrix of weights between them where the kernel is precomputed.
        y : array-like of shape (n,)
            Labels.
        sample_weight : float or array-like of shape (n,), optional
            Weights wᵢ ≥ 0.
        """
        points = self._read_checked(X, fitting=True)
        n = len(points)
        if y is None:
            raise InvalidInput(
                "This estimator requires y to be passed, but the target y is None.", "", "Pass one label per row of X."
            )
        labels = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        check_classification_targets(labels)
        if len(labels) != n:
            raise InvalidInput(
                f"Found input variables with inconsistent numbers of samples: X has {n} rows, y has {len(labels)}."
            )
        self.classes_, codes = np.unique(labels, return_inverse=True)
        table, smoothing = of_classes(codes, len(self.classes_), weights(sample_weight, n))
        self._fit(points, table, smoothing, self.classes_)
        return self

    def predict_proba(self, X: Any) -> Array:
        """The share of the votes that each class has: (m, n_classes), rows that sum to one."""
        return self._predictions(X)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class with the most votes; in a tie, the first: (m,)."""
        shares = self.predict_proba(X)
        return np.asarray(self.model_.classes[shares.argmax(axis=1)])

    def leave_one_out(self) -> Array:
        """The probabilities for every training point from all others: (n, n_classes)."""
        return self._left_out()
