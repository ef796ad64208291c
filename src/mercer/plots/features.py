"""Points in the space of three features, where a plane can part what no line could."""

import itertools
from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Path3DCollection, Poly3DCollection

from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.plots.reading import SUBSCRIPTS, joined, kernel_of, labels_of, machine_of, plain, thinned
from mercer.plots.style import MARKERS, canvas, figure_of, head, key
from mercer.points.adapt import as_points

__all__ = ["FeatureMapDisplay", "cut"]

Array = npt.NDArray[np.float64]

MOST_ROWS = 1_000
DEGREES = range(5)
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# A feature is a monomial if it differs from it by no more than this share.
SAME = 1e-9


@final
@dataclass(eq=False, repr=False)
class FeatureMapDisplay:
    """The explicit features φ(x) of a kernel, three of them, as points in space.

    For (xᵀz)² on the plane these are x₁², √2·x₁x₂ and x₂², with ⟨φ(x), φ(z)⟩ = (xᵀz)²: a conic on the plane is a plane
    in their space.

    Attributes
    ----------
    features : ndarray of shape (n, 3)
        Of each row.
    names : list of str
        What each feature is, as a monomial where it is one.
    y : ndarray of shape (n,), optional
        Labels.
    plane : ndarray of shape (4,), optional
        w₁, w₂, w₃ and b of a fitted machine with just these features: where w·φ + b = 0.
    formula, note : str
        What the head says.
    points_, plane_
        The artists: a dict of the rows of each class, and the plane (None without).
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from mercer.kernels import Linear
    >>> X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 1.0]])
    >>> ax = Figure().add_subplot(projection="3d")
    >>> shown = FeatureMapDisplay.from_kernel(Linear() ** 2, X, ax=ax)
    >>> shown.names
    ['x₁²', '√2·x₁x₂', 'x₂²']
    """

    features: Array
    names: list[str]
    y: npt.NDArray[Any] | None
    plane: Array | None
    formula: str
    note: str = ""
    points_: dict[Any, Path3DCollection] = field(init=False)
    plane_: Poly3DCollection | None = field(init=False)
    ax_: Axes3D = field(init=False)
    figure_: Figure = field(init=False)

    @classmethod
    def from_kernel(
        cls, kernel: Any, X: Any, y: Any = None, *, features: Any = (0, 1, 2), ax: Any = None, theme: str | None = None
    ) -> Self:
        """Draw rows in three of the features of a kernel.

        Parameters
        ----------
        kernel : Kernel
            With a finite feature map of at least three features, as (xᵀz)² on the plane, ``Linear() ** 2``.
        X : array-like or table of shape (n, d)
        y : array-like of shape (n,), optional
            Labels, for colours.
        features : three ints
            Which.
        ax : Axes3D, optional
            Made with ``projection="3d"``; a new figure if not given.
        theme : {"light", "dark"}, optional
            The one that suits the axes if not given.
        """
        return cls._of(kernel, X, y, features, None).plot(ax=ax, theme=theme)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, features: Any = (0, 1, 2), ax: Any = None,
        theme: str | None = None,
    ) -> Self:  # fmt: skip
        """Draw rows in features of a machine's kernel, with the plane f + b = 0 if there are just three of them."""
        machine = machine_of(estimator)
        model = machine.model
        seen = X if machine.before is None else machine.before.transform(X)
        weights = model.linear_weights()
        plane = None
        if weights is not None and weights.shape == (3, 1) and model.classes is not None:
            plane = np.append(weights[:, 0][list(_chosen(features, 3))], model.intercept[0])
        return cls._of(model.kernel, seen, y, features, plane).plot(ax=ax, theme=theme)

    @classmethod
    def _of(cls, kernel: Any, X: Any, y: Any, features: Any, plane: Array | None) -> Self:
        kernel = kernel_of(kernel)
        points = as_points(X)
        labels = None if y is None else labels_of(y, len(points))
        rows, note = thinned(len(points), MOST_ROWS)
        phi = kernel.feature_map(points)
        if phi.n_features < 3:
            raise InvalidInput(
                f"{kernel!r} has {phi.n_features} features here, fewer than the three of a space.", "",
                "Try Linear() ** 2 on two columns.",
            )  # fmt: skip
        chosen = list(_chosen(features, phi.n_features))
        found = np.asarray(phi(points.take(rows)))[:, chosen]
        raw = points.take(rows).raw()
        names = [_monomial(found[:, j], raw) or f"φ{str(chosen[j] + 1).translate(SUBSCRIPTS)}(x)" for j in range(3)]
        few = "" if phi.n_features == 3 else f"3 of {phi.n_features} features"
        return cls(found, names, None if labels is None else labels[rows], plane, kernel.formula(), joined(few, note))

    def plot(self, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw it; parameters as for `from_kernel`."""
        made, look = canvas(ax, theme, (6.0, 5.4), projection="3d")
        if not isinstance(made, Axes3D):
            raise InvalidParameter(
                "Features are drawn in space.", "The axes given are flat.", 'Make them with projection="3d".'
            )
        self.ax_, self.figure_ = made, figure_of(made)
        flat: Axes = made
        for axis, name in zip((made.xaxis, made.yaxis, made.zaxis), self.names, strict=True):
            axis.set_pane_color(look.tint(look.muted, 0.07))
            axis.line.set_color(look.muted)
            axis.set_label_text(name, color=look.ink)
            axis.labelpad = 8.0
            axis.set_tick_params(labelsize="x-small", labelcolor=look.muted)
            axis._axinfo["grid"].update(color=look.grid)  # noqa: SLF001 (there is no other way to its colour)
        self.points_ = {}
        groups = ["rows"] if self.y is None else sorted(set(self.y.tolist()), key=str)
        for i, name in enumerate(groups):
            mask = np.ones(len(self.features), dtype=bool) if self.y is None else self.y == name
            self.points_[name] = made.scatter(
                *self.features[mask].T, s=26, marker=MARKERS[i % len(MARKERS)], color=look.colour(i),
                edgecolor=look.paper, linewidth=0.4, depthshade=False, label=plain(name),
            )  # fmt: skip
        self.plane_ = None if self.plane is None else self._draw_plane(look.tint(look.ink, 0.55))
        if self.y is not None or self.plane_ is not None:
            key(flat, look, loc="upper right")
        made.set_box_aspect(None, zoom=0.88)
        head(flat, look, "Rows in feature space", joined(f"k(x, z) = {self.formula}", self.note))
        return self

    def _draw_plane(self, colour: str) -> Poly3DCollection | None:
        """The plane, cut by the box around the points."""
        assert self.plane is not None
        w, b = self.plane[:3], float(self.plane[3])
        low, high = self.features.min(axis=0), self.features.max(axis=0)
        corners = cut(w, b, low, high)
        if len(corners) < 3:
            return None
        made = Poly3DCollection([corners], facecolor=colour, alpha=0.3, edgecolor=colour, label="f(x) + b = 0")
        self.ax_.add_collection3d(made)
        return made


def cut(w: Array, b: float, low: Array, high: Array) -> Array:  # (m, 3)
    """The corners, in order, of the polygon in which w·φ + b = 0 cuts a box."""
    found = []
    for j in range(3):
        others = [i for i in range(3) if i != j]
        if w[j] == 0.0:
            continue
        for ends in itertools.product(*[(low[i], high[i]) for i in others]):
            corner = np.zeros(3)
            corner[others] = ends
            corner[j] = -(b + w[others] @ corner[others]) / w[j]
            if low[j] <= corner[j] <= high[j]:
                found.append(corner)
    if len(found) < 3:
        return np.empty((0, 3))
    corners = np.array(found)
    centred = corners - corners.mean(axis=0)
    _, _, axes = np.linalg.svd(centred)
    u, v = centred @ axes[0], centred @ axes[1]
    return np.asarray(corners[np.argsort(np.arctan2(v, u))])


def _chosen(features: Any, count: int) -> tuple[int, int, int]:
    found = tuple(features) if isinstance(features, tuple | list) else ()
    is_good = len(set(found)) == len(found) == 3 and all(
        isinstance(j, int | np.integer) and 0 <= j < count for j in found
    )
    if not is_good:
        raise InvalidParameter(
            f"features must be three different numbers from 0 to {count - 1}.", f"Got {shown(features)}."
        )
    return int(found[0]), int(found[1]), int(found[2])


def _monomial(feature: Array, X: Any) -> str:
    """A feature's name, if it is a constant times a monomial of the coordinates of a plane; else nothing."""
    if not isinstance(X, np.ndarray) or X.shape[1:] != (2,):
        return ""
    for p, q in itertools.product(DEGREES, DEGREES):
        product = X[:, 0].astype(np.float64) ** p * X[:, 1] ** q
        factor = float(feature @ product) / (float(product @ product) or 1.0)
        if factor > 0.0 and np.abs(feature - factor * product).max() <= SAME * np.abs(feature).max():
            square = round(factor**2)
            is_root = abs(factor**2 - square) < SAME and round(factor) ** 2 != square
            number = f"√{square}" if is_root else f"{factor:.4g}"
            power = "".join(_power(i, e) for i, e in ((1, p), (2, q)))
            return (power if factor == 1.0 or number == "1" else f"{number}·{power}") if power else number
    return ""


def _power(i: int, exponent: int) -> str:
    name = f"x{str(i).translate(SUBSCRIPTS)}"
    return "" if exponent == 0 else name if exponent == 1 else f"{name}{str(exponent).translate(SUPERSCRIPTS)}"
