"""Where commands run: on the host, in a sandbox of the kernel, on another host."""

__all__: list[str] = []
