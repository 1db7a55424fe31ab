"""Fixtures: directories to work in, and the office server at an address."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.seed.kit import office_program
from tests.seed.servers.office import Office, OfficeAddress


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty working directory, in which the test's process stands."""
    work = tmp_path / "project"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def office(work: Path) -> Iterator[OfficeAddress]:
    """Serve the working directory at a loopback address."""
    with OfficeAddress(Office(work)) as address:
        yield address


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the office server, as a program, where programs are looked for."""
    directory = office_program(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{directory}{os.pathsep}{os.environ['PATH']}")
    return directory
