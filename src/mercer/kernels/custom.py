"""Kernels whose positivity is claimed, not derived; the claim is shown in every proof."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

from mercer.domains import Choice, FiniteReal, Function, GammaOrRule, Text
from mercer.errors import InvalidParameter
from mercer.kernels.inner import GAMMA_RULES
from mercer.kernels.kernel import Kernel
from mercer.kernels.rules import ASSUMED, Rule
from mercer.kernels.tape import Register, Tape
from mercer.mathml import subscript
from mercer.notation import Notation, Raw
from mercer.points.base import Points
from mercer.term import REQUIRED, param

__all__ = ["Custom", "Precomputed", "Sigmoid"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Custom(Kernel):
    """Any Python function of two points, with the reason why it should be a kernel.

    k(x, z) = fn(x, z). Positive because of what `because` says: nothing is derived (rule assumed).

    Parameters
    ----------
    fn : callable
        With form "pair", a function of two points that returns a number; with "matrix", a function of two collections
        that returns the matrix of all pairs.
    because : str
        The claim, shown in every proof.
    form : {"pair", "matrix"}, default "pair"
        How `fn` is called.

    Examples
    --------
    >>> def same_length(x, z):
    ...     return float(len(x) == len(z))
    >>> Custom(same_length, because="delta of the length").proof().assumptions
    ("Custom(same_length, 'delta of the length'): because delta of the length",)
    """

    rule: ClassVar[Rule] = ASSUMED
    notation: ClassVar[Notation] = Notation(
        text="{fn}({x}, {z})", latex="{fn}({x}, {z})", condition="because {reason}",
        condition_latex=r"\text{{because {reason}}}",
    )  # fmt: skip
    fn: Callable[..., Any] = param(REQUIRED, Function)
    because: str = param(REQUIRED, Text)
    form: str = param("pair", Choice(("pair", "matrix")))

    def slot(self, name: str) -> Any:
        """The fields, and the reason without quotation marks."""
        return Raw(self.because, self.because) if name == "reason" else getattr(self, name)

    def lower(self, tape: Tape) -> Register:
        """The function's values."""
        return tape.callback(self.fn, self.form)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Precomputed(Kernel):
    """A matrix that was computed elsewhere: X is the Gram matrix itself, or its rows for new points.

    k(xᵢ, xⱼ) = X[i, j]. Positive because the user says so: nothing is derived (rule assumed).

    Examples
    --------
    >>> Precomputed().proof().is_derived
    False
    """

    rule: ClassVar[Rule] = ASSUMED
    notation: ClassVar[Notation] = Notation(
        text="K[{x}, {z}]", latex="K_{{{x}, {z}}}", mathml=subscript("K", "{x}, {z}"),
        condition="because the matrix is given",
        condition_latex=r"\text{{because the matrix is given}}",
    )  # fmt: skip

    def lower(self, tape: Tape) -> Register:
        """The stored entries."""
        return tape.value("stored")


@final
@dataclass(frozen=True, repr=False, eq=False)
class Sigmoid(Kernel):
    """The hyperbolic tangent of the inner product, which is not a kernel in general.

    k(x, z) = tanh(γ⟨x, z⟩ + c). Positive because the user says so: for most γ and c it is indefinite, and nothing is
    derived (rule assumed). Offered because LIBSVM and scikit-learn offer it.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default 1.0
        The factor γ > 0.
    coef0 : float, default 0.0
        The constant c.

    Examples
    --------
    >>> Sigmoid(0.5).proof().is_derived
    False
    """

    rule: ClassVar[Rule] = ASSUMED
    notation: ClassVar[Notation] = Notation(
        text="tanh({gamma}·⟨{x}, {z}⟩ + {coef0})",
        latex=r"\tanh\left({gamma} \, \langle {x}, {z} \rangle + {coef0}\right)",
        condition="because it was asked for by name; tanh is indefinite in general",
        condition_latex=r"\text{{indefinite in general}}",
    )  # fmt: skip
    gamma: float | str = param(1.0, GammaOrRule)
    coef0: float = param(0.0, FiniteReal)

    def waits(self) -> bool:
        """Whether γ is a rule."""
        return isinstance(self.gamma, str)

    def resolved_here(self, points: Points) -> Self:
        """γ found on the points."""
        return self.replace(gamma=GAMMA_RULES[self.gamma](points, self)) if isinstance(self.gamma, str) else self

    def lower(self, tape: Tape) -> Register:
        """tanh(γ⟨x, z⟩ + c)."""
        if isinstance(self.gamma, str):
            raise InvalidParameter(
                f"{self!r} is not resolved yet.", f"Its gamma is the rule {self.gamma!r}.",
                "Call kernel.resolve(X) first.",
            )  # fmt: skip
        return tape.tanh(tape.affine(tape.inner(), self.gamma, self.coef0))
