"""The fitted machine as one value: all that predictions, files, reports and the command line read."""

from mercer.models.model import Model

__all__ = ["Model"]
