"""What parameters are called elsewhere: the table behind the answer to ``RBF(gamma=0.5)``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, final

import numpy as np

from mercer.errors import InvalidArgument, shown

__all__ = ["TABLE", "Meant", "misnamed"]


@final
@dataclass(frozen=True)
class Meant:
    """What a wrong name stands for: a parameter with its conversion, or (without one) another way to write it."""

    name: str
    formula: str = "{}"  # of the parameter, with {} for the wrong name
    convert: Callable[[Any], Any] = lambda value: value
    instead: str = ""  # with {} for the value given


_LENGTH = (
    "bandwidth",
    "ell",
    "h",
    "l",
    "length",
    "lengthscale",
    "lengthscales",
    "ls",
    "rho",
    "scale",
    "sigma",
    "width",
)
_AMPLITUDE = ("amplitude", "constant_value", "outputscale", "sigma_f", "variance")
_RADIAL = ("RBF", "Laplacian", "Matern", "RationalQuadratic", "Cauchy", "Periodic")


def _inverted(value: Any) -> Any:
    return 1.0 / value


_same = Meant
_gamma_of_square = Meant("length_scale", "(2·{})**-0.5", lambda gamma: (2.0 * gamma) ** -0.5)
_multiple = Meant("", instead="{} * {owner}()")
_matern = Meant("", instead="Matern(nu={})")
_sum = Meant("", instead="{owner}() + {}")

# Class -> wrong name -> what is meant.
TABLE: dict[str, dict[str, Meant]] = {
    **{
        kernel: dict.fromkeys(_LENGTH, _same("length_scale")) | dict.fromkeys(_AMPLITUDE, _multiple)
        for kernel in _RADIAL
    },
    "ArcCosine": dict.fromkeys(("degree", "n", "power"), _same("order")),
    "Constant": dict.fromkeys(("C", "c", "constant", "constant_value", "variance"), _same("value")),
    "Custom": dict.fromkeys(("f", "func", "function", "kernel", "metric"), _same("fn"))
    | dict.fromkeys(("reason", "why"), _same("because")),
    "ExponentialChiSquared": dict.fromkeys((*_LENGTH, "length_scale"), Meant("gamma", "1/{}", _inverted)),
    "Linear": dict.fromkeys(("bias", "c", "coef0", "constant", "offset"), _sum)
    | {"sigma_0": Meant("", instead="Linear() + {}**2")}
    | dict.fromkeys(("gamma", "scale", "variance"), _multiple),
    "Polynomial": dict.fromkeys(("d", "exponent", "n", "order", "p", "power"), _same("degree"))
    | dict.fromkeys(("C", "bias", "c", "coef0", "constant", "intercept", "r"), _same("offset"))
    | dict.fromkeys(("a", "alpha", "scale", "slope"), _same("gamma")),
    "Power": dict.fromkeys(("degree", "n", "p", "power"), _same("exponent")),
    "Quadratic": dict.fromkeys(("M", "matrix", "metric"), _same("A")),
    "Scale": dict.fromkeys(("factor", "scale", "scales"), _same("factors"))
    | dict.fromkeys(("length_scale", "lengthscale"), Meant("factors", "1/{}", _inverted)),
    "Scaled": dict.fromkeys(("C", "c", "factor", "variance"), _same("scale")),
    "Sigmoid": dict.fromkeys(("a", "alpha", "scale", "slope"), _same("gamma"))
    | dict.fromkeys(("bias", "c", "constant", "intercept", "offset", "r"), _same("coef0")),
    "Torus": dict.fromkeys(("T", "p", "period_length", "periodicity"), _same("period")),
}
TABLE["RBF"] |= {"gamma": _gamma_of_square, "nu": _matern}
TABLE["Laplacian"] |= {"gamma": Meant("length_scale", "1/{}", _inverted), "nu": _matern}
TABLE["Matern"] |= dict.fromkeys(("order", "smoothness", "v"), _same("nu")) | {
    "p": Meant("nu", "{} + 0.5", lambda degree: degree + 0.5),
    "degree": Meant("nu", "{} + 0.5", lambda degree: degree + 0.5),
}
TABLE["RationalQuadratic"] |= dict.fromkeys(("a", "mixture", "power", "scale_mixture", "shape"), _same("alpha"))
TABLE["Cauchy"]["gamma"] = Meant("length_scale", "{}**-0.5", lambda gamma: gamma**-0.5)
TABLE["Periodic"] |= dict.fromkeys(("T", "p", "period_length", "periodicity"), _same("period"))


def misnamed(
    owner: str, fields: Sequence[str], wrong: str, args: Sequence[Any], params: Mapping[str, Any]
) -> InvalidArgument:
    """The error of a call with a name that is no parameter.

    Examples
    --------
    >>> print(misnamed("RBF", ["length_scale"], "gamma", (), {"gamma": 0.5}))
    RBF has no parameter gamma.
      Got gamma=0.5; length_scale is (2·gamma)**-0.5.
      Write RBF(length_scale=1.0).
    """
    got = f"Got {wrong}={shown(params[wrong])}"
    refused = f"{owner} has no parameter {wrong}."
    meant = TABLE.get(owner, {}).get(wrong)
    if meant is None:
        near = get_close_matches(wrong, fields, n=1)
        attempt = f"Did you mean {near[0]}?" if near else ""
        return InvalidArgument(refused, f"{got}; its parameters are {', '.join(fields) or 'none'}.", attempt)
    if not meant.name:
        return InvalidArgument(refused, f"{got}.", f"Write {meant.instead.format(shown(params[wrong]), owner=owner)}.")
    right = {meant.name if name == wrong else name: value for name, value in params.items()}
    right[meant.name] = _converted(meant, params[wrong])
    call = ", ".join([*map(shown, args), *(f"{name}={shown(value)}" for name, value in right.items())])
    return InvalidArgument(refused, f"{got}; {meant.name} is {meant.formula.format(wrong)}.", f"Write {owner}({call}).")


def _converted(meant: Meant, value: Any) -> Any:
    """The right parameter's value; rules and what is no number stay as they are."""
    if isinstance(value, str):
        return value
    try:
        numbers = np.asarray(value, dtype=np.float64)
        return meant.convert(value) if numbers.ndim == 0 else meant.convert(numbers).tolist()
    except (TypeError, ValueError, ZeroDivisionError, OverflowError, AttributeError):
        return value
