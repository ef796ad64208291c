"""Lowering: from a tree to a plan.

Nodes write to a tape; equal instructions are written once, so that shared sub-expressions share a register and all
kernels of ⟨x, z⟩ in one formula share one tile of inner products.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NewType, Protocol, final

from mercer.domains import is_hashable
from mercer.kernels.plan import OPERATIONS, Instruction, Leaf, Plan, PointFunction
from mercer.maps.base import Map
from mercer.term import Term

__all__ = ["Lowerable", "Register", "RowRegister", "Tape", "compile_plan"]

Register = NewType("Register", int)
RowRegister = NewType("RowRegister", int)


class Lowerable(Protocol):
    """Anything that can write itself to a tape."""

    def lower(self, tape: "Tape") -> Register:
        """Write the instructions and return the register of the result."""


class _Program:
    """What all views of one tape share."""

    def __init__(self) -> None:
        self.views: dict[tuple[Map, ...], int] = {}
        self.leaves: dict[Leaf, int] = {}
        self.rows: dict[tuple[PointFunction, int], int] = {}
        self.instructions: dict[Instruction, int] = {}
        self.written: list[Instruction] = []
        self.nodes: list[object] = []
        self.folded: dict[tuple[Lowerable, int], Register] = {}
        self.writing: object = None  # the smallest part of the user's formula that is being lowered
        self.parts: frozenset[Term] = frozenset()  # of the formula


@final
class Tape:
    """A program being written, seen through a view: the maps between the data and what the current node sees."""

    def __init__(self) -> None:
        self._program = _Program()
        self.view: tuple[Map, ...] = ()

    def through(self, m: Map) -> "Tape":
        """The same program, seen through one more map."""
        longer = Tape()
        longer._program = self._program
        longer.view = (*self.view, m)
        return longer

    def fold(self, node: Lowerable, owner: Term | None = None) -> Register:
        """Lower a node in this view, once.

        Its instructions are remembered, for messages, as those of the smallest part that the user wrote: of the node,
        or of the one that it comes from where it is a step of an expansion; of `owner` where that is given.
        """
        program = self._program
        key = (node, self._view())
        if key not in program.folded:
            outer = program.writing, program.parts
            found = node if owner is None else owner
            if owner is not None or not isinstance(program.writing, Term):
                program.parts = frozenset(found.written()) if isinstance(found, Term) else frozenset()
                program.writing = found
            elif found in program.parts:
                program.writing = found
            program.folded[key] = node.lower(self)
            program.writing, program.parts = outer
        return program.folded[key]

    def plan(self, result: Register) -> Plan:
        """The finished program, without instructions that the result does not need."""
        return _finish(self._program, result)

    # Readings of a pair of points

    def inner(self) -> Register:
        """⟨x, z⟩."""
        return self._write("inner", a=self._leaf("dot"))

    def sqdist(self) -> Register:
        """‖x − z‖², from the same tile as `inner`; the engine handles its cancellation."""
        return self._write("sqdist", a=self._leaf("dot"))

    def value(self, kind: str, *parameters: float) -> Register:
        """What a leaf of this kind reads, by the table `LEAVES`, with as many parameters as that says."""
        return self._write("value", a=self._leaf(kind, parameters))

    def callback(self, fn: Callable[..., Any], form: str) -> Register:
        """Values of a Python function."""
        known = fn if is_hashable(fn) else partial(fn)  # a partial has a hash of its own
        return self._write("value", a=self._leaf("callback", fn=known, form=form))

    def summed(self, part: Lowerable) -> Register:
        """Σ of a kernel over the pairs of parts of two bags."""
        return self._write("value", a=self._leaf("convolution", part=part))

    def read(self, op: str, leaf: Leaf) -> Register:
        """A leaf of a finished plan, read again, in this view."""
        again = replace(leaf, view=self._view())
        return self._write(op, a=self._program.leaves.setdefault(again, len(self._program.leaves)))

    # Elementwise

    def constant(self, c: float) -> Register:
        """The number c everywhere."""
        return self._write("constant", s=c)

    def affine(self, a: Register, scale: float, offset: float) -> Register:
        """scale·a + offset; an affine map of an affine map is written as one."""
        below = self._program.written[a]
        if below.op == "affine":
            return self.affine(Register(below.a), scale * below.s, scale * below.t + offset)
        return a if (scale, offset) == (1.0, 0.0) else self._write("affine", a, s=scale, t=offset)

    def add(self, a: Register, b: Register) -> Register:
        """a + b."""
        return self._write("add", min(a, b), max(a, b))

    def mul(self, a: Register, b: Register) -> Register:
        """a·b."""
        return self._write("mul", min(a, b), max(a, b))

    def div(self, a: Register, b: Register) -> Register:
        """a/b, with 0/0 = 0."""
        return self._write("div", a, b)

    def exp(self, a: Register) -> Register:
        """exp(a)."""
        return self._write("exp", a)

    def decay(self, a: Register) -> Register:
        """exp(a), a ≤ 0, accurate in absolute terms: enough for profiles, in half the time."""
        return self._write("decay", a)

    def log1p(self, a: Register) -> Register:
        """log(1 + a), a > −1."""
        return self._write("log1p", a)

    def sqrt(self, a: Register) -> Register:
        """√a, a ≥ 0."""
        return self._write("sqrt", a)

    def pow(self, a: Register, exponent: float) -> Register:
        """a^exponent, a ≥ 0."""
        return a if exponent == 1.0 else self._write("pow", a, s=exponent)

    def powi(self, a: Register, n: int) -> Register:
        """aⁿ, n ≥ 0, a of any sign; a⁰ = 1."""
        return a if n == 1 else self._write("powi", a, s=float(n))

    def tanh(self, a: Register) -> Register:
        """tanh(a)."""
        return self._write("tanh", a)

    def clamp0(self, a: Register) -> Register:
        """max(a, 0)."""
        return self._write("clamp0", a)

    def arccosine(self, s: Register, order: int) -> Register:
        """J_order(θ)/π of the angle whose squared chord on the unit sphere is s."""
        return self._write("arccosine", s, s=float(order))

    # With values per row

    def row_values(self, f: PointFunction) -> RowRegister:
        """The values of a function of one point, in this view."""
        return RowRegister(self._program.rows.setdefault((f, self._view()), len(self._program.rows)))

    def add_rows(self, a: Register, r: RowRegister) -> Register:
        """a + r(x) + r(z)."""
        return self._write("add_rows", a, r)

    def mul_rows(self, a: Register, r: RowRegister) -> Register:
        """a·r(x)·r(z)."""
        return self._write("mul_rows", a, r)

    def tanimoto(self, a: Register, r: RowRegister) -> Register:
        """a/(r(x) + r(z) − a), with 0/0 = 1."""
        return self._write("tanimoto", a, r)

    def inverse_sum(self, r: RowRegister) -> Register:
        """1/(r(x) + r(z)), 0 where the sum is 0."""
        return self._write("inverse_sum", b=r)

    def _view(self) -> int:
        return self._program.views.setdefault(self.view, len(self._program.views))

    def _leaf(
        self,
        kind: str,
        parameters: tuple[float, ...] = (),
        fn: Callable[..., Any] | None = None,
        form: str = "",
        part: Lowerable | None = None,
    ) -> int:
        leaf = Leaf(kind, self._view(), tuple(map(float, parameters)), fn, form, part)
        return self._program.leaves.setdefault(leaf, len(self._program.leaves))

    def _write(self, op: str, a: int = -1, b: int = -1, s: float = 0.0, t: float = 0.0) -> Register:
        instruction = Instruction(op, -1, a, b, s, t)
        program = self._program
        if instruction not in program.instructions:
            program.instructions[instruction] = len(program.written)
            program.written.append(instruction)
            program.nodes.append(program.writing)
        return Register(program.instructions[instruction])


def compile_plan(kernel: Lowerable) -> Plan:
    """Lower a tree to its plan."""
    tape = Tape()
    return tape.plan(tape.fold(kernel))


# Which of a and b are registers (the others are indices of leaves and rows).
_READS_A = frozenset(op for op, operands in OPERATIONS.items() if "a" in operands)
_READS_B = frozenset(op for op, operands in OPERATIONS.items() if "b" in operands)
_USES_LEAF = frozenset(op for op, operands in OPERATIONS.items() if "leaf" in operands)
_USES_ROW = frozenset(op for op, operands in OPERATIONS.items() if "row" in operands)


def _sources(instruction: Instruction) -> list[int]:
    """The registers that an instruction reads."""
    reads_a, reads_b = instruction.op in _READS_A, instruction.op in _READS_B
    return [instruction.a] * reads_a + [instruction.b] * reads_b


def _finish(program: _Program, result: Register) -> Plan:
    written = program.written
    wanted = {int(result)}
    for index in reversed(range(len(written))):
        if index in wanted:
            wanted.update(_sources(written[index]))
    kept = sorted(wanted)
    leaves = _Renumbering([written[i].a for i in kept if written[i].op in _USES_LEAF])
    rows = _Renumbering([written[i].b for i in kept if written[i].op in _USES_ROW])
    all_leaves, all_rows, all_views = list(program.leaves), list(program.rows), list(program.views)
    views = _Renumbering([all_leaves[i].view for i in leaves.old] + [all_rows[i][1] for i in rows.old])

    # Every register is written once; the engine reuses their memory.
    place = {index: new for new, index in enumerate(kept)}
    instructions = []
    for index in kept:
        old = written[index]
        a, b = old.a, old.b
        if old.op in _USES_LEAF:
            a = leaves.new[a]
        if old.op in _USES_ROW:
            b = rows.new[b]
        if old.op in _READS_A:
            a = place[a]
        if old.op in _READS_B:
            b = place[b]
        instructions.append(Instruction(old.op, place[index], a, b, old.s, old.t))
    return Plan(
        views=tuple(all_views[i] for i in views.old),
        leaves=tuple(_seen_through(all_leaves[i], views.new[all_leaves[i].view]) for i in leaves.old),
        rows=tuple((all_rows[i][0], views.new[all_rows[i][1]]) for i in rows.old),
        instructions=tuple(instructions),
        n_registers=len(kept),
        result=place[int(result)],
        nodes=tuple(program.nodes[i] for i in kept),
    )


def _seen_through(leaf: Leaf, view: int) -> Leaf:
    return leaf if leaf.view == view else replace(leaf, view=view)


class _Renumbering:
    """The old indices that are used, in order of first use, and their new ones."""

    def __init__(self, used: list[int]) -> None:
        self.old = list(dict.fromkeys(used))
        self.new = {old: new for new, old in enumerate(self.old)}
