"""How a command ends: the table of exit codes, and which error is which."""

from enum import IntEnum

from mercer.errors import (
    InvalidParameter,
    MercerError,
    NotPositive,
    NotSeparable,
    NotWritten,
    ParseError,
    TooLarge,
)

__all__ = ["BadData", "CannotWrite", "Exit", "WrongUse", "code_of"]


class Exit(IntEnum):
    """The exit codes, each with the sentence that `mercer --help` shows."""

    FINE = 0, "done"
    NO = 1, "the answer is no: not positive, refuted, not certified, or the doctor found a problem"
    WRONG_USE = 2, "wrong use: an unknown option, column, machine or formula"
    BAD_DATA = 3, "bad data, or a file that is not a model"
    CANNOT = 4, "this computer cannot: no room on the disk, no permission, not enough memory"
    BUG = 70, "an error inside mercer; --debug shows where"
    INTERRUPTED = 130, "Ctrl-C; what was reached by then is kept, and said"
    PIPE_CLOSED = 141, "whoever read the output stopped reading"

    sentence: str

    def __new__(cls, code: int, sentence: str = "") -> "Exit":
        """An integer with its sentence."""
        made = int.__new__(cls, code)
        made._value_ = code
        made.sentence = sentence
        return made


class WrongUse(MercerError):
    """What was typed cannot be meant."""


class BadData(MercerError):
    """A file cannot be read as what it should be."""


class CannotWrite(MercerError):
    """A file cannot be written."""


# The first row that fits decides.
CODES: tuple[tuple[type[BaseException], Exit], ...] = (
    (WrongUse, Exit.WRONG_USE),
    (BadData, Exit.BAD_DATA),
    (CannotWrite, Exit.CANNOT),
    (NotWritten, Exit.CANNOT),
    (NotPositive, Exit.NO),
    (NotSeparable, Exit.NO),
    (ParseError, Exit.WRONG_USE),
    (InvalidParameter, Exit.WRONG_USE),
    (TooLarge, Exit.CANNOT),
    (MercerError, Exit.BAD_DATA),
    (MemoryError, Exit.CANNOT),
    (OSError, Exit.CANNOT),
    (KeyboardInterrupt, Exit.INTERRUPTED),
)


def code_of(error: BaseException) -> Exit:
    """The exit code of an error."""
    return next((code for kind, code in CODES if isinstance(error, kind)), Exit.BUG)
