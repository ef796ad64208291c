"""The kernels of rules 1 and 8: inner products."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import numpy.typing as npt

from mercer.domains import PsdMatrix
from mercer.kernels.kernel import Kernel
from mercer.kernels.rules import INNER_PRODUCT, QUADRATIC_FORM, Rule
from mercer.kernels.tape import Register, Tape
from mercer.maps.metric import root_of
from mercer.maps.transform import Transform
from mercer.notation import PRODUCT, Notation
from mercer.term import REQUIRED, param

__all__ = ["Linear", "Quadratic"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Linear(Kernel):
    """The inner product.

    k(x, z) = ⟨x, z⟩. Positive because Σ cᵢcⱼ⟨xᵢ, xⱼ⟩ = ‖Σ cᵢxᵢ‖² (rule 1).

    Examples
    --------
    >>> print(Linear().proof())
    Linear() is a kernel: every Gram matrix is positive semi-definite.
      1. ⟨x, z⟩  rule 1 (inner-product)
    """

    rule: ClassVar[Rule] = INNER_PRODUCT
    notation: ClassVar[Notation] = Notation(text="⟨{x}, {z}⟩", latex=r"\langle {x}, {z} \rangle")

    def lower(self, tape: Tape) -> Register:
        """⟨x, z⟩."""
        return tape.inner()


@final
@dataclass(frozen=True, repr=False, eq=False)
class Quadratic(Kernel):
    """The inner product of a positive semi-definite matrix.

    k(x, z) = xᵀAz. Positive because A = PᵀP makes it ⟨Px, Pz⟩ (rule 8).

    Parameters
    ----------
    A : array of shape (d, d)
        A symmetric positive semi-definite matrix; checked, and refused with the eigenvector that refutes it.

    Examples
    --------
    >>> Quadratic([[2.0, 1.0], [1.0, 2.0]])
    Quadratic([[2.0, 1.0], [1.0, 2.0]])
    >>> Quadratic([[1.0, 2.0], [2.0, 1.0]])
    Traceback (most recent call last):
        ...
    mercer.errors.NotPositive: A of Quadratic must be a symmetric positive semi-definite matrix.
      Rule 8 (quadratic-form) needs vᵀAv ≥ 0; got -1 with v = [...].
      Try A @ A.T, or clip the negative eigenvalues.
    """

    rule: ClassVar[Rule] = QUADRATIC_FORM
    notation: ClassVar[Notation] = Notation(
        text="{x:3}ᵀ·{A}·{z:3}", latex=r"{x:3}^\top {A} \, {z:3}", level=PRODUCT,
        condition="smallest eigenvalue of A = {smallest} ≥ 0 to rounding",
        condition_latex=r"\lambda_{{\min}}(A) = {smallest} \ge 0",
    )  # fmt: skip
    A: npt.NDArray[np.float64] = param(REQUIRED, PsdMatrix)

    def slot(self, name: str) -> Any:
        """The fields, and the smallest eigenvalue for the proof."""
        return float(np.linalg.eigvalsh(self.A)[0]) if name == "smallest" else getattr(self, name)

    def root(self) -> npt.NDArray[np.float64]:
        """A matrix P of full row rank with A = PᵀP up to rounding: (rank, d)."""
        return root_of(self.A)

    def lower(self, tape: Tape) -> Register:
        """⟨Px, Pz⟩."""
        return tape.through(Transform(self.root(), "Quadratic")).inner()
