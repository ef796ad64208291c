"""scikit-learn's own tests of Nystroem, as installed, with mercer's class in place of its own."""

import pytest
from sklearn.tests import test_kernel_approximation as theirs

import mercer

theirs.Nystroem = mercer.Nystroem
OF_NYSTROEM = [name for name in vars(theirs) if name.startswith("test_nystroem")]
# Newer versions of pytest warn of cases that come from a generator, and warnings are errors here.
for of in map(vars(theirs).get, OF_NYSTROEM):
    marks = [mark for mark in getattr(of, "pytestmark", []) if mark.name == "parametrize"]
    if marks:
        of.pytestmark = [pytest.mark.parametrize(mark.args[0], list(mark.args[1])).mark for mark in marks]
globals().update({name: getattr(theirs, name) for name in OF_NYSTROEM})


def test_there_are_tests_to_run():
    assert len(OF_NYSTROEM) >= 8


def test_names_of_features_are_those_of_scikit_learn():
    theirs.test_get_feature_names_out(mercer.Nystroem)
