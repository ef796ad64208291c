"""The table of machines: how a case is drawn, how its answer is checked, and which refusals are right."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.fuzz import direct, hostile, margins, solved
from tests.fuzz.case import Case, Check, Outcome, Refusal, outcome
from tests.fuzz.judging import refused_at_all

__all__ = ["MACHINES", "drawn", "tried"]


@dataclass(frozen=True)
class Machine:
    """One row."""

    draw: Callable[[np.random.Generator], Case]
    check: Check
    refused: Refusal = refused_at_all


MACHINES = {
    "ridge": Machine(solved.ridge, solved.check_ridge, solved.refused_ridge),
    "ridge-cv": Machine(solved.ridge_cv, solved.check_ridge_cv, solved.refused_ridge),
    "logistic": Machine(solved.logistic, solved.check_logistic, solved.refused_logistic),
    "svc": Machine(margins.svc, margins.check_classes, margins.refused_classes),
    "nu-svc": Machine(margins.nu_svc, margins.check_classes, margins.refused_classes),
    "svr": Machine(margins.svr, margins.check_single),
    "nu-svr": Machine(margins.nu_svr, margins.check_single),
    "one-class": Machine(margins.one_class, margins.check_single),
    "neighbours": Machine(direct.classifier, direct.check_neighbours),
    "neighbours-mean": Machine(direct.regressor, direct.check_neighbours),
    "smoother": Machine(direct.smoother, direct.check_smoother, direct.refused_smoother),
    "smoother-classes": Machine(direct.smoothing_classifier, direct.check_smoother, direct.refused_smoother),
    "centroid": Machine(direct.centroid, direct.check_centroid, direct.refused_centroid),
    "kernel": Machine(direct.kernel, direct.check_kernel),
    "hostile": Machine(hostile.hostile, hostile.check, hostile.refused),
}


def drawn(name: str, seed: int, number: int) -> Case:
    """The case with this number; the same on every machine."""
    rng = np.random.default_rng([seed, number, zlib.crc32(name.encode())])
    with np.errstate(all="ignore"):
        return MACHINES[name].draw(rng)


def tried(name: str, seed: int, number: int) -> Outcome:
    """How it ends."""
    machine = MACHINES[name]
    with np.errstate(all="ignore"):
        return outcome(drawn(name, seed, number), machine.check, machine.refused)
