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


def test_no_module_asks_for_the_class_of_a_gram_matrix() -> None:
    asked = {
        (str(path.relative_to(PACKAGE)), name.id)
        for path in PACKAGE.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "isinstance"
        for name in ast.walk(call.args[1])
        if isinstance(name, ast.Name) and name.id.endswith("Gram")
    }
    assert asked == set()


# What is compiled is reached through these alone: each asks for something else.
CORE = {
    "budget.py": "how much memory there is",
    "config.py": "version, instruction sets, threads",
    "grams/batched.py": "the batches of support vector machines over a Gram matrix",
    "kernels/binding.py": "plans, sides and the loop over a Gram matrix",
    "kernels/parts.py": "sides and plans of the parts of bags",
    "kernels/plan.py": "the tables of operations and leaves",
    "kernels/sources.py": "sides, filled with points",
    "maps/counting.py": "counts of substrings",
    "maps/graphcounts.py": "graphs as the core has them, and counts of what is in them",
    "maps/graphs.py": "counts of labelled edges, and the largest label of a path",
    "search/whole.py": "searches among vectors of whole numbers",
    "solvers/coarse.py": "products and factors in few bits",
    "solvers/tridiagonal.py": "diagonals of inverses, by recurrences",
}


def imports_the_core(path: Path) -> bool:
    """Whether a module takes the core, or something of it."""
    text = path.read_text("utf-8")
    taken = {node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    whole = {a.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for a in node.names}
    return "_core" in imported_from_the_top(path) or "mercer._core" in taken | whole


def test_the_core_is_imported_by_few_modules_each_for_something_of_its_own() -> None:
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if imports_the_core(path)}
    assert found == set(CORE)
