"""Random kernels, each with a plain NumPy version of its matrix in extended precision."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mercer

Extended = np.longdouble
Matrix = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Formula:
    """A kernel as an estimator takes it, and its matrix.

    Attributes
    ----------
    parameters : dict
        Of the estimator: the kernel, or its name with gamma, degree and coef0.
    matrix : callable (X, Z) -> matrix
        In extended precision.
    node : Kernel
        The kernel, also where it is given by name.
    """

    parameters: dict[str, Any]
    matrix: Matrix
    node: Any


def squares(X: Any, Z: Any) -> Any:
    return ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)


def city_block(X: Any, Z: Any) -> Any:
    return np.abs(X[:, None, :] - Z[None, :, :]).sum(axis=2)


def inner(X: Any, Z: Any) -> Any:
    return (X[:, None, :] * Z[None, :, :]).sum(axis=2)


def cosine(X: Any, Z: Any) -> Any:
    norms = np.sqrt((X**2).sum(axis=1))[:, None] * np.sqrt((Z**2).sum(axis=1))
    return np.where(norms > 0, inner(X, Z) / np.where(norms > 0, norms, 1), 0)


def matern(X: Any, Z: Any, nu: float, length: float) -> Any:
    s = np.sqrt(Extended(2 * nu) * squares(X, Z)) / length
    return {0.5: 1, 1.5: 1 + s, 2.5: 1 + s + s**2 / 3}[nu] * np.exp(-s)


# Name -> (kernel, matrix) for random numbers l (a length), p (a degree), c (a constant).
LEAVES: dict[str, Callable[[float, int, float], tuple[Any, Matrix]]] = {
    "rbf": lambda l, p, c: (mercer.RBF(l), lambda X, Z: np.exp(-squares(X, Z) / (2 * Extended(l) ** 2))),
    "laplacian": lambda l, p, c: (mercer.Laplacian(l), lambda X, Z: np.exp(-city_block(X, Z) / Extended(l))),
    "cauchy": lambda l, p, c: (mercer.Cauchy(l), lambda X, Z: 1 / (1 + squares(X, Z) / Extended(l) ** 2)),
    "matern": lambda l, p, c: (
        mercer.Matern(0.5 + p % 3, l),
        lambda X, Z: matern(X, Z, 0.5 + p % 3, Extended(l)),
    ),
    "quadratic": lambda l, p, c: (
        mercer.RationalQuadratic(l, c),
        lambda X, Z: (1 + squares(X, Z) / (2 * Extended(c) * Extended(l) ** 2)) ** -Extended(c),
    ),
    "linear": lambda l, p, c: (mercer.Linear(), inner),
    "polynomial": lambda l, p, c: (
        mercer.Polynomial(p, offset=c, gamma=1.0 / l),
        lambda X, Z: (inner(X, Z) * Extended(1.0 / l) + Extended(c)) ** p,
    ),
    "cosine": lambda l, p, c: (mercer.Cosine(), cosine),
    "constant": lambda l, p, c: (
        mercer.Constant(c),
        lambda X, Z: np.full((len(X), len(Z)), Extended(c)),
    ),
}
# Name -> (parameters, matrix) for random g (a gamma), p and c: what scikit-learn computes by these names.
NAMED: dict[str, Callable[[float, int, float], tuple[dict[str, Any], Matrix]]] = {
    "rbf": lambda g, p, c: ({"gamma": g}, lambda X, Z: np.exp(-Extended(g) * squares(X, Z))),
    "linear": lambda g, p, c: ({}, inner),
    "poly": lambda g, p, c: (
        {"gamma": g, "degree": p, "coef0": c},
        lambda X, Z: (Extended(g) * inner(X, Z) + Extended(c)) ** p,
    ),
}


def any_formula(rng: np.random.Generator, typical: float) -> Formula:
    """A kernel whose length is around the typical distance of two rows, and now and then far from it."""
    around = typical * 10.0 ** rng.uniform(-0.7, 0.7) if rng.random() < 0.85 else 10.0 ** rng.uniform(-6.0, 6.0)
    length, degree, constant = float(around), int(rng.integers(1, 4)), float(rng.choice([0.5, 1.0, 3.0]))
    if rng.random() < 0.4:
        name = str(rng.choice(list(NAMED)))
        parameters, matrix = NAMED[name](0.5 / length**2, degree, constant)
        return Formula({"kernel": name, **parameters}, matrix, mercer.named(name, **parameters))
    node, matrix = any_node(rng, length, degree, constant)
    return Formula({"kernel": node}, matrix, node)


def any_node(rng: np.random.Generator, length: float, degree: int, constant: float) -> tuple[Any, Matrix]:
    """A leaf, or two that are added or multiplied, perhaps scaled or normalised."""
    leaf, of_leaf = LEAVES[str(rng.choice(list(LEAVES)))](length, degree, constant)
    other, of_other = LEAVES[str(rng.choice(list(LEAVES)))](2.0 * length, 1, 1.0)
    made: tuple[Any, Matrix] = (
        (leaf, of_leaf),
        (leaf, of_leaf),
        (leaf + other, lambda X, Z: of_leaf(X, Z) + of_other(X, Z)),
        (leaf * other, lambda X, Z: of_leaf(X, Z) * of_other(X, Z)),
    )[int(rng.integers(4))]
    form = rng.random()
    node, matrix = made
    if form < 0.15:
        return constant * node, lambda X, Z: Extended(constant) * matrix(X, Z)
    if form < 0.3:
        return node.normalised(), lambda X, Z: normalised(matrix, X, Z)
    return made


def normalised(matrix: Matrix, X: Any, Z: Any) -> Any:
    own = np.sqrt(diagonal(matrix, X))[:, None] * np.sqrt(diagonal(matrix, Z))
    return np.where(own > 0, matrix(X, Z) / np.where(own > 0, own, 1), 0)


def diagonal(matrix: Matrix, X: Any) -> Any:
    return np.array([matrix(x[None, :], x[None, :])[0, 0] for x in X])
