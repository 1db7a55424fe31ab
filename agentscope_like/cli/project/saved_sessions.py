"""Lists saved sessions."""

from __future__ import annotations

from agentscope_like.cli.errors import CliError, ExitCode
from agentscope_like.permission.explain import visible
from agentscope_like.session import SessionError, SQLiteSessionStorage

__all__ = ["list_sessions"]


async def list_sessions() -> None:
    """Print the saved sessions, the latest first.

    Raises:
        CliError: They cannot be read.
    """
    storage = SQLiteSessionStorage()
    try:
        infos = await storage.list_sessions()
    except SessionError as error:
        raise CliError(error.message, ExitCode.CONFIG) from error
    finally:
        await storage.close()
    if not infos:
        print("No sessions are saved.")
    for info in infos:
        fields = (info.id[:8], info.updated_at[:16], info.directory or "?", info.title)
        print("  ".join(visible(field, layout="") for field in fields))
