"""How K changes with the parameters of its formula: the program of the kernel, run backwards.

For a symmetric matrix W of weights, ⟨W, K⟩ = Σ Wᵢⱼ k(xᵢ, xⱼ). What is done to pairs of points is differentiated
backwards, a block of rows at a time, by the table of derivatives. This gives the derivatives of ⟨W, K⟩ by the numbers
in the program, by the images of the points, and by functions of one point. How these change with a parameter is a
central difference, which costs no more than n rows of d columns. Only a parameter that is read inside a leaf, such as
the decay of subsequences, costs two matrices.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from mercer.config import get_num_threads
from mercer.kernels.binding import bind, evaluate
from mercer.kernels.derivatives import DERIVATIVES, Operands
from mercer.kernels.kernel import Kernel
from mercer.kernels.plan import OPERATIONS, Instruction, Leaf, Plan
from mercer.kernels.sources import vectors_of
from mercer.kernels.tape import Register, Tape, compile_plan
from mercer.points import Indicators, Points

__all__ = ["Move", "slopes"]

Array = npt.NDArray[np.float64]

# The kernel with one of its parameters multiplied by a factor.
Move = Callable[[float], Kernel]

# The step of central differences in log θ. Their error is some 1e-10 of what is differentiated, and where that is as
# steep as θ¹⁰⁰, 1e-6 of it.
STEP = 1e-5
# Bytes of one register of a block, so that the registers of a program stay in the cache.
BLOCK = 1 << 18


def slopes(moves: Sequence[Move], points: Points, weights: Array) -> Array:
    """The derivative of ⟨W, K⟩ by the logarithm of each parameter.

    Parameters
    ----------
    moves : sequence of callables
        For each parameter, what multiplies it by a factor; all of one kernel.
    points : Points
        The n points of K.
    weights : ndarray of shape (n, n)
        W, symmetric.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> from mercer.points import as_points
    >>> points = as_points([[0.0], [1.0]])
    >>> W = np.array([[0.0, 0.5], [0.5, 0.0]])  # ⟨W, K⟩ is exp(−1/(2·ℓ²)), of which the slope is ℓ⁻²·exp(−1/(2·ℓ²))
    >>> slopes([lambda factor: RBF(2.0 * factor)], points, W).round(6)
    array([0.220624])
    """
    here = _Program(moves[0](1.0), points)
    through = _Backward(here, weights)
    found = np.empty(len(moves))
    for number, move in enumerate(moves):
        up, down = (_Program(move(float(np.exp(step))), points) for step in (STEP, -STEP))
        if through.follows(up) and through.follows(down):
            found[number] = through.along(up, down) / (2.0 * STEP)
        else:
            sums = [float(np.vdot(weights, evaluate(each.kernel, points))) for each in (up, down)]
            found[number] = (sums[0] - sums[1]) / (2.0 * STEP)
    return found


@final
class _Program:
    """A plan with what it reads from the points.

    Parameters
    ----------
    kernel : Kernel
    points : Points
    """

    def __init__(self, kernel: Kernel, points: Points) -> None:
        self.kernel, self.points = kernel, points
        self.plan: Plan = compile_plan(kernel)

    @cached_property
    def shape(self) -> tuple[Any, ...]:
        """Equal for plans that differ in numbers, maps and functions of points alone."""
        steps = tuple(
            replace(step, s=step.s if DERIVATIVES[step.op].s is None else 0.0, t=0.0)
            if step.op in DERIVATIVES
            else step
            for step in self.plan.instructions
        )
        rows = tuple((type(function), view) for function, view in self.plan.rows)
        return steps, self.plan.leaves, rows, len(self.plan.views), self.plan.result

    @cached_property
    def numbers(self) -> Array:
        """The two numbers of each instruction."""
        return np.array([(step.s, step.t) for step in self.plan.instructions])

    def seen(self, view: int) -> Points:
        """The points as a view shows them."""
        points = self.points
        for m in self.plan.views[view]:
            points = m.fit(points)(points)
        return points

    def image(self, view: int) -> Array | None:
        """The rows that a view shows, where they are dense."""
        found = vectors_of(self.seen(view), repr(self.kernel))
        if isinstance(found, Indicators) or found.dense is None:
            return None
        return np.asarray(found.dense, dtype=np.float64)

    def row(self, index: int) -> Array:
        """The values of a function of one point."""
        function, view = self.plan.rows[index]
        return np.asarray(function.values(self.seen(view)), dtype=np.float64)


@final
@dataclass(frozen=True, eq=False)
class _Alone:
    """One reading of a leaf, as what is bound."""

    plan: Plan
    op: str
    leaf: Leaf

    def resolve(self, points: Points) -> "_Alone":  # noqa: ARG002 (of a plan that is resolved)
        """As it is."""
        return self

    def proof(self) -> None:
        """None: nothing is claimed of it."""

    def lower(self, tape: Tape) -> Register:
        """The reading, in the leaf's own view."""
        for m in self.plan.views[self.leaf.view]:
            tape = tape.through(m)
        return tape.read(self.op, self.leaf)


@final
class _Backward:
    """The derivatives of ⟨W, K⟩ by the numbers, images and functions of a program.

    Parameters
    ----------
    program : _Program
    weights : ndarray of shape (n, n)
        W.
    """

    def __init__(self, program: _Program, weights: Array) -> None:
        self._program, plan = program, program.plan
        self._n = len(weights)
        self._images = {leaf.view: program.image(leaf.view) for leaf in plan.leaves if leaf.kind in _LEAVES}
        self._rows = [program.row(index) for index in range(len(plan.rows))]
        self._stored = {
            (step.op, step.a): _read_alone(plan, step, program.points)
            for step in plan.instructions
            if "leaf" in OPERATIONS[step.op] and self._image_of(step) is None
        }
        self.numbers = np.zeros((len(plan.instructions), 2))
        self.images = {view: np.zeros_like(image) for view, image in self._images.items() if image is not None}
        self.rows = [np.zeros(self._n) for _ in plan.rows]
        self._run(weights)

    def follows(self, other: _Program) -> bool:
        """Whether the other program differs from this one in what was differentiated only."""
        mine = self._program.plan
        if other.shape != self._program.shape:
            return False
        changed = {view for view, maps in enumerate(other.plan.views) if maps != mine.views[view]}
        return all(leaf.view not in changed or leaf.view in self.images for leaf in mine.leaves)

    def along(self, up: _Program, down: _Program) -> float:
        """The change of ⟨W, K⟩ from one program to another that is near."""
        mine = self._program.plan
        change = float(np.vdot(self.numbers, up.numbers - down.numbers))
        moved = {view for view, maps in enumerate(mine.views) if up.plan.views[view] != maps}
        for view, slope in self.images.items():
            if view in moved:
                change += float(np.vdot(slope, _dense(up, view) - _dense(down, view)))
        for index, (function, view) in enumerate(mine.rows):
            if view in moved or up.plan.rows[index][0] != function:
                change += float(np.vdot(self.rows[index], up.row(index) - down.row(index)))
        return change

    def _image_of(self, step: Instruction) -> Array | None:
        leaf = self._program.plan.leaves[step.a]
        return self._images.get(leaf.view) if leaf.kind in _LEAVES else None

    def _run(self, weights: Array) -> None:
        height = max(1, BLOCK // (8 * self._n))
        blocks = [slice(start, min(start + height, self._n)) for start in range(0, self._n, height)]
        with ThreadPoolExecutor(min(get_num_threads(), len(blocks))) as threads:
            run = threads.map if len(blocks) > 1 else map
            for block, numbers, products, rows in run(lambda block: self._block(block, weights), blocks):
                self.numbers += numbers
                for view, part in products:
                    self.images[view][block] += part
                for index, part in rows:
                    self.rows[index][block] += part

    def _block(
        self, block: slice, weights: Array
    ) -> tuple[slice, Array, list[tuple[int, Array]], list[tuple[int, Array]]]:
        """What one block of rows adds; by symmetry, what a point adds as a column it adds as a row."""
        plan = self._program.plan
        with np.errstate(over="ignore", under="ignore"):
            registers = self._forward(block)
        slope: list[Any] = [None] * plan.n_registers
        slope[plan.result] = weights[block]
        numbers = np.zeros_like(self.numbers)
        products: list[tuple[int, Array]] = []
        rows: list[tuple[int, Array]] = []
        for at in range(len(plan.instructions) - 1, -1, -1):
            step = plan.instructions[at]
            above = slope[step.out]
            if above is None:
                continue
            if step.op not in DERIVATIVES:
                leaf = plan.leaves[step.a]
                if leaf.view in self.images and leaf.kind in _LEAVES:
                    products.append(
                        (leaf.view, _LEAVES[leaf.kind][step.op].slope(self._images[leaf.view], block, above))
                    )
                continue
            rule, operands = DERIVATIVES[step.op], self._operands(step, registers, block)
            for register, derivative in ((step.a, rule.a), (step.b, rule.b)):
                if derivative is not None:
                    part = above * derivative(operands)
                    slope[register] = part if slope[register] is None else slope[register] + part
            for place, number in ((0, rule.s), (1, rule.t)):
                if number is not None:
                    numbers[at, place] = float(np.sum(above * number(operands)))
            if rule.left is not None:
                rows.append((step.b, 2.0 * np.sum(above * rule.left(operands), axis=1)))
            slope[step.out] = None
        return block, numbers, products, rows

    def _forward(self, block: slice) -> list[Any]:
        plan = self._program.plan
        shape = (block.stop - block.start, self._n)
        registers: list[Any] = [None] * plan.n_registers
        for step in plan.instructions:
            if step.op in DERIVATIVES:
                value = DERIVATIVES[step.op].value(self._operands(step, registers, block))
                registers[step.out] = np.broadcast_to(value, shape)
            elif (image := self._image_of(step)) is not None:
                registers[step.out] = _LEAVES[plan.leaves[step.a].kind][step.op].value(image, block)
            else:
                registers[step.out] = self._stored[step.op, step.a][block]
        return registers

    def _operands(self, step: Instruction, registers: list[Any], block: slice) -> Operands:
        names = OPERATIONS[step.op]
        found = Operands(s=step.s, t=step.t, out=registers[step.out])
        if "a" in names:
            found.a = registers[step.a]
        if "b" in names:
            found.b = registers[step.b]
        if "row" in names:
            found.left, found.right = self._rows[step.b][block, None], self._rows[step.b][None, :]
        return found


def _read_alone(plan: Plan, step: Instruction, points: Points) -> Array:
    """The whole matrix of one reading, by the engine."""
    alone = _Alone(plan, step.op, plan.leaves[step.a])
    return np.asarray(bind(alone, points, dtype=np.float64).self_cross().dense())


def _dense(program: _Program, view: int) -> Array:
    image = program.image(view)
    assert image is not None  # as it was of the program that this one follows
    return image


@final
@dataclass(frozen=True)
class _Reads:
    """How a leaf reads dense rows Z, a block of rows at a time, and the derivative by these rows.

    Attributes
    ----------
    value : callable (Z, block)
        The entries of the block.
    slope : callable (Z, block, G)
        Of Σ Gᵢⱼ·entry over all i and j, by the rows of the block; G is symmetric, and its rows of the block are given.
    """

    value: Callable[[Array, slice], Array]
    slope: Callable[[Any, slice, Array], Array]


def _inner(Z: Array, block: slice) -> Array:
    return Z[block] @ Z.T


def _square(Z: Array, block: slice) -> Array:
    Z = Z - Z.mean(axis=0)  # so that less cancels
    norms = np.einsum("ij,ij->i", Z, Z)
    found = Z[block] @ Z.T
    found *= -2.0
    found += norms[block, None]
    found += norms
    np.maximum(found, 0.0, out=found)
    rows = np.arange(block.start, block.stop)
    found[rows - block.start, rows] = 0.0
    return found


def _signs(Z: Array, block: slice, G: Array) -> Array:
    columns: Iterator[Array] = (
        np.einsum("ij,ij->i", G, np.sign(Z[block, column, None] - Z[None, :, column])) for column in range(Z.shape[1])
    )
    return 2.0 * np.stack(list(columns), axis=1)


_LEAVES: dict[str, dict[str, _Reads]] = {
    "dot": {
        "inner": _Reads(_inner, lambda Z, block, G: 2.0 * (G @ Z)),
        "sqdist": _Reads(_square, lambda Z, block, G: 4.0 * (G.sum(axis=1)[:, None] * Z[block] - G @ Z)),
    },
    "l1": {"value": _Reads(lambda Z, block: cdist(Z[block], Z, "cityblock"), _signs)},
}
