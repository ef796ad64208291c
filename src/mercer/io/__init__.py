"""Models as files: written for others to run, and read from others."""

from mercer.io.libsvm import read_libsvm, to_libsvm
from mercer.io.onnx import to_onnx

__all__ = ["read_libsvm", "to_libsvm", "to_onnx"]
