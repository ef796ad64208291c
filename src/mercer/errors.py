"""The exceptions and warnings of mercer, and how a message is laid out.

Every message says what is wrong (naming the smallest wrong part), what was got, and what would work:

    NotPositive: (Linear() + 1) ** 2.5 cannot be derived as a kernel.
      Rule integer-power needs a non-negative integer exponent; got 2.5.
      Try ** 2 or ** 3.
"""

from typing import Any

import numpy as np

__all__ = [
    "BadModelFile",
    "DomainMismatch",
    "InvalidArgument",
    "InvalidInput",
    "InvalidParameter",
    "MercerError",
    "MercerWarning",
    "NoFiniteMap",
    "NotFinite",
    "NotPositive",
    "NotSeparable",
    "NotStorable",
    "NotWritten",
    "ParseError",
    "TooLarge",
    "UncertifiedWarning",
    "lay_out",
    "shown",
]


def lay_out(wrong: str, got: str = "", attempt: str = "") -> str:
    """Join the three parts of a message: one line each, the second and third indented."""
    return "\n  ".join(part for part in (wrong, got, attempt) if part)


def shown(value: object) -> str:
    """A value as messages show it: numbers of NumPy as plain numbers, and nothing longer than a line or two.

    Examples
    --------
    >>> import numpy as np
    >>> shown(np.int64(0)), shown([np.float64(0.5), "a"]), shown(10**400)
    ('0', "[0.5, 'a']", 'an integer of about 401 digits')
    """
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return f"an integer of about {int(value.bit_length() * 0.30103) + 1} digits"
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, list) and len(value) <= 20:
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict) and len(value) <= 20:
        return f"{{{', '.join(f'{shown(key)}: {shown(entry)}' for key, entry in value.items())}}}"
    text = repr(value)
    return text if len(text) <= 400 else f"{text[:400]}…"


class MercerError(Exception):
    """Base of every error that mercer raises on purpose.

    Parameters
    ----------
    wrong : str
        What is wrong, naming the smallest wrong part.
    got : str
        What was got, and the rule that refuses it.
    attempt : str
        What would work.
    """

    def __init__(self, wrong: str, got: str = "", attempt: str = "") -> None:
        super().__init__(lay_out(wrong, got, attempt))


class NotPositive(MercerError, ValueError):
    """Positivity cannot be derived (which is not a disproof), or a matrix is shown not to be positive."""


class InvalidParameter(MercerError, ValueError):
    """A parameter lies outside its domain."""


class InvalidArgument(InvalidParameter, TypeError):
    """A call has no such argument, or an operator no such operand."""


class InvalidInput(MercerError, ValueError):
    """The data does not fit the argument: NaN, wrong shape, wrong type, values outside a kernel's domain."""


class DomainMismatch(MercerError, TypeError, ValueError):
    """A kernel for one kind of points was given points of another kind."""


class NoFiniteMap(MercerError, ValueError):
    """The kernel has no finite explicit feature map, or one that is too large to build."""


class NotFinite(MercerError, ArithmeticError):
    """A kernel value overflowed or is not a number; the message names the row and the node.

    Attributes
    ----------
    row : int or None
        The first such row, where it is known.
    """

    def __init__(self, wrong: str, got: str = "", attempt: str = "", *, row: int | None = None) -> None:
        super().__init__(wrong, got, attempt)
        self.row = row


class NotSeparable(MercerError, ValueError):
    """No hard margin separates the data in feature space: two convex combinations of its points coincide there.

    Attributes
    ----------
    weights : tuple of two ndarrays of shape (n,)
        The combinations: weights ≥ 0 over the training rows that sum to one.
    classes : tuple
        The labels of the pair of classes that they belong to; for regression the mean targets of the two.
    distance : float
        The distance between the two points in feature space.
    """

    def __init__(
        self,
        wrong: str,
        got: str = "",
        attempt: str = "",
        *,
        weights: tuple[Any, ...] = (),
        classes: tuple[Any, ...] = (),
        distance: float = float("nan"),
    ) -> None:
        super().__init__(wrong, got, attempt)
        self.weights = weights
        self.classes = classes
        self.distance = distance


class BadModelFile(MercerError, ValueError):
    """A file is not a model file, or damaged, or made to do harm; nothing of it was used."""


class NotStorable(MercerError, TypeError):
    """A machine holds something that a model file cannot; the message names it."""


class NotWritten(MercerError, OSError):
    """A file could not be written; what was there before is unchanged. `errno` is the system's reason."""


class ParseError(MercerError, ValueError):
    """A text is not a kernel formula."""


class TooLarge(MercerError, MemoryError):
    """The request would not fit into memory; the message says how much it needs, how much there is, and what to do."""


class MercerWarning(UserWarning):
    """Base of mercer's warnings."""


class UncertifiedWarning(MercerWarning):
    """An answer that is not solved to its tolerance, or a kernel whose positivity is only assumed."""
