"""The fitted machine inside an estimator: alone, at the end of a pipeline, or the best of a search."""

from typing import Any, NamedTuple

from mercer.errors import InvalidInput
from mercer.models.model import Model

__all__ = ["Inside", "inside"]


class Inside(NamedTuple):
    """What is inside an estimator.

    Attributes
    ----------
    whole : estimator
        What was given, or the best estimator of a search: it predicts from X as the user has it.
    last : estimator
        The machine itself.
    before : estimator or None
        The other steps of a pipeline.
    """

    whole: Any
    last: Any
    before: Any


def inside(estimator: Any, use: str) -> Inside:
    """The machine inside an estimator; `use` is a sentence of the error that says what needs it.

    Raises
    ------
    InvalidInput
        If it is not fitted, or not one of mercer's.
    """
    whole = _own(estimator).get("best_estimator_", estimator)
    steps = _own(whole).get("steps")
    last = whole if steps is None else steps[-1][1]
    last = _own(last).get("best_estimator_", last)
    if not isinstance(_own(last).get("model_"), Model):
        name = type(last).__name__
        is_ours = type(last).__module__.startswith("mercer.")
        raise InvalidInput(
            f"This {name} is not fitted yet." if is_ours else f"{name} is not a kernel machine of mercer.",
            use,
            "Call fit first." if is_ours else "Pass an estimator of mercer, or a pipeline that ends in one.",
        )
    return Inside(whole, last, whole[:-1] if steps is not None and len(steps) > 1 else None)


def _own(estimator: Any) -> dict[str, Any]:
    """What an object holds itself; nothing of a class, which is not fitted."""
    return {} if isinstance(estimator, type) else getattr(estimator, "__dict__", {})
