"""Kernel machines as scikit-learn estimators: the only layer that knows scikit-learn."""

from mercer.estimators.ridge import KernelRidge
from mercer.estimators.ridge_cv import KernelRidgeCV

__all__ = ["KernelRidge", "KernelRidgeCV"]
