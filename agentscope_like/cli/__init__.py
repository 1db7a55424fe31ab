"""The terminal program."""

__all__: list[str] = []
