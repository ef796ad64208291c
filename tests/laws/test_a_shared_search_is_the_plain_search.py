"""A search whose settings share their work finds what fitting every setting by itself finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, StratifiedKFold

from mercer import RBF, SVC, KernelSearchCV, Linear, Standardised

KERNELS = [
    {"kernel": ["rbf"], "gamma": [0.1, 0.7]},
    {"kernel": ["rbf", "poly"], "gamma": ["scale"]},
    {"kernel": [RBF("median"), RBF(2.0) + 0.1 * Linear()]},
    {"kernel": [RBF().on(Standardised())], "kernel__length_scale": [0.5, 2.0]},
]
CVS = [KFold(3), StratifiedKFold(2), ShuffleSplit(2, test_size=0.3, random_state=0), GroupKFold(3)]


@st.composite
def data(draw, classes):
    n = draw(st.integers(20, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    X = rng.standard_normal((n, draw(st.integers(1, 4))))
    y = rng.permutation(np.arange(n) % classes)
    weight = draw(st.sampled_from([None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1]))
    return X, y, weight, rng.integers(0, 5, n) if n else None


def agree(machine, grid, cv, X, y, weight, groups, **options):
    groups = groups if isinstance(cv, GroupKFold) else None
    found, plain = (
        kind(machine, grid, cv=cv, return_train_score=True, **options).fit(X, y, sample_weight=weight, groups=groups)
        for kind in (KernelSearchCV, GridSearchCV)
    )
    assert set(found.cv_results_) == set(plain.cv_results_)
    for name, values in plain.cv_results_.items():
        if "score" in name and "time" not in name:
            np.testing.assert_allclose(found.cv_results_[name], values, atol=1e-7, err_msg=name)
    assert [str(each) for each in found.cv_results_["params"]] == [str(each) for each in plain.cv_results_["params"]]
    return found, plain


@pytest.mark.filterwarnings("ignore:The scoring")
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_svc_scores_every_setting_as_by_itself(drawn):
    X, y, weight, groups = drawn.draw(data(drawn.draw(st.sampled_from([2, 3, 5]))))
    grid = {"C": [0.3, 5.0, 100.0], **drawn.draw(st.sampled_from(KERNELS))}
    machine = SVC(
        class_weight=drawn.draw(st.sampled_from([None, "balanced"])),
        break_ties=drawn.draw(st.booleans()),
    )
    agree(machine, grid, drawn.draw(st.sampled_from(CVS)), X, y, weight, groups)
