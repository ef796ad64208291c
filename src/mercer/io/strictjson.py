"""JSON in which nothing is ambiguous: no repeated keys, no NaN, no number beyond a float."""

import json
import math
from typing import Any

from mercer.errors import BadModelFile

__all__ = ["read_json", "write_json"]


def write_json(value: Any) -> str:
    """Plain ASCII without spaces.

    Examples
    --------
    >>> write_json({"a": [1, 2.5]})
    '{"a":[1,2.5]}'
    """
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def read_json(text: bytes | str, what: str) -> Any:
    """Read JSON, or raise `BadModelFile` with the reason.

    Examples
    --------
    >>> read_json('{"a": 1, "a": 2}', "The header")
    Traceback (most recent call last):
        ...
    mercer.errors.BadModelFile: The header is not JSON that a model file may hold.
      The key 'a' stands there twice.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        reason = "It is nested too deeply."
    except (ValueError, MemoryError) as error:
        reason = f"{str(error)[:200].rstrip('.')}."
    raise BadModelFile(f"{what} is not JSON that a model file may hold.", reason)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"The key {key[:40]!r} stands there twice")
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is beyond float64")
    return value
