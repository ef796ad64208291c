"""What the five support vector machines share: reading, binding, solving, publishing, and new points against them."""

import sys
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _num_samples, validate_data

from mercer.errors import DomainMismatch, InvalidInput, UncertifiedWarning
from mercer.estimators._kernels import ASSUMED_NAMES
from mercer.estimators._machine import KernelMachine
from mercer.estimators._parameters import check_parameters
from mercer.grams.assumed import check_stored
from mercer.grams.base import Gram
from mercer.grams.choose import gram_for_steps
from mercer.grams.dense import DenseGram
from mercer.kernels.binding import Binding, bind
from mercer.kernels.called import given_values
from mercer.kernels.custom import Precomputed
from mercer.kernels.kernel import Kernel
from mercer.models.model import Model
from mercer.models.pairs import Pairs
from mercer.points.base import Points
from mercer.points.given import Given
from mercer.points.sparse import combined
from mercer.points.stored import Places, Stored
from mercer.points.table import Table
from mercer.points.vectors import Vectors
from mercer.problems.certificate import Certificate, Status
from mercer.problems.margins import KINDS, MarginProblem, Margins, MarginSolution, scaled
from mercer.solvers.options import Options
from mercer.solvers.solve import solve
from mercer.solvers.table import explain

__all__ = ["SupportVectorMachine", "Training", "UnfinishedWarning", "published"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

MEGABYTE = 1 << 20
# Kinds with a margin ρ, or the radius of a tube, that the data decides.
WITH_MARGIN = frozenset({"nu-svc", "nu-svr"})


class UnfinishedWarning(UncertifiedWarning, ConvergenceWarning):
    """A solve that max_iter or max_time ended."""


@final
@dataclass(frozen=True, eq=False)
class Training:
    """The rows that a machine is fitted on, in the order of its Gram matrix.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Their positions in X.
    weight : ndarray of shape (n,)
        Their sample weights, above 0.
    points : Points
    kernel : Kernel
        Resolved on them.
    gram : Gram of shape (n, n)
    is_positive : bool
        As far as was checked.
    """

    rows: Index
    weight: Array
    points: Points
    kernel: Any
    gram: Gram
    is_positive: bool

    def basis(self, used: Index) -> Points:
        """What a model keeps of these rows: the points, or their columns in a precomputed matrix."""
        chosen = self.points.take(used)
        return chosen.places() if isinstance(chosen, Stored) and isinstance(self.kernel, Precomputed) else chosen


class SupportVectorMachine(KernelMachine):
    """Base of the five: f(x) = Σᵢ αᵢ k(xᵢ, x) + b, over the rows whose αᵢ is not zero."""

    _default_gamma = "scale"
    _form = "matrix"
    kernel_params: dict[str, Any] | None = None
    _kind: ClassVar[str]

    tol: float
    gap_tol: float
    cache_size: float
    max_iter: int
    max_time: float | None
    shrinking: bool
    verbose: Any
    keep_best: bool
    warm_start: bool

    support_: npt.NDArray[np.int32]
    intercept_spread_: Array
    margin_: Array
    fit_status_: int
    shape_fit_: tuple[int, ...]
    _is_free: npt.NDArray[np.bool_]
    # What Ctrl-C left, whose certificate is not made yet; and the last solution and its penalty, with warm_start.
    _unjudged: MarginSolution | None = None
    _last: tuple[MarginSolution, float] | None = None

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, vars(self))
        self._spec.refuse_class()

    def _options(self, tol: float | None = None, gap: float | None = None) -> Options:
        return Options(
            tol=self.tol if tol is None else tol,
            gap=self.gap_tol if gap is None else gap,
            max_iter=self.max_iter,
            max_time=self.max_time,
            cache_bytes=int(min(self.cache_size * MEGABYTE, sys.maxsize)),
            verbose=int(self.verbose),
            keep_best=self.keep_best,
        )

    def _read_rows(self, X: Any) -> Points:
        """The training points, validated; a function's points are for it alone to understand."""
        spec = self._spec
        self.shape_fit_ = tuple(X.shape) if getattr(X, "shape", None) is not None else (int(_num_samples(X)),)
        if spec.is_function:
            return Given(X)
        if spec.is_precomputed and sp.issparse(X):
            raise DomainMismatch(
                "Sparse precomputed kernels are not supported.", f"Got shape {X.shape}.", "Pass X.toarray()."
            )
        points = self._read(X)
        return points.vectors() if isinstance(points, Table) and spec.is_name else points

    def _training(self, points: Points, rows: Index, weight: Array) -> Training:
        """Bind the kernel to the chosen rows, in their order."""
        is_all = len(rows) == len(points) and bool((rows == np.arange(len(points))).all())
        self._gamma: float | str | None = 0.0
        spec = self._spec
        values = points
        if isinstance(points, Given):
            kernel = spec.build()
            values = Stored(given_values(self.kernel, points, points))
            check_stored(values.matrix)
        chosen = points if is_all else points.take(rows)
        is_formula = isinstance(self.kernel, Kernel) and not isinstance(self.kernel, Precomputed)
        if isinstance(values, Stored) and not is_formula:
            kernel = spec.build()
            matrix = values.matrix if is_all else values.matrix[np.ix_(rows, rows)]
            gram: Gram = DenseGram(np.ascontiguousarray(matrix, dtype=np.float64), kernel.proof())
            return Training(rows, weight, chosen, kernel, gram, self._is_positive(gram, values))
        spec = spec.proposed(chosen)
        if isinstance(spec.kernel, str):
            spec = spec.on(chosen, weight)
            self._gamma = spec.gamma
        binding = bind(spec.build(), chosen, dtype=np.float64)
        gram = gram_for_steps(binding)
        is_known = isinstance(spec.kernel, str) and spec.kernel not in ASSUMED_NAMES
        is_positive = is_known or self._is_positive(gram, chosen)
        return Training(rows, weight, chosen, binding.kernel, gram, is_positive)

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
        gap: float | None = None,
    ) -> MarginSolution:
        problem = MarginProblem(training.gram, KINDS[kind], batch, start, f)
        self._explanation = explain(problem)
        return solve(problem, self._options(tol, gap))

    def _seed(
        self, batch: Margins, kind: str, penalty: float, before: tuple[MarginSolution, float] | None = None
    ) -> tuple[Array | None, Array | None]:
        """The coefficients of another fit with its penalty, scaled to this one; with warm_start, of the last.

        Also returns K times these, if the kernel and its rows are the same.
        """
        is_same_kernel = before is not None
        if before is None and self.warm_start:
            before = self._last
        if before is None:
            return None, None
        solution, other = before
        is_alike = solution.kind == kind and solution.coef.shape == batch.start.shape
        if not is_alike or not np.array_equal(solution.batch.cuts, batch.cuts):
            return None, None
        start, is_scaled = scaled(batch, solution.coef, penalty / other)
        return start, solution.f * (penalty / other) if is_same_kernel and is_scaled and solution.is_judged else None

    def _publish(
        self,
        training: Training,
        used: Index,
        coef: Array,  # (used, t)
        solution: MarginSolution,
        scale: Array,  # (P,)
        penalty: float,
        *,
        classes: Any = None,
        pairs: Pairs | None = None,
    ) -> None:
        """Publish the rows of K that are used, and their coefficients and intercepts in units of the scale."""
        self._say(solution, training.is_positive)
        if not training.is_positive:  # the optimality conditions mean little if the problem is not convex
            solution = solution.certified(status=Status.INDEFINITE)
        self.certificate_ = solution.certificate
        self._unjudged = None if solution.is_judged else solution
        self._last = (solution, penalty) if self.warm_start else None
        self.support_ = training.rows[used].astype(np.int32)
        self._is_free = solution.is_free[used]
        self.intercept_spread_ = solution.spreads / scale
        if self._kind in WITH_MARGIN:
            self.margin_ = solution.offsets
        intercept = solution.intercepts / scale
        self.model_ = Model(training.kernel, training.basis(used), coef, intercept, classes, pairs=pairs)

    def _say(self, solution: MarginSolution, is_positive: bool) -> None:
        """Warn as scikit-learn does when a solve ends early, or with the status if it is not certified."""
        status = solution.certificate.status
        self.fit_status_ = int(status in (Status.STOPPED, Status.INEXACT, Status.GAP_OPEN))
        if status is Status.STOPPED:
            by_time = "interrupted" if self.max_time is None else f"max_time={self.max_time}"
            limit = f"max_iter={self.max_iter}" if 0 <= self.max_iter <= solution.steps.max() else by_time
            warnings.warn(
                f"Solver terminated early ({limit}).  Consider pre-processing your data with StandardScaler or "
                f"MinMaxScaler. {type(self).__name__}: {status.value}.",
                UnfinishedWarning,
                stacklevel=5,
            )
        elif is_positive and not status.is_certified:
            warnings.warn(f"{type(self).__name__}: {status.value}.", UncertifiedWarning, stacklevel=5)

    def certify(self) -> Certificate:
        """Make the certificate of what Ctrl-C left with `keep_best`, which takes all rows; else it is there.

        Returns
        -------
        Certificate
            Which is also `certificate_` from now on.
        """
        self._check_fitted()
        if self._unjudged is not None:
            self.certificate_ = self._unjudged.certify().certificate
            self._unjudged = None
        if np.isnan(self.certificate_.gap):
            raise InvalidInput(
                "The training rows that this certificate is made from were not pickled.", "", "Call certify() before."
            )
        return self.certificate_

    def __getstate__(self) -> dict[str, Any]:
        # The rows that a certificate would be made from are not pickled.
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_unjudged": None} if state.get("_unjudged") is not None else state

    @property
    def binding_(self) -> Binding:
        """The kernel, resolved, on the support vectors."""
        if isinstance(self.model_.basis, Places | Given):
            raise AttributeError(f"{type(self).__name__} has binding_ after fit, with a kernel that is a formula.")
        return self.model_.binding

    @property
    def dual_coef_(self) -> Any:
        """α, signed: (1, n_SV), or (n_classes − 1, n_SV) for pairs of classes; sparse where X was."""
        dual = self.model_.coef.T
        return sp.csr_matrix(dual) if self._is_sparse else np.ascontiguousarray(dual)

    @property
    def intercept_(self) -> Array:
        """b, one for each f."""
        return self.model_.intercept

    @property
    def support_vectors_(self) -> Any:
        """The support vectors; empty where the kernel is precomputed or a function."""
        basis = self.model_.basis
        vectors = np.empty((0, 0)) if isinstance(basis, Places | Given) else basis.raw()
        return sp.csr_matrix(vectors) if self._is_sparse else vectors

    @property
    def _is_sparse(self) -> bool:
        basis = self.model_.basis
        return isinstance(basis, Vectors) and basis.is_sparse

    @property
    def free_support_(self) -> npt.NDArray[np.int32]:
        """The support vectors with a coefficient inside its box, of some pair of classes: they determine intercept_."""
        self._check_fitted()
        return np.asarray(self.support_[self._is_free])

    @property
    def bounded_support_(self) -> npt.NDArray[np.int32]:
        """The other support vectors, whose coefficients are all as large as C allows."""
        self._check_fitted()
        return np.asarray(self.support_[~self._is_free])

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
        if "model_" not in vars(self) or (isinstance(self.kernel, str) and self.kernel != "linear"):
            return None
        model = self.model_
        if isinstance(self.kernel, str) and self._is_sparse:
            coef = model.coef if model.pairs is None else model.pairs.by_pair(model.coef)
            return combined(coef.T, model.basis.raw())
        found = model.linear_weights()
        return None if found is None else np.ascontiguousarray(found.T)

    def _scores(self, X: Any, *, signs_only: bool = False) -> Array:  # (m, t)
        """f at new points; with `signs_only` in float32 where their signs are beyond doubt."""
        self._check_fitted()
        model = self.model_
        if isinstance(model.basis, Places):
            return model.decide(self._given_columns(X, model.basis))
        points = Given(X) if isinstance(model.basis, Given) else self._read_new(X)
        is_dense = self._spec.is_name and isinstance(model.basis, Vectors) and not model.basis.is_sparse
        if is_dense and isinstance(points, Vectors) and points.is_sparse:
            raise InvalidInput(
                f"cannot use sparse input in {type(self).__name__!r} trained on dense data.",
                "",
                "Pass X.toarray(), or fit on sparse rows.",
            )
        return model.signs(points) if signs_only else model.scores(points)

    def _given_columns(self, X: Any, places: Places) -> Array:
        """The columns of a precomputed matrix that belong to support vectors; nothing else of it is read."""
        if sp.issparse(X) or np.ndim(X) != 2:
            Stored(X)  # raises the error that says what is wrong
        shaped = X if getattr(X, "shape", None) is not None else np.asarray(X)
        validate_data(self, shaped, reset=False, skip_check_array=True)
        chosen = np.asarray(shaped)[:, places.rows]
        return np.asarray(Stored(chosen).matrix if chosen.size else chosen, dtype=np.float64)


def published(solution: MarginSolution) -> Array:  # (P,)
    """What coefficients and intercepts are divided by.

    Raises
    ------
    InvalidInput
        Where that is a margin ρ which is zero to rounding for every pair of classes, so that nothing is decided.
    """
    if all(status is Status.NO_MARGIN for status in solution.statuses):
        raise InvalidInput(
            "The dual coefficients or intercepts are not finite: the margin ρ is zero to rounding.",
            f"It comes out as {solution.offsets.max():.3g}: at this nu the classes overlap.",
            "Try a larger nu, or a kernel with more features.",
        )
    return solution.units
