"""Settings of all tests."""

import gc
import os
import signal

from hypothesis import settings

# How long a test takes proves nothing. What CI runs is the same each time: a failure there is of
# the change; the search for new cases goes on wherever else the tests are run.
settings.register_profile("project", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("project")

# A shell starts what it runs in the background with SIGINT ignored, and programs inherit that:
# tests of C-c would prove nothing.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking through 20,000 tests again and again."""
    gc.collect()
    gc.freeze()
