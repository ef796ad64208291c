"""Kernel machines as scikit-learn estimators: the only layer that knows scikit-learn."""

from mercer.estimators.ridge import KernelRidge

__all__ = ["KernelRidge"]
