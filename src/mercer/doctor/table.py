"""The table of checks: one row for each code, with its threshold and why it matters."""

from typing import Any

from mercer.doctor import columns, duplicates, fitted, grams, targets
from mercer.doctor.case import Case
from mercer.doctor.check import Check
from mercer.doctor.findings import Severity

__all__ = ["CHECKS"]

PROBLEM, WARNING, NOTE = Severity.PROBLEM, Severity.WARNING, Severity.NOTE


def _always(case: Case) -> bool:  # noqa: ARG001 (a row of the table)
    return True


def _has_columns(case: Case) -> bool:
    return bool(case.source.names) and not case.is_square and len(case.source) > 1


def _has_rows(case: Case) -> bool:
    return len(case.source) > 1 and not case.is_square


def _has_target(case: Case) -> bool:
    return case.target is not None


def _has_rows_and_target(case: Case) -> bool:
    return _has_rows(case) and _has_target(case)


def _has_columns_and_target(case: Case) -> bool:
    return _has_columns(case) and _has_target(case)


def _has_classes(case: Case) -> bool:
    return case.target is not None and case.target.is_classes


def _has_kernel(case: Case) -> bool:
    return case.kernel is not None


def _has_kernel_and_target(case: Case) -> bool:
    return _has_kernel(case) and _has_target(case)


def _has_points_and_classes(case: Case) -> bool:
    return case.points is not None and _has_classes(case)


def _is_fitted(case: Case) -> bool:
    return case.fitted is not None


def _is_fitted_with_target(case: Case) -> bool:
    return _is_fitted(case) and _has_target(case)


def _row(code: str, title: str, severity: Severity, limit: float, **rest: Any) -> tuple[str, Check]:
    return code, Check(code, title, severity, limit, **rest)


# Codes count up by subject: columns from 1, rows from 11, K from 21, targets from 31, a fitted machine from 41.
CHECKS: dict[str, Check] = dict(
    (
        _row(
            "MD001", "missing values", PROBLEM, 0,
            fires="more than {limit} entries of X are missing (NaN, None)",
            why="No kernel has a value for what is not there; every machine refuses such rows.",
            remedy="Fill them, for instance with SimpleImputer, or drop these rows or columns.",
            needs=_always, look=columns.missing,
        ),
        _row(
            "MD002", "infinite values", PROBLEM, 0,
            fires="more than {limit} entries of X are infinite",
            why="A distance to an infinite point is infinite or undefined; every machine refuses such rows.",
            remedy="Replace them by the largest value that means something, or drop these rows.",
            needs=_always, look=columns.infinite,
        ),
        _row(
            "MD003", "constant columns", NOTE, 0,
            fires="more than {limit} columns have one value only, over all rows",
            why="Distances do not see them; they cost time, and a scaler may turn their rounding into noise.",
            remedy="Drop them.",
            needs=_has_columns, look=columns.constant,
        ),
        _row(
            "MD004", "unscaled columns", WARNING, 0.15,
            fires="one column has 100 times the median variance, and all columns together count like fewer than "
            "{limit} of their number, or than 1.5: (Σ variance)²/Σ variance²",
            why="A kernel of ‖x − z‖ or ⟨x, z⟩ sees a column by its variance: the others are as good as not there.",
            remedy="Put a StandardScaler before the machine, or give each column a length scale of its own: "
            "RBF([ℓ₁, ℓ₂, …]).",
            needs=_has_columns, look=columns.unscaled,
        ),
        _row(
            "MD005", "outliers", WARNING, 0.7,
            fires="one row in a hundred, or fewer, holds more than {limit} of a column's squared deviations, each more "
            "than 10 robust deviations (1.48 times the median one) away",
            why="They stretch the scale, so that a scaler presses all other rows together; to a local kernel they are "
            "alone.",
            remedy="Look at these rows; take the logarithm of the column, or use RobustScaler or QuantileTransformer.",
            needs=_has_columns, look=columns.outliers,
        ),
        _row(
            "MD006", "a number or name of the row", WARNING, 20,
            fires="a column of at least {limit} rows has whole numbers that count through the rows, or texts without a "
            "space of which each occurs once; and it is not the only column",
            why="It says nothing of a new row, and distances along it mean nothing. If rows were sorted, it leaks.",
            remedy="Drop it, or make it the index.",
            needs=_has_columns, look=columns.identifiers,
        ),
        _row(
            "MD007", "dates", WARNING, 0.95,
            fires="more than {limit} of a column are dates: objects, text (2024-05-31, 31.5.2024), whole numbers "
            "such as 20240531, or seconds since 1970",
            why="As numbers they dwarf other columns, and what repeats (hours, days, months) is not near itself.",
            remedy="Turn it into days since the start, and into angles of what repeats, with Periodic or Torus.",
            needs=_has_columns, look=columns.dates,
        ),
        _row(
            "MD008", "copies of columns", WARNING, 0.9999,
            fires="two columns have a correlation above {limit} or below its negative",
            why="A quantity that is there twice counts twice in every distance; linear kernels become singular.",
            remedy="Drop one of each pair.",
            needs=_has_columns, look=columns.collinear,
        ),
        _row(
            "MD009", "columns that are not numbers", NOTE, 0,
            fires="more than {limit} columns hold text, categories, sets or other values",
            why="A kernel on vectors cannot read them; kernels on values and sets can, and add up with it.",
            remedy="Give each a kernel of its own.",
            needs=_has_columns, look=columns.unreadable,
        ),
        _row(
            "MD011", "repeated rows", WARNING, 0.01,
            fires="more than {limit} of the rows repeat an earlier one exactly, although the columns have values "
            "enough for ten times as many rows",
            why="Copies in both parts of a split make a score too good; K becomes singular.",
            remedy="Drop the copies, or turn them into sample weights; keep copies in one fold with GroupKFold.",
            needs=_has_rows, look=duplicates.repeated,
        ),
        _row(
            "MD012", "contradicting rows", WARNING, 0.01,
            fires="equal rows have different targets, and more than {limit} of the rows (of the variance of y) is "
            "therefore out of reach of every machine",
            why="f(x) is one value: of two targets for one x, it can meet one.",
            remedy="Look at these rows: is a column missing that tells them apart, or was one labelled wrongly?",
            needs=_has_rows_and_target, look=duplicates.contradicting,
        ),
        _row(
            "MD021", "kernel and data do not fit", PROBLEM, 0,
            fires="K cannot be computed on a sample of the rows",
            why="A fit would fail in the same way.",
            remedy="Choose another kernel.",
            needs=_has_kernel, look=grams.unusable,
        ),
        _row(
            "MD022", "K is nearly the identity", WARNING, 0.05,
            fires="half of the rows have no other row with |k(x, z)| > {limit} · √(k(x, x)·k(z, z))",
            why="Every row is alone: the machine learns its rows by heart and predicts a constant elsewhere.",
            remedy='Make the length scale longer, for instance "median", or reduce the number of columns.',
            needs=_has_kernel, look=grams.all_strangers,
        ),
        _row(
            "MD023", "K is nearly constant", WARNING, 0.99,
            fires="95 % of all pairs have k(x, z) > {limit} · √(k(x, x)·k(z, z))",
            why="All rows look the same: what tells them apart is lost beside the constant, at last in rounding.",
            remedy='Make the length scale shorter, for instance "median"; before an inner product, centre the columns.',
            needs=_has_kernel, look=grams.all_alike,
        ),
        _row(
            "MD024", "few rows outweigh all others", WARNING, 1e4,
            fires="k(x, x) of a row is more than {limit} times the median",
            why="The penalty allows such rows large values, and their neighbours none.",
            remedy="Use k.normalised(), scale the columns, or take logarithms.",
            needs=_has_kernel, look=grams.uneven_diagonal,
        ),
        _row(
            "MD025", "effective rank", NOTE, 3,
            fires="always, from {limit} rows on: exp of the entropy of the eigenvalues' shares of the trace",
            why="It says how many directions the kernel sees: a low one allows landmarks or features in place of K.",
            remedy="Nothing to do. Far below the number of rows, a low-rank method loses little; near it, the length "
            "scale may be too short.",
            needs=_has_kernel, look=grams.effective_rank,
        ),
        _row(
            "MD026", "where to begin", NOTE, 10,
            fires="from {limit} rows on, unless there is no signal: the length scale (in medians of the "
            "distance) and the penalty that exact leave-one-out prefers, on at most 400 rows",
            why="Searches are short if they begin near the end.",
            remedy="Begin a search there.",
            needs=_has_kernel_and_target, look=grams.advice,
        ),
        _row(
            "MD031", "unknown targets", PROBLEM, 0,
            fires="more than {limit} targets are missing or infinite",
            why="Every machine refuses them.",
            remedy="Drop these rows; they can still be predicted.",
            needs=_has_target, look=targets.unknown_targets,
        ),
        _row(
            "MD032", "one target for all", PROBLEM, 0,
            fires="all rows have the same label, or the same number",
            why="There is nothing to learn; classifiers refuse it.",
            remedy="Check which column is the target; for one class alone there is OneClassSVM.",
            needs=_has_target, look=targets.one_target,
        ),
        _row(
            "MD033", "class imbalance", WARNING, 0.1,
            fires="the rarest class has fewer than {limit} times the rows of the most frequent one",
            why="Losses add up over rows, so that the rare class hardly counts; accuracy looks good without it.",
            remedy='Use class_weight="balanced", and a score that sees the rare class: balanced accuracy, average '
            "precision.",
            needs=_has_classes, look=targets.imbalance,
        ),
        _row(
            "MD034", "tiny classes", WARNING, 5,
            fires="a class has fewer than {limit} rows",
            why="It cannot be in every fold of a cross-validation, and its score is a matter of luck.",
            remedy="Collect more of it, join it with another, or leave it out.",
            needs=_has_classes, look=targets.tiny_classes,
        ),
        _row(
            "MD035", "leaking column", WARNING, 0.99,
            fires="one column alone predicts rows that were left out with a balanced accuracy, or an R² of "
            "the ranks of y, above {limit}, and at most half of the columns do; from 30 rows on",
            why="What is that good is often made from the target, or written down after it, and will not be there when "
            "the model is used.",
            remedy="Find out where the column comes from; drop it if it is not known before the target is.",
            needs=_has_columns_and_target, look=targets.leaks,
        ),
        _row(
            "MD036", "noisy labels", WARNING, 0.04,
            fires="more than {limit} of the rows have another label than all their five nearest neighbours, while "
            "neighbours in general agree: κ above 0.5",
            why="A machine with a small penalty bends around each of them.",
            remedy="Look at these rows: are they labelled wrongly? A larger penalty (a smaller C) minds them less.",
            needs=_has_points_and_classes, look=targets.noisy_labels,
        ),
        _row(
            "MD037", "no signal", WARNING, 4,
            fires="no kernel ridge regression of those of MD026 has a leave-one-out R² above {limit}/n, n the rows "
            "that these are tried on; from 30 rows on",
            why="What is there to be learnt is not in these columns, or not in a form that this kernel sees.",
            remedy="Check that the rows of X and y belong together; scale the columns; look for columns that matter.",
            needs=_has_kernel_and_target, look=targets.no_signal,
        ),
        _row(
            "MD041", "worse than a constant", PROBLEM, 0,
            fires="a fitted machine explains no more than {limit} of the variance of y on these rows, or is right no "
            "more often than the most frequent label",
            why="The mean, or the most frequent label, does as well without any data.",
            remedy="Allow an intercept (fit_intercept=True), scale the columns, lower the penalty, or see the other "
            "findings.",
            needs=_is_fitted_with_target, look=fitted.worse_than_constant,
        ),
        _row(
            "MD042", "not certified", PROBLEM, 0,
            fires="the certificate of a fitted machine says that its answer is not what was asked for",
            why="The published coefficients are not those of the minimum.",
            remedy="Do what its sentence says: explain() shows more.",
            needs=_is_fitted, look=fitted.uncertified,
        ),
        _row(
            "MD043", "at the edge of the grid", WARNING, 2,
            fires="of more than {limit} numbers that a search tried, the smallest or the largest was best",
            why="The best value may lie beyond the grid.",
            remedy="Widen the grid on that side.",
            needs=_is_fitted, look=fitted.at_the_edge,
        ),
    )
)  # fmt: skip
