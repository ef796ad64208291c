"""How it is minimised: functions from a problem to an answer, and the table that chooses among them."""

from mercer.solvers.options import Options
from mercer.solvers.solve import solve
from mercer.solvers.table import SOLVERS, choose, explain

__all__ = ["SOLVERS", "Options", "choose", "explain", "solve"]
