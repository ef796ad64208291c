"""LIBSVM's model files, written and read."""

from mercer.io.libsvm.read import Foreign, read_libsvm
from mercer.io.libsvm.write import to_libsvm

__all__ = ["Foreign", "read_libsvm", "to_libsvm"]
