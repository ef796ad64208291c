"""What the writers of foreign formats take and where they write."""

import os
from typing import Any, BinaryIO, Protocol, cast

from mercer.errors import InvalidInput
from mercer.io.atomic import write_atomically
from mercer.models.model import Model
from mercer.problems.certificate import Certificate

__all__ = ["Fitted", "Target", "fitted_model", "write_to"]

Target = str | os.PathLike[str] | BinaryIO


class Fitted(Protocol):
    """An estimator after fit."""

    model_: Model
    certificate_: Certificate

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Its parameters."""


def fitted_model(estimator: Any) -> Fitted:
    """The estimator, if it is a fitted machine of mercer."""
    if not isinstance(vars(estimator).get("model_") if type(estimator).__module__ != "builtins" else None, Model):
        raise InvalidInput(
            "Only a fitted machine of mercer can be written.",
            f"This {type(estimator).__name__} has no model_.",
            "Call fit first; of a pipeline, pass its last step.",
        )
    return cast(Fitted, estimator)


def write_to(target: Target, data: bytes) -> None:
    """Write a file, which replaces the one at this path only when it is complete; or to an open file."""
    if isinstance(target, str | os.PathLike):
        write_atomically(target, [data])
    else:
        target.write(data)
