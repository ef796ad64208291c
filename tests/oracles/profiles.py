"""The profiles of radial kernels in mpmath, each from its textbook definition as a function of ψ."""

from collections.abc import Callable, Mapping
from typing import Any

import mpmath as mp

DIGITS = 40


def _matern(psi: Any, p: Mapping[str, Any]) -> Any:
    """Through the Bessel function K_ν, not through the polynomial of half-integer orders."""
    nu = mp.mpf(p["nu"])
    s = mp.sqrt(2 * nu * psi) / mp.mpf(p["length_scale"])
    return mp.mpf(1) if s == 0 else 2 ** (1 - nu) / mp.gamma(nu) * s**nu * mp.besselk(nu, s)


def _rational_quadratic(psi: Any, p: Mapping[str, Any]) -> Any:
    alpha, length = mp.mpf(p["alpha"]), mp.mpf(p["length_scale"])
    return (1 + psi / (2 * alpha * length**2)) ** (-alpha)


PROFILES: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "gaussian": lambda psi, p: mp.exp(-psi / (2 * mp.mpf(p["length_scale"]) ** 2)),
    "exponential": lambda psi, p: mp.exp(-psi / mp.mpf(p["length_scale"])),
    "matern": _matern,
    "rational_quadratic": _rational_quadratic,
    "cauchy": lambda psi, p: 1 / (1 + psi / mp.mpf(p["length_scale"]) ** 2),
}


def profile_value(name: str, psi: float, parameters: Mapping[str, Any]) -> float:
    """The profile at ψ, correctly rounded for all that tests need."""
    with mp.workdps(DIGITS):
        return float(PROFILES[name](mp.mpf(psi), parameters))
