"""Choosing a machine's parameters by cross-validation, with the work that its settings share."""

import time
from collections.abc import Generator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._validation import _fit_and_score, _insert_error_scores, _warn_or_raise_about_fit_failures
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import _check_method_params, _num_samples

from mercer.config import documented_at
from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.estimators._parameters import check_parameters
from mercer.estimators._seats import Seat
from mercer.estimators._shared_pipeline import SharedPipeline
from mercer.estimators._shared_ridge import SharedRidge
from mercer.estimators._shared_svc import SharedSVC
from mercer.estimators._sharing import Shared, Splits, row_numbers
from mercer.estimators.ridge import KernelRidge
from mercer.estimators.svm import SVC
from mercer.solvers.watch import Watch

__all__ = ["KernelSearchCV"]

# What shares work among its settings; other estimators are fitted one by one.
SHARED: dict[type, type[Shared]] = {SVC: SharedSVC, KernelRidge: SharedRidge}
LEAVE_ONE_OUT = "loo"
# scikit-learn's scorers see predictions; any other function may look at X.
SCORER = type(make_scorer(accuracy_score))


class KernelSearchCV(BaseSearchCV):
    """Cross-validation of settings of a machine, which computes what they have in common once.

    What scikit-learn's GridSearchCV does, with the same names and results. Where the machine is an `SVC`, the points
    are read once; the Gram matrix K of a kernel is computed once for all folds and all C; the folds and pairs of
    classes are solved side by side as one batch over K; and each C begins at the best multiple of the solution for the
    next smaller one. Where it is a `KernelRidge` with eight alphas or more for a kernel, or with leave-one-out, one
    decomposition of K serves all of them. The steps of a pipeline before such a machine are fitted once on each fold.
    Other estimators, and settings that cannot share, are fitted one by one.

    Parameters
    ----------
    estimator : estimator
        Whose parameters are chosen; a kernel machine, a pipeline that ends with one, or any other of scikit-learn's.
    grid : dict or list of dict
        Parameter names with the values to try, as in GridSearchCV.
    cv : int, splitter, iterable, None or "loo", default 5
        As in GridSearchCV. "loo" is exact leave-one-out, for `KernelRidge`: every row is predicted by the fit without
        it, as in `KernelRidgeCV`, and the score of these predictions together is the score of the setting; there is
        one split then.
    scoring : str, callable, list, tuple or dict, optional
        As in GridSearchCV; None is the machine's own `score`. A callable that is not made by `make_scorer` may look at
        X, and so leaves nothing to share.
    refit : bool, str or callable, default True
        As in GridSearchCV.
    n_jobs : int, optional
        Processes for what is fitted one by one. What is shared uses mercer's own threads.
    max_time : float, optional
        Seconds after which no further setting is begun. What was tried by then is what there is to choose from.
    error_score : "raise" or a number, default NaN
        As in GridSearchCV.
    return_train_score : bool, default False
        As in GridSearchCV.
    pre_dispatch : int or str, default "2*n_jobs"
        As in GridSearchCV.
    verbose : int, default 0
        1 shows a progress bar, with the seconds that are left, if the search takes longer than a second.

    Attributes
    ----------
    cv_results_, best_params_, best_index_, best_score_, best_estimator_, scorer_, n_splits_, refit_time_, multimetric_
        As in GridSearchCV. `cv_results_` has the settings that were tried, in the order of the grid. Of a fit that is
        shared, `mean_fit_time` is what it took beyond what was there already.
    classes_, n_features_in_, feature_names_in_
        Of `best_estimator_`.
    is_finished_ : bool
        Whether all settings were tried; not where max_time or Ctrl-C ended the search.

    Notes
    -----
    Ctrl-C ends the search, and leaves the best setting so far, fitted on all rows. A second Ctrl-C stops that too.

    The machines of the folds are solved to their `tol`; the machine that is refitted also to its `gap_tol`, and it has
    its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RBF, SVC, KernelSearchCV
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> y = X[:, 0] ** 2 > X[:, 1]
    >>> grid = {"C": [0.1, 1.0, 10.0], "kernel__length_scale": [0.5, 1.0, 2.0]}
    >>> search = KernelSearchCV(SVC(kernel=RBF()), grid).fit(X, y)
    >>> search.best_params_
    {'C': 10.0, 'kernel__length_scale': 1.0}
    >>> search.best_estimator_.certificate_.is_certified
    True
    """

    _doc_link_module: ClassVar[str] = "mercer"
    _doc_link_template: ClassVar[str] = documented_at("reference/api/mercer.{estimator_name}.html")

    def __init__(
        self,
        estimator: Any,
        grid: Any,
        *,
        cv: Any = 5,
        scoring: Any = None,
        refit: Any = True,
        n_jobs: int | None = None,
        max_time: float | None = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        pre_dispatch: Any = "2*n_jobs",
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.grid = grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.max_time = max_time
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.pre_dispatch = pre_dispatch
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags = get_tags(self.estimator).target_tags
        return tags

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Try all settings, and fit the best on all rows.

        Parameters
        ----------
        X, y
            As the estimator takes them.
        **params
            For the estimator's `fit`, the scorer and the splitter, such as `sample_weight` and `groups`, as in
            GridSearchCV.
        """
        check_parameters(type(self).__name__, vars(self), ("max_time", "verbose"))
        scorers, refit_metric = self._get_scorers()
        X, y = indexable(X, y)
        params = _check_method_params(X, params=params)
        routed = self._get_routed_params_for_fit(params)
        splits = self._split(X, y, routed.splitter.split)
        candidates = list(ParameterGrid(self.grid))
        self.n_splits_ = len(splits)
        tried = _Trial(self, X, y, splits, candidates, scorers, routed).run()
        self.is_finished_ = len(tried) == len(candidates)
        out = [score for candidate in sorted(tried) for score in tried[candidate]]
        if not out:
            raise InvalidInput("No setting was tried.", "The grid has none, or the splitter gave no split.")
        _warn_or_raise_about_fit_failures(out, self.error_score)
        if callable(self.scoring):
            _insert_error_scores(out, self.error_score)
        results = self._format_results([candidates[candidate] for candidate in sorted(tried)], len(splits), out)
        self.multimetric_ = isinstance(out[0]["test_scores"], dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(out[0]["test_scores"])
            refit_metric = self.refit
        self.scorer_ = getattr(scorers, "_scorers", scorers)
        self.cv_results_ = results
        if self.refit or not self.multimetric_:
            self.best_index_ = self._select_best_index(self.refit, refit_metric, results)
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{refit_metric}"][self.best_index_]
            self.best_params_ = results["params"][self.best_index_]
        if self.refit:
            self._fit_best(X, y, routed.estimator.fit)
        return self

    def _split(self, X: Any, y: Any, params: dict[str, Any]) -> list[tuple[Any, Any]]:
        if isinstance(self.cv, str):
            if self.cv != LEAVE_ONE_OUT:
                raise InvalidParameter(
                    "cv must be a number of folds, a splitter, an iterable, None or 'loo'.", f"Got {self.cv!r}."
                )
            rows = np.arange(_num_samples(X))
            return [(rows, rows)]
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        return list(splitter.split(X, y, **params))

    def _fit_best(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        begun = time.perf_counter()
        self.best_estimator_ = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        self.best_estimator_.fit(X, *(() if y is None else (y,)), **params)
        self.refit_time_ = time.perf_counter() - begun
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_


class _Trial:
    """All settings of a search on all splits.

    Parameters
    ----------
    search : KernelSearchCV
    X, y
        All rows.
    splits : list of pairs
        Training and test rows.
    candidates : list of dict
        The settings.
    scorers, routed
        As scikit-learn has them.
    """

    def __init__(
        self,
        search: KernelSearchCV,
        X: Any,
        y: Any,
        splits: Sequence[Any],
        candidates: Sequence[Any],
        scorers: Any,
        routed: Any,
    ) -> None:
        self._search, self._X, self._y, self._splits = search, X, y, splits
        self._candidates = candidates
        self._machines = [_with(search.estimator, setting) for setting in candidates]
        self._options = {
            "scorer": scorers,
            "verbose": 0,
            "fit_params": routed.estimator.fit,
            "score_params": routed.scorer.score,
            "return_train_score": search.return_train_score,
            "return_n_test_samples": True,
            "return_times": True,
            "error_score": search.error_score,
        }
        self._leaves_one_out = isinstance(search.cv, str)
        self._shared = self._sharing(routed.estimator.fit)
        if self._leaves_one_out:
            self._check_leave_one_out()
        self._rows = np.arange(_num_samples(X))

    def run(self) -> dict[int, list[dict[str, Any]]]:
        """The scores on all splits, of each candidate that was tried on all of them."""
        tasks = self._tasks()
        watch = Watch("search", self._search.max_time, show=self._search.verbose > 0)
        found: dict[int, dict[int, dict[str, Any]]] = {}
        scored = self._scored(tasks)
        whole: dict[int, list[dict[str, Any]]] = {}
        try:
            for done, ((candidate, split), out) in enumerate(zip(tasks, scored, strict=True), start=1):
                mine = found.setdefault(candidate, {})
                mine[split] = out
                if len(mine) == len(self._splits):
                    whole[candidate] = [mine[split] for split in sorted(mine)]
                if watch.look(done / len(tasks)) and whole:
                    break
        except KeyboardInterrupt:
            if not whole:
                raise
        finally:
            scored.close()
            watch.close()
        return whole

    def _tasks(self) -> list[tuple[int, int]]:
        """Candidates and splits: what shares most one after the other, then what shares nothing."""
        first: dict[Any, int] = {}
        places = []
        for candidate, machine in enumerate(self._machines):
            for split in range(len(self._splits)):
                place: tuple[float, ...] = (len(self._machines), candidate, split)
                if self._serves(machine):
                    assert self._shared is not None
                    group = first.setdefault(self._shared.key(machine), candidate)
                    place = (group, *self._shared.turn(machine, split))
                places.append((place, candidate, split))
        return [(candidate, split) for _, candidate, split in sorted(places)]

    def _scored(self, tasks: Sequence[tuple[int, int]]) -> Generator[dict[str, Any], None, None]:
        shared = [task for task in tasks if self._serves(self._machines[task[0]])]
        for candidate, split in shared:
            yield self._seated(candidate, split)
        parallel = Parallel(n_jobs=self._search.n_jobs, pre_dispatch=self._search.pre_dispatch, return_as="generator")
        yield from parallel(self._alone(*task) for task in tasks[len(shared) :])

    def _seated(self, candidate: int, split: int) -> dict[str, Any]:
        shared, machine = self._shared, self._machines[candidate]
        assert shared is not None
        seat = Seat(machine, type(_last(machine)), lambda asked: shared.fit(asked, split))
        train, test = self._splits[split]
        found: dict[str, Any] = _fit_and_score(
            seat, self._rows, self._y, train=train, test=test, parameters=None, **self._options
        )
        return found

    def _alone(self, candidate: int, split: int) -> Any:
        train, test = self._splits[split]
        estimator = clone(self._search.estimator)
        return delayed(_fit_and_score)(
            estimator, self._X, self._y, train=train, test=test, parameters=self._candidates[candidate], **self._options
        )

    def _serves(self, machine: Any) -> bool:
        return self._shared is not None and machine is not None and self._shared.serves(machine)

    def _sharing(self, fit_params: dict[str, Any]) -> Shared | SharedPipeline | None:
        """What the settings can share, if there is anything."""
        estimator = self._search.estimator
        kind = SHARED.get(type(_last(estimator)))
        if kind is None or not set(fit_params) <= {"sample_weight"} or not self._sees_predictions_only():
            return None
        n = _num_samples(self._X)
        train, test = ([row_numbers(rows, n) for rows in part] for part in zip(*self._splits, strict=True))
        if self._search.return_train_score:
            test = [np.union1d(*parts) for parts in zip(train, test, strict=True)]
        machines = [machine for machine in self._machines if machine is not None]
        splits = Splits(train, test, self._leaves_one_out)
        if isinstance(estimator, Pipeline):
            return None if fit_params else SharedPipeline(kind, self._X, self._y, splits, machines)
        return kind(self._X, self._y, fit_params.get("sample_weight"), splits, machines)

    def _check_leave_one_out(self) -> None:
        """Refuse a setting that would be fitted on all rows and scored on them."""
        for setting, machine in zip(self._candidates, self._machines, strict=True):
            if self._shared is None or not self._shared.has_leave_one_out or not self._serves(machine):
                raise InvalidParameter(
                    "cv='loo' is for settings whose rows can be left out without a fit for each.",
                    f"{shown(setting)} of {type(self._search.estimator).__name__} is none.",
                    "It is for KernelRidge with a kernel that is a formula or a name, alpha > 0, solver='auto', and a "
                    "score of predictions; others take cv=LeaveOneOut().",
                )

    def _sees_predictions_only(self) -> bool:
        scoring = self._search.scoring
        each = scoring.values() if isinstance(scoring, dict) else [scoring]
        return all(not callable(one) or isinstance(one, SCORER) for one in each)


def _last(estimator: Any) -> Any:
    """The machine: the last step of a pipeline."""
    return estimator[-1] if isinstance(estimator, Pipeline) and estimator.steps else estimator


def _with(estimator: Any, setting: dict[str, Any]) -> Any:
    """The estimator with a setting; None where it refuses it, which its fit will then say."""
    try:
        return clone(estimator).set_params(**clone(setting, safe=False))
    except Exception:  # whatever a parameter's owner raises
        return None
