"""What a record says about the machine and the versions."""

import importlib.metadata
import os
import platform
import re
from pathlib import Path
from typing import Any

DISTRIBUTIONS = re.compile(r"^([A-Za-z0-9_.-]+)", re.MULTILINE)
PEERS = Path(__file__).resolve().parents[1] / "peers.txt"


def processor() -> str:
    """Return the processor's own name, where the system tells it, and whether it has AVX-512, which a name may hide."""
    info = Path("/proc/cpuinfo")
    text = info.read_text() if info.exists() else ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    name = found[1].strip() if found else platform.processor() or platform.machine()
    return f"{name} with AVX-512" if re.search(r"\bavx512f\b", text) else name


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads() -> int:
    """Return how many threads the contestants are given."""
    return int(os.environ.get("OMP_NUM_THREADS", "").split(",")[0] or cores())


def versions() -> dict[str, str]:
    """Return the versions of mercer, NumPy, SciPy and the peers that are installed."""
    names = ["mercer-kernels", "numpy", "scipy", *DISTRIBUTIONS.findall(PEERS.read_text())]
    installed = {distribution.metadata["Name"].lower() for distribution in importlib.metadata.distributions()}
    return {name: importlib.metadata.version(name) for name in names if name.lower() in installed}


def describe() -> dict[str, Any]:
    """Return everything that a row records about where it ran."""
    return {
        "cpu": processor(),
        "cores": cores(),
        "threads": threads(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": versions(),
    }
