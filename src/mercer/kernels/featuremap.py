"""Explicit feature maps, fitted: the object that `Kernel.feature_map` returns.

Its pieces are those of `featurepieces`; how these follow from a kernel's rules is the table in `features`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from mercer.budget import allocate, refuse_too_large
from mercer.errors import InvalidInput, NotFinite
from mercer.kernels.featurenames import names_of
from mercer.kernels.featurepieces import Coordinates, Features
from mercer.points import Points, as_points, conformed
from mercer.points.table import Table
from mercer.points.vectors import Vectors

__all__ = ["FeatureMap", "first"]

Array = npt.NDArray[np.float64]

# Features computed at a time: a block of two megabytes stays in cache while each degree is built from the previous.
FEATURES_AT_ONCE = 1 << 18
# Coordinates are read, not computed: enough for fast matrix products, few enough to stay in cache.
COORDINATES_AT_ONCE = 1 << 19
BYTES = np.dtype(np.float64).itemsize


def first(points: Points) -> Points:
    """The first point; none of a machine without support vectors."""
    return points.take([0][: len(points)])


class SelfSimilar(Protocol):
    """What a feature map needs from its kernel."""

    def diag(self, X: Any) -> Array:
        """The values k(x, x)."""

    def reads(self) -> tuple[str | int, ...] | None:
        """The columns of a table that it reads; None if it reads whatever it is given."""


@final
@dataclass(frozen=True, repr=False, eq=False)
class FeatureMap:
    """The explicit feature map φ of a kernel: ⟨φ(x), φ(z)⟩ = k(x, z). Made by `Kernel.feature_map`.

    Calling it gives the features of points as a dense float64 array (n, M). What the map learnt from the points it was
    fitted on is fixed: the items of sets, the values of `Delta`, rules such as gamma="scale". A new item or value
    has no feature. So φ(Z)·φ(X)ᵀ = k(Z, X) for every Z and the X of the fit, while φ(Z)·φ(Z)ᵀ leaves out what points of
    Z have in common that no point of X has.

    Attributes
    ----------
    kernel : Kernel
        The kernel, with its parameters resolved.
    n_features : int
        M.
    error_bound : float
        The largest |⟨φ(x), φ(z)⟩ − k(x, z)| among the points of the fit: 0 for a finite map, which is exact up to
        rounding; > 0 where exponentials are cut off (``order=p``).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Polynomial
    >>> X = np.array([[1.0, 2.0], [0.0, 1.0]])
    >>> phi = Polynomial(2).feature_map(X)
    >>> phi
    FeatureMap(Polynomial(2), 6 features)
    >>> phi(X).round(4)
    array([[1.    , 2.8284, 1.4142, 4.    , 2.8284, 1.    ],
           [0.    , 0.    , 0.    , 1.    , 1.4142, 1.    ]])
    >>> phi(X) @ phi(X).T
    array([[36.,  9.],
           [ 9.,  4.]])
    """

    kernel: SelfSimilar
    n_features: int
    error_bound: float
    _mapped: SelfSimilar  # the kernel that the features belong to: another one where exponentials are cut off
    _features: Features
    _example: Points  # one point of the fit, or none, which says what others must look like
    _teachers: Points  # points from which the same features are learnt again

    @classmethod
    def fitted(
        cls, kernel: SelfSimilar, mapped: SelfSimilar, features: Features, points: Points, teachers: Points
    ) -> "FeatureMap":
        """The map for features fitted on the points; raises `TooLarge` if not even one point would fit."""
        refuse_too_large(
            # The row, and beside it the lower degree or the factors that it is made from.
            3 * features.size * BYTES,
            f"One point in the {features.size} features of {kernel!r}",
            "Use the kernel itself, which never forms them, or a lower degree.",
        )
        phi = cls(kernel, features.size, 0.0, mapped, features, first(points), teachers)
        return phi if mapped == kernel else replace(phi, error_bound=float(phi.remainder(points).max()))

    def __repr__(self) -> str:
        error = f", error ≤ {self.error_bound:.2g}" if self.error_bound else ""
        return f"FeatureMap({self.kernel!r}, {self.n_features} features{error})"

    def __call__(self, Z: Any) -> Array:
        """The features of points.

        Parameters
        ----------
        Z : array-like or Points, n points like those of the fit

        Returns
        -------
        ndarray of shape (n, n_features)
            Raises `TooLarge` if it would not fit.
        """
        points = self._read(Z)
        out = allocate(
            (len(points), self.n_features),
            np.float64,
            f"{len(points)} points in the {self.n_features} features of {self.kernel!r}",
            "Use the kernel itself, which never forms them, or fewer points at a time.",
        )
        for rows, features in self.blocks(points):
            out[rows] = features
        return out

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """A name for each feature, as scikit-learn asks for them: made of the names of the columns, where it can be.

        Parameters
        ----------
        input_features : sequence of str, optional
            The names of the columns; those of the table that the map was fitted on where not given, else x0, x1, ….

        Returns
        -------
        ndarray of str objects, shape (n_features,)

        Examples
        --------
        >>> from mercer.kernels import Delta, Linear
        >>> X = {"age": [31.0, 45.0], "sex": ["f", "m"]}
        >>> phi = (Linear().on("age") + Delta().on("sex")).feature_map(X)
        >>> phi.get_feature_names_out()
        array(['age', 'sex=f', 'sex=m'], dtype=object)
        """
        example = self._example
        width = example.width if isinstance(example, Vectors | Table) else None
        if input_features is None:
            own = list(example.names) if isinstance(example, Table) else None
            columns = [f"x{j}" for j in range(width)] if own is None and width is not None else own
        else:
            columns = [str(name) for name in input_features]
            if width is not None and len(columns) != width:
                raise InvalidInput(
                    "input_features should have length equal to number of features.",
                    f"Got {len(columns)} names for {width} columns.",
                )
        return np.array(names_of(self._features, columns), dtype=object)

    @property
    def learnt(self) -> tuple[SelfSimilar, SelfSimilar, float, Points]:
        """What it can be made from again: the kernel, that of its features, the error bound, points that teach it."""
        return self.kernel, self._mapped, self.error_bound, self._teachers

    def blocks(self, Z: Any) -> Iterator[tuple[slice, Array]]:
        """The features, block by block, so that (n, M) is never stored: pairs of rows and (rows, M)."""
        points = self._read(Z)
        is_coordinates = isinstance(self._features, Coordinates)
        n_rows = max(1, (COORDINATES_AT_ONCE if is_coordinates else FEATURES_AT_ONCE) // max(self.n_features, 1))
        for start in range(0, len(points), n_rows):
            rows = slice(start, min(start + n_rows, len(points)))
            with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported by row
                features = self._features(points.take(rows))
            # The coordinates themselves were checked when they became points.
            finite = np.True_ if is_coordinates else np.isfinite(features).all(axis=1)
            if not finite.all():
                raise NotFinite(
                    f"The features of {self.kernel!r} are not finite at row {start + int(np.argmin(finite))}.",
                    "A value overflows float64, or is not a number.",
                    "Scale the points, or use a normalised kernel or a lower degree.",
                )
            yield rows, features

    def remainder(self, Z: Any) -> Array:
        """What the order left out of k(z, z): r(z) = k(z, z) − kₚ(z, z) ≥ 0 at each point, never below rounding.

        The map is that of kₚ, in which exponentials are cut off, and the rest k − kₚ is a kernel. So the error at two
        points is at most √(r(x)·r(z)), and among any points it is largest on the diagonal. For the Gaussian kernel,
        with s = ‖x‖²/ℓ², this is r(x) = exp(−s)·Σ_{n>p} sⁿ/n!, the tail of a Poisson distribution: above 0 for every p,
        which is why no finite number of features suffices.

        Parameters
        ----------
        Z : array-like or Points, n points like those of the fit

        Returns
        -------
        ndarray of shape (n,)

        Examples
        --------
        >>> from mercer.kernels import RBF
        >>> [float(RBF().feature_map([[1.0]], order=p).remainder([[1.0]])[0].round(6)) for p in (0, 1, 2, 3)]
        [0.632121, 0.264241, 0.080301, 0.018988]
        """
        points = self._read(Z)
        own = self.kernel.diag(points)
        # Sums of M squares: below this a difference means nothing.
        rounding = np.finfo(np.float64).eps * max(self.n_features, 1) * own
        return np.maximum(own - self._mapped.diag(points), rounding)

    def _read(self, Z: Any) -> Points:
        return conformed(self._example, as_points(Z, "Z"), "Z", type(self.kernel).__name__, self.kernel.reads())
