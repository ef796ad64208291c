"""Kernels by the names of scikit-learn: "rbf" with gamma, "poly" with degree and coef0, and so on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from mercer.domains import GammaOrRule
from mercer.errors import InvalidParameter, NotPositive
from mercer.kernels.custom import Precomputed, Sigmoid
from mercer.kernels.histogram import ExponentialChiSquared
from mercer.kernels.inner import Cosine, Polynomial
from mercer.kernels.kernel import Kernel
from mercer.kernels.linear import Linear
from mercer.kernels.radial import RBF, Laplacian

__all__ = ["TABLE", "named"]

Gamma = float | str | None


@final
@dataclass(frozen=True)
class Settings:
    """scikit-learn's parameters of a named kernel."""

    gamma: Gamma
    degree: int
    coef0: float

    def rule_or(self, convert: Callable[[float], float]) -> float | str:
        """A length scale from γ; a rule stays one; no γ is scikit-learn's 1/d."""
        gamma = self.checked()
        return gamma if isinstance(gamma, str) else convert(gamma)

    def checked(self) -> float | str:
        """γ as a number or a rule."""
        gamma = GammaOrRule.check("a named kernel", "gamma", "auto" if self.gamma is None else self.gamma)
        return gamma if isinstance(gamma, str) else float(gamma)


def _chi2(settings: Settings) -> Kernel:
    gamma = 1.0 if settings.gamma is None else settings.checked()
    if isinstance(gamma, str):
        raise InvalidParameter('gamma of "chi2" must be a number > 0.', f"Got {gamma!r}.")
    return ExponentialChiSquared(gamma)


def _additive_chi2(settings: Settings) -> Kernel:  # noqa: ARG001 (a row of the table)
    raise NotPositive(
        "additive_chi2 of scikit-learn, −Σ (x − z)²/(x + z), is not a kernel.",
        "It is 0 on the diagonal and < 0 elsewhere: Gram matrices of different points have negative eigenvalues.",
        'Try ChiSquared(), Σ 2xz/(x + z), or "chi2", its exponential.',
    )


TABLE: dict[str, Callable[[Settings], Kernel]] = {
    "additive_chi2": _additive_chi2,
    "chi2": _chi2,
    "cosine": lambda settings: Cosine(),
    "laplacian": lambda settings: Laplacian(settings.rule_or(lambda gamma: 1.0 / gamma)),
    "linear": lambda settings: Linear(),
    "poly": lambda settings: Polynomial(settings.degree, settings.coef0, settings.checked()),
    "polynomial": lambda settings: Polynomial(settings.degree, settings.coef0, settings.checked()),
    "precomputed": lambda settings: Precomputed(),
    "rbf": lambda settings: RBF(settings.rule_or(lambda gamma: (2.0 * gamma) ** -0.5)),
    "sigmoid": lambda settings: Sigmoid(settings.checked(), settings.coef0),
}


def named(name: str, gamma: Gamma = None, degree: int = 3, coef0: float = 1.0) -> Kernel:
    """The kernel that scikit-learn knows by this name.

    Parameters
    ----------
    name : str
        "rbf", "linear", "poly" or "polynomial", "laplacian", "chi2", "cosine", "sigmoid" or "precomputed".
        "additive_chi2" is refused: it is not a kernel.
    gamma : float, "scale", "auto" or None
        The factor γ; "scale" is 1/(d·var(X)), "auto" and None are 1/d (for "chi2" None is 1).
    degree : int
        The degree of "poly".
    coef0 : float
        The constant of "poly" and "sigmoid".

    Examples
    --------
    >>> named("rbf", gamma=0.5)
    RBF()
    >>> named("poly", gamma="scale", degree=2)
    Polynomial(2, gamma='scale')
    """
    if name not in TABLE:
        raise InvalidParameter(f"{name!r} is not the name of a kernel.", f"Names are {', '.join(map(repr, TABLE))}.")
    return TABLE[name](Settings(gamma, degree, coef0))
