"""Features whose inner products approximate a kernel: by landmarks, or by random frequencies."""

from functools import partial
from numbers import Integral
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer.budget import allocate, row_blocks
from mercer.errors import InvalidParameter, shown
from mercer.estimators._kernels import KernelSpec, TakesKernel
from mercer.estimators._landmarks import Landmarks
from mercer.estimators._machine import check_columns
from mercer.grams.landmarks import inverse_root
from mercer.kernels.binding import Binding
from mercer.kernels.custom import Custom
from mercer.kernels.kernel import Kernel
from mercer.kernels.sources import vectors_of
from mercer.kernels.spectral import fill_waves, frequencies
from mercer.points.adapt import as_points
from mercer.points.base import Points
from mercer.points.table import Table

__all__ = ["Nystroem", "RandomFeatures"]

Array = npt.NDArray[np.float64]

# Of scikit-learn's names: what is computed by its own function, because it is no kernel that could be derived.
FOREIGN = frozenset({"additive_chi2"})
POWERS = frozenset({"poly", "polynomial"})


class _Features(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TakesKernel):
    """What both share: reading points, and parameters of the kernel."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read(self, X: Any, *, reset: bool) -> Points:
        points = as_points(X)
        check_columns(self, X, points, reset=reset)
        return points.vectors() if isinstance(points, Table) and isinstance(self.kernel, str) else points


@final
class Nystroem(_Features):
    """Features φ(x) = K_mm^(−½) k(x) of m landmarks, for any kernel on any points.

    ⟨φ(x), φ(z)⟩ is k(x, z) where x or z is a landmark, and at most that on the diagonal elsewhere. In place of
    ``sklearn.kernel_approximation.Nystroem``, with the same features for the same `random_state`.

    Parameters
    ----------
    kernel : Kernel, str or callable, default "rbf"
        A kernel of mercer, a name that scikit-learn has, "precomputed", or a function of two points.
    gamma, coef0, degree : optional
        Parameters of a named kernel, with scikit-learn's defaults.
    kernel_params : dict, optional
        Keyword arguments of a function given as `kernel`.
    n_components : int, default 100
        The number of landmarks m, and of features; no more than there are rows.
    landmarks : {"uniform", "k-means++", "rpcholesky"} or array of int, default "uniform"
        How landmarks are chosen: see `KernelRidge`.
    random_state : int, RandomState or None
        Chooses them.
    n_jobs : int, optional
        Of a function given as `kernel`, as in scikit-learn; others use mercer's threads.

    Attributes
    ----------
    components_ : array or collection
        The landmarks.
    component_indices_ : ndarray of shape (m,)
        The rows that they are.
    normalization_ : ndarray of shape (m, m)
        K_mm^(−½).
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Nystroem, SetIntersection
    >>> baskets = [{"tea", "milk"}, {"tea"}, {"bread", "milk"}, {"bread"}]
    >>> phi = Nystroem(SetIntersection(), n_components=4, random_state=0).fit_transform(baskets)
    >>> np.allclose(phi @ phi.T, SetIntersection()(baskets))
    True

    References
    ----------
    .. [1] C. K. I. Williams, M. Seeger. Using the Nyström method to speed up kernel machines. NIPS 2000.
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | str | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        landmarks: Any = "uniform",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.landmarks = landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 (scikit-learn's signature)
        """Choose the landmarks.

        Parameters
        ----------
        X : array-like, sparse, table, or any points the kernel can read; shape (n, d)
            The (n, n) matrix of kernel values where the kernel is precomputed.
        y : ignored
        """
        points = self._read(X, reset=True)
        n, m = len(points), _count("n_components", self.n_components)
        is_given = self._is_precomputed or self._is_function
        if is_given and any(value is not None for value in (self.gamma, self.coef0, self.degree)):
            raise InvalidParameter(
                "Don't pass gamma, coef0 or degree to Nystroem if kernel is a callable or precomputed.",
                f"Got gamma={self.gamma!r}, coef0={self.coef0!r}, degree={self.degree!r}.",
                "Use kernel_params." if self._is_function else "",
            )
        kernel = None if is_given else self._kernel().resolve(points)
        if isinstance(self.landmarks, str) and self.landmarks == "uniform":  # scikit-learn's draw
            self.component_indices_ = check_random_state(self.random_state).permutation(n)[: min(m, n)]
        else:
            if kernel is None:
                raise InvalidParameter(
                    "A function or a precomputed matrix takes uniform landmarks.",
                    f"Got landmarks={shown(self.landmarks)}.",
                    "Wrap a function in Custom(fn, because=…).",
                )
            chosen = Landmarks(m, self.landmarks, self.random_state)
            self.component_indices_ = chosen.rows(kernel, points, np.arange(n))
        basis = points.take(self.component_indices_)
        self._given = basis if kernel is None else None
        self._binding = None if kernel is None else Binding(kernel, basis, np.dtype(np.float64))
        among = self.components_[:, self.component_indices_] if self._is_precomputed else self._values(basis, own=True)
        self.normalization_ = inverse_root(np.asarray(among, dtype=np.float64))
        self._n_features_out = len(self.normalization_)
        return self

    def transform(self, X: Any) -> Array:
        """The features of points.

        Parameters
        ----------
        X : like the X of `fit`
            The kernel values to the rows of the fit where the kernel is precomputed.

        Returns
        -------
        ndarray of shape (len(X), m)
        """
        check_is_fitted(self)
        points = self._read(X, reset=False)
        shape = (len(points), self._n_features_out)
        out = allocate(shape, np.float64, f"The features of {len(points)} points", "Transform fewer rows at a time.")
        for rows in row_blocks(*shape):
            np.matmul(self._values(points.take(rows)), self.normalization_, out=out[rows])
        return out

    @property
    def components_(self) -> Any:
        """The landmarks, as an array or a collection."""
        landmarks = self._given if self._binding is None else self._binding.basis
        assert landmarks is not None  # one of the two has them
        return landmarks.raw()

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _is_function(self) -> bool:
        return callable(self.kernel) and not isinstance(self.kernel, Kernel)

    def _kernel(self) -> Kernel:
        """The kernel; names that are none of mercer's kernels, by scikit-learn's function."""
        degree: Any = 3 if self.degree is None else self.degree
        is_power = isinstance(self.kernel, str) and self.kernel in POWERS
        is_foreign = isinstance(self.kernel, str) and self.kernel in FOREIGN
        if is_foreign or (is_power and not isinstance(degree, Integral)):
            given = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
            known = {name: value for name, value in given.items() if value is not None}
            fn = partial(_by_scikit_learn, metric=self.kernel, filter_params=True, **known)
            return Custom(fn, because="scikit-learn has a function of that name", form="matrix")
        coef0 = 1.0 if self.coef0 is None else self.coef0
        return KernelSpec(self.kernel, self.gamma, int(degree), coef0, self.kernel_params).build()

    def _values(self, points: Points, *, own: bool = False) -> Any:
        """Kernel values to the landmarks; `own`: those of the landmarks themselves."""
        if self._is_precomputed:
            return points.raw()[:, self.component_indices_]
        if self._is_function:
            others = None if own else self.components_
            given = self.kernel_params or {}
            return pairwise_kernels(points.raw(), others, metric=self.kernel, n_jobs=self.n_jobs, **given)
        assert self._binding is not None  # of all other kernels
        return (self._binding.self_cross() if own else self._binding.cross(points)).dense()


@final
class RandomFeatures(_Features):
    """Features of random frequencies, whose inner products are a shift-invariant kernel on average.

    φ(x) = (cⱼ cos⟨ωⱼ, x⟩, cⱼ sin⟨ωⱼ, x⟩)ⱼ with ω from the spectral law of the kernel, so that ⟨φ(x), φ(z)⟩ =
    Σ cⱼ² cos⟨ωⱼ, x − z⟩, which is exactly k(x, x) for x = z. Known are the laws of `RBF`, `Laplacian`, `Matern`,
    `RationalQuadratic` and `Cauchy`, with one length or one for each column, and of their sums, products and multiples.

    Parameters
    ----------
    kernel : Kernel or str, default "rbf"
        Such a kernel, or "rbf" or "laplacian".
    gamma : float or str, optional
        Of a named kernel.
    n_components : int, default 100
        The number of features: two for each frequency; where it is odd, the last is √2 c cos(⟨ω, x⟩ + b) with a random
        b in place of two.
    orthogonal : bool, default True
        Whether the directions of frequencies are orthogonal in groups of d, where the law depends on their length
        alone: more accurate for the same number.
    random_state : int, RandomState or None
        Draws the frequencies.

    Attributes
    ----------
    frequencies_ : ndarray of shape (d, ⌈n_components / 2⌉)
        ω.
    amplitudes_ : ndarray of shape (⌈n_components / 2⌉,)
        c.
    offset_ : float
        b; 0 where there is no odd feature.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Matern, RandomFeatures
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> phi = RandomFeatures(Matern(1.5, 2.0), n_components=4_000, random_state=0).fit_transform(X)
    >>> bool(np.abs(phi @ phi.T - Matern(1.5, 2.0)(X)).max() < 0.1)
    True

    References
    ----------
    .. [1] A. Rahimi, B. Recht. Random features for large-scale kernel machines. NIPS 2007.
    .. [2] F. X. Yu, A. T. Suresh, K. Choromanski, D. Holtmann-Rice, S. Kumar. Orthogonal random features. NIPS 2016.
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | str | None = None,
        n_components: int = 100,
        orthogonal: bool = True,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.orthogonal = orthogonal
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 (scikit-learn's signature)
        """Draw the frequencies; of X only the width and what rules such as "median" need are learnt.

        Parameters
        ----------
        X : array-like, sparse or table, shape (n, d)
        y : ignored
        """
        points = self._read(X, reset=True)
        count = _count("n_components", self.n_components)
        rows = vectors_of(points, "RandomFeatures")
        kernel = KernelSpec(self.kernel, self.gamma, 3, 1.0, None).build().resolve(rows)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.frequencies_, self.amplitudes_ = frequencies(
            kernel, rows.raw().shape[1], -(-count // 2), rng, orthogonal=bool(self.orthogonal)
        )
        self.offset_ = float(rng.uniform(0.0, 2.0 * np.pi)) if count % 2 else 0.0
        self._n_features_out = count
        return self

    def transform(self, X: Any) -> Array:
        """The features of points: all cosines, then all sines.

        Parameters
        ----------
        X : like the X of `fit`

        Returns
        -------
        ndarray of shape (len(X), n_components)
        """
        check_is_fitted(self)
        points = self._read(X, reset=False)
        shape = (len(points), self._n_features_out)
        out = allocate(shape, np.float64, f"The features of {len(points)} points", "Transform fewer rows at a time.")
        for rows in row_blocks(*shape):
            block = vectors_of(points.take(rows), "RandomFeatures").raw()
            fill_waves(block, self.frequencies_, self.amplitudes_, self.offset_, out[rows])
        return out


def _by_scikit_learn(X: Any, Z: Any, **given: Any) -> Array:
    # Copies: some of its functions take no array that is read-only.
    return np.asarray(pairwise_kernels(np.array(X), np.array(Z), **given))


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
        raise InvalidParameter(f"{name} must be a whole number, at least 1.", f"Got {shown(value)}.")
    return int(value)
