"""`python -m benchmarks.plan`: what `mercer.plan` predicts beside what fits take: seconds, entries of K, peak memory.

Each fit runs in a process of its own, whose resident set is read before it and at its peak.
"""

import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

import mercer

KERNEL = mercer.RBF("median")
KILOBYTE = 1024

# A name, an estimator, rows, and whether y is turned into two labels.
FITS: tuple[tuple[str, Any, int, bool], ...] = (
    ("ridge, alpha = 1", mercer.KernelRidge(alpha=1.0, kernel=KERNEL), 2_500, False),
    ("ridge, alpha = 1", mercer.KernelRidge(alpha=1.0, kernel=KERNEL), 10_000, False),
    ("ridge, alpha = 0.001", mercer.KernelRidge(alpha=1e-3, kernel=KERNEL), 10_000, False),
    ("ridge, linear", mercer.KernelRidge(kernel="linear"), 200_000, False),
    ("logistic, C = 1", mercer.KernelLogisticRegression(C=1.0, kernel=KERNEL), 10_000, True),
    ("logistic, C = 100", mercer.KernelLogisticRegression(C=100.0, kernel=KERNEL), 10_000, True),
    ("SVC, C = 1", mercer.SVC(C=1.0, kernel=KERNEL), 10_000, True),
    ("SVC, C = 100", mercer.SVC(C=100.0, kernel=KERNEL), 20_000, True),
    ("SVR, C = 1", mercer.SVR(C=1.0, kernel=KERNEL), 20_000, False),
    ("one class", mercer.OneClassSVM(nu=0.1, kernel=KERNEL), 20_000, False),
)


def data(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 10))
    return X, np.sin(X @ rng.standard_normal(10)) + 0.3 * rng.standard_normal(n)


def peak() -> int:
    """Bytes that the process has held at most."""
    return KILOBYTE * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def planned(row: int) -> dict[str, Any]:
    """What the plan says, and how long it took to say so."""
    _, machine, n, is_labelled = FITS[row]
    X, y = data(n)
    mercer.plan((1_000, 2), machine="ridge")  # the rates are measured once
    begun = time.perf_counter()
    found = mercer.plan(X, y > 0.0 if is_labelled else y, machine)
    return {"took": time.perf_counter() - begun, **found.to_dict()}


def fitted(row: int) -> dict[str, Any]:
    """What the fit takes."""
    _, machine, n, is_labelled = FITS[row]
    X, y = data(n)
    before, begun = peak(), time.perf_counter()
    machine.fit(X, y > 0.0 if is_labelled else y)
    seconds, certificate = time.perf_counter() - begun, machine.certificate_
    return {
        "seconds": seconds,
        "bytes": peak() - before,
        "entries": certificate.evaluations,
        "solver": certificate.solver,
        "note": certificate.note,
    }


PARTS = {"plan": planned, "fit": fitted}


def apart(part: str, row: int) -> dict[str, Any]:
    """One part, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.plan", part, str(row)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def main(arguments: list[str]) -> int:
    if arguments:
        print(json.dumps(PARTS[arguments[0]](int(arguments[1]))))
        return 0
    print("| fit | rows | solver | plan took, s | seconds: said / took | entries of K: said / made | MB: said / grew |")
    print("|---|---|---|---|---|---|---|")
    for row, (name, _, n, _) in enumerate(FITS):
        said, made = apart("plan", row), apart("fit", row)
        solver = said["solver"] if said["solver"] == made["solver"] else f"{said['solver']}, in fact {made['solver']}"
        print(
            f"| {name} | {n} | {solver} | {said['took']:.2f} | {said['seconds']:.3f} / {made['seconds']:.3f} | "
            f"{said['entries']:.3g} / {made['entries']:.3g} | {said['bytes'] / 1e6:.0f} / {made['bytes'] / 1e6:.0f} |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
