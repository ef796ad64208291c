"""Support vector machines as LIBSVM's model text."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer.errors import NotStorable
from mercer.io.exchange import Fitted, Target, fitted_model, write_to
from mercer.kernels import Linear, Polynomial, Precomputed, Sigmoid
from mercer.kernels.radial import RBF
from mercer.points.base import Points
from mercer.points.stored import Places
from mercer.points.table import Table
from mercer.points.vectors import Vectors

__all__ = ["MACHINES", "to_libsvm"]

# What a certificate calls a machine -> what LIBSVM does. A hard margin is a c_svc of an infinite C.
MACHINES = {
    "c-svc": "c_svc",
    "hulls": "c_svc",
    "nu-svc": "nu_svc",
    "epsilon-svr": "epsilon_svr",
    "nu-svr": "nu_svr",
    "one-class": "one_class",
}


def to_libsvm(estimator: Any, path: Target) -> None:
    """Write a support vector machine as a LIBSVM model file, which `svm-predict` and `svm_load_model` read.

    Parameters
    ----------
    estimator : fitted SVC, NuSVC, SVR, NuSVR or OneClassSVM
        Its kernel is one that LIBSVM has (linear, polynomial, RBF of one length scale, sigmoid) or precomputed; labels
        are integers. Probabilities are written where it has them.
    path : str, path or binary file
        A file at this path is replaced only when the new one is complete.

    Raises
    ------
    NotStorable
        If LIBSVM has no such kernel, machine or labels.

    Examples
    --------
    >>> import io
    >>> from mercer import SVC
    >>> file = io.BytesIO()
    >>> to_libsvm(SVC(kernel="linear").fit([[-1.0, -1.0], [1.0, 1.0]], [1, 2]), file)
    >>> print(file.getvalue().decode())
    svm_type c_svc
    kernel_type linear
    nr_class 2
    total_sv 2
    rho 0
    label 1 2
    nr_sv 1 1
    SV
    0.25 1:-1 2:-1
    -0.25 1:1 2:1
    <BLANKLINE>
    """
    write_to(path, "".join(f"{line}\n" for line in _lines(fitted_model(estimator))).encode())


def _lines(estimator: Fitted) -> Iterator[str]:
    model, machine = estimator.model_, estimator.certificate_.machine
    if machine not in MACHINES:
        raise NotStorable(
            f"{type(estimator).__name__} is no machine of LIBSVM.",
            "Its files hold SVC, NuSVC, SVR, NuSVR and OneClassSVM.",
            "mercer.to_onnx(model, path) writes other machines.",
        )
    kernel = _kernel_lines(model.kernel)
    rows = _rows(model.basis, model.kernel)
    # In LIBSVM a positive decision between two classes means the first, in mercer the second.
    sign = -1.0 if model.pairs is not None and model.pairs.k == 2 else 1.0
    yield f"svm_type {MACHINES[machine]}"
    yield from kernel
    yield f"nr_class {2 if model.pairs is None else model.pairs.k}"
    yield f"total_sv {len(model.basis)}"
    yield _numbers("rho", -sign * model.intercept)
    if model.pairs is not None:
        yield _numbers("label", _integers(model.classes))
        if model.pairs.slopes is not None:
            shifts = model.pairs.shifts
            yield _numbers("probA", -model.pairs.slopes)
            yield _numbers("probB", np.zeros_like(model.pairs.slopes) if shifts is None else -sign * shifts)
        yield _numbers("nr_sv", np.diff(model.pairs.starts))
    yield "SV"
    for own, row in zip((sign * model.coef).tolist(), rows, strict=True):
        yield " ".join([*map(_number, own), row])


def _number(value: float) -> str:
    return repr(float(value) + 0.0).removesuffix(".0")  # no more digits than give the same float64 back


def _numbers(name: str, values: Any) -> str:
    return " ".join([name, *map(_number, np.asarray(values).tolist())])


def _integers(classes: Any) -> npt.NDArray[np.int64]:
    labels = np.asarray(classes)
    if labels.dtype.kind not in "biuf" or (labels != np.floor(labels)).any() or np.abs(labels).max() >= 1 << 31:
        raise NotStorable(
            "The labels cannot be written for LIBSVM.",
            f"They are {', '.join(map(repr, labels[:4].tolist()))}{', …' if len(labels) > 4 else ''}.",
            "LIBSVM has integers of 32 bits: encode the labels before fit, or write with mercer.to_onnx(model, path).",
        )
    return labels.astype(np.int64)


# Kernels that LIBSVM has, and their lines.
KERNELS: dict[type, Callable[[Any], list[str]]] = {
    Linear: lambda _: ["kernel_type linear"],
    Polynomial: lambda k: [
        "kernel_type polynomial", f"degree {k.degree}", f"gamma {_number(k.gamma)}", f"coef0 {_number(k.offset)}"
    ],
    RBF: lambda k: ["kernel_type rbf", f"gamma {_number(0.5 / k.length_scale**2)}"],
    Sigmoid: lambda k: ["kernel_type sigmoid", f"gamma {_number(k.gamma)}", f"coef0 {_number(k.coef0)}"],
    Precomputed: lambda _: ["kernel_type precomputed"],
}  # fmt: skip


def _kernel_lines(kernel: Any) -> list[str]:
    if type(kernel) not in KERNELS or (isinstance(kernel, RBF) and not kernel.is_isotropic):
        raise NotStorable(
            f"{kernel!r} is no kernel of LIBSVM.",
            "It has linear, polynomial, RBF with one length scale, sigmoid, and precomputed values.",
            'Fit with kernel="precomputed" on kernel(X), or write with mercer.to_onnx(model, path).',
        )
    return KERNELS[type(kernel)](kernel)


def _rows(basis: Points, kernel: object) -> Iterator[str]:
    if isinstance(basis, Places):
        return (f"0:{row + 1}" for row in basis.rows.tolist())
    found = basis.vectors() if isinstance(basis, Table) else basis
    if not isinstance(found, Vectors):
        raise NotStorable(
            f"{kernel!r} of {basis!r} cannot be written for LIBSVM.", "Its support vectors are rows of numbers."
        )
    csr = found.csr if found.is_sparse else sp.csr_array(found.dense)
    cuts = pairwise(csr.indptr.tolist())
    return (_row(csr.indices[begin:end] + 1, csr.data[begin:end]) for begin, end in cuts)


def _row(indices: Any, values: Any) -> str:
    pairs = zip(indices.tolist(), values.tolist(), strict=True)
    return " ".join(f"{index}:{_number(value)}" for index, value in pairs if value)
