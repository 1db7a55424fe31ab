"""Settings of all tests."""

from hypothesis import settings

settings.register_profile("project", deadline=None)  # how long a test takes proves nothing
settings.load_profile("project")
