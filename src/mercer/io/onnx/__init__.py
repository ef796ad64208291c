"""Fitted machines as ONNX graphs, which run without Python and without mercer."""

import json

from mercer.io.exchange import Fitted, Target, fitted_model, write_to
from mercer.io.onnx.graph import Graph
from mercer.io.onnx.machines import write_machine
from mercer.io.onnx.points import first_seen

__all__ = ["to_onnx"]


def to_onnx(estimator: Fitted, path: Target) -> None:
    """Write a fitted machine as an ONNX file, for run times such as onnxruntime.

    The graph has one input, "X": float64 of shape (n, d), any number of rows. Of a table it takes the numeric columns
    in their order, which the metadata of the file name. Its outputs are, each where the machine has it:

    - "prediction", (n,) or (n, targets), of regressors;
    - "label", (n,), of classifiers, in the type of the labels, and of one-class machines, int64: 1 or −1;
    - "decision", as `decision_function` gives it;
    - "probabilities", (n, classes), as `predict_proba` gives them.

    Kernels on vectors can be written, with all that is built from them. What reads sets, texts, precomputed matrices or
    Python functions is refused by name. Everything is computed in float64.

    Parameters
    ----------
    estimator : a fitted machine of mercer
    path : str, path or binary file
        A file at this path is replaced only when the new one is complete.

    Raises
    ------
    NotStorable
        If a part cannot be written, which is named.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> import onnxruntime
    >>> from mercer import RBF, KernelRidge
    >>> model = KernelRidge(alpha=0.1, kernel=RBF()).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> file = io.BytesIO()
    >>> to_onnx(model, file)
    >>> session = onnxruntime.InferenceSession(file.getvalue())
    >>> (found,) = session.run(["prediction"], {"X": np.array([[0.5], [1.5]])})
    >>> bool(np.allclose(found, model.predict([[0.5], [1.5]]), rtol=1e-12))
    True
    """
    estimator = fitted_model(estimator)
    model = estimator.model_
    g = Graph()
    seen = first_seen(g, model.basis)
    write_machine(g, model, estimator.certificate_.machine, estimator.get_params(deep=False), seen)
    metadata = {"machine": estimator.certificate_.machine, "kernel": repr(model.kernel)}
    if seen.columns is not None:
        metadata["columns"] = json.dumps([name for name, place in seen.columns if place >= 0], ensure_ascii=False)
    made = g.model(metadata, f"{type(estimator).__name__}: f(x) = Σ α k(x, z) + b with k = {model.kernel!r}")
    write_to(path, made.SerializeToString())
