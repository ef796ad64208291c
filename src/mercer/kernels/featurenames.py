"""Names of explicit features: a product of the names of what they are made from, where that is known."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, combinations_with_replacement, product
from typing import Any

from mercer.kernels.featurepieces import (
    Coordinates,
    Crossed,
    Features,
    Monomials,
    OneHot,
    Ones,
    Pooled,
    SideBySide,
    Stretched,
    Through,
    Weighted,
)
from mercer.kernels.featureseries import Tensors
from mercer.maps.columns import Columns, FittedColumns
from mercer.maps.indicator import FittedIndicator

__all__ = ["names_of"]

Known = Sequence[str] | None


def names_of(features: Features, columns: Known) -> list[str]:
    """A name for each feature, none of them twice.

    Parameters
    ----------
    features : Features
        The pieces.
    columns : sequence of str, optional
        The names of the columns of the points; None if these have none, or are not known.

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> Polynomial(2).feature_map([[1.0, 2.0]]).get_feature_names_out()
    array(['x0^2', 'x0 x1', 'x0', 'x1^2', 'x1', '1'], dtype=object)
    """
    seen: Counter[str] = Counter()
    distinct = []
    for name in _names(features, columns):
        seen[name] += 1
        distinct.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return distinct


def _names(features: Features, columns: Known) -> list[str]:
    return NAMES[type(features)](features, columns)


def _coordinates(piece: Any, columns: Known) -> list[str]:
    is_known = columns is not None and len(columns) == piece.size
    return list(columns) if is_known and columns is not None else [f"x{j}" for j in range(piece.size)]


def _one_hot(piece: Any, columns: Known) -> list[str]:
    owner = columns[0] if columns is not None and len(columns) == 1 else "x"
    return [f"{owner}={value}" for value in piece.codes]


def _through(piece: Any, columns: Known) -> list[str]:
    image = piece.image.origin if isinstance(piece.image, FittedColumns | FittedIndicator) else piece.image
    if not isinstance(image, Columns):  # what a map makes has no names
        return [f"{image!r}: {name}" for name in _names(piece.part, None)]
    names = [columns[name] if isinstance(name, int) and columns is not None else _column(name) for name in image.names]
    return _names(piece.part, names)


def _column(name: str | int) -> str:
    return name if isinstance(name, str) else f"x{name}"


def _monomials(piece: Any, columns: Known) -> list[str]:
    base = _names(piece.part, columns)
    degrees = (n for n, a in enumerate(piece.coefficients) if a)
    return [_product(factors) for n in degrees for factors in combinations_with_replacement(base, n)]


def _product(factors: Sequence[str]) -> str:
    """A product with powers, as scikit-learn's PolynomialFeatures writes it."""
    powers = Counter(factor for factor in factors if factor != "1")
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in powers.items()) or "1"


# A kind of pieces -> the names of its features, in their order.
NAMES: dict[type, Callable[[Any, Known], list[str]]] = {
    Coordinates: _coordinates,
    OneHot: _one_hot,
    Ones: lambda piece, columns: ["1"],
    Stretched: lambda piece, columns: _names(piece.part, columns),
    Weighted: lambda piece, columns: [f"{piece.function!r}·{name}" for name in _names(piece.part, columns)],
    Through: _through,
    Pooled: lambda piece, columns: [f"Σ {name}" for name in _names(piece.part, None)],
    SideBySide: lambda piece, columns: list(chain.from_iterable(_names(part, columns) for part in piece.parts)),
    Crossed: lambda piece, columns: [_product(parts) for parts in product(*(_names(p, columns) for p in piece.parts))],
    Monomials: _monomials,
    Tensors: lambda piece, columns: [
        "".join(f"δx{j}" for j in word) or "1"
        for m in range(piece.level + 1)
        for word in product(range(piece.channels), repeat=m)
    ],
}
