"""Small problems are finished: decisions do not depend on the order of the rows, nor on the names of the classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from tests.laws.strategies import law

# A violation of 1e-10 moves a decision by about its root, in the worst case.
DECISION = 1e-5
NU = 0.5


@st.composite
def data(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, classes = draw(st.integers(12, 80)), draw(st.integers(1, 4)), draw(st.integers(2, 4))
    X = rng.standard_normal((n, d))
    labels = rng.permutation(np.arange(n) % classes)
    X[:, 0] += 4.0 * labels  # so that a nu machine has a margin
    return rng, X, labels


# Where finishing takes too many steps, a solve ends at tol: hence no large penalties on few features.
kernels = st.sampled_from([mercer.RBF(), mercer.Matern(1.5), mercer.Linear() + mercer.RBF(0.5), mercer.Laplacian(2.0)])
penalties = st.sampled_from([0.1, 1.0, 10.0])
MACHINES = {
    "SVC": lambda kernel, C: mercer.SVC(kernel=kernel, C=C, decision_function_shape="ovo"),
    "NuSVC": lambda kernel, C: mercer.NuSVC(kernel=kernel, nu=NU, decision_function_shape="ovo"),
    "SVR": lambda kernel, C: mercer.SVR(kernel=kernel, C=C),
    "NuSVR": lambda kernel, C: mercer.NuSVR(kernel=kernel, C=C),
    "OneClassSVM": lambda kernel, C: mercer.OneClassSVM(kernel=kernel, nu=NU),
}


def values(model, X):
    return model.predict(X) if isinstance(model, (mercer.SVR, mercer.NuSVR)) else model.decision_function(X)


@pytest.mark.parametrize("machine", MACHINES)
@law(40)
@given(data=data(), kernel=kernels, C=penalties)
def test_the_order_of_the_rows_does_not_matter(machine, data, kernel, C):
    rng, X, labels = data
    y = labels if "SVC" in machine else np.sin(labels) + rng.standard_normal(len(X))
    order = rng.permutation(len(X))
    one = values(MACHINES[machine](kernel, C).fit(X, y), X)
    other = values(MACHINES[machine](kernel, C).fit(X[order], y[order]), X)
    np.testing.assert_allclose(other, one, atol=DECISION * max(1.0, np.abs(one).max()))


@pytest.mark.parametrize("machine", ["SVC", "NuSVC"])
@law(40)
@given(data=data(), kernel=kernels, C=penalties)
def test_the_names_of_the_classes_do_not_matter(machine, data, kernel, C):
    rng, X, labels = data
    names = rng.permutation([f"class {k}" for k in range(labels.max() + 1)])
    one, other = MACHINES[machine](kernel, C).fit(X, labels), MACHINES[machine](kernel, C).fit(X, names[labels])
    rank = np.argsort(np.argsort(names))  # of each label, the place of its name
    ours, theirs = values(one, X), values(other, X)
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    if len(pairs) == 1:  # the decision of two classes is that for the second of them
        ours, theirs, pairs = -ours[:, None], -theirs[:, None], [(0, 1)]
    place = {pair: column for column, pair in enumerate(pairs)}
    for (i, j), column in place.items():
        a, b = rank[i], rank[j]
        named = theirs[:, place[min(a, b), max(a, b)]] * (1.0 if a < b else -1.0)
        np.testing.assert_allclose(named, ours[:, column], atol=DECISION * max(1.0, np.abs(ours).max()))
