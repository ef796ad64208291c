"""What a fit would cost, before it is made: bytes, entries of K and seconds, by the solver that would be chosen."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.doctor.case import drawn
from mercer.doctor.imagined import ImaginedGram
from mercer.doctor.kernels import kernel_from
from mercer.doctor.machines import MACHINES, Machine, machine_named
from mercer.doctor.pilot import Pilots, Trial, fly
from mercer.doctor.prospect import Plan
from mercer.doctor.rates import fastest, seconds_per_entry
from mercer.doctor.source import source_of
from mercer.doctor.target import CLASSIFICATION, Target, target_of
from mercer.doctor.work import COSTS, Size
from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.kernels.binding import Binding, bind
from mercer.kernels.kernel import Kernel
from mercer.kernels.names import named
from mercer.kernels.radial import RBF
from mercer.points.base import Domain, Points
from mercer.points.vectors import Vectors
from mercer.problems.margins import KINDS, MarginProblem, Margins
from mercer.problems.problem import Problem
from mercer.search.featurespace import FeatureSpace
from mercer.solvers.held import held_bytes
from mercer.solvers.preconditioner import BYTES_PER_PIVOT, rank_for
from mercer.solvers.smo import SMALL_ROWS
from mercer.solvers.table import AUTO, Solver, choose, explain

__all__ = ["plan"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

# Rows that stand for all: enough to guess iterations by, and for two pilots.
SAMPLE_ROWS = 4_200
# What a pilot takes beyond what was counted is believed within these bounds.
LEAST_FACTOR, MOST_FACTOR = 0.3, 5.0
# What any fit takes, if only to look at its input.
FIXED = 2e-3
# New rows that a prediction is planned for, and points that are asked for their neighbours to time it.
NEW_ROWS, ASKED = 1_000, 200
# Vectors of n numbers that every fit has, and working memory of products.
VECTORS, WORKING, RULE_ROWS = 12, 1 << 18, 1_000


@final
@dataclass(frozen=True, eq=False)
class _Asked:
    """What is planned: a machine, its parameters, and points that stand for all of them."""

    machine: Machine
    settings: Mapping[str, Any]
    kernel: Kernel
    points: Points
    target: Target  # of the sample
    n: int
    width: int
    notes: tuple[str, ...]


def plan(X: Any, y: Any = None, machine: Any = "auto", *, kernel: Any = None, **settings: Any) -> Plan:
    """Predict what a fit costs on this machine, without making it.

    The table of solvers is asked which of them ``solver="auto"`` would choose. Direct methods are counted by formulas.
    Iterative ones are tried on two small samples, which say how entries and steps grow with n. What an entry of this
    kernel takes is measured on a sample, and what an operation takes once in a process.

    Parameters
    ----------
    X : array-like, sparse, table, any points that mercer reads, or (n, d)
        The data, or only its size: then the points and targets of the pilots are made up.
    y : array-like of shape (n,) or (n, t), optional
        The targets; made up where not given.
    machine : str or estimator, default "auto"
        A row of `mercer.doctor.MACHINES` ("ridge", "logistic", "svc", "svr", "neighbours", ...), the name of an
        estimator, or an estimator, whose parameters are then used. "auto" is "svc" for labels and else "ridge".
    kernel : Kernel or str, optional
        The kernel, a formula or a name; where not given that of the estimator, else ``RBF("scale")``.
    **settings
        Parameters of the machine that matter to its cost: alpha, C, nu, epsilon, fit_intercept, solver, tol.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import mercer
    >>> mercer.plan((10_000, 20), machine="ridge", alpha=1.0).solver
    'cg'
    >>> mercer.plan((2_000, 20), machine="ridge").entries
    2001000
    """
    asked = _read(X, y, machine, kernel, settings)
    begun = time.perf_counter()
    sample = bind(asked.kernel, asked.points, dtype=np.float64)
    binding = (time.perf_counter() - begun) * max(1.0, asked.n / len(sample))
    made = _without_solver if asked.machine.problem is None else _solved
    found = made(asked, sample, seconds_per_entry(sample))
    return replace(found, seconds=found.seconds + binding + FIXED)


def _solved(asked: _Asked, sample: Binding, per_entry: float) -> Plan:
    n, settings = asked.n, asked.settings
    gram = ImaginedGram(sample, n, is_gathered=bool(asked.machine.kind))
    problem = _imagined(asked, gram)
    row = choose(problem, str(settings.get("solver", AUTO)))
    if row.name == "primal" and gram.n_features is not None:
        gram.is_stored = False
    held = held_bytes(gram, _least(problem), 2) if isinstance(problem, Problem) else 0
    pilots = None
    if COSTS[row.name].needs_pilot:
        trial = Trial(asked.machine, asked.kernel, asked.points, asked.target, settings, row.name, gram.is_stored)
        pilots = fly(trial, n)
    size = _size(asked, problem, gram, held, pilots, n)
    work = COSTS[row.name].work(size)
    seconds = work.seconds(per_entry)
    notes = list(asked.notes)
    if pilots is not None:
        large = pilots.large
        modelled = COSTS[row.name].work(_size(asked, problem, gram, held, pilots, large.rows)).seconds(per_entry)
        taken = max(large.seconds - FIXED, 0.0)
        seconds *= float(np.clip(taken / modelled, LEAST_FACTOR, MOST_FACTOR))
        notes.append(f"entries and steps by fits on {pilots.small.rows} and {large.rows} rows")
        if large.is_cut:
            notes.append("these did not end in time: it may take much longer")
    basis = gram.n_features or n
    return Plan(
        asked.machine.name,
        repr(sample.kernel),
        n,
        asked.width,
        row.name,
        max(_bytes(row, problem, gram, size), 20 * min(n, RULE_ROWS) ** 2 if asked.kernel.unresolved else 0),
        round(work.entries),
        round(size.steps),
        seconds,
        NEW_ROWS * basis * (per_entry if gram.n_features is None else 1e-9),
        explain(problem, str(settings.get("solver", AUTO))),
        tuple(notes),
    )


def _size(
    asked: _Asked, problem: Problem | MarginProblem, gram: ImaginedGram, held: int, pilots: Pilots | None, n: int
) -> Size:
    steps = pilots.at("steps", n) if pilots else 0.0
    entries = pilots.at("entries", n) if pilots else 0.0
    if isinstance(problem, MarginProblem):
        return Size(n, steps=steps, entries=entries)
    return Size(
        n,
        t=problem.y.shape[1],
        features=gram.n_features or 0,
        is_stored=gram.is_stored,
        is_joint=problem.loss.is_joint,
        is_quadratic=problem.loss.is_quadratic,
        held=round(held * (n / asked.n) ** 2),
        cost=float(problem.cost.max(initial=0.0)),
        steps=steps,
        entries=entries,
    )


def _bytes(row: Solver, problem: Problem | MarginProblem, gram: ImaginedGram, size: Size) -> int:
    """K where it is stored, the solver's memory, its preconditioner, and some vectors."""
    n = size.n
    stored = 8 * n * n if gram.is_stored else 0
    factor = BYTES_PER_PIVOT * n * rank_for(n) if row.is_iterative and row.name != "mixed" else 0
    t = problem.y.shape[1] if isinstance(problem, Problem) else 2
    own = row.memory(problem)
    if isinstance(problem, MarginProblem):  # a cache holds no more than is computed
        own = min(own, round((8 if n <= SMALL_ROWS else 4) * size.entries))
    return int(stored + own + factor + 8 * VECTORS * n * t + WORKING)


def _least(problem: Problem) -> float:
    largest = float(problem.cost.max(initial=0.0))
    return 1.0 / largest if 0.0 < largest < np.inf else 0.0


def _imagined(asked: _Asked, gram: ImaginedGram) -> Problem | MarginProblem:
    """The problem of all n rows, of which only the shape is there."""
    n = asked.n
    if asked.machine.kind:
        none = np.empty(0)
        cuts, uses = np.array([0, n], dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
        batch = Margins(cuts, uses, none, none, none, none, np.empty(0, dtype=np.uint8))
        return MarginProblem(gram, KINDS[asked.machine.kind], batch)
    assert asked.machine.problem is not None
    return asked.machine.problem(gram, asked.target.take(np.arange(n) % len(asked.target)), asked.settings)


def _without_solver(asked: _Asked, sample: Binding, per_entry: float) -> Plan:
    """Neighbours, centroids and smoothers: their fit keeps the points, their predictions compute."""
    n, s = asked.n, len(sample)
    if asked.machine.name == "neighbours":
        space = FeatureSpace(sample)
        new = asked.points.take(np.arange(min(ASKED, s)))
        k = min(int(asked.settings.get("n_neighbors", 5)), s - 1)
        predicted = fastest(lambda: space.nearest(new, max(k, 1))) * (n / s) * (NEW_ROWS / len(new))
    else:
        predicted = NEW_ROWS * n * per_entry
    entries = asked.machine.passes * n * n
    copied = 8 * n * max(asked.width, 1) * (2 if asked.machine.name == "neighbours" else 1)
    return Plan(
        asked.machine.name,
        repr(sample.kernel),
        n,
        asked.width,
        "",
        copied + 8 * VECTORS * n + WORKING,
        round(entries),
        0,
        entries * per_entry + 1e-9 * n * max(asked.width, 1),
        predicted,
        "",
        asked.notes,
    )


def _read(X: Any, y: Any, machine: Any, kernel: Any, given: Mapping[str, Any]) -> _Asked:
    n, width, points = _shape_of(X)
    target = None if y is None else target_of(y, n, "auto")
    row, own = _machine(machine, target)
    known = {"kernel", "gamma", "degree", "coef0", "solver", "tol", *row.settings}
    wrong = [name for name in given if name not in known - {"kernel"}]
    if wrong:
        raise InvalidParameter(
            f"{wrong[0]} is no parameter that the cost of {row.name!r} depends on.",
            "",
            f"Those are {', '.join(sorted(known))}.",
        )
    settings = {**row.settings, **own, **given}
    notes: tuple[str, ...] = ()
    # Shuffled, so that its first rows stand for all, however X is sorted.
    chosen = np.random.default_rng(0).permutation(drawn(np.arange(n), SAMPLE_ROWS))
    if points is None:
        sample: Points = Vectors(np.random.default_rng(0).standard_normal((len(chosen), width)))
        notes = ("points and targets are made up: with X and y this is more exact",)
    else:
        sample = points(chosen)
        if target is None and row.problem is not None:
            notes = ("targets are made up: with y this is more exact",)
    is_usable = target is not None and row.task in ("", target.task)
    target = target.take(chosen) if target is not None and is_usable else _made_up(sample, row)
    if row.task == CLASSIFICATION and len(target.labels) < 2:
        raise InvalidInput("A classifier needs samples of at least 2 classes.", f"y has {len(target.labels)}.")
    return _Asked(row, settings, _kernel(kernel, settings, sample), sample, target, n, width, notes)


def _shape_of(X: Any) -> tuple[int, int, Any]:
    """Rows, columns, and how to take a sample of the points; no points where X is only a shape."""
    if isinstance(X, tuple) and len(X) == 2 and all(isinstance(size, int | np.integer) for size in X):
        n, width = int(X[0]), int(X[1])
        if n < 2 or width < 1:
            raise InvalidInput("A plan needs at least 2 rows and 1 column.", f"Got the shape {shown(X)}.")
        return n, width, None
    source = source_of(X)
    if len(source) < 2:
        raise InvalidInput("A plan needs at least 2 rows.", f"Got {len(source)}.")

    return len(source), len(source.names), source.points


def _machine(given: Any, target: Target | None) -> tuple[Machine, dict[str, Any]]:
    """The row, and the parameters of an estimator."""
    if isinstance(given, str):
        if given == "auto":
            given = "svc" if target is not None and target.is_classes else "ridge"
        row = machine_named(given)
        if row is not None:
            return row, {}
    else:
        names = [kind.__name__ for kind in type(given).__mro__]
        row = next((found for name in names if (found := machine_named(name)) is not None), None)
        params = getattr(given, "get_params", None)
        if row is not None and params is not None:
            wanted = {"kernel", "gamma", "degree", "coef0", "solver", "tol", *row.settings}
            return row, {name: value for name, value in params(deep=False).items() if name in wanted}
    raise InvalidParameter(
        "machine must be the name of a machine, or an estimator of mercer.",
        f"Got {shown(given)}.",
        f"The names are {', '.join(map(repr, MACHINES))}.",
    )


def _kernel(given: Any, settings: Mapping[str, Any], sample: Points) -> Kernel:
    if given is not None:
        return kernel_from(given)
    own = settings.get("kernel")
    if isinstance(own, str) and "(" not in own:
        gamma, degree, coef0 = settings.get("gamma"), settings.get("degree", 3), settings.get("coef0", 1.0)
        return named(own, gamma, degree, coef0)
    if own is not None:
        return kernel_from(own)
    if sample.domain in (Domain.VECTORS, Domain.TABLE):
        return RBF("scale")
    raise InvalidParameter("These points need a kernel.", f"They are {sample!r}.", "Give kernel=….")


def _made_up(sample: Points, row: Machine) -> Target:
    """A smooth function of the points with noise, or its sign: what most data looks like to a solver."""
    rng = np.random.default_rng(0)
    n = len(sample)
    values = rng.standard_normal(n)
    if isinstance(sample, Vectors):
        direction = rng.standard_normal(sample.width) / np.sqrt(sample.width)
        along = np.asarray(sample.raw() @ direction, dtype=np.float64)
        spread = float(along.std()) or 1.0
        values = np.sin(2.0 * (along - along.mean()) / spread) + 0.3 * values
    if row.task == CLASSIFICATION:
        return target_of(values > np.median(values), n, CLASSIFICATION)
    return Target("regression", values[:, None])
