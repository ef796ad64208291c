"""What mercer runs on: instruction set, threads, BLAS and versions."""

import platform
from collections.abc import Iterable
from importlib import metadata
from typing import Any

import numpy as np
import threadpoolctl

from mercer import _core
from mercer.budget import available_memory, in_bytes

__all__ = ["documented_at", "get_num_threads", "set_num_threads", "show_config", "version"]


class _Controller(threadpoolctl.LibController):
    """Lets threadpoolctl (and so joblib) see and limit mercer's threads."""

    user_api = "mercer"
    internal_api = "mercer"
    filename_prefixes = ("_core",)
    check_symbols = ("mercer_get_num_threads", "mercer_set_num_threads")

    def get_num_threads(self) -> int:
        return int(self.dynlib.mercer_get_num_threads())

    def set_num_threads(self, num_threads: int) -> None:
        self.dynlib.mercer_set_num_threads(num_threads)

    def get_version(self) -> str:
        return version()

    def set_additional_attributes(self) -> None:
        self.instruction_set = _core.instruction_set()


threadpoolctl.register(_Controller)


def version() -> str:
    """The version of the compiled core, which is the package's."""
    return _core.version()


def get_num_threads() -> int:
    """How many threads the engine uses; results do not depend on it.

    It starts as ``MERCER_NUM_THREADS``, else ``OMP_NUM_THREADS``, else the number of cores.
    """
    return _core.thread_count()


def set_num_threads(count: int) -> None:
    """Let the engine use `count` threads."""
    _core.set_thread_count(count)


def show_config(*, as_dict: bool = False) -> dict[str, Any] | None:
    """Print (or return) what mercer runs on.

    The instruction set is the best that this machine runs, or the one that ``MERCER_INSTRUCTION_SET`` names.

    Parameters
    ----------
    as_dict : bool
        Return a dictionary instead of printing.
    """
    sets = _core.instruction_sets()
    facts: dict[str, Any] = {
        "mercer": version(),
        "instruction set": _core.instruction_set(),
        "compiled": ", ".join(f"{name}{'' if runs else ' (not on this machine)'}" for name, runs in sets),
        "threads": _core.thread_count(),
        "memory there": in_bytes(available_memory()),
        "BLAS": _blas(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        **{name: metadata.version(name) for name in ("numpy", "scipy", "scikit-learn")},
    }
    if as_dict:
        return facts
    width = max(map(len, facts))
    print("\n".join(f"{name:<{width}}  {value}" for name, value in facts.items()))
    return None


def _blas() -> str:
    build: Any = np.show_config(mode="dicts")
    found = build["Build Dependencies"]["blas"]
    return f"{found.get('name', 'unknown')} {found.get('version', '')}".strip()


def documented_at(page: str, urls: Iterable[str] | None = None) -> str:
    """The address of a page of the documentation, "" while the package names no place where it is published.

    Parameters
    ----------
    page : str
        Relative to the first page.
    urls : iterable of str, optional
        As metadata have them, "Label, address"; those of the installed package if not given.

    Examples
    --------
    >>> documented_at("reference/api/mercer.SVC.html", ["Source, https://a.example", "Documentation, https://b.example/"])
    'https://b.example/reference/api/mercer.SVC.html'
    """
    for label, _, address in (url.partition(", ") for url in (_project_urls() if urls is None else urls)):
        if label.lower() == "documentation":
            return f"{address.rstrip('/')}/{page}"
    return ""


def _project_urls() -> list[str]:
    try:
        return metadata.metadata("mercer-kernels").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:  # run from its source
        return []
