"""The walls of the house stand: the import contracts of pyproject.toml are kept."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "mercer"


def test_every_import_contract_is_kept() -> None:
    program = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def imported_from_the_top(path: Path) -> set[str]:
    """Names taken from the package itself, which stands above all layers."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    taken = {
        name.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "mercer"
        for name in node.names
    }
    whole = {
        name.name for node in nodes if isinstance(node, ast.Import) for name in node.names if name.name == "mercer"
    }
    return taken | whole


def test_inside_the_package_only_the_core_is_imported_from_its_top() -> None:
    inside = [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]
    offenders = {
        str(path.relative_to(ROOT)): names for path in inside if (names := imported_from_the_top(path) - {"_core"})
    }
    assert offenders == {}
