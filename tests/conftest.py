"""How Hypothesis runs (the same examples every time; new ones with HYPOTHESIS_PROFILE=explore), and Ctrl-C in tests."""

import gc
import os
import signal

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeat", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.register_profile("explore", parent=settings.get_profile("repeat"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


@pytest.fixture
def interruptible():
    """Ctrl-C raises KeyboardInterrupt, also under `nohup make test &`, whose shell has SIGINT ignored.

    There is no garbage collection: Hypothesis is called back by it, and Ctrl-C that comes meanwhile is reported and
    lost.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()
    yield
    gc.enable()
    signal.signal(signal.SIGINT, before)
