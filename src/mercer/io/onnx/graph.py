"""A graph of ONNX operators being written: equal steps are written once, numbers become constants."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import TooLarge

__all__ = ["Graph", "Operand", "column_sum", "refuse_too_large", "rows_of"]

Operand = str | float | np.integer[Any] | npt.NDArray[Any]

# Operators are those of this version: old enough for run times in use, new enough that all reductions look alike.
OPSET = 18
IR_VERSION = 8
# A file in Google's protocol buffers ends here.
LARGEST = (1 << 31) - (1 << 20)


@final
@dataclass(frozen=True)
class _Step:
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[tuple[str, Any], ...]


@final
class Graph:
    """Operators in the order in which they are run.

    Parameters
    ----------
    prefix : str
        What names of this graph begin with; a graph inside another needs names of its own.
    """

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._steps: list[_Step] = []
        self._known: dict[Any, tuple[str, ...]] = {}
        self._constants: dict[str, npt.NDArray[Any]] = {}
        self._inputs: list[tuple[str, Any, list[Any]]] = []
        self._outputs: list[tuple[str, Any, list[Any]]] = []

    def input(self, name: str, dtype: Any, shape: list[Any]) -> str:
        """Declare an input; a text in the shape stands for any number."""
        self._inputs.append((name, np.dtype(dtype), shape))
        return name

    def output(self, name: str, value: str, dtype: Any, shape: list[Any]) -> None:
        """Declare an output."""
        self._steps.append(_Step("Identity", (value,), (name,), ()))
        self._outputs.append((name, np.dtype(dtype), shape))

    def constant(self, value: Any) -> str:
        """A constant; numbers are float64, integers int64."""
        array = np.asarray(value)
        if array.dtype.kind in "US":
            array = array.astype(np.str_)
        elif array.dtype.kind == "f":
            array = array.astype(np.float64)
        key = ("constant", array.dtype.str, array.shape, array.tobytes())
        if key not in self._known:
            name = f"{self._prefix}c{len(self._constants)}"
            self._constants[name] = array
            self._known[key] = (name,)
        return self._known[key][0]

    def op(self, op: str, *operands: Operand, **attributes: Any) -> str:
        """One step, and the name of its result."""
        return self.ops(1, op, *operands, **attributes)[0]

    def ops(self, n: int, op: str, *operands: Operand, **attributes: Any) -> tuple[str, ...]:
        """One step of n results."""
        inputs = tuple(each if isinstance(each, str) else self.constant(each) for each in operands)
        settings = tuple(sorted(attributes.items()))
        key = (op, inputs, tuple((name, id(v) if isinstance(v, Graph) else _frozen(v)) for name, v in settings))
        if key not in self._known:
            outputs = tuple(f"{self._prefix}t{len(self._steps)}_{i}" for i in range(n))
            self._steps.append(_Step(op, inputs, outputs, settings))
            self._known[key] = outputs
        return self._known[key]

    def where(self, condition: str, yes: Operand, no: Operand) -> str:
        """Yes where the condition holds, else no."""
        return self.op("Where", condition, yes, no)

    def sum(self, value: str, axis: int) -> str:
        """The sum over an axis, which stays with length 1."""
        return self.op("ReduceSum", value, np.array([axis]), keepdims=1)

    def cast(self, value: str, dtype: Any) -> str:
        """The same in another type."""
        return self.op("Cast", value, to=_code(np.dtype(dtype)))

    def squeezed(self, value: str) -> str:
        """A column as a vector."""
        return self.op("Squeeze", value, np.array([1]))

    def model(self, metadata: dict[str, str], text: str) -> Any:
        """The finished model, checked."""
        onnx = _package()
        size = sum(array.nbytes for array in self._constants.values() if array.dtype.kind != "U")
        refuse_too_large(size)
        opset = onnx.helper.make_opsetid("", OPSET)
        made = onnx.helper.make_model(
            self.proto("mercer"), opset_imports=[opset], ir_version=IR_VERSION, producer_name="mercer"
        )
        made.doc_string = text
        onnx.helper.set_model_props(made, metadata)
        onnx.checker.check_model(made, full_check=True)
        return made

    def proto(self, name: str) -> Any:
        """The graph as the onnx package has it."""
        helper = _package().helper
        nodes = [
            helper.make_node(
                step.op, step.inputs, step.outputs, name=f"{self._prefix}n{i}",
                **{key: v.proto(key) if isinstance(v, Graph) else v for key, v in step.attributes},
            )
            for i, step in enumerate(self._steps)
        ]  # fmt: skip
        inputs, outputs = (
            [helper.make_tensor_value_info(label, _code(dtype), shape) for label, dtype, shape in each]
            for each in (self._inputs, self._outputs)
        )
        constants = [_tensor(label, array) for label, array in self._constants.items()]
        return helper.make_graph(nodes, name, inputs, outputs, initializer=constants)


def refuse_too_large(size: int) -> None:
    """Refuse constants of so many bytes that no file holds them."""
    if size > LARGEST:
        raise TooLarge(
            "The model is too large for one ONNX file.",
            f"Its constants have {size} bytes; at most {LARGEST} fit.",
            "Fit on fewer rows, or save it with model.save(path).",
        )


def rows_of(g: Graph, x: str, width: int) -> str:
    """The shape (rows of x, width), for Expand."""
    rows = g.op("Shape", x, start=0, end=1)
    return g.op("Concat", rows, np.array([width]), axis=0)


def column_sum(
    g: Graph, x: str, Z: npt.NDArray[np.float64], step: Callable[[Graph, str, str], str], join: str = "Add"
) -> str:
    """Σₖ step(x[:, k], Z[:, k]ᵀ), (n, m), one coordinate after the other so that no array is larger than the result."""
    body = Graph("s_")
    total = body.input("s_total", np.float64, ["n", len(Z)])
    left = body.op("Unsqueeze", body.input("s_x", np.float64, ["n"]), np.array([1]))
    right = body.op("Unsqueeze", body.input("s_z", np.float64, [len(Z)]), np.array([0]))
    body.output("s_next", body.op(join, total, step(body, left, right)), np.float64, ["n", len(Z)])
    start = g.op("Expand", 1.0 if join == "Mul" else 0.0, rows_of(g, x, len(Z)))
    return g.op(
        "Scan", start, g.op("Transpose", x, perm=[1, 0]), np.ascontiguousarray(Z.T), body=body, num_scan_inputs=2
    )


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _code(dtype: np.dtype[Any]) -> int:
    onnx = _package()
    code = onnx.TensorProto.STRING if dtype.kind == "U" else onnx.helper.np_dtype_to_tensor_dtype(dtype)
    return int(code)


def _tensor(name: str, array: npt.NDArray[Any]) -> Any:
    onnx = _package()
    if array.dtype.kind == "U":
        texts = [text.encode() for text in array.ravel().tolist()]
        return onnx.helper.make_tensor(name, onnx.TensorProto.STRING, array.shape, texts)
    return onnx.numpy_helper.from_array(array, name)


def _package() -> Any:
    """The package onnx, which only this needs."""
    try:
        import onnx  # noqa: PLC0415 (an optional dependency)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Writing ONNX needs the package onnx: pip install mercer-kernels[onnx]", name=error.name
        ) from error
    return onnx
