"""What all kernel machines share: parameters of their kernel, reading points, and one model with its certificate."""

import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer.config import documented_at
from mercer.errors import InvalidInput, InvalidParameter, UncertifiedWarning
from mercer.estimators import _saved
from mercer.estimators._kernels import KernelSpec, TakesKernel
from mercer.estimators._landmarks import LANDMARKS, Landmarks, Restriction, too_many
from mercer.grams.assumed import check_assumed, check_stored
from mercer.grams.base import Gram
from mercer.grams.choose import gram_to_solve
from mercer.grams.tiled import TiledGram
from mercer.kernels.binding import Binding, bind
from mercer.kernels.kernel import Kernel
from mercer.models.model import Model
from mercer.points.adapt import as_points, in_training_order, require
from mercer.points.base import Domain, Points
from mercer.points.chunked import Blocks
from mercer.points.stored import Stored
from mercer.points.table import Table
from mercer.points.vectors import Vectors
from mercer.problems.certificate import Certificate, Status
from mercer.problems.problem import Problem
from mercer.problems.solution import Solution
from mercer.report import report
from mercer.solvers.options import Options
from mercer.solvers.solve import solve
from mercer.solvers.table import AUTO

__all__ = ["KernelMachine", "check_columns"]

Array = npt.NDArray[np.float64]


# Of rows that come in blocks, so many are seen by rules such as length_scale="median".
SAMPLE = 10_000


class KernelMachine(TakesKernel):
    """Base of the estimators whose prediction is Σᵢ αᵢ k(xᵢ, x) + b.

    A machine has the parameter `kernel` and those that scikit-learn has with it (`gamma`, `degree`, `coef0`,
    `kernel_params`), and after `fit` a `model_`, which is all that predictions read, and its `certificate_`.
    """

    gamma: float | str | None
    degree: int
    coef0: float
    kernel_params: dict[str, Any] | None
    solver: str
    max_time: float | None
    n_landmarks: Any
    landmarks: Any
    random_state: Any
    landmarks_: npt.NDArray[np.intp]
    model_: Model
    certificate_: Certificate
    # Where scikit-learn's diagram of an estimator links to.
    _doc_link_module: ClassVar[str] = "mercer"
    _doc_link_template: ClassVar[str] = documented_at("reference/api/mercer.{estimator_name}.html")
    # gamma applies only to kernels given by name; a function given as kernel takes two points, or two collections.
    _default_gamma: ClassVar[str | None] = None
    _form: ClassVar[str] = "pair"
    _explanation: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._spec.is_precomputed
        tags.input_tags.sparse = not self._spec.is_precomputed
        return tags

    @property
    def _spec(self) -> KernelSpec:
        return KernelSpec(
            self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params, self._default_gamma, self._form
        )

    def _read(self, X: Any) -> Points:
        """The training points, validated before anything expensive is done."""
        points = as_points(X)
        self._check_columns(X, points, reset=True)
        return _square(points) if self._spec.is_precomputed else points

    @property
    def binding_(self) -> Binding:
        """The kernel, resolved, on the points that the model keeps."""
        return self.model_.binding

    def explain(self) -> str:
        """How the problem was solved, and why that way: the table of solvers, then the certificate."""
        self._check_fitted()
        return f"{self._explanation}\n\n{self.certificate_}"

    def save(
        self, path: str | os.PathLike[str], *, X: Any = None, functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        """Save the fitted machine to one file without pickle, which `mercer.load` reads.

        Parameters
        ----------
        path : str or path
            Where to; an existing file is replaced, and stays as it was if that fails.
        X : like the X of `fit`, optional
            Rows whose predictions are verified at load, of which the first five are stored; by default training rows
            that the machine keeps.
        functions : mapping of str to callable, optional
            Names for the Python functions in the machine, which a file cannot hold; by default their own.
        """
        self._check_fitted()
        _saved.save(self, path, X=X, functions=functions)

    def report(
        self, X: Any, y: Any = None, *, test: Any = None, path: Any = None, title: str = "", pictures: bool = True
    ) -> str:
        """The fitted machine on one page of HTML; see `mercer.report`.

        Parameters
        ----------
        X, y
            Rows and their targets: those of the fit, or others.
        test : tuple (X_test, y_test), optional
            Rows that were held out, for the scores alone.
        path : path, optional
            The file to write.
        title : str, optional
            The heading.
        pictures : bool, default True
            Whether to draw.

        Returns
        -------
        str
            The page.
        """
        self._check_fitted()
        return report(self, X, y, test=test, path=path, title=title, pictures=pictures)

    def _bind(self, points: Points, weight: Array | None = None) -> Binding:
        """Bind the kernel to the training points, in float64; rules such as gamma="scale" see the weights."""
        spec = self._spec.proposed(points)
        spec = spec if weight is None else spec.on(points, weight)
        return bind(spec.build(), points, dtype=np.float64)

    def _gram(self, binding: Binding) -> Gram:
        """The Gram matrix of the training points, as the solver wants it."""
        return gram_to_solve(binding, primal=self.solver == "primal")

    def _bind_to_solve(self, points: Points, weight: Array, *, is_weighted: bool = False) -> Binding:
        """Bind the kernel to the training points; where these come in blocks, to a sample that its rules see."""
        rows: Any = slice(None)
        if isinstance(points, Blocks):
            if self.solver not in (AUTO, LANDMARKS):
                raise InvalidParameter(
                    "Rows that come in blocks are fitted on landmarks.",
                    f"Got solver={self.solver!r}.",
                    'Use solver="landmarks".',
                )
            eligible = np.flatnonzero(weight > 0.0)
            some = np.random.default_rng(0).permutation(eligible)[:SAMPLE]
            rows = np.sort(some)
            points = points.take(rows)
        return self._bind(points, weight[rows]) if is_weighted else self._bind(points)

    def _restriction(self, binding: Binding, points: Points, weight: Array) -> tuple[Restriction | None, str]:
        """Landmarks, where they are asked for or "auto" takes them, and why; None where all rows are solved for."""
        reason = too_many(binding, self.max_time) if self.solver == AUTO else ""
        if self.solver == AUTO and isinstance(points, Blocks):
            reason = "the rows come in blocks"
        if not (reason or self.solver == LANDMARKS):
            return None, ""
        chosen = Landmarks(self.n_landmarks, self.landmarks, self.random_state)
        found = chosen.restrict(binding.kernel, points, weight)
        return found, f"Landmarks, because {reason}.\n" if reason else ""

    def _solve(self, problem: Problem, points: Points, options: Options, solver: str | None = None) -> Solution:
        """Solve a problem on these points; warn, once, if the result cannot be certified."""
        phi = problem.gram.restricted()
        known = problem.gram if phi is None else TiledGram(phi.binding)
        is_positive = self._is_positive(known, points)
        return self._vouched(solve(problem, options, solver or self.solver), is_positive)

    def _is_positive(self, gram: Gram, points: Points) -> bool:
        """Whether the kernel is positive as far as was checked; warns if it is not."""
        return check_assumed(gram, points.dtype if isinstance(points, Vectors | Stored) else np.dtype(np.float64))

    def _vouched(self, solution: Solution, is_positive: bool) -> Solution:
        if not is_positive:  # a gap means nothing if the problem is not convex
            return solution.certified(status=Status.INDEFINITE)
        if not solution.status.is_certified:
            warnings.warn(f"{type(self).__name__}: {solution.status.value}.", UncertifiedWarning, stacklevel=4)
        return solution

    def _check_fitted(self) -> None:
        """scikit-learn's error for an unfitted machine, without its check, as slow as a small prediction."""
        if "model_" not in vars(self):
            check_is_fitted(self)

    def _read_new(self, X: Any) -> Points:
        """New points, with the columns seen in fit."""
        points, basis = as_points(X), self.model_.basis
        if isinstance(points, Table) and isinstance(basis, Table) and _is_by_name(self.model_.kernel):
            return in_training_order(basis, points)
        self._check_columns(X, points, reset=False)
        return points

    def _check_columns(self, X: Any, points: Points, *, reset: bool) -> None:
        check_columns(self, X, points, reset=reset)


def check_columns(estimator: Any, X: Any, points: Points, *, reset: bool) -> None:
    """Let scikit-learn record, or compare, the number and names of the columns, for points that have columns."""
    if not isinstance(points, Vectors | Table | Stored | Blocks):
        return
    if type(X) is np.ndarray and "feature_names_in_" not in vars(estimator):
        # Skip the search for names, which would take longer than a small fit.
        if reset:
            estimator.n_features_in_ = points.width
        if estimator.n_features_in_ == points.width:
            return
    # scikit-learn cannot read the shape of lists, dicts and points, so it gets a stand-in of the same shape.
    shaped = getattr(X, "shape", None) is not None and points.domain is not Domain.GRAM
    stand_in = np.broadcast_to(0.0, (len(points), points.width))
    validate_data(estimator, X if shaped else stand_in, reset=reset, skip_check_array=True)


def _is_by_name(kernel: Any) -> bool:
    """Whether a formula names the columns that it reads, so that their order does not matter."""
    columns = (kernel.reads() if isinstance(kernel, Kernel) else None) or ()
    return len(columns) > 0 and all(isinstance(name, str) for name in columns)


def _square(points: Points) -> Stored:
    stored = require(points, frozenset({Domain.GRAM}), "A precomputed kernel")
    assert isinstance(stored, Stored)  # the only points of that domain
    n, m = stored.matrix.shape
    if n != m:
        raise InvalidInput(
            "Precomputed metric requires shape (n_samples, n_samples) to fit.",
            f"Got shape {stored.matrix.shape}.",
            "Pass the square matrix of kernel values between the training points.",
        )
    check_stored(stored.matrix)
    return stored
