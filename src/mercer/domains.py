"""The domains of parameters: what a field of a term may hold, and its canonical form.

A domain is a small frozen object with one method, ``check(owner, name, value)``, that returns the canonical value (a
float, an int, a string, a read-only array, a tuple, a term) or raises an error in the three parts of `mercer.errors`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol, cast, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidParameter, MercerError, NotPositive, shown

__all__ = [
    "Anything",
    "Boolean",
    "CentreOrRule",
    "Choice",
    "FiniteReal",
    "Function",
    "GammaOrRule",
    "HalfInteger",
    "Instance",
    "Integer",
    "Length",
    "NonNegative",
    "NonZeroNumbers",
    "ParameterDomain",
    "Positive",
    "PositiveNumbers",
    "PositiveOrRule",
    "PsdMatrix",
    "PsdMatrixOrDiagonal",
    "RealMatrix",
    "RealNumber",
    "SpreadOrRule",
    "Text",
    "TupleOf",
    "comparable",
    "is_hashable",
    "is_number",
]

# A symmetric matrix counts as positive semi-definite if no eigenvalue is below minus this share of the largest.
EIGENVALUE_ROUNDING = 1e-10


class ParameterDomain(Protocol):
    """What a field may hold. ``text`` completes the sentence "must be …"."""

    @property
    def text(self) -> str:
        """Complete the sentence "must be …"."""

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the canonical value, or raise naming the owner and the field."""


def is_number(value: object) -> bool:
    """True for a real scalar of Python or NumPy that is not a boolean and, if whole, not beyond every float."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def refusal(
    error: type[MercerError], owner: str, name: str, value: object, text: str, attempt: str = ""
) -> MercerError:
    """The error of a value outside its domain."""
    return error(f"{name} of {owner} must be {text}.", f"Got {shown(value)}.", attempt)


def _array(owner: str, name: str, value: object, text: str) -> npt.NDArray[np.float64]:
    try:
        found = np.asarray(value)
    except (TypeError, ValueError):
        raise refusal(InvalidParameter, owner, name, value, text) from None
    if found.dtype.kind not in "iuf" or np.ma.is_masked(value):  # NumPy would also read "1", True and None as numbers
        raise refusal(InvalidParameter, owner, name, value, text)
    array = np.array(found, dtype=np.float64)
    array += 0.0  # -0.0 becomes 0.0, so that equal parameters have equal bytes
    array.flags.writeable = False
    return array


def is_hashable(value: object) -> bool:
    """Whether a value has a hash; a method has none where its object has none."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def comparable(value: object) -> Any:
    """A value that is equal, with the same hash, if and only if the parameters are the same."""
    if isinstance(value, np.ndarray):
        return ("array", value.shape, value.tobytes())
    if isinstance(value, tuple):
        return tuple(map(comparable, value))
    if not is_hashable(value):
        return ("object", id(value))  # a callable; what holds the parameter keeps it alive
    return (type(value).__name__, value)  # 1 and 1.0 and True are different parameters


@final
@dataclass(frozen=True)
class RealNumber:
    """A finite real number in an interval."""

    low: float = -math.inf
    high: float = math.inf
    closed: bool = True  # whether low itself belongs
    text: str = "a finite number"
    error: type[MercerError] = InvalidParameter
    attempt: str = ""

    def check(self, owner: str, name: str, value: Any) -> float:
        """Return the canonical value, or raise naming the owner and the field."""
        if not is_number(value) or not math.isfinite(value):
            raise refusal(self.error, owner, name, value, self.text, self.attempt)
        number = float(value) + 0.0
        above = number >= self.low if self.closed else number > self.low
        if not above or number > self.high:
            raise refusal(self.error, owner, name, value, self.text, self.attempt)
        return number


FiniteReal = RealNumber()
Positive = RealNumber(low=0.0, closed=False, text="a finite number > 0")
NonNegative = RealNumber(low=0.0, text="a finite number ≥ 0")


@final
@dataclass(frozen=True)
class Integer:
    """An integer ≥ low."""

    low: int = 0
    high: int | None = None
    error: type[MercerError] = InvalidParameter

    @property
    def text(self) -> str:
        """Complete the sentence "must be …"."""
        return f"an integer ≥ {self.low}" if self.high is None else f"an integer from {self.low} to {self.high}"

    def check(self, owner: str, name: str, value: Any) -> int:
        """Return the canonical value, or raise naming the owner and the field."""
        whole = is_number(value) and (isinstance(value, Integral) or float(value).is_integer())
        if not whole or value < self.low or (self.high is not None and value > self.high):
            raise refusal(self.error, owner, name, value, self.text)
        return int(value)


@final
@dataclass(frozen=True)
class _HalfInteger:
    text: str = "a half-integer: 0.5, 1.5, 2.5, …"

    def check(self, owner: str, name: str, value: Any) -> float:
        if not is_number(value) or value <= 0 or not math.isfinite(value) or float(value) % 1.0 != 0.5:
            raise refusal(
                InvalidParameter, owner, name, value, self.text, "Try 0.5, 1.5 or 2.5; RBF() is the limit ν → ∞."
            )
        return float(value)


HalfInteger = _HalfInteger()


@final
@dataclass(frozen=True)
class _Numbers:
    """A number, or a one-dimensional array of numbers, each accepted by `one`, or the name of a rule."""

    one: RealNumber
    text: str
    rules: tuple[str, ...] = ()
    zero: bool = True
    many: bool = True  # whether one number per column is accepted

    def check(self, owner: str, name: str, value: Any) -> float | str | npt.NDArray[np.float64]:
        if isinstance(value, str):
            if value not in self.rules:
                raise refusal(InvalidParameter, owner, name, value, self.text)
            return value
        if is_number(value):
            return self._entry(owner, name, value)
        array = _array(owner, name, value, self.text)
        if array.ndim == 0:
            return self._entry(owner, name, float(array))
        if not self.many or array.ndim != 1 or array.size == 0:
            raise refusal(InvalidParameter, owner, name, value, self.text)
        for index, entry in enumerate(array):
            self._entry(owner, f"{name}[{index}]", float(entry))
        return array

    def _entry(self, owner: str, name: str, value: Any) -> float:
        number = self.one.check(owner, name, value)
        if number == 0.0 and not self.zero:
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return number


# Lengths are squared, which must neither overflow nor underflow.
Length = RealNumber(low=1e-150, high=1e150, text="a finite number > 0, from 1e-150 to 1e150")
PositiveNumbers = _Numbers(Positive, "a number > 0, or one per column")
NonZeroNumbers = _Numbers(FiniteReal, "a finite number other than 0, or one per column", zero=False)
PositiveOrRule = _Numbers(
    Length, 'a number > 0, one per column, or a rule ("median", "scale", "auto")', ("median", "scale", "auto")
)
CentreOrRule = _Numbers(FiniteReal, 'a finite number, one per column, or the rule "mean"', ("mean",))
SpreadOrRule = _Numbers(Positive, 'a finite number > 0, one per column, or the rule "std"', ("std",))
GammaOrRule = _Numbers(Positive, 'a number > 0, or a rule ("scale", "auto")', ("scale", "auto"), many=False)


@final
@dataclass(frozen=True)
class _RealMatrix:
    text: str = "a finite two-dimensional array"

    def check(self, owner: str, name: str, value: Any) -> npt.NDArray[np.float64]:
        array = _array(owner, name, value, self.text)
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
        array = _array(owner, name, value, self.text)
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


@final
@dataclass(frozen=True)
class _Text:
    text: str = "a string"

    def check(self, owner: str, name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return value


Text = _Text()


@final
@dataclass(frozen=True)
class _Letters:
    text: str = "None, or at least 2 different letters: a string, bytes, or a tuple of tokens"

    def check(self, owner: str, name: str, value: Any) -> str | bytes | tuple[Any, ...] | None:
        if value is None:
            return None
        letters = tuple(value) if isinstance(value, str | bytes | tuple | list) else ()
        if not all(map(is_hashable, letters)) or len(set(letters)) != len(letters) or len(letters) < LEAST_LETTERS:
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return value if isinstance(value, str | bytes) else letters


# With one letter, nothing can be misread.
LEAST_LETTERS = 2
Letters = _Letters()


@final
@dataclass(frozen=True)
class _Boolean:
    text: str = "True or False"

    def check(self, owner: str, name: str, value: Any) -> bool:
        if not isinstance(value, bool | np.bool_):
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return bool(value)


Boolean = _Boolean()


@final
@dataclass(frozen=True)
class Choice:
    """One of a few strings."""

    options: tuple[str, ...]

    @property
    def text(self) -> str:
        """Complete the sentence "must be …"."""
        return "one of " + ", ".join(map(repr, self.options))

    def check(self, owner: str, name: str, value: Any) -> str:
        """Return the canonical value, or raise naming the owner and the field."""
        if value not in self.options:
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return str(value)


@final
@dataclass(frozen=True)
class _Function:
    text: str = "a callable"

    def check(self, owner: str, name: str, value: Any) -> Callable[..., Any]:
        if not callable(value):
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return cast(Callable[..., Any], value)


Function = _Function()


@final
@dataclass(frozen=True)
class _Anything:
    text: str = "any hashable value"

    def check(self, owner: str, name: str, value: Any) -> Any:
        if not is_hashable(value):
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return value


Anything = _Anything()


@final
@dataclass(frozen=True)
class Instance:
    """A term of one kind, such as a kernel or a map."""

    sort: type
    text: str

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the canonical value, or raise naming the owner and the field."""
        if not isinstance(value, self.sort):
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return value


@final
@dataclass(frozen=True)
class TupleOf:
    """A tuple whose entries all lie in one domain."""

    each: ParameterDomain
    least: int = 1

    @property
    def text(self) -> str:
        """Complete the sentence "must be …"."""
        return f"at least {self.least} values, each {self.each.text}"

    def check(self, owner: str, name: str, value: Any) -> tuple[Any, ...]:
        """Return the canonical value, or raise naming the owner and the field."""
        if isinstance(value, str | bytes) or not isinstance(value, tuple | list | np.ndarray):
            raise refusal(InvalidParameter, owner, name, value, self.text)
        if len(value) < self.least:
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return tuple(self.each.check(owner, f"{name}[{index}]", entry) for index, entry in enumerate(value))
