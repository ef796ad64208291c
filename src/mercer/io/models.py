"""The rows of a fitted machine: its model with all parts, its certificate, its kernel; their shapes must fit."""

from collections.abc import Callable
from dataclasses import MISSING, fields
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.errors import BadModelFile
from mercer.io.checks import check
from mercer.io.codec import Reader, Row, Writer, add_row, text
from mercer.io.formulas import read_formula, written_formula
from mercer.io.points import POINTS
from mercer.kernels.binding import Binding
from mercer.kernels.featuremap import FeatureMap
from mercer.kernels.features import beginning, learnt_again
from mercer.kernels.kernel import Distance, Kernel
from mercer.kernels.windows import Window
from mercer.models.model import Model
from mercer.models.pairs import Pairs
from mercer.models.smoothing import Mean, Shares, Smoothing
from mercer.models.uncertainty import Uncertainty
from mercer.models.votes import WEIGHTS, Votes
from mercer.problems.certificate import Certificate, Status
from mercer.problems.solution import ErrorBound

__all__ = ["check_model"]

# What a number of a certificate may be: those of NumPy as well.
NUMBERS: dict[Any, type] = {int: Integral, float: Real}


def _take_formula(value: Kernel | Distance, writer: Writer, path: str) -> Any:
    written = written_formula(value, writer.functions)
    if not written.functions and not written.values:
        return written.text
    values = {
        name: writer.array(part, f"{path}.{name}", is_value=True)
        if isinstance(part, np.ndarray)
        else writer.value(part, f"{path}.{name}")
        for name, part in written.values.items()
    }
    return [written.text, list(written.functions), values]


def _make_formula(stored: Any, reader: Reader) -> Kernel | Distance:
    if isinstance(stored, str):
        return read_formula(stored, {})
    formula, functions, values = stored
    names = {text(name): reader.functions.find(name) for name in functions}
    names |= {
        name: reader.array(part) if isinstance(part, str) else reader.value(part) for name, part in values.items()
    }
    return read_formula(text(formula), names)


def _is_array(value: Any, shape: tuple[int, ...], kind: str = "f") -> bool:
    """Whether this is an array of float64 (or another kind of dtype) of a shape, in which −1 is any size."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != kind or value.ndim != len(shape):
        return False
    return all(want in (-1, got) for want, got in zip(shape, value.shape, strict=True))


def _is_finite(value: Any, shape: tuple[int, ...]) -> bool:
    return _is_array(value, shape) and value.dtype == np.float64 and bool(np.isfinite(value).all())


def record(kind: type, skip: tuple[str, ...] = (), validate: Callable[[Any], bool] = lambda value: True) -> Row:
    """The row of a dataclass: its fields, without those that are made again when they are needed."""
    names = tuple(field.name for field in fields(kind) if field.name not in skip)

    def take(value: Any, writer: Writer, path: str) -> Any:
        return {name: writer.value(getattr(value, name), f"{path}.{name}") for name in names}

    def make(stored: Any, reader: Reader) -> Any:
        # A part that a later version added has its default in older files.
        known = stored if isinstance(stored, dict) else {}
        absent = {f.name for f in fields(kind) if f.name not in known and f.default is not MISSING}
        present = tuple(name for name in names if name not in absent)
        made = kind(**dict(zip(present, reader.parts(stored, present), strict=True)))
        check(validate(made), f"a {kind.__name__} whose parts do not fit")
        return made

    return Row(kind.__name__, kind, take, make)


def _pairs_fit(pairs: Pairs) -> bool:
    starts = pairs.starts
    if not _is_array(starts, (-1,), "i") or len(starts) < 3:
        return False
    ordered = starts[0] == 0 and bool((np.diff(starts) >= 0).all())
    count = (pairs.k * (pairs.k - 1) // 2,)
    with_slopes = pairs.slopes is None or _is_finite(pairs.slopes, count)
    return (
        ordered
        and with_slopes
        and (pairs.shifts is None or (pairs.slopes is not None and _is_finite(pairs.shifts, count)))
    )


def _uncertainty_fits(known: Uncertainty) -> bool:
    shape = getattr(known.targets, "shape", ())
    cost: Any = known.cost
    good = len(shape) == 2 and _is_finite(known.targets, shape) and _is_array(cost, shape) and not (cost < 0.0).any()
    error = known.error
    bounds = () if error is None else (error.norm, error.mean, error.moved)
    return good and not np.isnan(cost).any() and all(_is_array(bound, shape[1:]) for bound in bounds)


def _votes_fit(votes: Any) -> bool:
    known = votes.weights in WEIGHTS if isinstance(votes.weights, str) else callable(votes.weights)
    counts = isinstance(votes.n_classes, tuple) and all(type(n) is int and n > 0 for n in votes.n_classes)
    return known and counts and type(votes.n_neighbors) is int and votes.n_neighbors > 0


def _smoothing_fits(smoothing: Smoothing) -> bool:
    if not _is_finite(smoothing.values, (-1, -1)):
        return False
    n, p = smoothing.values.shape
    ratio = smoothing.ratio
    if isinstance(ratio, Mean):
        good = all(_is_finite(part, (p,)) for part in (ratio.offset, ratio.scale, ratio.lowest, ratio.highest))
    else:
        good = isinstance(ratio, Shares)
    good = good and (smoothing.distance is None or isinstance(smoothing.distance, Distance))
    return good and _is_finite(smoothing.weight, (n,)) and bool((smoothing.weight >= 0.0).all())


def check_model(model: Model) -> bool:
    """Whether the parts of a model fit each other, so that nothing is read beyond its end."""
    kinds = (Pairs, Uncertainty, Votes, Smoothing)
    parts = (model.pairs, model.uncertainty, model.votes, model.smoothing)
    good = all(part is None or isinstance(part, kind) for part, kind in zip(parts, kinds, strict=True))
    good = good and isinstance(model.basis, POINTS) and isinstance(model.kernel, Kernel | Window)
    m = len(model.basis) if good else 0
    if not good or not _is_finite(model.coef, (m, -1)) or not _is_finite(model.intercept, (-1,)):
        return False
    t = model.coef.shape[1]
    if model.dtype not in (np.float32, np.float64) or t < 1:
        return False
    layout = _pairs_match(model) if model.pairs is not None else len(model.intercept) == t
    return layout and _labels_match(model) and _tasks_match(model, m, t) and _weights_match(model)


def _pairs_match(model: Model) -> bool:
    pairs = model.pairs
    assert pairs is not None
    k = pairs.k
    wide = model.coef.shape[1] == k - 1 and len(model.intercept) == k * (k - 1) // 2
    return wide and int(pairs.starts[-1]) == len(model.basis) and len(model.classes) == k


def _labels_match(model: Model) -> bool:
    classes, votes, t = model.classes, model.votes, model.coef.shape[1]
    if votes is not None:
        found = () if classes is None else tuple(classes) if isinstance(classes, list) else (classes,)
        one_each = all(isinstance(of, np.ndarray) and of.ndim == 1 for of in found)
        return one_each and tuple(map(len, found)) == votes.n_classes and len(found) in (0, t)
    if classes is None:
        return model.pairs is None
    known = isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 0
    return known and (model.pairs is not None or len(classes) == t or (t == 1 and len(classes) == 2))


def _tasks_match(model: Model, m: int, t: int) -> bool:
    votes, smoothing, uncertainty = model.votes, model.smoothing, model.uncertainty
    if votes is not None and votes.n_classes:
        codes: npt.NDArray[Any] = model.coef
        whole = bool((codes == np.floor(codes)).all() and (codes >= 0).all() and (codes < votes.n_classes).all())
        if not whole:
            return False
    if smoothing is not None:
        n, p = smoothing.values.shape
        if n != m or t != p + isinstance(smoothing.ratio, Mean):
            return False
    return uncertainty is None or uncertainty.targets.shape == (m, t)


def _weights_match(model: Model) -> bool:
    if model.weights is None:
        return True
    if not _is_finite(model.weights, (-1, model.coef.shape[1])):
        return False
    return model.features is not None and len(model.weights) == model.features.n_features


def _certificate_fits(found: Any) -> bool:
    good = all(isinstance(getattr(found, part.name), NUMBERS.get(part.type, object)) for part in fields(Certificate))
    good = good and isinstance(found.status, Status) and isinstance(found.trace, tuple)
    texts = (found.machine, found.solver, found.note)
    return (
        good
        and isinstance(found.assumptions, tuple)
        and all(isinstance(part, str) for part in texts)
        and all(isinstance(step, Real) for step in found.trace)
    )


def _take_features(value: FeatureMap, writer: Writer, path: str) -> Any:
    kernel, mapped, error_bound, _ = value.learnt
    parts = {"kernel": kernel, "mapped": mapped, "error_bound": error_bound, "points": beginning(value)}
    return {name: writer.value(part, f"{path}.{name}") for name, part in parts.items()}


def _make_features(stored: Any, reader: Reader) -> FeatureMap:
    kernel, mapped, error_bound, points = reader.parts(stored, ("kernel", "mapped", "error_bound", "points"))
    known = isinstance(kernel, Kernel) and isinstance(mapped, Kernel) and isinstance(points, POINTS)
    check(known and type(error_bound) is float and error_bound >= 0.0, "a feature map whose parts do not fit")
    return learnt_again(kernel, mapped, error_bound, points)


def _take_binding(value: Binding, writer: Writer, path: str) -> Any:
    return {name: writer.value(getattr(value, name), f"{path}.{name}") for name in ("kernel", "basis")}


def _make_binding(stored: Any, reader: Reader) -> Binding:
    kernel, basis = reader.parts(stored, ("kernel", "basis"))
    check(isinstance(kernel, Kernel) and isinstance(basis, POINTS), "a kernel that is bound to no points")
    return Binding(kernel, basis, np.dtype(np.float64))


def _make_status(stored: Any, _reader: Reader) -> Status:
    if text(stored) not in Status.__members__:
        raise BadModelFile(f"The model file names a status that there is not: {stored[:60]!r}.")
    return Status[stored]


for row in (
    Row("formula", Kernel, _take_formula, _make_formula, is_family=True),
    Row("formula", Distance, _take_formula, _make_formula, is_family=True),
    Row("status", Status, lambda value, writer, path: value.name, _make_status),
    Row("features", FeatureMap, _take_features, _make_features),
    Row("binding", Binding, _take_binding, _make_binding),
    record(Window),
    record(Model, validate=check_model),
    record(Pairs, validate=_pairs_fit),
    record(Uncertainty, skip=("factors", "_known"), validate=_uncertainty_fits),
    record(ErrorBound),
    record(Votes, validate=_votes_fit),
    record(Mean),
    record(Shares),
    record(Smoothing, validate=_smoothing_fits),
    record(Certificate, validate=_certificate_fits),
):
    add_row(row)
