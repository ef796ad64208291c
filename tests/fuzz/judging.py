"""What rounding may excuse, and what a certificate may not."""

from typing import Any

import numpy as np

from mercer import MercerError, NotFinite
from tests.fuzz.case import Case, certificate
from tests.fuzz.draw import as_given, new_rows, typical_distance
from tests.fuzz.formulas import any_formula
from tests.oracles.objectives import Objectives
from tests.tolerances import TREE

Extended = np.longdouble
# Of a kernel value in float64, relative to √(k(x, x) k(z, z)): where nothing cancels, and on unscaled rows.
ROUNDING = 1e-13
CANCELLED = TREE
# What a certificate's own numbers may miss.
AGREEMENT = 1e-6
# How far beyond what it promises a certified answer may be.
PATIENCE = 10.0


def posed(rng: np.random.Generator, X: Any, *, may_store: bool = True) -> dict[str, Any]:
    """The part of a `Case` that is about the kernel: its parameters, the rows as they are given, and the matrices."""
    formula = any_formula(rng, typical_distance(X))
    Z = new_rows(rng, X)
    K, K_new = (formula.matrix(left.astype(Extended), X.astype(Extended)) for left in (X, Z))
    if may_store and rng.random() < 0.1:
        K, K_new = K.astype(float), K_new.astype(float)
        precomputed = {"parameters": {"kernel": "precomputed"}, "X": K, "new": K_new}
        facts = {"missed": np.zeros_like(K)}
        return {**precomputed, "K": K.astype(Extended), "K_new": K_new.astype(Extended), "facts": facts}
    given, new = as_given(rng, X, Z)
    missed = {"missed": np.abs(formula.node(X) - K)}
    return {"parameters": formula.parameters, "X": given, "new": new, "K": K, "K_new": K_new, "facts": missed}


def doubt(case: Case, a: Any, rows: Any = None) -> Any:
    """How far f = K a can be from what float64 makes of it, row by row: by what mercer's own matrix misses.

    Whether that is right is asked by the machine "kernel".
    """
    rows = np.arange(len(case.K)) if rows is None else rows
    part = np.ix_(rows, rows)
    size = np.sqrt(np.maximum(np.diagonal(case.K)[rows], 0))
    return (case.facts["missed"][part] + ROUNDING * size[:, None] * size) @ np.abs(a)


def doubt_of_new(K: Any, a: Any) -> Any:
    """The same at new rows, whose k(x, x) is not known."""
    size = np.sqrt(np.maximum(np.diagonal(K), 0))
    return CANCELLED * size.max() * (size @ np.abs(a))


def refused_at_all(case: Case, error: MercerError) -> list[str]:
    """An ordinary problem has an answer, unless its kernel values leave float64."""
    largest = float(np.abs(case.K).max(initial=0))
    if isinstance(error, NotFinite) and not largest < 1e150:
        return []
    return [f"refused: {type(error).__name__}: {str(error).splitlines()[0][:160]}"]


def judged(model: Any, seen: Objectives, floor: float, promise: float, astray: float = AGREEMENT) -> list[str]:
    """Complaints about a certificate, against objectives that were found without it.

    Parameters
    ----------
    model : Any
        The fitted machine.
    seen : Objectives
        Of its published coefficients.
    floor : float
        What rounding of the kernel may change in them.
    promise : float
        The relative gap up to which it calls an answer certified.
    astray : float
        How far its coefficients may be from being feasible.
    """
    said = certificate(model)
    numbers = (seen.primal, seen.dual, said.primal, said.dual, said.gap)
    if not np.isfinite(numbers).all():
        return [f"certified, with {said}"] if said.is_certified else []
    complaints = []
    slack = floor + 1e-15 * seen.scale
    if said.is_certified and seen.gap > PATIENCE * promise * seen.scale + slack:
        complaints.append(f"certified, but the gap is {seen.gap:.3g} of {seen.scale:.3g}: {said.sentence}")
    # Nothing is known of the solver's own dual point, where it is far from the coefficients.
    if seen.moved <= AGREEMENT and seen.gap > PATIENCE * max(said.gap, 0.0) + AGREEMENT * seen.scale + slack:
        complaints.append(f"says that the gap is {said.gap:.3g}; it is {seen.gap:.3g} of {seen.scale:.3g}")
    if abs(said.primal - seen.primal) > AGREEMENT * seen.scale + slack:
        complaints.append(f"says that the primal is {said.primal:.9g}; it is {seen.primal:.9g}")
    if said.is_certified and seen.moved > astray and seen.scale > slack:
        complaints.append(f"certified, but misses its constraints by {seen.moved:.3g} of its size")
    return complaints


def predicts(found: Any, expected: Any, allowed: Any) -> list[str]:
    """Complaints about predictions that are not those of the published coefficients."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    if found.shape != expected.shape:
        return [f"predictions have the shape {found.shape}, not {expected.shape}"]
    missed = np.abs(found - expected)
    bound = np.asarray(allowed, dtype=float) + 1e-10 * np.abs(expected).max(initial=0.0)
    if not np.all(missed <= bound):
        return [f"a prediction is off by {missed.max():.3g}, where rounding explains {np.max(bound):.3g}"]
    return []
