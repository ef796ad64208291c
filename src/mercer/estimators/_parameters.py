"""The domains of parameters: those of the support vector machines, and what others share with them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.utils import check_random_state

from mercer.domains import (
    Boolean,
    Choice,
    Integer,
    NonNegative,
    ParameterDomain,
    Positive,
    RealNumber,
    is_number,
    refusal,
)
from mercer.errors import InvalidParameter

__all__ = ["DOMAINS", "REGRESSION", "check_parameters"]


@final
@dataclass(frozen=True)
class _AboveZero:
    text: str = "a number > 0; inf is the hard margin"

    def check(self, owner: str, name: str, value: Any) -> float:
        if not is_number(value) or not value > 0.0:
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return float(value)


@final
@dataclass(frozen=True)
class _Optional:
    one: ParameterDomain

    @property
    def text(self) -> str:
        return f"{self.one.text}, or None"

    def check(self, owner: str, name: str, value: Any) -> Any:
        return None if value is None else self.one.check(owner, name, value)


@final
@dataclass(frozen=True)
class _Verbose:
    text: str = "True, False or an integer ≥ 0"

    def check(self, owner: str, name: str, value: Any) -> int:
        return Integer(0).check(owner, name, int(value) if isinstance(value, bool | np.bool_) else value)


@final
@dataclass(frozen=True)
class _RandomState:
    text: str = "None, an integer ≥ 0 or a numpy.random.RandomState"

    def check(self, owner: str, name: str, value: Any) -> Any:
        try:
            check_random_state(value)
        except ValueError:
            raise refusal(InvalidParameter, owner, name, value, self.text) from None
        return value


@final
@dataclass(frozen=True)
class _SolverName:
    text: str = '"auto" or the name of a solver'

    def check(self, owner: str, name: str, value: Any) -> str:
        if not isinstance(value, str):  # which of them there are depends on the problem
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return value


DOMAINS: dict[str, ParameterDomain] = {
    "C": _AboveZero(),
    "nu": RealNumber(0.0, 1.0, closed=False, text="a number > 0 and ≤ 1"),
    "epsilon": NonNegative,
    "tol": Positive,
    "gap_tol": _AboveZero("a number > 0; inf leaves the end of a solve to tol alone"),
    "shrinking": Boolean,
    "cache_size": Positive,
    "max_iter": Integer(-1),
    "max_time": _Optional(Positive),
    "keep_best": Boolean,
    "warm_start": Boolean,
    "decision_function_shape": Choice(("ovr", "ovo")),
    "break_ties": Boolean,
    "degree": Integer(0),
    "verbose": _Verbose(),
    "random_state": _RandomState(),
    "fit_intercept": Boolean,
    "solver": _SolverName(),
}
# Those that ridge and logistic regression share.
REGRESSION = ("fit_intercept", "solver", "keep_best", "verbose", "random_state")


def check_parameters(owner: str, values: Mapping[str, Any], names: Iterable[str] = tuple(DOMAINS)) -> None:
    """Refuse values outside their domains, of these names as far as there are any."""
    for name in names:
        if name in values:
            DOMAINS[name].check(owner, name, values[name])
