"""The explicit features of a kernel, as a transformer."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer.estimators._kernels import KernelSpec, TakesKernel
from mercer.estimators._machine import check_columns
from mercer.kernels.featuremap import FeatureMap
from mercer.points.adapt import as_points
from mercer.points.table import Table

__all__ = ["KernelFeatures"]

Array = npt.NDArray[np.float64]


class KernelFeatures(TransformerMixin, TakesKernel):
    """The explicit feature map φ of a kernel, ⟨φ(x), φ(z)⟩ = k(x, z), as a step of a pipeline.

    A linear machine on these features is the kernel machine: of few features it is faster, of many it is not.

    Parameters
    ----------
    kernel : Kernel or str, default "poly"
        A kernel of mercer, or a name that scikit-learn has, with a finite feature map; or any with `order`.
    order : int, optional
        Where exponentials occur (as in the Gaussian kernel): the degree up to which they are expanded.
    gamma, degree, coef0 : optional
        Parameters of a named kernel, with the defaults of scikit-learn's SVC.

    Attributes
    ----------
    feature_map_ : FeatureMap
        φ, as `Kernel.feature_map` returns it; its `error_bound` says how far ⟨φ(x), φ(z)⟩ is from k(x, z) at most.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer.estimators.features import KernelFeatures
    >>> from mercer.kernels import Polynomial
    >>> X = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 0.0]])
    >>> phi = KernelFeatures(Polynomial(2)).fit(X)
    >>> phi.get_feature_names_out()
    array(['x0^2', 'x0 x1', 'x0', 'x1^2', 'x1', '1'], dtype=object)
    >>> np.allclose(phi.transform(X) @ phi.transform(X).T, Polynomial(2)(X))
    True
    >>> make_pipeline(KernelFeatures(Polynomial(2)), Ridge()).fit(X, [1.0, 2.0, 3.0]).predict(X).shape
    (3,)
    """

    feature_map_: FeatureMap

    def __init__(
        self,
        kernel: Any = "poly",
        *,
        order: int | None = None,
        gamma: float | str | None = "scale",
        degree: int = 3,
        coef0: float = 0.0,
    ) -> None:
        self.kernel = kernel
        self.order = order
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 (scikit-learn's signature)
        """Learn from X what the features depend on: the width, values and items, rules such as gamma="scale".

        Parameters
        ----------
        X : array-like, sparse, table, or any points the kernel can read; shape (n, d)
        y : ignored
        """
        points = as_points(X)
        check_columns(self, X, points, reset=True)
        spec = KernelSpec(self.kernel, self.gamma, self.degree, self.coef0, None, "scale")
        if isinstance(points, Table) and isinstance(self.kernel, str):
            points = points.vectors()
        self.feature_map_ = spec.build().feature_map(points, order=self.order)
        return self

    def transform(self, X: Any) -> Array:
        """The features of points.

        Parameters
        ----------
        X : like the X of `fit`; m points

        Returns
        -------
        ndarray of shape (m, M)
        """
        check_is_fitted(self)
        points = as_points(X)
        check_columns(self, X, points, reset=False)
        if isinstance(points, Table) and isinstance(self.kernel, str):
            points = points.vectors()
        return self.feature_map_(points)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """A name for each feature, such as ``x0^2`` and ``x0 x1``.

        Parameters
        ----------
        input_features : sequence of str, optional
            The names of the columns; those seen in `fit` where not given.

        Returns
        -------
        ndarray of str objects, shape (M,)
        """
        check_is_fitted(self)
        seen = getattr(self, "feature_names_in_", None)
        if input_features is None:
            input_features = seen
        elif seen is not None and list(seen) != list(input_features):
            raise ValueError("input_features is not equal to feature_names_in_")
        return self.feature_map_.get_feature_names_out(input_features)
