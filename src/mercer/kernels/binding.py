"""A kernel bound to its basis: resolved parameters, fitted maps, packed points. Created once by a fit, then immutable.

`bind(kernel, X).cross(Z)` is the matrix K(Z, X) as an operator: multiplied, stored or searched tile by tile, never
stored unless you ask for it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from mercer import _core
from mercer.budget import allocate
from mercer.errors import InvalidInput, NotFinite
from mercer.kernels.blame import (
    not_finite,
    owner_of_step,
    owners_of_leaves,
    owners_of_rows,
    owners_of_views,
    written_in,
)
from mercer.kernels.node import Node
from mercer.kernels.plan import Plan
from mercer.kernels.sources import Source, source_of
from mercer.kernels.tape import Lowerable, compile_plan
from mercer.maps.base import FittedMap
from mercer.points import Points, as_points, conformed, require
from mercer.points.vectors import refuse_masked

__all__ = ["Binding", "Cross", "Reading", "bind", "crossed", "diagonal", "evaluate"]

Array = npt.NDArray[Any]
Float = np.dtype[np.float32] | np.dtype[np.float64]


class Resolvable(Lowerable, Protocol):
    """What is bound: a kernel, or a distance."""

    def resolve(self, points: Any) -> "Resolvable":
        """The same with numbers for rules such as "median"."""

    def proof(self) -> Any:
        """Why it is what it says."""


@final
class Reading:
    """What a plan reads from points: fitted maps and sources for its leaves, learnt from the basis.

    Parameters
    ----------
    plan : Plan
        Of the kernel.
    basis : Points
        What is learnt from.
    kernel : Kernel or Distance
        What the user wrote, for messages.
    """

    def __init__(self, plan: Plan, basis: Points, kernel: Resolvable) -> None:
        self._plan = plan
        self._kernel = kernel
        self._views = tuple(self._fit_chain(view, basis) for view in range(len(plan.views)))
        seen = self._seen(basis)
        self._sources: tuple[Source, ...] = tuple(
            source_of(leaf, repr(owner), seen[leaf.view])
            for leaf, owner in zip(plan.leaves, owners_of_leaves(plan), strict=True)
        )
        self.own = self._side(seen, len(basis))

    def side(self, points: Points) -> _core.Side:
        """The points in the form that the engine takes."""
        return self._side(self._seen(points), len(points))

    def side_of_none(self, example: Points) -> _core.Side:
        """No points in the form that the engine takes; maps, which refuse none, are shown an example."""
        side = _core.Side(0)
        seen = self._seen(example)
        for leaf, source in zip(self._plan.leaves, self._sources, strict=True):
            source.add(side, seen[leaf.view].take([]))
        for _ in self._plan.rows:
            side.rows(np.empty(0))
        return side

    def _seen(self, points: Points) -> list[Points]:
        """The points as each view shows them."""
        return [_through(chain, points) for chain in self._views]

    def _side(self, seen: list[Points], n: int) -> _core.Side:
        side = _core.Side(n)
        for leaf, source in zip(self._plan.leaves, self._sources, strict=True):
            source.add(side, seen[leaf.view])
        for row, (_, view) in enumerate(self._plan.rows):
            side.rows(np.ascontiguousarray(self._row(row, seen[view]), dtype=np.float64))
        return side

    def _fit_chain(self, view: int, basis: Points) -> tuple[FittedMap, ...]:
        chain: list[FittedMap] = []
        for m in self._plan.views[view]:
            if basis.domain not in m.needs and m not in written_in(self._kernel):
                # A step of an expansion, for which its node answers.
                reader = owners_of_views(self._plan)[view]
                require(basis, m.needs, repr(owner_of_step(m, self._kernel, reader)))
            chain.append(m.fit(basis))
            basis = chain[-1](basis)
        return tuple(chain)

    def _row(self, row: int, points: Points) -> Array:
        f, _ = self._plan.rows[row]
        try:
            return f.values(points)
        except NotFinite as found:
            if found.row is None or f in written_in(self._kernel):
                raise
            owner = owners_of_rows(self._plan)[row]
            raise NotFinite(
                f"{owner!r} is not finite at row {found.row}.", "Its k(x, x) overflows float64.", "Scale the points.",
                row=found.row,
            ) from None  # fmt: skip


@final
class Tally:
    """How many entries of K were made, by a bound kernel and by those that were taken from it."""

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries = 0


@final
class Binding:
    """A kernel with its basis. Use `bind`.

    Parameters
    ----------
    kernel : Kernel or Distance
        Already resolved.
    basis : Points
        The points that the columns of every matrix belong to.
    dtype : float32 or float64
        Of the engine's work; float32 is used only where its absolute error stays below 1e-6.
    isa : str
        The instruction set; the machine's best when empty.
    budget : int
        Bytes of working memory for products.
    like : Binding, optional
        Another kernel on the same basis; if both read the same from it, that is shared.
    tally : Tally, optional
        Where to count the entries; one of its own when not given.
    """

    def __init__(
        self,
        kernel: Resolvable,
        basis: Points,
        dtype: Float,
        isa: str = "",
        budget: int = 48 << 20,
        like: "Binding | None" = None,
        tally: Tally | None = None,
    ) -> None:
        self.kernel = kernel
        self.basis = basis
        self.dtype = dtype
        self.tally = Tally() if tally is None else tally
        self.plan = compile_plan(kernel)
        shared = like is not None and like.plan.reads_as(self.plan)
        self.reading: Reading = like.reading if like is not None and shared else Reading(self.plan, basis, kernel)
        self._basis = _core.Basis(crossed(self.plan), self.reading.own, isa, budget)

    def __len__(self) -> int:
        return len(self.basis)

    def __reduce__(self) -> tuple[type["Binding"], tuple[Any, ...]]:
        # Packed data is not pickled: it is learnt again from the basis.
        return Binding, (self.kernel, self.basis, self.dtype)

    @property
    def native(self) -> _core.Basis:
        """The engine's handle."""
        return self._basis

    def cross(self, X: Any, name: str = "X") -> "Cross":
        """K(X, basis) as an operator."""
        points = conformed(self.basis, as_points(X, name), name, type(self.kernel).__name__, _columns(self.kernel))
        return Cross(self, points, self.reading.side(points))

    def self_cross(self) -> "Cross":
        """K(basis, basis) as an operator, of which only half the tiles are computed."""
        return Cross(self, self.basis, None)

    def diag(self, X: Any = None) -> npt.NDArray[np.float64]:
        """k(x, x) at each point, in float64; of the basis without X.

        New points get a binding of their own, since fitted maps know the basis only, and new points may hold items that
        the basis does not.
        """
        if X is None:
            return self.pairs()
        owner = type(self.kernel).__name__
        return diagonal(self.kernel, conformed(self.basis, as_points(X), "X", owner, _columns(self.kernel)))

    def pairs(self) -> npt.NDArray[np.float64]:
        """k(x, x) at each point of the basis: the same plan, run on pairs."""
        self.tally.entries += len(self)
        try:
            return self._basis.pairs(self.reading.own)
        except _core.NotFiniteValue as found:
            raise not_finite(self.kernel, self.plan, np.dtype(np.float64), *found.args) from None

    def with_kernel(self, kernel: Resolvable) -> "Binding":
        """Another kernel, already resolved, on the same basis; what both read from it is prepared once."""
        return self if kernel == self.kernel else Binding(kernel, self.basis, self.dtype, like=self)

    def take(self, rows: Any) -> "Binding":
        """The same kernel with fewer basis points: support vectors, landmarks."""
        return Binding(self.kernel, self.basis.take(rows), self.dtype, tally=self.tally)

    def as_single(self) -> "Binding":
        """The same in float32."""
        return Binding(self.kernel, self.basis, np.dtype(np.float32), like=self, tally=self.tally)


@final
class Cross:
    """The matrix K(X, basis), (n, m), as an operator."""

    def __init__(self, binding: Binding, points: Points, side: _core.Side | None) -> None:
        self.binding = binding
        self.points = points
        self._side = side
        self.shape = (len(points), len(binding))
        self.dtype = binding.dtype

    def __matmul__(self, V: Array) -> Array:
        """K V in O(tile + output) memory, for V of shape (m,) or (m, t)."""
        flat, table = _as_table(V, self.shape[1], "V")
        out: Array = self._asked(self._engine.matvec, table)
        return out[:, 0] if flat else out

    def without_diagonal(self, V: Array) -> Array:
        """Σⱼ≠ᵢ K[i, j] V[j] for every point of the basis; the diagonal is never added, so it need not be subtracted."""
        out: Array = self.powers_without_diagonal(V, 1, 0)[0]
        return out

    def powers_without_diagonal(self, V: Array, rungs: int, doublings: int) -> Array:
        """The same for the entries to the powers 1, 2ᵈ, 4ᵈ, …, d `doublings`, one after the other: (rungs, …)."""
        assert self._side is None  # of self_cross
        flat, table = _as_table(V, self.shape[1], "V")
        ladder = partial(self._engine.matvec, hollow=True, rungs=rungs, doublings=doublings)
        out: Array = self._asked(ladder, table).reshape(len(table), rungs, -1).swapaxes(0, 1)
        return out[:, :, 0] if flat else out

    def row_sums(self) -> npt.NDArray[np.float64]:
        """Σⱼ K[i, j] for every row."""
        out: Array = self._asked(self._engine.matvec, None)
        return out[:, 0]

    def normal(self, V: Array | None, W: Array | None = None, D: Array | None = None) -> Array:
        """Kᵀ D (K V + W) with every entry made once; KᵀD W without V. D is (n,), or (n, t) for one a column."""
        n, m = self.shape
        flat, table = (False, None) if V is None else _as_table(V, m, "V")
        flat_too, other = (False, None) if W is None else _as_table(W, n, "W")
        scale = None if D is None else _as_table(D, n, "D")[1]
        out: Array = self._asked(self._engine.normal, table, other, scale, halves=False)
        return out[:, 0] if flat or flat_too else out

    def best(self, k: int, *, largest: bool = True) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """The k largest (or smallest) values of each row and their columns, best first, ties by index."""
        if not 1 <= k <= self.shape[1]:
            raise InvalidInput("k must be from 1 to the number of basis points.", f"Got k = {k} of {self.shape[1]}.")
        values, indices = self._asked(self._engine.topk, k, largest, halves=False)
        return values, indices

    def dense(self, out: Array | None = None) -> Array:
        """All entries, in `out` if given; raises `TooLarge` if they would not fit."""
        if out is None:
            n, m = self.shape
            out = allocate(
                self.shape,
                self.dtype,
                f"The Gram matrix of {n} x {m} points in {self.dtype.name}",
                "Use mercer.gram(kernel, X), which multiplies without storing, or float32 points.",
            )
        self._asked(self._engine.store, out)
        return out

    def upper_half(self, out: npt.NDArray[Any], code: tuple[float, float] = (0.0, 1.0)) -> npt.NDArray[Any]:
        """The entries of K(basis, basis) above the diagonal, and a little more; below, `out` stays as it is.

        In uint16 an entry k is stored as the integer nearest to (k − low) / step, for the code (low, step).
        """
        assert self._side is None  # of self_cross
        self._asked(partial(self._engine.store, half=True, code=code), out)
        return out

    @property
    def _engine(self) -> _core.Basis:
        return self.binding.native

    def _asked(self, method: Callable[..., Any], *arguments: Any, halves: bool = True) -> Any:
        """Call the engine, and count the entries it makes: half of them where it can mirror the others."""
        n, m = self.shape
        self.binding.tally.entries += n * (n + 1) // 2 if halves and self._side is None else n * m
        try:
            return method(self._side, *arguments, single=self.dtype == np.float32)
        except _core.NotFiniteValue as found:
            raise not_finite(self.binding.kernel, self.binding.plan, self.dtype, *found.args) from None


def bind(kernel: Any, X: Any, *, dtype: Any = None, name: str = "X") -> Binding:
    """Bind a kernel to its basis.

    Parameters
    ----------
    kernel : Kernel
        Rules such as "median" are resolved on X.
    X : array-like or Points
        The basis.
    dtype : float32 or float64, optional
        Of the work; that of X where it has one, else float64.
    name : str
        How messages call X.
    """
    basis = as_points(X, name)
    return Binding(kernel.resolve(basis), basis, _work_type(dtype, basis))


def evaluate(kernel: Any, X: Any, Z: Any = None) -> Array:
    """The matrix of values, (len X, len Z); the Gram matrix of X without Z."""
    points = as_points(X)
    if Z is None:
        return bind(kernel, points).self_cross().dense()
    others = as_points(Z, "Z")
    others = conformed(points, others, "Z", type(kernel).__name__, _columns(kernel))
    kinds = {_work_type(None, points), _work_type(None, others)}
    dtype = np.dtype(np.float64) if len(kinds) > 1 else kinds.pop()
    return bind(kernel.resolve(points), others, dtype=dtype, name="Z").cross(points).dense()


def _columns(kernel: object) -> tuple[str | int, ...] | None:
    """The columns that a formula names."""
    return kernel.reads() if isinstance(kernel, Node) else None


def diagonal(kernel: Any, X: Any) -> npt.NDArray[np.float64]:
    """The values k(x, x): the same plan, run on pairs."""
    return bind(kernel, X, dtype=np.float64).pairs()


def crossed(plan: Plan) -> _core.Plan:
    """The plan as the engine has it."""
    steps = [(i.op, i.out, i.a, i.b, i.s, i.t) for i in plan.instructions]
    leaves = [(leaf.kind, leaf.parameters) for leaf in plan.leaves]
    return _core.Plan(leaves, steps, plan.n_registers, len(plan.rows), plan.result)


def _through(chain: tuple[FittedMap, ...], points: Points) -> Points:
    for m in chain:
        points = m(points)
    return points


def _work_type(dtype: Any, points: Points) -> Float:
    asked = np.dtype(dtype if dtype is not None else getattr(points, "dtype", np.float64))
    if asked not in (np.float32, np.float64):
        raise InvalidInput("The engine works in float32 or float64.", f"Got dtype {asked}.")
    return asked


def _as_table(V: Any, rows: int, name: str) -> tuple[bool, npt.NDArray[np.float64]]:
    """V as (rows, t) float64, and whether it was a vector."""
    refuse_masked(V, name)
    array = np.asarray(V)
    if array.dtype.kind not in "fiub":
        raise InvalidInput(f"{name} must be an array of real numbers.", f"Got dtype {array.dtype}.")
    if array.ndim not in (1, 2) or array.shape[0] != rows:
        raise InvalidInput(
            f"{name} must have {rows} rows, one for each point.",
            f"Got shape {array.shape}.",
            f"Pass an array of shape ({rows},) or ({rows}, t).",
        )
    table = np.ascontiguousarray(array.reshape(rows, -1), dtype=np.float64)
    if not np.isfinite(table).all():
        i, j = (int(at) for at in np.argwhere(~np.isfinite(table))[0])
        raise InvalidInput(f"{name} must be finite.", f"{name}[{i}, {j}] is {table[i, j]}.")
    return array.ndim == 1, table
