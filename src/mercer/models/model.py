"""The fitted machine: a kernel, its basis points, coefficients and an intercept, and what a task needs on top."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mercer.grams.featured import MappedFeatures, finite_map
from mercer.kernels.binding import Binding, Cross
from mercer.kernels.called import given_values
from mercer.kernels.featuremap import FeatureMap
from mercer.kernels.kernel import Kernel
from mercer.kernels.schoenberg import Radial
from mercer.markup import Markup, element
from mercer.models.pairs import Pairs
from mercer.models.smoothing import Smoothing
from mercer.models.uncertainty import Uncertainty
from mercer.models.votes import Votes
from mercer.points.base import Points
from mercer.points.chunked import Blocks
from mercer.points.given import Given
from mercer.points.stored import Places
from mercer.problems.problem import Problem
from mercer.problems.solution import Solution
from mercer.search.featurespace import FeatureSpace

__all__ = ["Model", "solved_weights"]

Array = npt.NDArray[np.float64]

# The row of the table of solvers that works in explicit features.
PRIMAL = "primal"
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
# Below this many entries, float64 is fast enough.
FEW_ENTRIES = 1_000_000
# A decision in float32 has its sign when it is further from 0 than so many times the largest error among the rows that
# are computed twice, of which there are at least this many: errors of rows spread about as widely as those few show.
SURE = 8.0
LEAST_SEEN = 32
# Errors are never taken for less than this share of √Σ α²: values of a radial kernel in float32, and sums of some
# hundred of them with many signs, are off by about an eighth of it.
ROUNDING = 8e-7
# More labels than these are not shown.
MANY = 10


def solved_weights(problem: Problem, solution: Solution) -> Array | None:  # (M, t)
    """w = Φᵀα of a problem that was solved in its explicit features; None where it was solved in the dual."""
    phi = problem.gram.features() if solution.certificate.solver == PRIMAL else None
    if phi is None:
        return None
    return phi.transpose_times(solution.coef) if solution.weights is None else solution.weights


@final
@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """f(x) = Σⱼ αⱼ k(xⱼ, x) + b, for any machine; the basis x₁, …, xₘ need not be the training points.

    Attributes
    ----------
    kernel : Kernel or Window
        Resolved: its parameters are numbers.
    basis : Points
        The m points that f is expanded in: training rows, support vectors, landmarks.
    coef : ndarray of shape (m, t)
        The coefficients α, one column for each f; for pairs of more than two classes, as `Pairs` says.
    intercept : ndarray of shape (t,)
        b.
    classes : ndarray, optional
        The labels, for a classifier.
    weights : ndarray of shape (M, t), optional
        w = Φᵀα, where the kernel has so few features that f is computed from them.
    pairs : Pairs, optional
        How coefficients and decisions belong to pairs of classes.
    uncertainty : Uncertainty, optional
        What error bars are made from.
    votes : Votes, optional
        How the nearest neighbours vote; their coefficients are targets, or the numbers of classes.
    smoothing : Smoothing, optional
        How sums, weighted by the kernel, become means; the coefficients are the table of what is summed.
    dtype : dtype
        The precision of kernel values.
    """

    kernel: Any
    basis: Points
    coef: Array
    intercept: Array
    classes: Any = None
    weights: Array | None = None
    pairs: Pairs | None = None
    uncertainty: Uncertainty | None = None
    votes: Votes | None = None
    smoothing: Smoothing | None = None
    dtype: np.dtype[Any] = DOUBLE

    @classmethod
    def on(cls, binding: Binding, coef: Array, intercept: Array, **rest: Any) -> Self:
        """The model on the basis of a kernel that is bound already, which it keeps."""
        made = cls(binding.kernel, binding.basis, coef, intercept, **rest)
        made.__dict__["binding"] = binding
        return made

    def __getstate__(self) -> dict[str, Any]:
        # What is made from the fields is made again when it is first needed.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __repr__(self) -> str:
        return f"Model({self.kernel!r} on {len(self.basis)} points)"

    def _repr_html_(self) -> str:
        """For notebooks: the kernel in mathematics, and what f is made of."""
        known = self.kernel
        formula = Markup(known.mathml()) if isinstance(known, Kernel) else element("code", repr(known))
        columns = f", {self.coef.shape[1]} columns of coefficients" if self.coef.shape[1] > 1 else ""
        facts = [("kernel", formula), ("basis", f"{len(self.basis)} points: {self.basis!r}{columns}")]
        if self.classes is not None:
            labels = [str(label) for label in self.classes]
            more = f" and {len(labels) - MANY} more" if len(labels) > MANY else ""
            facts.append(("classes", ", ".join(labels[:MANY]) + more))
        left = "text-align:left"
        rows = [
            element("tr", element("th", name, scope="row", style=left), element("td", value, style=left))
            for name, value in facts
        ]
        is_sum = self.votes is None and self.smoothing is None
        heading = element("p", "f(x) = Σⱼ αⱼ k(xⱼ, x) + b" if is_sum else "Targets of the basis, weighted by nearness")
        return element("div", heading, element("table", element("tbody", *rows)))

    @cached_property
    def binding(self) -> Binding:
        """The kernel with its fitted maps, on the basis."""
        return Binding(self.kernel, self.basis, self.dtype)

    @cached_property
    def features(self) -> FeatureMap | None:
        """The kernel's explicit features, where it has finitely many."""
        return None if isinstance(self.basis, Places | Given) else finite_map(self.binding)

    @cached_property
    def space(self) -> FeatureSpace:
        """The basis points in the feature space of the kernel: who is nearest to whom."""
        return FeatureSpace(self.binding)

    def scores(self, points: Points | Blocks) -> Array:  # (len(points), t)
        """f at each point: from its features where these are few, else from the kernel, tile by tile."""
        if isinstance(points, Blocks):
            return np.concatenate([self.scores(block) for _, block in points.blocks()])
        if self.weights is None or self.features is None:
            return self.decide(self.against(points))
        found = np.empty((len(points), self.weights.shape[1]))
        for rows, block in self.features.blocks(points):
            found[rows] = block @ self.weights
        return found + self.intercept

    def against(self, points: Points) -> Cross | Array:  # (len(points), m)
        """K(points, basis): as an operator, or as an array where the values are given."""
        if isinstance(self.basis, Places):
            return self.basis.columns_of(points)
        if isinstance(self.basis, Given):
            return given_values(self.kernel.fn, points, self.basis)
        return self.binding.cross(points) if len(self.basis) else np.empty((len(points), 0))

    def decide(self, K: Cross | Array) -> Array:  # (K's rows, t)
        """f from the kernel values to the basis."""
        if self.pairs is not None:
            return self.pairs.decide(K, self.coef, self.intercept, self._block)
        return np.asarray(K @ self.coef + self.intercept, dtype=np.float64)

    def signs(self, points: Points) -> Array:  # (len(points), t)
        """Scores that have the signs of those in float64, and are in float64 wherever that was in doubt."""
        K = self.against(points)
        m, s = K.shape
        is_known = isinstance(self.kernel, Radial) and self.kernel.metric == Radial.metric
        if m * s < FEW_ENTRIES or not is_known or not isinstance(K, Cross):
            return self.decide(K)
        rough = self._single.decide(self._single.against(points))
        is_rough = np.ones(m, dtype=bool)
        coef = self.coef if self.pairs is None else self.pairs.by_pair(self.coef)
        seen = ROUNDING * np.sqrt(np.square(coef).sum(axis=0))
        rows = np.arange(0, m, max(1, m // LEAST_SEEN))
        while rows.size:  # recompute these, until the signs of all others are beyond doubt
            exact = self.decide(self.against(points.take(rows)))
            seen = np.maximum(seen, np.abs(exact - rough[rows]).max(axis=0))  # NaN if float32 overflows
            rough[rows], is_rough[rows] = exact, False
            rows = np.flatnonzero(is_rough & ~(np.abs(rough) > SURE * seen).all(axis=1))
        return rough

    def linear_weights(self) -> Array | None:  # (M, t)
        """w = Φᵀα, one column for each f; None where the kernel has no finite feature map."""
        if self.weights is not None or self.features is None:
            return self.weights
        coef = self.coef if self.pairs is None else self.pairs.by_pair(self.coef)
        return MappedFeatures(self.features, self.basis).transpose_times(coef)

    @cached_property
    def _single(self) -> "Model":
        return replace(self, dtype=SINGLE)

    @cached_property
    def _blocks(self) -> dict[int, Binding]:
        return {}

    def _block(self, i: int) -> Binding:
        """The kernel on the basis points of a class."""
        assert self.pairs is not None
        if i not in self._blocks:
            self._blocks[i] = self.binding.take(self.pairs.ranges()[i])
        return self._blocks[i]
