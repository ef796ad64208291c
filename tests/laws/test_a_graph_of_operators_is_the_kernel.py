"""A kernel written as a graph of ONNX operators has the values of the kernel."""

import numpy as np
import onnxruntime
from hypothesis import assume, given

from mercer.errors import NotFinite, NotPositive
from mercer.io.onnx.graph import Graph
from mercer.io.onnx.kernels import cross, diagonal
from mercer.io.onnx.points import first_seen
from mercer.kernels.binding import bind
from tests.laws.strategies import law, vector_samples
from tests.tolerances import TREE


@law(60)
@given(sample=vector_samples())
def test_a_graph_of_operators_is_the_kernel(sample):
    kernel, X = sample
    try:
        bound = bind(kernel, X)
        K, own = bound.self_cross().dense(), bound.diag()
    except (NotFinite, NotPositive):
        assume(False)
    g = Graph()
    seen = first_seen(g, bound.basis)
    g.output("K", cross(g, bound.kernel, seen, bound.basis), np.float64, ["n", len(X)])
    g.output("own", diagonal(g, bound.kernel, seen), np.float64, ["n", 1])
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, 1
    session = onnxruntime.InferenceSession(g.model({}, "").SerializeToString(), options)
    values, diagonal_values = session.run(["K", "own"], {"X": X})
    atol = TREE * max(1.0, np.abs(K).max())
    np.testing.assert_allclose(values, K, rtol=TREE, atol=atol)
    np.testing.assert_allclose(diagonal_values[:, 0], own, rtol=TREE, atol=atol)
