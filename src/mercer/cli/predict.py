"""`mercer predict`: answers for new rows, so many at a time."""

import csv
import gzip
import io
import json as jsonlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any, final

import numpy as np
import numpy.typing as npt
import typer

from mercer.cli.columns import Column
from mercer.cli.fit import DataArgument, EncodingOption, FormatOption, HeaderOption, SepOption
from mercer.cli.outcome import BadData, Exit, WrongUse
from mercer.cli.preparing import as_frame, kinds_of, machine_of, prepared
from mercer.cli.printing import Output, as_json
from mercer.cli.reading import Piece, Source
from mercer.cli.storing import check_writable, load, writing
from mercer.estimators import KernelRidge, KernelRidgeCV

__all__ = ["ModelArgument", "answers", "run"]

PREDICTION = "prediction"
ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as `mercer fit -o` writes it.")]


def run(
    out: Output,
    model: ModelArgument,
    data: DataArgument,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A file named .csv, .tsv or .jsonl, with .gz or without; else CSV is printed."),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="A column with the probability of every label.")] = False,
    std: Annotated[bool, typer.Option("--std", help="A column with the standard deviation of f.")] = False,
    keep: Annotated[
        list[str] | None, typer.Option(help="A column of DATA to write in front of the answer, such as an id.")
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="How many rows are in memory at a time.")] = 10_000,
    format_: FormatOption = None,
    sep: SepOption = None,
    encoding: EncodingOption = None,
    header: HeaderOption = None,
) -> Exit:
    """Predict for the rows of a table.

    Columns are found by their names, in whatever order; columns that the model does not know are passed over, and said.
    The output file appears when it is complete, or not at all.
    """
    if output is not None:
        check_writable(output)
        _style(output)
    fitted = load(model)
    _check_asked(fitted, proba=proba, std=std)
    source = Source(data, format_, sep, encoding, header)
    count = 0
    kept: list[dict[str, Any]] = []
    said: list[str] = []
    with _sink(out, output, kept) as write:
        for names, block in answers(fitted, source, rows, keep or (), said, proba=proba, std=std):
            write(names, block)
            count += len(block[0])
    for note in [*source.notes, *said]:
        out.warn(note)
    out.fact(data=source.name, model=str(model), rows=count, output=None if output is None else str(output))
    if output is None:
        out.fact(predictions=kept)
    else:
        out.line("predicted", f"{count} rows of {source.name}, in {output}")
    return Exit.FINE


def answers(
    fitted: Any, source: Source, rows: int, keep: Any, said: list[str], *, proba: bool, std: bool
) -> Iterator[tuple[list[str], list[npt.NDArray[Any]]]]:
    """The columns of the answer, piece by piece."""
    kinds = kinds_of(fitted)
    if not kinds:
        source.width = machine_of(fitted).n_features_in_
    found = False
    for piece in source.pieces(rows):
        found = found or len(piece) > 0
        if not len(piece):
            continue
        X = _matched(piece, kinds, source, said)
        names, block = [PREDICTION], [np.asarray(fitted.predict(X))]
        if proba:
            each = fitted.predict_proba(X)
            names += [f"P({label})" for label in fitted.classes_]
            block += list(each.T)
        if std:
            names.append("std")
            block.append(machine_of(fitted).predict(prepared(fitted, X), return_std=True)[1])
        for name in reversed(list(keep)):
            if piece.frame is None or name not in piece.frame:
                raise WrongUse(f"--keep names a column {name!r}, and {source.name} has none.")
            names.insert(0, name)
            block.insert(0, piece.frame[name].to_numpy(object))
        yield names, block
    if not found:
        raise BadData(f"{source.name} holds no rows.")


def _matched(piece: Piece, kinds: dict[str, str], source: Source, said: list[str]) -> Any:
    """The columns that the model knows, in its order; refuses if one is not there, and notes others."""
    if not kinds:
        if piece.frame is None:
            return piece.matrix
        raise BadData("The model takes sparse rows.", f"{source.name} is a table.", "Take a file in LIBSVM's format.")
    if piece.frame is None:
        raise BadData(f"The model needs columns by name: {', '.join(list(kinds)[:6])}.", f"{source.name} has no names.")
    frame = piece.frame.rename(columns=str)
    there = {str(name) for name in frame.columns}
    missing = [name for name in kinds if name not in there]
    if missing:
        new = sorted(there - set(kinds))
        raise BadData(
            f"{source.name} lacks {_some(missing)}, which the model was fitted on.",
            f"It has {_some(new)}, which the model does not know." if new else "",
            "Rename or add the columns.",
        )
    further = [str(name) for name in frame.columns if str(name) not in kinds]
    if further and not said:
        said.append(f"passed over, because the model does not know them: {_some(further)}")
    return as_frame(frame, [Column(name, kind, "") for name, kind in kinds.items()], source.decimal)


def _some(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:6]))
    return shown + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _check_asked(fitted: Any, *, proba: bool, std: bool) -> None:
    machine = machine_of(fitted)
    name = type(machine).__name__
    if proba and "predict_proba" not in dir(machine):
        raise WrongUse(f"{name} has no probabilities.", "", "Fit with --machine logistic, neighbors or smoother.")
    if std and not isinstance(machine, KernelRidge | KernelRidgeCV):
        raise WrongUse(f"{name} has no standard deviations.", "", "Fit with --machine ridge.")


@final
@dataclass(frozen=True)
class _Style:
    """How rows are written."""

    separator: str = ","
    is_json: bool = False
    is_packed: bool = False


STYLES = {".csv": _Style(), ".tsv": _Style("\t"), ".jsonl": _Style(is_json=True), ".json": _Style(is_json=True)}


def _style(path: Path) -> _Style:
    is_packed = path.suffix == ".gz"
    ending = Path(path.stem).suffix if is_packed else path.suffix
    style = STYLES.get(ending.lower())
    if style is None:
        raise WrongUse(f"Answers cannot be written as {path.name}.", "", f"Name it {', '.join(STYLES)}, or these with .gz.")
    return _Style(style.separator, style.is_json, is_packed)


class _sink:  # noqa: N801 (a context manager)
    """Where answers go: a file that appears when it is complete, standard output, or the JSON object."""

    def __init__(self, out: Output, path: Path | None, kept: list[dict[str, Any]]) -> None:
        self._path = path
        self._kept = kept if out.is_json and path is None else None
        self._style = _Style() if path is None else _style(path)
        self._whole: Any = None
        self._stream: IO[str] = sys.stdout

    def __enter__(self) -> Callable[[list[str], list[npt.NDArray[Any]]], None]:
        self._has_names = False
        if self._path is not None:
            self._whole = writing(self._path)
            raw = self._whole.__enter__()
            packed = gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) if self._style.is_packed else raw
            self._packed = packed
            self._stream = io.TextIOWrapper(packed, encoding="utf-8", newline="")
        return self._write

    def _write(self, names: list[str], block: list[npt.NDArray[Any]]) -> None:
        columns = [column.tolist() for column in block]
        if self._kept is not None:
            self._kept.extend(dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
            return
        if self._style.is_json:
            for row in zip(*columns, strict=True):
                written = jsonlib.dumps(as_json(dict(zip(names, row, strict=True))), ensure_ascii=False)
                self._stream.write(written + "\n")
            return
        writer = csv.writer(self._stream, delimiter=self._style.separator, lineterminator="\n")
        if not self._has_names:
            writer.writerow(names)
            self._has_names = True
        writer.writerows(zip(*columns, strict=True))

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._whole is None:
            self._stream.flush()
            return
        if kind is None:
            self._stream.flush()
            self._stream.detach()
            if self._style.is_packed:
                self._packed.close()
        self._whole.__exit__(kind, error, trace)
