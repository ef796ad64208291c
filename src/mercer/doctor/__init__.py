"""What to know before a fit: `diagnose` looks for what would go wrong, `plan` says what it would cost."""

from mercer.doctor.diagnose import diagnose
from mercer.doctor.findings import Diagnosis, Finding, Severity
from mercer.doctor.machines import MACHINES
from mercer.doctor.planning import plan
from mercer.doctor.prospect import Plan
from mercer.doctor.table import CHECKS

__all__ = ["CHECKS", "MACHINES", "Diagnosis", "Finding", "Plan", "Severity", "diagnose", "plan"]
