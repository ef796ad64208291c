"""Whether an installed mercer works: no compiler, no test packages, no files beside this one.

Run by `make wheel` and by cibuildwheel in an environment that has the wheel and nothing else.
"""

import sys
from pathlib import Path

import numpy as np

import mercer


def main() -> None:
    """Fit, certify and predict once with every kind of machine."""
    where = Path(mercer.__file__).resolve()
    if Path(__file__).resolve().parents[1] in where.parents and "site-packages" not in where.parts:
        sys.exit(f"This is the source tree, not an installed mercer: {where}")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    y = np.sin(X[:, 0]) + X[:, 1]
    labels = np.where(y > 0.0, "up", "down")

    kernel = mercer.parse("RBF(2.0) + 0.1 * Linear() * Matern(1.5)")
    assert kernel.proof().is_derived
    assert np.linalg.eigvalsh(kernel(X)).min() > -1e-9

    ridge = mercer.KernelRidge(alpha=1e-2, kernel=kernel).fit(X, y)
    assert ridge.certificate_.is_certified, ridge.certificate_
    assert np.abs(ridge.predict(X) - y).max() < 0.1

    for machine in (mercer.SVC(C=10.0), mercer.KernelLogisticRegression(C=10.0), mercer.KernelNeighborsClassifier()):
        machine.fit(X, labels)
        assert machine.certificate_.is_certified, machine.certificate_
        assert machine.score(X, labels) > 0.85, machine
    for machine in (mercer.SVR(), mercer.NadarayaWatson(0.5)):
        assert machine.fit(X, y).score(X, y) > 0.8, machine
    assert (mercer.OneClassSVM(nu=0.1).fit(X).predict(X) == 1).mean() > 0.8

    sets = [{1, 2}, {2, 3}, {7}]
    assert mercer.Tanimoto(mercer.SetIntersection())(sets)[0, 1] == 1.0 / 3.0

    # The same numbers for any number of threads.
    large = rng.standard_normal((3000, 8))
    found = []
    for threads in (1, 3):
        mercer.set_num_threads(threads)
        found.append(mercer.gram(mercer.RBF(), large) @ np.ones(len(large)))
    assert np.array_equal(*found)
    print(f"mercer {mercer.__version__} works: {where.parent}")
    mercer.show_config()


if __name__ == "__main__":
    main()
