"""One random problem, what becomes of it, and the script that shows it alone."""

import linecache
import pprint
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mercer import MercerError, UncertifiedWarning

Extended = np.longdouble
# Never a message to a user, whoever raised them.
RAW = (np.linalg.LinAlgError, ArithmeticError, LookupError, AttributeError, AssertionError, RuntimeError)


class Certificate(NamedTuple):
    """What a fitted machine publishes of its answer."""

    is_certified: bool
    sentence: str
    primal: float
    dual: float
    gap: float
    relative_gap: float


def has_certificate(model: Any) -> bool:
    """Whether a fitted machine publishes one."""
    return "certificate_" in vars(model)


def certificate(model: Any) -> Certificate:
    """Read it from a fitted machine. Only these two functions know the names of its attributes."""
    found = model.certificate_
    return Certificate(
        found.status.is_certified, found.status.value, found.primal, found.dual, found.gap, found.relative_gap
    )


@dataclass(frozen=True)
class Case:
    """A problem for one machine.

    Attributes
    ----------
    estimator : type
        The class.
    parameters : dict
        What it is made with.
    X, y, weight, new : Any
        As they are given to `fit` and `predict`; y and weight may be None.
    K, K_new : ndarray
        The matrices of the rows, and of new rows with them, in extended precision.
    facts : dict
        What else the machine's check needs.
    """

    estimator: type
    parameters: dict[str, Any]
    X: Any
    y: Any = None
    weight: Any = None
    new: Any = None
    K: Any = None
    K_new: Any = None
    facts: dict[str, Any] = field(default_factory=dict)

    def fitted(self) -> Any:
        """The machine, fitted."""
        has_targets = self.y is not None or self.facts.get("where") == "y"
        given = (self.y,) if has_targets else ()
        weighted = {} if self.weight is None else {"sample_weight": self.weight}
        return self.estimator(**self.parameters).fit(self.X, *given, **weighted)

    def script(self, name: str, seed: int, number: int) -> str:
        """A program that fits it, with the data written out where they can be."""
        if "where" in self.facts:
            return "\n".join(
                [
                    "from tests.fuzz.machines import drawn",
                    "",
                    f"case = drawn({name!r}, {seed}, {number})",
                    "print(case)",
                    "print(case.fitted().predict(case.new))",
                    "",
                ]
            )
        given = "X" + ("" if self.y is None else ", y") + ("" if self.weight is None else ", sample_weight=w")
        options = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        named = {"X": self.X, "y": self.y, "w": self.weight, "new": self.new}
        return "\n".join(
            [
                "import numpy as np",
                "import scipy.sparse as sp",
                "from numpy import array, inf, nan",
                "from mercer import *",
                "",
                *(f"{name} = {written(value)}" for name, value in named.items() if value is not None),
                f"model = {self.estimator.__name__}({options}).fit({given})",
                'print(vars(model).get("certificate_", model))',
                "",
            ]
        )


def written(value: Any) -> str:
    """An expression for an array, a sparse matrix or anything else."""
    if sp.issparse(value):
        parts = (getattr(value, name, None) for name in ("data", "indices", "indptr"))
        if value.format in ("csr", "csc"):
            data, indices, starts = map(written, parts)
            return f"sp.{value.format}_matrix(({data}, {indices}, {starts}), shape={value.shape})"
        return f"sp.{value.format}_matrix({written(value.toarray())})"
    if isinstance(value, np.ndarray):
        return f"np.array({pprint.pformat(value.tolist(), width=118, compact=True)}, dtype={str(value.dtype)!r})"
    return repr(value)


class Outcome(NamedTuple):
    """How a case ended: a word for the summary, and what is wrong (nothing, or the complaints)."""

    word: str
    complaints: tuple[str, ...] = ()


Check = Callable[[Case, Any], list[str]]
Refusal = Callable[[Case, MercerError], list[str]]


def outcome(case: Case, check: Check, refused: Refusal) -> Outcome:
    """Fit, and judge what comes: an answer, or an error."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model = case.fitted()
        except MercerError as error:
            return Outcome("refused", tuple(refused(case, error)))
        except Exception as error:
            if is_deliberate(error):
                return Outcome("refused", tuple(refused(case, error)))  # type: ignore[arg-type]
            return Outcome("raw", (described(error),))
        try:
            complaints = check(case, model)
        except Exception as error:
            return Outcome("raw", (f"after fit: {described(error)}",))
    word = "fitted"
    if has_certificate(model):
        found = certificate(model)
        word = "certified" if found.is_certified else "uncertified"
        if not found.is_certified and not any(issubclass(one.category, UncertifiedWarning) for one in said):
            complaints.append("uncertified, without a warning")
    return Outcome(word, tuple(complaints))


def is_deliberate(error: BaseException) -> bool:
    """Whether it is mercer's, or a ValueError or TypeError that mercer or scikit-learn raise by themselves."""
    if isinstance(error, MercerError):
        return True
    if isinstance(error, RAW) or not isinstance(error, ValueError | TypeError):
        return False
    last = traceback.extract_tb(error.__traceback__)[-1]
    room = Path(last.filename).parts
    if "sklearn" in room:
        return True
    line = linecache.getline(last.filename, last.lineno or 0).strip()
    return "mercer" in room and line.startswith("raise")


def described(error: BaseException) -> str:
    """Its type, first line and place."""
    text = (str(error).splitlines() or [""])[0]
    places = [frame for frame in traceback.extract_tb(error.__traceback__) if "/mercer/" in frame.filename]
    at = f" at {Path(places[-1].filename).name}:{places[-1].lineno}" if places else ""
    return f"{type(error).__name__}: {text[:160]}{at}"
