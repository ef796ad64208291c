"""The domains of the support vector machines' own parameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from mercer.domains import Boolean, Choice, Integer, NonNegative, ParameterDomain, Positive, RealNumber, is_number
from mercer.errors import InvalidParameter

__all__ = ["DOMAINS", "check_parameters"]


@final
@dataclass(frozen=True)
class _AboveZero:
    text: str = "a number > 0; inf is the hard margin"

    def check(self, owner: str, name: str, value: Any) -> float:
        if not is_number(value) or not value > 0.0:
            raise InvalidParameter(f"{name} of {owner} must be {self.text}.", f"Got {value!r}.")
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


DOMAINS: dict[str, ParameterDomain] = {
    "C": _AboveZero(),
    "nu": RealNumber(0.0, 1.0, closed=False, text="a number > 0 and ≤ 1"),
    "epsilon": NonNegative,
    "tol": Positive,
    "shrinking": Boolean,
    "cache_size": Positive,
    "max_iter": Integer(-1),
    "max_time": _Optional(Positive),
    "keep_best": Boolean,
    "warm_start": Boolean,
    "decision_function_shape": Choice(("ovr", "ovo")),
    "break_ties": Boolean,
}


def check_parameters(owner: str, values: Mapping[str, Any]) -> None:
    """Refuse values outside their domains; names that have none are for others to check."""
    for name, domain in DOMAINS.items():
        if name in values:
            domain.check(owner, name, values[name])
