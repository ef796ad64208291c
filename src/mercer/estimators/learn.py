"""`learn`: the parameters of a formula by gradient."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from mercer.domains import Boolean, Choice, Integer, ParameterDomain, Positive
from mercer.errors import InvalidInput
from mercer.estimators._kernels import KernelSpec
from mercer.estimators._parameters import check_parameters
from mercer.estimators._targets import real_targets, weights
from mercer.kernels.kernel import Kernel
from mercer.kernels.learnable import Learnable, per_column, weighted
from mercer.models.learning import Search
from mercer.points import as_points
from mercer.solvers.criteria import CRITERIA, Sample
from mercer.solvers.watch import Watch

__all__ = ["learn"]

Array = npt.NDArray[np.float64]

DOMAINS: dict[str, ParameterDomain] = {
    "by": Choice(tuple(CRITERIA)), "each_column": Boolean, "alpha": Positive, "starts": Integer(1),
    "max_iter": Integer(1), "max_rows": Integer(3),
}  # fmt: skip


def learn(
    kernel: Any,
    X: Any,
    y: Any,
    *,
    by: str = "loo",
    parameters: Any = None,
    each_column: bool = True,
    alpha: float = 1.0,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    starts: int = 3,
    max_iter: int = 100,
    max_rows: int = 2000,
    max_time: float | None = None,
    random_state: Any = 0,
    verbose: int = 0,
) -> Kernel:
    r"""Learn the parameters of a kernel by gradient: length scales for each column, weights of a sum, the penalty.

    With Σ = c·K + αI, what is made as small as it can be is

    .. math:: \tfrac12 \log \tfrac1n \sum_i (y_i - f_{-i}(x_i))^2 \qquad \text{or} \qquad -\log p(y),

    the error of ridge regression on each row when it is left out, exactly and without refitting, or the negative
    restricted likelihood of the Gaussian process. The gradient goes backwards through the program of the formula. All
    learnt numbers stay > 0, so the proof of the formula is that of the result.

    Parameters
    ----------
    kernel : Kernel, str or "auto"
        A formula, a name, or "auto" for the one that `mercer.auto` proposes. The first start begins at its numbers,
        with rules such as "median" resolved on X.
    X : array-like, DataFrame or list of objects
        The n points.
    y : array-like of shape (n,) or (n, t)
        Numbers; of labels that are not numbers, one target of −1 and 1 is made for each class.
    by : {"loo", "likelihood"}, default "loo"
        What is made small.
    parameters : list of str, optional
        The names of what is learnt, as in `kernel.get_params()`; by default, all numbers that may be any number > 0.
        Exponents and whole numbers are never learnt.
    each_column : bool, default True
        Whether a length scale of dense rows becomes one for each column (automatic relevance determination).
    alpha : float, default 1.0
        The penalty α of the machine that will use the kernel. It is not learnt itself: the factor c in front of the
        formula is, and c·K with α is what K is with α/c.
    fit_intercept : bool, default True
        Whether the machine has an intercept that is not penalised.
    sample_weight : array-like of shape (n,), optional
        How much each row counts.
    starts : int, default 3
        From how many places to start; the best end is kept. More starts cost more time and miss fewer optima.
    max_iter : int, default 100
        Steps of L-BFGS from each start.
    max_rows : int, default 2000
        If there are more rows, so many of them are drawn to learn from. A step takes time like n³.
    max_time : float, optional
        Seconds after which the best so far is returned.
    random_state : int or RandomState, default 0
        What is drawn; the result is the same each time.
    verbose : int, default 0
        Whether to show progress.

    Returns
    -------
    Kernel
        The formula with the learnt numbers, to six digits, for ``KernelRidge(alpha=alpha, kernel=…)`` and any other
        machine. Its length scales say which columns matter: the longer, the less.

    See Also
    --------
    KernelSearchCV : Grids over any parameter of any machine.
    KernelRidgeCV : Many penalties for one kernel.

    Notes
    -----
    Ctrl-C returns the best so far. Parameters that are read inside a leaf, such as a length in ``RBF().summed()``, are
    learnt too, each step at the cost of two more matrices.

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, MIT Press (2006), chapter 5.

    Examples
    --------
    Of three columns, only the first two matter.

    >>> import numpy as np
    >>> from mercer import RBF, KernelRidge, learn
    >>> X = np.random.default_rng(0).uniform(-2, 2, (200, 3))
    >>> y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1]
    >>> kernel = learn(RBF("median"), X, y, starts=1)
    >>> scales = kernel.get_params()["length_scale"]
    >>> bool(scales[0] < scales[1] < scales[2] / 10)
    True
    >>> float(KernelRidge(kernel=kernel).fit(X, y).score(X, y)) > 0.999
    True
    """
    check_parameters(
        "learn",
        {"max_time": max_time, "fit_intercept": fit_intercept, "verbose": verbose, "random_state": random_state},
    )
    own = {
        "by": by, "each_column": each_column, "alpha": alpha, "starts": starts, "max_iter": max_iter,
        "max_rows": max_rows,
    }  # fmt: skip
    for name, value in own.items():
        DOMAINS[name].check("learn", name, value)
    points = as_points(X)
    targets = _targets(y, len(points))
    weight = weights(sample_weight, len(points))
    rng = check_random_state(random_state)
    if len(points) > max_rows:
        rows = np.sort(rng.choice(len(points), max_rows, replace=False))
        points, targets, weight = points.take(rows), targets[rows], weight[rows]
    if len(points) < 3:
        raise InvalidInput("A kernel is learnt from at least 3 rows.", f"Got {len(points)}.")
    formula = KernelSpec(kernel, None, 3, 1.0, None).proposed(points).build().resolve(points)
    formula = weighted(per_column(formula, points) if each_column else formula)
    names = None if parameters is None else [*parameters]
    search = Search(
        Learnable(formula, names),
        points,
        Sample(targets, alpha / weight, weight, np.ones((len(points), int(fit_intercept)))),
        by,
        Watch("learn", max_time, show=verbose > 0, keeps_best=True),
    )
    return search.run(starts, max_iter, rng)


def _targets(y: Any, n: int) -> Array:
    """Numbers as they are; labels as a target of −1 and 1 for each class."""
    labels = np.asarray(y)
    if labels.dtype.kind in "OUSb" and labels.ndim == 1:
        classes, codes = np.unique(labels.astype(str) if labels.dtype.kind == "O" else labels, return_inverse=True)
        if len(classes) < 2:
            raise InvalidInput("There must be at least 2 classes.", f"Got 1 class: {classes[0]}.")
        y = 2.0 * (codes[:, None] == np.arange(len(classes))) - 1.0
    return real_targets(y, n)[0]
