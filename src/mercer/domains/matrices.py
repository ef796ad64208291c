"""Domains of matrices."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.domains.domain import as_array, refusal
from mercer.errors import InvalidParameter, NotPositive

__all__ = [
    "PsdMatrix",
    "PsdMatrixOrDiagonal",
    "RealMatrix",
]

# A symmetric matrix counts as positive semi-definite if no eigenvalue is below minus this share of the largest.
EIGENVALUE_ROUNDING = 1e-10


@final
@dataclass(frozen=True)
class _RealMatrix:
    text: str = "a finite two-dimensional array"

    def check(self, owner: str, name: str, value: Any) -> npt.NDArray[np.float64]:
        array = as_array(owner, name, value, self.text)
        if array.ndim != 2 or array.size == 0 or not np.isfinite(array).all():
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return array


RealMatrix = _RealMatrix()


@final
@dataclass(frozen=True)
class _PsdMatrix:
    text: str = "a symmetric positive semi-definite matrix"

    def check(self, owner: str, name: str, value: Any) -> npt.NDArray[np.float64]:
        array = RealMatrix.check(owner, name, value)
        if array.shape[0] != array.shape[1]:
            raise InvalidParameter(f"{name} of {owner} must be {self.text}.", f"Got an array of shape {array.shape}.")
        asymmetry = float(np.abs(array - array.T).max())
        if asymmetry > EIGENVALUE_ROUNDING * float(np.abs(array).max()):
            raise NotPositive(
                f"{name} of {owner} must be {self.text}.",
                f"Got a matrix that differs from its transpose by {asymmetry:.3g}.",
                f"Try ({name} + {name}.T) / 2.",
            )
        values, vectors = np.linalg.eigh(array)
        if values[0] < -EIGENVALUE_ROUNDING * max(abs(values[-1]), abs(values[0])):
            witness = np.array2string(vectors[:, 0], precision=4, separator=", ")
            raise NotPositive(
                f"{name} of {owner} must be {self.text}.",
                f"Rule 8 (quadratic-form) needs vᵀ{name}v ≥ 0; got {values[0]:.6g} with v = {witness}.",
                f"Try {name} @ {name}.T, or clip the negative eigenvalues.",
            )
        return array


PsdMatrix = _PsdMatrix()


@final
@dataclass(frozen=True)
class _PsdMatrixOrDiagonal:
    text: str = "a symmetric positive semi-definite matrix, or the diagonal of one"

    def check(self, owner: str, name: str, value: Any) -> npt.NDArray[np.float64]:
        array = as_array(owner, name, value, self.text)
        if array.ndim == 2:
            return PsdMatrix.check(owner, name, value)
        if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all():
            raise refusal(InvalidParameter, owner, name, value, self.text)
        if array.min() < 0.0:
            column = int(np.argmin(array))
            raise NotPositive(
                f"{name} of {owner} must be {self.text}.",
                f"Rule 8 (quadratic-form) needs numbers ≥ 0; got {array[column]:.6g} for column {column}.",
                f"Try np.maximum({name}, 0).",
            )
        return array


PsdMatrixOrDiagonal = _PsdMatrixOrDiagonal()
