"""What the machines of nearest neighbours share: their parameters, and the questions who is near."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer.domains import is_number
from mercer.errors import InvalidInput, InvalidParameter
from mercer.estimators._machine import KernelMachine
from mercer.models.model import Model
from mercer.models.votes import WEIGHTS, Votes
from mercer.points.base import Points
from mercer.problems.certificate import Certificate, Status
from mercer.search.featurespace import Found

__all__ = ["KernelNeighbors"]

Array = npt.NDArray[np.float64]


class KernelNeighbors(KernelMachine):
    """What the classifier and the regressor share: their parameters, and the questions who is near."""

    _explanation = "Neighbours are found, and their votes are added: there is nothing to solve."
    n_neighbors: int
    weights: str | Callable[[Array], Any] | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Find the nearest training points, nearest first; ties are broken by the smaller index.

        Parameters
        ----------
        X : array-like, sparse, table, or any points the kernel can read, optional
            The points. If None, the training points, which then are not their own neighbours. For a precomputed
            kernel the rows k(x, training).
        n_neighbors : int, optional
            How many; as fitted where None.
        return_distance : bool, default True
            Whether to return distances too. With a precomputed kernel those of new points are unknown.

        Returns
        -------
        distances : ndarray of shape (m, n_neighbors)
            √(k(x, x) − 2k(x, z) + k(z, z)); only with `return_distance`.
        indices : int ndarray of shape (m, n_neighbors)
            Which training points.
        """
        found = self._find(X, n_neighbors)
        return (self.model_.space.distances(found), found.index) if return_distance else found.index

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> Any:
        """The matrix of the k nearest neighbours, sparse.

        Parameters
        ----------
        X, n_neighbors
            As in `kneighbors`.
        mode : {"connectivity", "distance"}, default "connectivity"
            Whether an edge is 1 or the distance.

        Returns
        -------
        csr_array of shape (m, n_samples_fit)
        """
        if mode not in ("connectivity", "distance"):
            raise InvalidParameter(
                f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead.'
            )
        found = self._find(X, n_neighbors)
        m, k = found.index.shape
        edges = np.ones(m * k) if mode == "connectivity" else self.model_.space.distances(found).ravel()
        return sp.csr_array((edges, found.index.ravel(), np.arange(0, m * k + 1, k)), shape=(m, self.n_samples_fit_))

    def radius_neighbors(
        self, X: Any = None, radius: float = 1.0, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """Find all training points within a distance.

        Parameters
        ----------
        X : array-like, sparse, table, or any points the kernel can read, optional
            The points. If None, the training points, which then are not their own neighbours.
        radius : float, default 1.0
            The largest distance in the feature space, itself included.
        return_distance : bool, default True
            Whether distances are returned too.
        sort_results : bool, default False
            Whether the nearest come first (ties by the smaller index); otherwise they come in the
            order of their indices. Only with `return_distance`.

        Returns
        -------
        distances : object ndarray of shape (m,), of float64 ndarrays
            Only with `return_distance`.
        indices : object ndarray of shape (m,), of int ndarrays
            Which training points.
        """
        self._check_fitted()
        if not is_number(radius) or not 0.0 <= radius < np.inf:
            raise InvalidParameter("radius must be a finite number ≥ 0.", f"Got {radius!r}.")
        if sort_results and not return_distance:
            raise InvalidParameter("return_distance must be True if sort_results is True.")
        points = None if X is None else self._read_new(X)
        m = len(self.model_.basis) if points is None else len(points)
        distances, indices = np.empty(m, dtype=object), np.empty(m, dtype=object)
        for row, (distance, index) in enumerate(self.model_.space.within(points, float(radius))):
            order = np.argsort(distance, kind="stable") if sort_results else slice(None)
            distances[row], indices[row] = distance[order], index[order]
        return (distances, indices) if return_distance else indices

    @property
    def n_samples_fit_(self) -> int:
        """The number of training points."""
        return len(self.model_.basis)

    @property
    def _voting(self) -> Votes:
        assert self.model_.votes is not None
        return self.model_.votes

    def _publish(self, points: Points, coef: Array, classes: Any = None, n_classes: tuple[int, ...] = ()) -> None:
        """Set the attributes of a fit."""
        self._check_parameters()
        binding = self._bind(points)
        votes = Votes(int(self.n_neighbors), "uniform" if self.weights is None else self.weights, n_classes)
        self.model_ = Model.on(binding, coef, np.zeros(coef.shape[1]), classes=classes, votes=votes)
        self.model_.space  # noqa: B018 (made now: the first question shall not wait for it)
        self.certificate_ = Certificate(
            Status.BY_FORMULA,
            machine="vote of the nearest neighbours" if n_classes else "mean of the nearest neighbours",
            rows=len(points),
            columns=coef.shape[1],
            assumptions=binding.kernel.proof().assumptions,
        )

    def _check_parameters(self) -> None:
        if not _is_whole(self.n_neighbors) or self.n_neighbors < 1:
            raise InvalidParameter("n_neighbors must be a whole number ≥ 1.", f"Got {self.n_neighbors!r}.")
        is_name = isinstance(self.weights, str) and self.weights in WEIGHTS
        if not (self.weights is None or callable(self.weights) or is_name):
            raise InvalidParameter(
                "weights must be a name or a function of distances.",
                f"Got {self.weights!r}.",
                f"The names are {', '.join(WEIGHTS)}.",
            )

    def _find(self, X: Any, n_neighbors: int | None) -> Found:
        self._check_fitted()
        k = self._voting.n_neighbors if n_neighbors is None else n_neighbors
        if not _is_whole(k):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        if k < 1:
            raise InvalidParameter(f"Expected n_neighbors > 0. Got {k}.")
        points = None if X is None else self._read_new(X)
        n = len(self.model_.basis)
        m, most, sign = (n, n - 1, "<") if points is None else (len(points), n, "<=")
        if k > most:
            raise InvalidInput(
                f"Expected n_neighbors {sign} n_samples_fit, but "
                f"n_neighbors = {k}, n_samples_fit = {n}, n_samples = {m}"
            )
        return self.model_.space.nearest(points, int(k))


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
