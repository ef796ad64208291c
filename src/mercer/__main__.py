"""`python -m mercer` is the command `mercer`."""

import sys

NEEDED = ("typer", "rich", "pandas")


def main() -> None:
    """Run the command line, or say what it needs."""
    try:
        from mercer.cli.app import main as run  # noqa: PLC0415 (optional dependencies)
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        sys.exit(f"The command line needs {error.name}. Install it with: pip install 'mercer-kernels[cli]'")
    run()


if __name__ == "__main__":
    main()
