"""The public function: all checks that can be made, on one data set."""

from typing import Any

from mercer.doctor.case import KERNEL_ROWS, SAMPLE_ROWS, Case
from mercer.doctor.findings import Diagnosis, Severity
from mercer.doctor.fitted import kernel_of, seen_by_machine
from mercer.doctor.kernels import kernel_from
from mercer.doctor.source import source_of
from mercer.doctor.table import CHECKS
from mercer.doctor.target import target_of

__all__ = ["diagnose"]

_ORDER = {severity: place for place, severity in enumerate(Severity)}


def diagnose(X: Any, y: Any = None, *, kernel: Any = None, estimator: Any = None, task: str = "auto") -> Diagnosis:
    """Look for what would make a kernel machine fail, or do worse than it could, before it is fitted or after.

    What needs all rows (missing values, constant columns, equal rows) is looked for in all of them; what is costly on a
    sample, which is the same each time: columns on at most 4000 rows, K on at most 1000. The checks, their codes and
    their thresholds are `mercer.doctor.CHECKS`.

    Parameters
    ----------
    X : array-like, sparse, table, or any points that mercer reads; n rows
        Unlike a machine, it takes missing and infinite values, and says where they are.
    y : array-like of shape (n,) or (n, t), optional
        Labels or numbers.
    kernel : Kernel or str, optional
        The kernel to be used: an object, a formula as `mercer.parse` reads it, or a name. Where it is not given, that
        of the estimator; else ``RBF("scale")`` on the columns of numbers.
    estimator : object, optional
        A fitted machine, pipeline or search: its predictions of y, its certificate and its choices are looked at too,
        and the columns as its last step sees them.
    task : {"auto", "classification", "regression"}
        "auto" takes text for labels, and few whole numbers that occur often.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> import numpy as np, mercer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 3)) * [1.0, 1.0, 1000.0]
    >>> y = X[:, 0] + 0.1 * rng.standard_normal(100)
    >>> found = mercer.diagnose(X, y)
    >>> found.is_healthy, found.codes
    (False, ('MD004', 'MD025', 'MD026'))
    >>> print(found.findings[0].sentence)
    Of the squared distances between rows, 100.0% come from column '2' alone: the 3 columns count like 1.0. ...
    """
    seen = X if estimator is None else seen_by_machine(estimator, X)
    source = source_of(seen)
    target = None if y is None else target_of(y, len(source), _task(task, estimator))
    given = kernel_from(kernel) if kernel is not None else (None if estimator is None else kernel_of(estimator))
    case = Case(source, target, given, estimator, X, y)
    checks = [check for check in CHECKS.values() if check.needs(case)]
    findings = [finding for check in checks for finding in check.findings(case)]
    findings.sort(key=lambda finding: _ORDER[finding.severity])
    return Diagnosis(
        tuple(findings),
        rows=len(source),
        columns=0 if case.is_square else len(source.names),
        sample=min(len(source), KERNEL_ROWS if case.is_square else SAMPLE_ROWS),
        task="" if target is None else target.task,
        kernel="" if case.kernel is None else repr(case.kernel),
        checked=tuple(check.code for check in checks),
    )


def _task(task: str, estimator: Any) -> str:
    if task != "auto" or estimator is None:
        return task
    return "classification" if getattr(estimator, "classes_", None) is not None else "regression"
