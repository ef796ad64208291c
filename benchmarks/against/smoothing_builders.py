"""The works of the smoothing rows: each builder makes its data and returns the run that is measured.

Imports of peers stand inside their builders: each process has only its own contestant in memory.
"""

import importlib
from typing import Any

import numpy as np

from benchmarks.against import direct
from benchmarks.harness import data
from benchmarks.harness.accuracy import relative
from benchmarks.harness.rows import Task

SAMPLE = 200


def mercer_bandwidth(n: int, d: int, repeat: int) -> Task:
    """The last of so many fits."""
    import mercer

    X, y, _ = data.regression(n, d)

    def facts(model: Any) -> dict[str, Any]:
        return {"left-out error": direct.left_out_error(X, y, np.full(d, model.bandwidth_))}

    return Task(lambda: [mercer.NadarayaWatson("loo").fit(X, y) for _ in range(repeat)][-1], facts=facts)


def statsmodels_bandwidth(n: int, d: int) -> Task:
    """The same mean ("lc", locally constant) with a width for each column, found by a simplex search."""
    KernelReg = importlib.import_module("statsmodels.nonparametric.kernel_regression").KernelReg
    X, y, _ = data.regression(n, d)

    def facts(model: Any) -> dict[str, Any]:
        return {"left-out error": direct.left_out_error(X, y, model.bw)}

    return Task(lambda: KernelReg(y, X, var_type="c" * d, reg_type="lc", bw="cv_ls"), facts=facts)


def mercer_predict(n: int, d: int, new: int, h: float) -> Task:
    import mercer

    X, y, Z = data.regression(n, d, new=new)
    model = mercer.NadarayaWatson(h).fit(X, y)
    return Task(
        lambda: model.predict(Z),
        lambda found: relative(direct.kept(direct.smoothed, X, y, Z[:SAMPLE], h), found[:SAMPLE]),
        allowance=8 * new,
    )
