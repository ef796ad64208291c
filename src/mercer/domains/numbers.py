"""Domains of numbers, one or one per column."""

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.domains.domain import as_array, is_number, refusal
from mercer.errors import InvalidParameter, MercerError

__all__ = [
    "CentreOrRule",
    "FiniteReal",
    "GammaOrRule",
    "HalfInteger",
    "Integer",
    "Length",
    "NonNegative",
    "NonZeroNumbers",
    "Positive",
    "PositiveNumbers",
    "PositiveOrRule",
    "RealNumber",
    "SpreadOrRule",
]


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
        array = as_array(owner, name, value, self.text)
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
