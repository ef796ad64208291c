"""Checks for a kernel of your own: what every kernel of mercer satisfies, on your data."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import DomainMismatch, ParseError
from mercer.kernels import Kernel, parse
from mercer.kernels.check import check_gram
from mercer.points import Points, Vectors, as_points
from mercer.term import Term

__all__ = ["check_kernel"]

Array = npt.NDArray[Any]

# Relative to the largest value. Different orders of the same sums, not different formulas.
SAME = 1e-10
# What the engine promises in float32, relative to the largest value.
SINGLE = 1e-5
MOST_ROWS = 500


@final
@dataclass(frozen=True)
class _Subject:
    kernel: Kernel
    X: Points
    Z: Points
    K: Array  # k(X)
    scale: float  # its largest absolute value


class _Failure(AssertionError):
    """One check that failed; collected, and shown with the others."""


def check_kernel(k: Kernel, X: Any, *, Z: Any = None) -> None:
    """Check a kernel on data: its laws, as far as data can show them.

    That the Gram matrix is symmetric and positive semi-definite; that `k.diag(X)` is its diagonal; that
    k(X, Z) = k(Z, X)ᵀ; that values depend on nothing but the two points (a subset or another order of the points
    gives the same numbers); that float32 vectors give the same values to single precision; that the kernel is equal to
    itself rebuilt from its parameters and, where it holds no Python function, from its text and from a pickle. A class
    that cannot be pickled, such as one defined inside a function, fails: joblib could not send its kernels to workers.

    Parameters
    ----------
    k : Kernel
        For instance ``Custom(fn, because="…")``, a kernel on a map of your own, or a node class of your own.
    X : array-like or points
        Points of the kernel's domain; at most the first 500 are used.
    Z : like X, optional
        Other points; a third of X where not given.

    Raises
    ------
    AssertionError
        Listing every check that failed, with numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Custom
    >>> from mercer.testing import check_kernel
    >>> X = np.linspace(-2, 2, 20)[:, None]
    >>> check_kernel(Custom(lambda x, z: 1.0 + x[0] * z[0], because="an inner product plus 1"), X)
    >>> check_kernel(Custom(lambda x, z: x[0] * z[0] - 1.0, because="a guess"), X)
    Traceback (most recent call last):
        ...
    AssertionError: Custom(<lambda>, 'a guess') fails 1 of 8 checks on 20 points.
      positive: smallest eigenvalue -20 of largest ..., cᵀKc = -20 for a unit vector c.
    """
    if not isinstance(k, Kernel):
        raise DomainMismatch(
            "check_kernel needs a Kernel.", f"Got a {type(k).__name__}.", "Wrap a function: Custom(fn, because=…)."
        )
    points = as_points(X)
    points = points.take(slice(0, min(len(points), MOST_ROWS)))
    others = points.take(slice(None, None, 3)) if Z is None else as_points(Z, "Z")
    resolved = k.resolve(points)  # a rule such as "median" would mean another kernel on other points
    K = resolved(points)
    subject = _Subject(resolved, points, others, K, max(float(np.abs(K).max()), np.finfo(np.float64).tiny))
    failures = []
    for name, check in CHECKS.items():
        try:
            check(subject)
        except _Failure as failure:
            failures.append(f"{name}: {failure}")
    if failures:
        head = f"{k!r} fails {len(failures)} of {len(CHECKS)} checks on {len(points)} points."
        raise AssertionError("\n  ".join([head, *failures]))


def _symmetric(subject: _Subject) -> None:
    """Both orders of every pair; the Gram matrix itself may be made from one half."""
    pairs = subject.kernel(subject.X, subject.X)
    _agree(subject, pairs, pairs.T, "k(x, z) and k(z, x)")
    _agree(subject, pairs, subject.K, "k(X, X) and k(X)")


def _positive(subject: _Subject) -> None:
    report = check_gram(subject.K, tol=max(SAME, len(subject.K) * float(np.finfo(subject.K.dtype).eps)))
    if report.witness is not None:
        raise _Failure(
            f"smallest eigenvalue {report.smallest:.6g} of largest {report.largest:.6g}, "
            f"cᵀKc = {report.value:.6g} for a unit vector c."
        )


def _diagonal(subject: _Subject) -> None:
    _agree(subject, subject.kernel.diag(subject.X), subject.K.diagonal(), "k.diag(X) and the diagonal of k(X)")


def _transposed(subject: _Subject) -> None:
    _agree(
        subject,
        subject.kernel(subject.X, subject.Z),
        subject.kernel(subject.Z, subject.X).T,
        "k(X, Z) and k(Z, X)ᵀ",
    )


def _local(subject: _Subject) -> None:
    order = np.random.default_rng(0).permutation(len(subject.X))
    for rows, what in ((order, "in another order"), (np.sort(order[: (len(order) + 1) // 2]), "on half of the points")):
        _agree(subject, subject.kernel(subject.X.take(rows)), subject.K[np.ix_(rows, rows)], f"k(X) and k {what}")


def _single(subject: _Subject) -> None:
    """Both on the points rounded to float32, so that only the arithmetic differs."""
    if not isinstance(subject.X, Vectors):
        return
    rounded = Vectors(subject.X.raw().astype(np.float32))
    exact = subject.kernel(Vectors(rounded.raw().astype(np.float64)))
    _agree(subject, subject.kernel(rounded), exact, "float32 and float64", SINGLE)


def _rebuilt(subject: _Subject) -> None:
    kernel = subject.kernel
    parameters = kernel.get_params(deep=False)
    if kernel.replace(**parameters) != kernel:
        raise _Failure(f"replace(**get_params()) gives {kernel.replace(**parameters)!r}.")
    if kernel.__sklearn_clone__() is not kernel:
        raise _Failure("__sklearn_clone__ must return the kernel itself: it is frozen.")


def _written(subject: _Subject) -> None:
    """The inverse of repr and of pickle; a Python function has neither."""
    kernel = subject.kernel
    terms = _terms(kernel)
    if any(callable(value) and not isinstance(value, Term) for value in kernel.get_params(deep=True).values()):
        return
    text = repr(kernel)
    try:
        found = parse(text, names={type(term).__name__: type(term) for term in terms})
    except ParseError as error:
        raise _Failure(f"parse({text!r}): {error}") from None
    if found != kernel:
        raise _Failure(f"parse({text!r}) gives {found!r}.")
    try:
        copy = pickle.loads(pickle.dumps(kernel))
    except Exception as error:  # pickle passes on whatever the class raises
        raise _Failure(f"it cannot be pickled: {error}. Define its class at the top of a module.") from None
    if copy != kernel:
        raise _Failure("a pickle of it is another kernel.")


def _terms(term: Term) -> list[Term]:
    return [term, *(below for child in term.children() for below in _terms(child))]


def _agree(subject: _Subject, got: Array, expected: Array, what: str, tolerance: float = SAME) -> None:
    if got.shape != expected.shape:
        raise _Failure(f"{what} have shapes {got.shape} and {expected.shape}.")
    coarse = max(tolerance, SINGLE if np.float32 in (got.dtype, expected.dtype) else 0.0)
    difference = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    if not difference.max() <= coarse * subject.scale:  # NaN fails too
        place = tuple(int(i) for i in np.unravel_index(int(np.argmax(difference)), difference.shape))
        raise _Failure(f"{what} differ at {place}: {got[place]:.17g} and {expected[place]:.17g}.")


CHECKS: dict[str, Callable[[_Subject], None]] = {
    "symmetric": _symmetric,
    "positive": _positive,
    "diagonal": _diagonal,
    "transposed": _transposed,
    "local": _local,
    "single precision": _single,
    "rebuilt": _rebuilt,
    "written": _written,
}
