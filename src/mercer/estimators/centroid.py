"""The nearest centroid in the feature space of a kernel."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from mercer.errors import InvalidInput
from mercer.estimators._classes import class_labels, class_weights
from mercer.estimators._machine import KernelMachine
from mercer.estimators._targets import weights
from mercer.models.model import Model
from mercer.problems.certificate import Certificate, Status

__all__ = ["KernelNearestCentroid"]

Array = npt.NDArray[np.float64]


class KernelNearestCentroid(ClassifierMixin, KernelMachine):
    """Classification by the nearest class mean in the feature space of a kernel.

    The centroid μ = Σ wᵢ φ(xᵢ) / Σ wᵢ of a class is never computed: d²(x, μ) = k(x, x) − 2 Σ αᵢ k(x, xᵢ) + Σᵢⱼ αᵢαⱼ
    k(xᵢ, xⱼ), where αᵢ = wᵢ / Σ wᵢ over the class. Between two classes that is a kernel machine: ½(d²(x, μ₀) − d²(x,
    μ₁)) = Σᵢ ±αᵢ k(x, xᵢ) + b, with nothing to solve. Classes have no priors: those would need a density, and the
    feature space does not have one.

    Parameters
    ----------
    kernel : Kernel, str or callable, default "linear"
        A kernel of mercer, "auto" for what `mercer.auto` proposes for X, a name that scikit-learn has, "precomputed",
        or a function of two points that returns a number.
    gamma, degree, coef0 : optional
        Parameters of a named kernel, with scikit-learn's defaults.
    kernel_params : dict, optional
        Keyword arguments of a function given as `kernel`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    dual_coef_ : ndarray of shape (n, n_classes)
        The centroids: the coefficients a of each class.
    squared_norms_ : ndarray of shape (n_classes,)
        ‖μ‖² of each class.
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
    >>> from mercer.estimators.centroid import KernelNearestCentroid
    >>> from mercer.kernels import RBF
    >>> X = [[-2.0], [2.0], [-0.5], [0.5]]
    >>> model = KernelNearestCentroid(kernel=RBF(1.0)).fit(X, ["out", "out", "in", "in"])
    >>> model.predict([[-3.0], [0.1], [1.9]])
    array(['out', 'in', 'out'], dtype='<U3')
    >>> model.distances([[0.0]]).round(2)
    array([[0.2 , 1.11]])
    """

    _explanation = "The centroids are means of the training points: there is nothing to solve."

    def __init__(
        self,
        *,
        kernel: Any = "linear",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Compute the coefficients and norms of the centroids.

        Parameters
        ----------
        X : array-like, sparse, table, or any points the kernel can read; shape (n, d)
            Training points; the (n, n) Gram matrix where the kernel is precomputed.
        y : array-like of shape (n,)
            Labels of at least two classes.
        sample_weight : float or array-like of shape (n,), optional
            Weights wᵢ ≥ 0.
        """
        points = self._read(X)
        n = len(points)
        self.classes_, codes = class_labels(y, n)
        coef = np.zeros((n, len(self.classes_)))
        coef[np.arange(n), codes] = class_weights(None, self.classes_, codes, weights(sample_weight, n))
        binding = self._bind(points)
        coef /= coef.sum(axis=0)
        to_centroids = binding.self_cross() @ coef  # ⟨φ(xᵢ), μ⟩
        squared_norms = np.einsum("nc,nc->c", coef, to_centroids)
        self.model_ = Model.on(binding, coef, -0.5 * squared_norms, classes=self.classes_)
        self.certificate_ = Certificate(
            Status.BY_FORMULA,
            machine="nearest centroid",
            rows=n,
            columns=len(self.classes_),
            assumptions=binding.kernel.proof().assumptions,
        )
        return self

    @property
    def dual_coef_(self) -> Array:
        """The centroids: the coefficients of each class, (n, n_classes)."""
        return self.model_.coef

    @property
    def squared_norms_(self) -> Array:
        """‖μ‖² of each class: (n_classes,)."""
        return np.asarray(-2.0 * self.model_.intercept)

    def distances(self, X: Any) -> Array:
        """The distance to each centroid, in the feature space.

        Returns
        -------
        ndarray of shape (m, n_classes)
        """
        self._check_fitted()
        points = self._read_new(X)
        if self._spec.is_precomputed:
            raise InvalidInput(
                "Distances need k(x, x) of the new points, which a precomputed kernel does not know.",
                "",
                "Use decision_function, which does not.",
            )
        squared = self.model_.binding.diag(points)[:, None] - 2.0 * self.model_.scores(points)
        return np.asarray(np.sqrt(np.maximum(squared, 0.0)))

    def decision_function(self, X: Any) -> Array:
        """⟨φ(x), μ⟩ − ½‖μ‖² = ½(k(x, x) − d²(x, μ)) for each class: the largest is that of the nearest centroid.

        Returns
        -------
        ndarray of shape (m, n_classes), or (m,) for two classes
            For two classes the difference, above 0 where the second is nearer.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of the nearest centroid; in a tie, the first in `classes_`.

        Returns
        -------
        ndarray of shape (m,)
        """
        nearest = np.argmax(self._scores(X), axis=1)
        return np.asarray(self.model_.classes[nearest])

    def _scores(self, X: Any) -> Array:
        self._check_fitted()
        return self.model_.scores(self._read_new(X))
