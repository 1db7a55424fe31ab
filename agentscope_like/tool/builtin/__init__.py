"""The tools that come with the library."""

__all__: list[str] = []
