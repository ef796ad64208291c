"""Images as bags of patches, and as histograms of gradients."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from mercer.domains import Boolean, Choice, Integer
from mercer.errors import InvalidInput
from mercer.maps.base import StatelessMap
from mercer.notation import Notation
from mercer.points import Arrays, Bags, Domain, Points, Vectors
from mercer.term import param

__all__ = ["Gradients", "Patches", "Pixels", "Position"]

Numbers = NDArray[np.floating[Any]]

IMAGES = frozenset({Domain.ARRAYS})
# Images that are worked on at a time: few enough for little memory beside the result.
IMAGES_AT_ONCE = 256


def _stacks(points: Points, owner: StatelessMap, least: int) -> Iterator[tuple[NDArray[np.intp], Numbers]]:
    """The images in stacks (m, h, w, c) of one size, some at a time, and which they are."""
    found = owner.read(points)
    if not isinstance(found, Arrays):
        raise InvalidInput(f"{owner!r} needs images.", f"Got {points!r}.")
    places: dict[tuple[int, ...], list[int]] = {}
    for row, image in enumerate(found.values):
        if image.ndim not in (2, 3) or min(image.shape[:2]) < least or image.size == 0:
            raise InvalidInput(
                f"{owner!r} cannot read image {row}.",
                f"Its shape is {image.shape}.",
                f"Pass images of shape (h, w) or (h, w, channels), with h and w at least {least}.",
            )
        places.setdefault(image.shape, []).append(row)
    if len({shape[2:] for shape in places}) > 1:
        raise InvalidInput(
            f"{owner!r} needs images with the same channels.",
            f"Got the shapes {', '.join(map(str, sorted(places)[:5]))}.",
        )
    for shape, rows in places.items():
        for start in range(0, len(rows), IMAGES_AT_ONCE):
            some = np.array(rows[start : start + IMAGES_AT_ONCE], dtype=np.intp)
            stack = np.stack([found.values[row] for row in some])
            yield some, stack.reshape(len(some), *shape[:2], -1)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Patches(StatelessMap):
    r"""Cut images into square patches, each a vector of its pixels and its position.

    .. math:: x \mapsto \bigl\{ (x_{r \dots r+s,\; c \dots c+s},\; r', c') \bigr\}_{r, c}

    The image is a bag, for kernels such as ``k.summed()``. Its parts have the pixels of a patch, row by row, and in the
    last two columns the place of its middle, in pixels from the middle of the image. `Pixels` and `Position` choose
    the one or the other.

    Parameters
    ----------
    size : int, default 5
        The height and width s of a patch.
    stride : int, default 1
        How many pixels lie between one patch and the next, both ways.
    centred : bool, default False
        Whether the mean of a patch is subtracted from its pixels, in each channel.
    flat : {"keep", "drop"}, default "keep"
        What becomes of patches whose pixels are all equal, such as those of an empty background. Where a kernel
        multiplies by the norm of centred pixels, they count nothing, and only cost time.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.points import as_points
    >>> images = as_points(np.arange(18.0).reshape(2, 3, 3))
    >>> bags = Patches(2)(images)
    >>> bags.sizes, bags.parts.raw()[0]
    (array([4, 4]), array([ 0. ,  1. ,  3. ,  4. , -0.5, -0.5]))
    """

    needs: ClassVar[frozenset[Domain]] = IMAGES
    notation: ClassVar[Notation] = Notation(text="patches({x})", latex=r"\mathrm{{patches}}({x})")
    size: int = param(5, Integer(1))
    stride: int = param(1, Integer(1))
    centred: bool = param(False, Boolean)
    flat: str = param("keep", Choice(("keep", "drop")))

    def out_width(self, width: int) -> None:
        """Bags have no columns."""

    def __call__(self, points: Points) -> Bags:
        """The bag of each image."""
        found: list[tuple[int, Numbers]] = []
        for rows, images in _stacks(points, self, self.size):
            found += zip(rows.tolist(), self._cut(images), strict=True)
        found.sort(key=lambda pair: pair[0])
        return Bags.joined([parts for _, parts in found])

    def _cut(self, images: Numbers) -> list[Numbers]:
        """The parts of each image of a stack (m, h, w, c)."""
        m, h, w, _ = images.shape
        windows = sliding_window_view(images, (self.size, self.size), axis=(1, 2))[:, :: self.stride, :: self.stride]
        # (m, rows, columns, c, s, s), and the channels of a pixel beside each other.
        pixels = np.moveaxis(windows, 3, 5).astype(images.dtype)
        if self.centred:
            pixels -= pixels.mean(axis=(3, 4), keepdims=True, dtype=np.float64).astype(images.dtype)
        rows, columns = (np.arange(count) * self.stride for count in windows.shape[1:3])
        place = np.empty((*windows.shape[1:3], 2), dtype=images.dtype)
        place[..., 0] = (rows + 0.5 * (self.size - h))[:, None]
        place[..., 1] = columns + 0.5 * (self.size - w)
        n_parts = place.shape[0] * place.shape[1]
        parts = np.concatenate(
            [pixels.reshape(m, n_parts, -1), np.broadcast_to(place.reshape(1, n_parts, 2), (m, n_parts, 2))], axis=2
        )
        if self.flat == "keep":
            return list(parts)
        least, most = windows.min(axis=(3, 4, 5)), windows.max(axis=(3, 4, 5))
        return [image[kept] for image, kept in zip(parts, (least < most).reshape(m, n_parts), strict=True)]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Pixels(StatelessMap):
    r"""The pixels of patches: all columns that `Patches` makes but the last two.

    .. math:: (x, r, c) \mapsto x

    Examples
    --------
    >>> from mercer.points import as_points
    >>> Pixels()(as_points([[0.1, 0.2, 3.0, 4.0]])).raw()
    array([[0.1, 0.2]])
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.VECTORS})
    notation: ClassVar[Notation] = Notation(text="pixels({x})", latex=r"\mathrm{{pixels}}({x})")

    def out_width(self, width: int) -> int:
        """Two less."""
        return width - 2

    def nonnegative_on(self, coordinates: bool) -> bool:
        """As they are."""
        return coordinates

    def __call__(self, points: Points) -> Vectors:
        """The columns before the last two."""
        return Vectors(_patches(self, points)[:, :-2])


@final
@dataclass(frozen=True, repr=False, eq=False)
class Position(StatelessMap):
    r"""The place of patches in their image: the last two of the columns that `Patches` makes.

    .. math:: (x, r, c) \mapsto (r, c)

    Examples
    --------
    >>> from mercer.points import as_points
    >>> Position()(as_points([[0.1, 0.2, 3.0, 4.0]])).raw()
    array([[3., 4.]])
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.VECTORS})
    notation: ClassVar[Notation] = Notation(text="place({x})", latex=r"\mathrm{{place}}({x})")

    def out_width(self, width: int) -> int:  # noqa: ARG002 (a row and a column)
        """Two."""
        return 2

    def __call__(self, points: Points) -> Vectors:
        """The last two columns."""
        return Vectors(_patches(self, points)[:, -2:])


def _patches(owner: StatelessMap, points: Points) -> Numbers:
    vectors = owner.read_vectors(points).filled()
    assert vectors.dense is not None  # filled
    if vectors.width < 3:
        raise InvalidInput(
            f"{owner!r} needs patches: their pixels, and in two more columns their positions.",
            f"Got {points!r}.",
            "Use it inside .summed().on(Patches(size)).",
        )
    return vectors.dense


@final
@dataclass(frozen=True, repr=False, eq=False)
class Gradients(StatelessMap):
    r"""Count the directions of the gradients of an image, in a pyramid of cells.

    .. math:: x \mapsto \Bigl( w_l \sum_{p \in \text{cell}} \lVert \nabla x_p \rVert \,
        [\angle \nabla x_p \in \text{bin}] \Bigr)_{l,\, \text{cell},\, \text{bin}} \Big/ \sum_p \lVert \nabla x_p \rVert

    Level l has 2ˡ × 2ˡ cells. The levels have the weights of the pyramid match: 2^(l − L − 1) for l ≥ 1 and 2^(−L) for
    l = 0, L being the finest; together 1. A gradient counts in the two nearest of the directions. Of several channels,
    that with the largest gradient counts at each pixel. An image without gradients becomes 0.

    Parameters
    ----------
    levels : int, default 3
        How many levels there are, L + 1.
    directions : int, default 8
        Into how many bins the circle is divided.

    References
    ----------
    S. Lazebnik, C. Schmid and J. Ponce, Beyond bags of features: spatial pyramid matching, CVPR (2006).
    A. Bosch, A. Zisserman and X. Muñoz, Representing shape with a spatial pyramid kernel, CIVR (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.points import as_points
    >>> ramp = as_points(np.arange(16.0).reshape(1, 4, 4) % 4)  # to the right it becomes brighter
    >>> Gradients(levels=1, directions=4)(ramp).raw()
    array([[1., 0., 0., 0.]])
    """

    needs: ClassVar[frozenset[Domain]] = IMAGES
    notation: ClassVar[Notation] = Notation(text="gradients({x})", latex=r"\mathrm{{gradients}}({x})")
    levels: int = param(3, Integer(1))
    directions: int = param(8, Integer(2))

    def out_width(self, width: int) -> None:
        """That of the histograms, but images have no width."""

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002 (images have none)
        """Histograms are ≥ 0."""
        return True

    def __call__(self, points: Points) -> Vectors:
        """The histograms of each image."""
        cells = sum(4**level for level in range(self.levels))
        least = max(2, 2 ** (self.levels - 1))
        out = np.zeros((len(points), cells * self.directions))
        for rows, images in _stacks(points, self, least):
            out[rows] = self._histograms(images.astype(np.float64))
        return Vectors(out)

    def _histograms(self, images: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of a stack (m, h, w, c)."""
        votes = self._votes(images)
        total = votes.sum(axis=(1, 2, 3))
        finest = self.levels - 1
        blocks = []
        for level in range(self.levels):
            weight = 2.0 ** (level - 1 - finest) if level else 2.0**-finest
            blocks.append((weight * _cells(votes, 2**level)).reshape(len(images), -1))
        return np.hstack(blocks) / np.where(total > 0, total, 1.0)[:, None]

    def _votes(self, images: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m, h, w, directions): the length of the gradient, shared by the two nearest directions."""
        down, right = np.gradient(images, axis=(1, 2))
        squares = down**2 + right**2
        channel = squares.argmax(axis=3, keepdims=True)
        down, right = (np.take_along_axis(each, channel, axis=3)[..., 0] for each in (down, right))
        length = np.sqrt(np.take_along_axis(squares, channel, axis=3)[..., 0])
        turn = np.arctan2(down, right) / (2.0 * np.pi) * self.directions
        low = np.floor(turn)
        share = turn - low
        votes = np.zeros((*length.shape, self.directions))
        first = np.mod(low, self.directions).astype(np.intp)
        for nearest, part in ((first, 1.0 - share), (np.mod(first + 1, self.directions), share)):
            value = np.take_along_axis(votes, nearest[..., None], axis=3) + (length * part)[..., None]
            np.put_along_axis(votes, nearest[..., None], value, axis=3)
        return votes


def _cells(votes: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """The sums over side × side cells of about one size."""
    for axis in (1, 2):
        starts = np.arange(side) * votes.shape[axis] // side
        votes = np.add.reduceat(votes, starts, axis=axis)
    return votes
