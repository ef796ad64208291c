"""Checks of a fitted estimator: what it predicts, its certificate, and what a search chose."""

from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, Protocol, cast

import numpy as np

from mercer.doctor.case import Case
from mercer.doctor.check import Seen
from mercer.kernels.kernel import Kernel
from mercer.models.model import Model
from mercer.problems.certificate import Certificate

__all__ = ["at_the_edge", "kernel_of", "machine_of", "seen_by_machine", "uncertified", "worse_than_constant"]


class _Predictor(Protocol):
    def predict(self, X: Any) -> Any:
        """Targets for new points."""


def machine_of(estimator: Any) -> Any:
    """The machine itself: the last step of a pipeline, the best estimator of a search."""
    for name in ("best_estimator_", "steps"):
        inner = getattr(estimator, name, None)
        if inner is not None:
            return machine_of(inner[-1][1] if name == "steps" else inner)
    return estimator


def seen_by_machine(estimator: Any, X: Any) -> Any:
    """X as the last step of a pipeline gets it."""
    searched = getattr(estimator, "best_estimator_", estimator)
    steps = getattr(searched, "steps", None)
    return X if steps is None or len(steps) < 2 else searched[:-1].transform(X)


def kernel_of(estimator: Any) -> Kernel | None:
    """The kernel that a machine of mercer was fitted with."""
    model = getattr(machine_of(estimator), "model_", None)
    return model.kernel if isinstance(model, Model) and isinstance(model.kernel, Kernel) else None


def worse_than_constant(case: Case, limit: float) -> Iterator[Seen]:
    """Predictions that are no better than the same answer for all rows."""
    target = case.target
    assert target is not None
    known = np.flatnonzero(target.known)
    if len(known) < 2 or target.is_constant:
        return
    predicted = np.asarray(cast(_Predictor, case.fitted).predict(case.X))
    given = np.asarray(case.y)
    if target.is_classes:
        score = float((predicted[known] == given.reshape(len(given))[known]).mean())
        base = float(target.counts.max() / target.counts.sum())
        said = f"it is right for {score:.1%} of these rows, the most frequent label for {base:.1%}"
        excess = score - base
    else:
        left = np.square(predicted.reshape(len(predicted), -1)[known] - target.values[known]).sum()
        spread = np.square(target.values[known] - target.values[known].mean(axis=0)).sum()
        excess = 1.0 - float(left / spread)
        said = f"its squared error on these rows is {float(left / spread):.3g} times that of their mean"
    if excess <= limit:
        yield Seen(f"{type(machine_of(case.fitted)).__name__} is no better than a constant: {said}.", {"gain": excess})


def uncertified(case: Case, limit: float) -> Iterator[Seen]:  # noqa: ARG001 (it is certified or not)
    """A fit that did not reach what was asked for."""
    certificate = getattr(machine_of(case.fitted), "certificate_", None)
    if isinstance(certificate, Certificate) and not certificate.is_certified:
        yield Seen(f"{certificate.heading}", {"relative gap": certificate.relative_gap})


def at_the_edge(case: Case, limit: float) -> Iterator[Seen]:
    """A parameter whose best value is the smallest or the largest that was tried."""
    for name, best, tried in _choices(case.fitted):
        if not len(tried) > limit or not np.min(tried) <= best <= np.max(tried):
            continue
        edges = [word for word, end in (("smallest", np.min(tried)), ("largest", np.max(tried))) if best == end]
        for edge in edges:
            beyond = "below" if edge == "smallest" else "above"
            yield Seen(
                f"{name} = {best:.4g} is the {edge} of the {len(tried)} values that were tried.",
                {name: best},
                remedy=f"Try values {beyond} {best:.4g} too: the best one may lie there.",
            )


def _choices(estimator: Any) -> Iterator[tuple[str, float, Sequence[float]]]:
    """What was chosen, and from which numbers: by a search over a grid, or by a machine over its penalties."""
    best = getattr(estimator, "best_params_", None)
    results = getattr(estimator, "cv_results_", None)
    if isinstance(best, Mapping) and isinstance(results, Mapping):
        for name, value in best.items():
            tried = sorted({given for params in results.get("params", ()) if _is_number(given := params.get(name))})
            if _is_number(value):
                yield name, float(value), tried
    machine = machine_of(estimator)
    alphas, chosen = getattr(machine, "alphas", None), getattr(machine, "alpha_", None)
    if alphas is not None and chosen is not None:
        for alpha in np.unique(np.asarray(chosen, dtype=np.float64)):
            yield "alpha", float(alpha), np.unique(np.asarray(alphas, dtype=np.float64)).tolist()


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
