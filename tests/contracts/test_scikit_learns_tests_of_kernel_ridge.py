"""scikit-learn's own test module for KernelRidge, as installed, with mercer's class in place of its own."""

from sklearn.tests import test_kernel_ridge as theirs

import mercer

theirs.KernelRidge = mercer.KernelRidge
globals().update({name: test for name, test in vars(theirs).items() if name.startswith("test_")})


def test_there_are_tests_to_run():
    assert len([name for name in vars(theirs) if name.startswith("test_")]) >= 7
