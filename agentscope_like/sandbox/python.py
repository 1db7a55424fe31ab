"""Runs Python programs in a sandbox's own virtual environment."""

from __future__ import annotations

import asyncio
import posixpath
import shlex
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Protocol

from agentscope_like.sandbox.result import CommandResult, ExecutionResult

__all__ = ["PythonRunner"]

_NOT_MADE = "The virtual environment could not be made (Debian: apt-get install python3-venv)"
_NOT_INSTALLED = (
    "The requirements could not be installed; from an index, that takes "
    "`SandboxConfig(network=True)`"
)

# A pip that can install into another environment spares that environment a pip of its own.
_INSTALL = """\
if "$base" -c 'import sys, pip
sys.exit(tuple(map(int, pip.__version__.split(".")[:2])) < (22, 3))' 2>/dev/null
then pip=("$base" -m pip --python "$python")
else
  [ -e "${python%/*}/pip" ] || "$python" -m ensurepip >&2 || exit
  pip=("$python" -m pip)
fi
"${pip[@]}" install --quiet --no-input --disable-pip-version-check -- "${requirements[@]}"
"""


class _Sandbox(Protocol):
    @property
    def scratch_path(self) -> str: ...

    @property
    def python(self) -> str: ...

    async def execute_command(
        self,
        command: str,
        workdir: str | None = None,
        timeout: float = 30,
        env_vars: Mapping[str, str] | None = None,
    ) -> CommandResult: ...

    async def write_file(
        self, path: str, content: str | bytes, *, append: bool = False
    ) -> None: ...


class PythonRunner:
    """Makes the environment when it is first needed, installs into it, runs in it.

    Everything runs inside the sandbox, since an installation runs foreign code as well.

    Args:
        sandbox: Where to run.
        preparing: Held while the sandbox's environment is changed.
    """

    def __init__(self, sandbox: _Sandbox, preparing: asyncio.Lock) -> None:
        self._sandbox = sandbox
        self._preparing = preparing
        self._venv = posixpath.join(sandbox.scratch_path, "venv")
        self._python = posixpath.join(self._venv, "bin", "python")

    async def run(
        self, code: str, requirements: Sequence[str], workdir: str | None, timeout: float
    ) -> ExecutionResult:
        """Run a program within `timeout` seconds, including the installation."""
        started_at = time.monotonic()

        def left() -> float:
            return max(timeout - (time.monotonic() - started_at), 0.001)

        def failure(error: str) -> ExecutionResult:
            return ExecutionResult(
                success=False,
                output="",
                execution_time=time.monotonic() - started_at,
                error=error,
            )

        if options := [text for text in requirements if text.lstrip().startswith("-")]:
            return failure(f"{options[0]!r} is an option of pip, not a requirement: leave it out.")
        async with self._preparing:
            for step, meaning in self._preparations(requirements):
                done = await self._sandbox.execute_command(step, timeout=left())
                if not done.success:
                    return failure(f"{meaning}: {done.stderr.strip() or done.stdout.strip()}")
        program = posixpath.join(self._sandbox.scratch_path, f"program-{uuid.uuid4().hex}.py")
        await self._sandbox.write_file(program, code)
        done = await self._sandbox.execute_command(
            f"trap 'rm -f -- {shlex.quote(program)}' EXIT; {shlex.join([self._python, program])}",
            workdir,
            left(),
        )
        return ExecutionResult(
            success=done.success,
            output=done.stdout,
            execution_time=time.monotonic() - started_at,
            error=None if done.success else done.stderr or f"exit status {done.return_code}",
            installed_packages=tuple(requirements),
        )

    def _preparations(self, requirements: Sequence[str]) -> list[tuple[str, str]]:
        """Return the commands to run first, each with what its failure means."""
        base, python = self._sandbox.python, shlex.quote(self._python)
        make = shlex.join([base, "-m", "venv", "--without-pip", self._venv])
        steps = [(f"[ -x {python} ] || {make}", _NOT_MADE)]
        if requirements:
            known = f"base={shlex.quote(base)} python={python} requirements=("
            steps.append((f"{known}{shlex.join(requirements)})\n{_INSTALL}", _NOT_INSTALLED))
        return steps
