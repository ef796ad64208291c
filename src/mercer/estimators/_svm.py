"""What the five support vector machines share: reading, binding, solving, publishing, and new points against them."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, TypeGuard, final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from mercer.errors import DomainMismatch, InvalidInput, NotFinite, UncertifiedWarning
from mercer.estimators._machine import KernelMachine
from mercer.estimators._parameters import check_parameters
from mercer.estimators._svm_support import Support
from mercer.grams.assumed import check_stored
from mercer.grams.base import Gram
from mercer.grams.dense import DenseGram
from mercer.grams.factored import PhiBlocks, finite_map
from mercer.grams.tiled import TiledGram
from mercer.kernels.bound import Bound, Cross, bind
from mercer.kernels.custom import Precomputed
from mercer.kernels.kernel import Kernel
from mercer.points.base import Points
from mercer.points.stored import Stored
from mercer.points.table import Table
from mercer.points.vectors import Vectors
from mercer.problems.certificate import Status
from mercer.problems.margins import KINDS, MarginProblem, Margins, MarginSolution, scaled
from mercer.solvers.options import Options
from mercer.solvers.solve import solve

__all__ = ["SupportVectorMachine", "Training", "UnfinishedWarning", "published"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

# Sparse rows of so few columns, of which so large a share is there, are made dense for the solver: dense tiles are then
# faster than merging rows.
FILLED_COLUMNS = 1_000
FILLED_SHARE = 0.05
MEGABYTE = 1 << 20
# Names of functions that are no kernels in general; the others were proved once for all.
ASSUMED_NAMES = frozenset({"precomputed", "sigmoid"})
# Leaves whose entries are not made from rows that the solver could gather: their matrix is stored.
STORED_LEAVES = frozenset({"callback", "stored"})


class UnfinishedWarning(UncertifiedWarning, ConvergenceWarning):
    """A solve that max_iter or max_time ended."""


@final
@dataclass(frozen=True, eq=False)
class Training:
    """The rows that a machine is fitted on, in the order of its Gram matrix.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Where they stand in X.
    weight : ndarray of shape (n,)
        Their sample weights, above 0.
    gram : Gram of shape (n, n)
    bound : Bound or None
        The kernel on these rows; None for a matrix or a function.
    is_positive : bool
        As far as was seen.
    """

    rows: Index
    weight: Array
    gram: Gram
    bound: Bound | None
    is_positive: bool


class SupportVectorMachine(KernelMachine):
    """Base of the five: f(x) = Σᵢ bᵢ k(xᵢ, x) + b₀, over the rows whose bᵢ is not zero."""

    _default_gamma = "scale"
    _form = "matrix"
    kernel_params: dict[str, Any] | None = None
    _kind: ClassVar[str]

    tol: float
    cache_size: float
    max_iter: int
    max_time: float | None
    shrinking: bool
    verbose: Any
    keep_best: bool
    warm_start: bool

    support_: npt.NDArray[np.int32]
    support_vectors_: Any
    dual_coef_: Any
    intercept_: Array
    intercept_spread_: Array
    solution_: MarginSolution
    fit_status_: int
    shape_fit_: tuple[int, ...]
    _penalty: float  # that of solution_

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, vars(self))
        self._spec.refuse_class()

    def _options(self, tol: float | None = None, gap: float = 1e-3) -> Options:
        return Options(
            tol=self.tol if tol is None else tol,
            gap=gap,
            max_iter=self.max_iter,
            max_time=self.max_time,
            cache_bytes=int(self.cache_size * MEGABYTE),
            verbose=int(self.verbose),
            keep_best=self.keep_best,
        )

    def _rows_of(self, X: Any) -> tuple[Points | None, int]:
        """The training points, validated, and their number; a function's points are for it alone to understand."""
        spec = self._spec
        if spec.is_function:
            return None, int(_num_samples(X))
        if spec.is_precomputed and sp.issparse(X):
            raise DomainMismatch(
                "Sparse precomputed kernels are not supported.", f"Got shape {X.shape}.", "Pass X.toarray()."
            )
        points = self._read(X)
        if isinstance(points, Table) and isinstance(spec.kernel, str):
            points = points.vectors()
        return points, len(points)

    def _training(self, X: Any, points: Points | None, rows: Index, weight: Array) -> Training:
        """Bind the kernel to the chosen rows, in their order."""
        n = _num_samples(X) if points is None else len(points)
        is_all = len(rows) == n and bool((rows == np.arange(n)).all())
        self._gamma: float | str | None = 0.0
        self._called_on: Any = None
        self.shape_fit_ = tuple(X.shape) if getattr(X, "shape", None) is not None else (n,)
        spec = self._spec
        if points is None:
            points = Stored(self._called(X, X))
            check_stored(points.matrix)
            self._called_on = X
        is_formula = isinstance(self.kernel, Kernel) and not isinstance(self.kernel, Precomputed)
        if isinstance(points, Stored) and not is_formula:
            matrix = points.matrix if is_all else points.matrix[np.ix_(rows, rows)]
            gram: Gram = DenseGram(np.ascontiguousarray(matrix, dtype=np.float64), spec.build().proof())
            return Training(rows, weight, gram, None, self._is_positive(gram, points))
        chosen = points if is_all else points.take(rows)
        if isinstance(spec.kernel, str):
            spec = spec.on(chosen, weight)
            self._gamma = spec.gamma
        bound = bind(spec.build(), chosen, dtype=np.float64)
        gram = TiledGram(bind(bound.kernel, chosen.filled(), dtype=np.float64) if _is_worth_filling(chosen) else bound)
        if not STORED_LEAVES.isdisjoint(leaf.kind for leaf in bound.plan.leaves):
            gram = DenseGram(gram.dense(), gram.proof)
        is_known = isinstance(spec.kernel, str) and spec.kernel not in ASSUMED_NAMES
        return Training(rows, weight, gram, bound, is_known or self._is_positive(gram, chosen))

    def _called(self, X: Any, Z: Any) -> Array:
        """The values of a function given as kernel, checked."""
        found = self.kernel(X, Z)
        values = np.asarray(found.toarray() if sp.issparse(found) else found, dtype=np.float64)
        shape = (_num_samples(X), _num_samples(Z))
        if values.shape != shape:
            raise InvalidInput(
                f"The function given as kernel must return a matrix of shape {shape} here.",
                f"It returned shape {values.shape}.",
                "Take two collections of points and return all their kernel values; a function of two points is "
                'Custom(fn, because="…").',
            )
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise NotFinite(
                "The function given as kernel must return finite numbers.",
                f"Its value for the points {i} and {j} is {values[i, j]}.",
            )
        return values

    def _batch(self, kind: str, cuts: Index, uses: Index, y: Array, cost: Array) -> Margins:
        own = vars(self)
        build = KINDS[kind].build
        return build(cuts.astype(np.int64), uses.astype(np.int64), y, cost, own.get("nu", 0.0), own.get("epsilon", 0.0))

    def _solved(
        self,
        kind: str,
        batch: Margins,
        training: Training,
        start: Array | None = None,
        tol: float | None = None,
        f: Array | None = None,
        gap: float = 1e-3,
    ) -> MarginSolution:
        return solve(MarginProblem(training.gram, KINDS[kind], batch, start, f), self._options(tol, gap))

    def _seed(
        self, batch: Margins, kind: str, penalty: float, before: tuple[MarginSolution, float] | None = None
    ) -> tuple[Array | None, Array | None]:
        """The coefficients of another fit with its penalty, scaled to this one; with warm_start, of the last.

        With them K times these, where the kernel and its rows are the same.
        """
        is_same_kernel = before is not None
        if before is None and self.warm_start and "solution_" in vars(self):
            before = self.solution_, self._penalty
        if before is None:
            return None, None
        solution, other = before
        is_alike = solution.kind == kind and solution.coef.shape == batch.start.shape
        if not is_alike or not np.array_equal(solution.batch.cuts, batch.cuts):
            return None, None
        start, is_scaled = scaled(batch, solution.coef, penalty / other)
        return start, solution.f * (penalty / other) if is_same_kernel and is_scaled and solution.is_judged else None

    def _publish(self, training: Training, used: Index, starts: Index, dual: Array, solution: MarginSolution) -> None:
        """Publish the rows of K that are used, where a class begins among them, and their coefficients, (t, used)."""
        self._say(solution, training.is_positive)
        scale = published(solution)
        if not training.is_positive:  # the conditions of optimality say little where the problem is not convex
            solution = solution.certified(status=Status.INDEFINITE)
        self.solution_ = solution
        self._rows = training.rows
        self.support_ = training.rows[used].astype(np.int32)
        self.intercept_ = solution.intercepts / scale
        self.intercept_spread_ = solution.spreads / scale
        self._dual = dual
        self._support: Support | None = None
        is_sparse = False
        vectors: Any = np.empty((0, 0))
        if training.bound is not None:
            points = training.bound.basis.take(used)
            self._support = Support(training.bound.kernel, points, starts)
            vectors = points.raw()
            is_sparse = isinstance(points, Vectors) and points.is_sparse
        self.support_vectors_ = sp.csr_matrix(vectors) if is_sparse else vectors
        self.dual_coef_ = sp.csr_matrix(dual) if is_sparse else dual

    def _say(self, solution: MarginSolution, is_positive: bool) -> None:
        """What scikit-learn says when it ends early, or the status where it is no good one."""
        self.fit_status_ = int(solution.status in (Status.STOPPED, Status.INEXACT, Status.GAP_OPEN))
        if solution.status is Status.STOPPED:
            by_time = "interrupted" if self.max_time is None else f"max_time={self.max_time}"
            limit = f"max_iter={self.max_iter}" if 0 <= self.max_iter <= solution.steps.max() else by_time
            warnings.warn(
                f"Solver terminated early ({limit}).  Consider pre-processing your data with StandardScaler or "
                f"MinMaxScaler. {type(self).__name__}: {solution.status.value}.",
                UnfinishedWarning,
                stacklevel=5,
            )
        elif is_positive and not solution.status.is_certified:
            warnings.warn(f"{type(self).__name__}: {solution.status.value}.", UncertifiedWarning, stacklevel=5)

    @property
    def bound_(self) -> Bound:  # type: ignore[override]  # bound when first needed
        """The kernel, resolved, on the support vectors."""
        support = self.__dict__.get("_support")
        if support is None:
            raise AttributeError(f"{type(self).__name__} has bound_ after fit, with a kernel that is a formula.")
        bound: Bound = support.bound
        return bound

    @property
    def free_support_(self) -> npt.NDArray[np.int32]:
        """The support vectors with a coefficient inside its box, of some pair of classes: they determine intercept_."""
        return self._support_where(bounded=False)

    @property
    def bounded_support_(self) -> npt.NDArray[np.int32]:
        """The other support vectors, whose coefficients are all as large as C lets them be."""
        return self._support_where(bounded=True)

    def _support_where(self, *, bounded: bool) -> npt.NDArray[np.int32]:
        check_is_fitted(self)
        solution = self.solution_
        free = np.zeros(len(self._rows), dtype=bool)
        for p in range(len(solution.batch)):
            free[solution.free(p)] = True
        is_free = np.zeros(self.shape_fit_[0], dtype=bool)
        is_free[self._rows[free]] = True
        return np.asarray(self.support_[is_free[self.support_] != bounded])

    @property
    def coef_(self) -> Any:
        """The weights of the explicit features: of a linear kernel by name, or of any Kernel with a finite map."""
        found = self._weights()
        if found is None:
            raise AttributeError(
                "coef_ is only available when using a linear kernel, or a Kernel object with a finite feature map; "
                f"kernel is {getattr(self, 'kernel', None)!r}."
            )
        (found.data if sp.issparse(found) else found).flags.writeable = False
        return found

    def _weights(self) -> Any:
        support = self.__dict__.get("_support")
        if support is None or (isinstance(self.kernel, str) and self.kernel != "linear"):
            return None
        dual = self._by_problem()
        if isinstance(self.kernel, str) and isinstance(support.points, Vectors):
            return (sp.csr_matrix(dual) if support.points.is_sparse else dual) @ self.support_vectors_
        phi = finite_map(support.bound)
        return None if phi is None else PhiBlocks(phi, support.points).transpose_times(dual.T).T

    def _by_problem(self) -> Array:
        """The coefficients of the support vectors, a row per problem."""
        return self._dual

    def _against_support(self, X: Any) -> Cross | Array:
        """K(X, support vectors): an operator, or an array where the values are given."""
        check_is_fitted(self)
        spec = self._spec
        if spec.is_function:
            values = self._called(X, self._called_on)
            return self._columns(values)
        if self._support is None:
            return self._given_columns(X)
        points = self._read_new(X)
        trained = self._support.points
        is_dense = isinstance(spec.kernel, str) and isinstance(trained, Vectors) and not trained.is_sparse
        if is_dense and isinstance(points, Vectors) and points.is_sparse:
            raise InvalidInput(
                f"cannot use sparse input in {type(self).__name__!r} trained on dense data.",
                "",
                "Pass X.toarray(), or fit on sparse rows.",
            )
        if not len(self.support_):
            return np.empty((len(points), 0))
        return self._support.bound.cross(points)

    def _given_columns(self, X: Any) -> Array:
        """The columns of a precomputed matrix that belong to support vectors; nothing else of it is looked at."""
        if sp.issparse(X) or np.ndim(X) != 2:
            Stored(X)  # says what is wrong
        shaped = X if getattr(X, "shape", None) is not None else np.asarray(X)
        validate_data(self, shaped, reset=False, skip_check_array=True)
        return self._columns(np.asarray(shaped))

    def _columns(self, values: npt.NDArray[Any]) -> Array:
        chosen = values[:, self.support_]
        return np.asarray(Stored(chosen).matrix if chosen.size else chosen, dtype=np.float64)


def published(solution: MarginSolution) -> Array:  # (P,)
    """What coefficients and intercepts are divided by.

    Raises
    ------
    InvalidInput
        Where that is a margin ρ which is zero to rounding.
    """
    for p, status in enumerate(solution.statuses):
        if status is Status.NO_MARGIN or not solution.units[p] > 0.0:
            raise InvalidInput(
                "The dual coefficients or intercepts are not finite: the margin ρ is zero to rounding.",
                f"It comes out as {solution.offsets[p]:.3g}: at this nu the two classes overlap.",
                "Try a larger nu, or a kernel with more features.",
            )
    return solution.units


def _is_worth_filling(points: Points) -> TypeGuard[Vectors]:
    if not isinstance(points, Vectors) or not points.is_sparse or points.width > FILLED_COLUMNS:
        return False
    return bool(points.raw().nnz >= FILLED_SHARE * len(points) * points.width)
