"""The table of profiles: completely monotone functions f of a distance ψ, with f(0) = 1.

Profiles are functions of ψ, never of r = √ψ: by Schoenberg's theorem f(ψ) is then a kernel for every distance.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from mercer.kernels.tape import Register, Tape
from mercer.mathml import called, fenced, fraction, line, power, root, row, subscript
from mercer.notation import ATOM, POWER, PRODUCT

__all__ = ["TABLE", "Profile", "matern_coefficients"]

Parameters = Mapping[str, Any]


@final
@dataclass(frozen=True)
class Profile:
    """One completely monotone function: how it is written, why it is one, and its program.

    In the templates ``{psi}`` is the distance and the other names are the parameters of the kernel that uses it.
    """

    name: str
    text: str
    latex: str
    fold: Callable[[Tape, Register, Parameters], Register]
    because: str  # why it is completely monotone
    citation: str  # a key of rules.CITATIONS
    level: int = ATOM  # how tightly the written formula binds
    length_power: int = 2  # the length scale ℓ enters as ψ/ℓ² or as ψ/ℓ
    mathml: str = ""  # where it is more than the text in one line


def _gaussian(tape: Tape, psi: Register, p: Parameters) -> Register:
    return tape.decay(tape.affine(psi, -0.5 / p["length_scale"] ** 2, 0.0))


def _exponential(tape: Tape, psi: Register, p: Parameters) -> Register:
    return tape.decay(tape.affine(psi, -1.0 / p["length_scale"], 0.0))


def _rational_quadratic(tape: Tape, psi: Register, p: Parameters) -> Register:
    # exp(−α·log(1 + t)) stays accurate for large α, where (1 + t)^(−α) loses the digits of a small t.
    alpha = p["alpha"]
    log = tape.log1p(tape.affine(psi, 0.5 / (alpha * p["length_scale"] ** 2), 0.0))
    return tape.decay(tape.affine(log, -alpha, 0.0))


def _cauchy(tape: Tape, psi: Register, p: Parameters) -> Register:
    return tape.div(tape.constant(1.0), tape.affine(psi, p["length_scale"] ** -2, 1.0))


def matern_coefficients(nu: float) -> tuple[float, ...]:
    """The polynomial of the Matérn profile of order ν = p + ½: f = Σ aⱼ sʲ·exp(−s), s = √(2νψ)/ℓ, a₀ = 1.

    Examples
    --------
    >>> matern_coefficients(2.5)
    (1.0, 1.0, 0.3333333333333333)
    """
    p = round(nu - 0.5)
    # Whole numbers until the last division, so that a₀ is exactly 1.
    return tuple(math.comb(p, j) * math.factorial(2 * p - j) * 2**j / math.factorial(2 * p) for j in range(p + 1))


def _matern(tape: Tape, psi: Register, p: Parameters) -> Register:
    nu = p["nu"]
    coefficients = matern_coefficients(nu)
    degree = len(coefficients) - 1
    root, scale = tape.sqrt(psi), math.sqrt(2.0 * nu) / p["length_scale"]
    if degree == 0:
        return tape.decay(tape.affine(root, -scale, 0.0))
    if degree <= 2:
        # In powers of √ψ, so that no instruction is spent on s itself.
        scaled = [coefficient * scale**j for j, coefficient in enumerate(coefficients)]
        polynomial = tape.affine(root, scaled[-1], scaled[-2])
        for coefficient in reversed(scaled[:-2]):
            polynomial = tape.affine(tape.mul(polynomial, root), 1.0, coefficient)
        return tape.mul(polynomial, tape.decay(tape.affine(root, -scale, 0.0)))
    s = tape.affine(root, scale, 0.0)
    # sᵖ alone would overflow in float32 for far points, where the value is 0: every step of Horner's scheme takes its
    # share exp(−s/p) of the exponential.
    share = tape.exp(tape.affine(s, -1.0 / degree, 0.0))
    step = tape.mul(s, share)
    shares = share
    result = tape.affine(step, coefficients[-1], 0.0)
    result = tape.add(result, tape.affine(shares, coefficients[-2], 0.0))
    for coefficient in reversed(coefficients[:-2]):
        shares = tape.mul(shares, share)
        result = tape.add(tape.mul(result, step), tape.affine(shares, coefficient, 0.0))
    return result


TABLE: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "gaussian",
            "exp(−{psi:2}/(2·{length_scale}²))",
            r"\exp\left(-\frac{{{psi}}}{{2{length_scale:? \cdot @^2}}}\right)",
            _gaussian,
            "t ↦ exp(−c·t) has derivatives of alternating sign",
            "schilling",
            mathml=called("exp", row(line("−"), fraction("{psi}", "2{length_scale:?·@²}"))),
        ),
        Profile(
            "exponential",
            "exp(−{psi:2}{length_scale:?/@})",
            r"\exp\left(-{psi:2}{length_scale:? / @}\right)",
            _exponential,
            "t ↦ exp(−c·t) has derivatives of alternating sign",
            "schilling",
            length_power=1,
        ),
        Profile(
            "matern",
            "M_{nu}(√({psi}){length_scale:?/@})",
            r"M_{{{nu}}}\left(\sqrt{{{psi}}}{length_scale:? / @}\right)",
            _matern,
            "a mixture of exp(−c·t) over c, with an inverse gamma weight",
            "stein",
            mathml=row(subscript("M", "{nu}"), fenced("(", row(root("{psi}"), line("{length_scale:?/@}")), ")")),
        ),
        Profile(
            "rational_quadratic",
            "(1 + {psi:2}/(2·{alpha}·{length_scale}²))^(−{alpha})",
            r"\left(1 + \frac{{{psi}}}{{2{alpha:? \cdot @}{length_scale:? \cdot @^2}}}\right)^{{-{alpha}}}",
            _rational_quadratic,
            "a mixture of exp(−c·t) over c, with a gamma weight",
            "schilling",
            level=POWER,
            mathml=power(
                fenced("(", row(line("1 +"), fraction("{psi}", "2{alpha:?·@}{length_scale:?·@²}")), ")"), "−{alpha}"
            ),
        ),
        Profile(
            "cauchy",
            "1/(1 + {psi:2}{length_scale:?/@²})",
            r"\frac{{1}}{{1 + {psi:2}{length_scale:? / @^2}}}",
            _cauchy,
            "1/(1 + t) is a mixture of exp(−c·t) over c, with an exponential weight",
            "schilling",
            level=PRODUCT,
            mathml=fraction("1", "1 + {psi:2}{length_scale:?/@²}"),
        ),
    )
}
