"""Is this matrix a Gram matrix?  The three equivalent readings of positivity, with evidence.

A symmetric matrix K is positive semi-definite (PSD) when, equivalently,

1. no eigenvalue of K is negative,
2. K = Pᵀ P for some matrix P (the columns of P are the points, K their inner products),
3. cᵀ K c ≥ 0 for every vector c.

In floating point "not negative" needs a tolerance. An entry that is right to the last digit is still wrong by up to
eps/2 of its size, such errors move an eigenvalue by up to n·eps·λmax, and so does the computation of the eigenvalue: an
eigenvalue above −n·eps·λmax cannot be told from zero.
"""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.errors import InvalidInput, InvalidParameter, NotFinite, NotPositive
from mercer.kernels.lanczos import Ends, lanczos
from mercer.kernels.repair import Repair, repair, symmetric_part

__all__ = ["Evidence", "GramReport", "check_gram", "refuse_large"]

Array = npt.NDArray[np.float64]

# Up to this many rows all eigenvalues are computed (a second or two); beyond, Cholesky and Lanczos.
SPECTRUM_ROWS = 2_000
# Beyond this a factorisation takes minutes and a second copy of K gigabytes: Lanczos alone, which proves nothing.
CHOLESKY_ROWS = 20_000
# Entries are rarely right to the last digit; for small matrices n·eps would leave no room for that.
LEAST_ROWS = 16
# Squares of numbers below this, summed, are numbers.
LARGEST = 1e140


class Evidence(Enum):
    """How the verdict was reached; the value is the sentence shown to the reader."""

    SPECTRUM = "all eigenvalues were computed"
    CHOLESKY = "K + tolerance·I has a Cholesky factor: no eigenvalue lies below −tolerance (smallest: an estimate)"
    MINOR = "K + tolerance·I has no Cholesky factor; the column where it breaks down leads to the witness"
    LANCZOS = "Lanczos found no eigenvalue below −tolerance; for a matrix this large that is evidence, not proof"
    RITZ = "Lanczos found the witness"


@final
@dataclass(frozen=True, eq=False, repr=False)
class GramReport:
    """What :func:`check_gram` found.

    Attributes
    ----------
    n : int
        Rows of the matrix.
    is_symmetric : bool
        Whether |K[i, j] − K[j, i]| ≤ tol·max|K| for all pairs.
    asymmetry, worst_pair : float, (int, int)
        The largest |K[i, j] − K[j, i]| and where it is.
    is_psd : bool
        Symmetric, and no eigenvalue below −tolerance was found; `evidence` says whether that is established.
    smallest, largest : float
        Extreme eigenvalues of the symmetric part (K + Kᵀ)/2.
    tolerance : float
        What counts as negative: below −tol·max|λ|.
    witness : ndarray of shape (n,), or None
        A unit vector c with cᵀKc < −tolerance, when there is one.
    value : float
        cᵀKc for the witness; NaN without one.
    evidence : Evidence
        How the verdict was reached.
    """

    n: int
    is_symmetric: bool
    asymmetry: float
    worst_pair: tuple[int, int]
    smallest: float
    largest: float
    tolerance: float
    witness: Array | None
    value: float
    evidence: Evidence
    n_negative: int | None
    matrix: npt.NDArray[Any]  # as given; the repairs need it

    @property
    def is_psd(self) -> bool:
        """Symmetric, and no negative eigenvalue found."""
        return self.is_symmetric and self.witness is None

    @property
    def is_established(self) -> bool:
        """False if the matrix was too large for a proof and only Lanczos was run."""
        return self.evidence is not Evidence.LANCZOS

    @cached_property
    def factor(self) -> Array:  # (r, n)
        """P with K = PᵀP, as many rows as K has eigenvalues above the tolerance.

        Raises
        ------
        NotPositive
            When K is not PSD: then there is no such P.
        """
        if not self.is_psd:
            raise NotPositive(
                "A matrix that is not positive semi-definite has no factor P with K = PᵀP.",
                self._verdict(),
                'Repair it first: report.repair("clip").',
            )
        eigenvalues, vectors = scipy.linalg.eigh(symmetric_part(self.matrix))
        kept = eigenvalues > self.tolerance
        return np.ascontiguousarray((vectors[:, kept] * np.sqrt(eigenvalues[kept])).T)

    def repair(self, how: Literal["clip", "flip", "shift"]) -> Repair:
        """A PSD matrix close to K, by one of three recipes; see :class:`Repair`.

        Parameters
        ----------
        how : {"clip", "flip", "shift"}
            clip: negative eigenvalues become 0, the PSD matrix nearest to (K + Kᵀ)/2 in the Frobenius norm.
            flip: negative eigenvalues change sign.
            shift: |λmin| is added to the diagonal.
        """
        # PSD up to rounding: the matrix and its rows stay unchanged.
        return repair(how, self.matrix, None if self.witness is None else -self.tolerance)

    def _verdict(self) -> str:
        if not self.is_symmetric:
            i, j = self.worst_pair
            return f"K[{i}, {j}] and K[{j}, {i}] differ by {self.asymmetry:.3g}."
        if self.witness is not None:
            return f"Its smallest eigenvalue is {self.smallest:.3g}, below −{self.tolerance:.2g}."
        return f"Its smallest eigenvalue is {self.smallest:.3g}, not below −{self.tolerance:.2g}."

    def __str__(self) -> str:
        verdict = "positive semi-definite" if self.is_psd else "NOT a Gram matrix"
        if self.is_psd and not self.is_established:
            verdict = "not refuted"
        i, j = self.worst_pair
        worst = f" (worst pair |K[{i}, {j}] − K[{j}, {i}]| = {self.asymmetry:.3g})" if self.asymmetry else ""
        below = "" if not self.n_negative else f", {self.n_negative} of {self.n} negative"
        lines = [
            f"A {self.n} × {self.n} matrix: {verdict}.",
            f"  symmetric    {'yes' if self.is_symmetric else 'no'}{worst}",
            f"  eigenvalues  from {self.smallest:.6g} to {self.largest:.6g}{below}",
            f"  tolerance    {self.tolerance:.3g}, what rounding may do to an eigenvalue of a matrix of this size",
        ]
        if self.witness is not None:
            place = int(np.argmax(np.abs(self.witness)))
            lines.append(f"  witness      cᵀKc = {self.value:.6g} < 0 for a unit vector c, largest at row {place}")
        elif self.is_psd and self.is_established:
            lines.append("  factor       K = PᵀP with P = report.factor")
        lines.append(f"  evidence     {self.evidence.value}")
        if not self.is_psd:
            lines.append('  repairs      report.repair("clip"), ("flip") or ("shift")')
        return "\n".join(lines)

    __repr__ = __str__


def check_gram(K: npt.ArrayLike, *, tol: float | None = None) -> GramReport:
    """Check whether K could be the Gram matrix of a kernel.

    Parameters
    ----------
    K : array-like of shape (n, n)
        A matrix of similarities.
    tol : float, optional
        Relative tolerance: asymmetry is compared with tol·max|K|, eigenvalues with −tol·max|λ|. The default, n·eps of
        K's precision (n taken as 16 at least), is what rounding may do to an eigenvalue; see the module's text.

    Returns
    -------
    GramReport
        The verdict with its evidence: eigenvalues, the factor P of K = PᵀP, or a witness c with cᵀKc < 0.

    Examples
    --------
    >>> from mercer.kernels.check import check_gram
    >>> report = check_gram([[1.0, 2.0], [2.0, 1.0]])
    >>> report.is_psd, round(report.smallest, 12)
    (False, -1.0)
    >>> c = report.witness
    >>> bool(c @ [[1.0, 2.0], [2.0, 1.0]] @ c < 0)
    True
    >>> report.repair("clip").K
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """
    given = _square(K)
    n = given.shape[0]
    if tol is None:
        precision = given.dtype if given.dtype == np.float32 else np.dtype(np.float64)
        tol = max(n, LEAST_ROWS) * float(np.finfo(precision).eps)
    elif not 0.0 <= tol < 1.0:
        raise InvalidParameter("tol must lie in [0, 1).", f"Got {tol!r}.")
    asymmetry, worst_pair = _asymmetry(given)
    is_symmetric = asymmetry <= tol * float(np.abs(given).max())
    symmetric = symmetric_part(given)
    if n <= SPECTRUM_ROWS:
        found = _by_spectrum(symmetric, tol)
    elif n <= CHOLESKY_ROWS:
        found = _by_cholesky(symmetric, tol)
    else:
        found = _by_lanczos(symmetric, tol)
    witness = found.witness
    value = float("nan") if witness is None else float(witness @ symmetric @ witness)
    return GramReport(
        n=n,
        is_symmetric=is_symmetric,
        asymmetry=asymmetry,
        worst_pair=worst_pair,
        smallest=found.smallest,
        largest=found.largest,
        tolerance=found.tolerance,
        witness=witness,
        value=value,
        evidence=found.evidence,
        n_negative=found.n_negative,
        matrix=given,
    )


def _square(K: npt.ArrayLike) -> npt.NDArray[Any]:
    try:
        matrix = np.asarray(K)
        if matrix.dtype != np.float32 and matrix.dtype.kind in "buifO":
            matrix = matrix.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput("K is not a matrix of numbers.", str(error)) from error
    if matrix.dtype.kind != "f":
        raise InvalidInput("K is not a matrix of real numbers.", f"Its dtype is {matrix.dtype}.")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise InvalidInput(
            "K must be a square matrix with at least one row.",
            f"Got shape {matrix.shape}.",
            "For rows of test points against training points see report.repair(…).rows.",
        )
    finite = np.isfinite(matrix)
    if not finite.all():
        i, j = np.argwhere(~finite)[0]
        raise InvalidInput("K must be finite.", f"K[{i}, {j}] is {matrix[i, j]}.")
    refuse_large(matrix, "K", "Scale it down.")
    return matrix


def refuse_large(K: npt.NDArray[Any], of: str, hint: str) -> None:
    """No matrix whose eigenvalues cannot be computed, since their squares overflow."""
    largest = float(np.abs(K).max())
    if not largest < LARGEST:
        raise NotFinite(
            f"The values of {of} are too large to compute with.",
            f"The largest is {largest:.3g}; it must be below {LARGEST:g}.",
            hint,
        )


def _asymmetry(K: npt.NDArray[Any]) -> tuple[float, tuple[int, int]]:
    difference = np.abs(K - K.T)
    i, j = np.unravel_index(int(np.argmax(difference)), K.shape)
    return float(difference[i, j]), (int(min(i, j)), int(max(i, j)))


@final
@dataclass(frozen=True)
class _Found:
    smallest: float
    largest: float
    tolerance: float
    witness: Array | None
    evidence: Evidence
    n_negative: int | None = None


def _by_spectrum(K: Array, tol: float) -> _Found:
    eigenvalues = scipy.linalg.eigvalsh(K)
    smallest, largest = float(eigenvalues[0]), float(eigenvalues[-1])
    tolerance = tol * max(-smallest, largest, 0.0)
    if smallest >= -tolerance:
        return _Found(smallest, largest, tolerance, None, Evidence.SPECTRUM)
    _, vectors = scipy.linalg.eigh(K, subset_by_index=[0, 0])
    n_negative = int(np.count_nonzero(eigenvalues < -tolerance))
    return _Found(smallest, largest, tolerance, vectors[:, 0], Evidence.SPECTRUM, n_negative)


def _by_cholesky(K: Array, tol: float) -> _Found:
    ends = _lanczos(K)
    tolerance = tol * max(ends.largest, 0.0)
    witness = _breakdown(K, tolerance)
    if witness is None:
        return _Found(ends.smallest, ends.largest, tolerance, None, Evidence.CHOLESKY)
    # The breakdown's vector refutes K, but Lanczos started from it usually finds a much more negative one.
    candidates = (witness, ends.lowest, _lanczos(K, start=witness).lowest)
    best = min(candidates, key=lambda c: float(c @ K @ c))
    smallest = float(best @ K @ best)
    if smallest >= -tolerance:  # a breakdown by rounding alone
        return _Found(smallest, ends.largest, tolerance, None, Evidence.LANCZOS)
    return _Found(smallest, ends.largest, tolerance, best, Evidence.MINOR)


def _by_lanczos(K: Array, tol: float) -> _Found:
    ends = _lanczos(K)
    tolerance = tol * max(-ends.smallest, ends.largest, 0.0)
    if ends.smallest < -tolerance:
        return _Found(ends.smallest, ends.largest, tolerance, ends.lowest, Evidence.RITZ)
    return _Found(ends.smallest, ends.largest, tolerance, None, Evidence.LANCZOS)


def _lanczos(K: Array, start: Array | None = None) -> Ends:
    first = np.random.default_rng(0).standard_normal(len(K)) if start is None else start
    return lanczos(lambda v: K @ v, first)


def _breakdown(K: Array, tolerance: float) -> Array | None:
    """None if K + tolerance·I has a Cholesky factor; else a unit c with cᵀKc < 0, read off the failed factorisation.

    When the pivot of column j is s ≤ 0, the leading block is K₁₁ = LLᵀ, and c = (−K₁₁⁻¹ k, 1, 0) gives cᵀKc = s.
    """
    shifted = K.copy()
    np.fill_diagonal(shifted, K.diagonal() + tolerance)
    L, info = scipy.linalg.lapack.dpotrf(shifted.T, lower=1, clean=0, overwrite_a=1)
    if info == 0:
        return None
    j = int(info) - 1
    c = np.zeros(K.shape[0])
    c[j] = 1.0
    if j > 0:
        c[:j] = -scipy.linalg.cho_solve((L[:j, :j], True), K[:j, j])
    return np.asarray(c / np.linalg.norm(c))
