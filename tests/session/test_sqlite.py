"""Sessions in an SQLite file: what is kept, from whom, and what is said when it cannot be."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from agentscope_like.event import (
    AgentEvent,
    ReplyEndEvent,
    ReplyStartEvent,
    TextBlockDeltaEvent,
    TextBlockStartEvent,
)
from agentscope_like.message import AssistantMsg, ToolResultBlock, ToolResultState, UserMsg
from agentscope_like.permission import AdditionalWorkingDirectory, PermissionContext
from agentscope_like.session import SessionError, SessionStorage, SQLiteSessionStorage
from agentscope_like.state import AgentState


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "sessions.db"


@pytest.fixture
async def storage(path: Path) -> AsyncIterator[SQLiteSessionStorage]:
    async with SQLiteSessionStorage(path) as storage:
        yield storage


def state(session_id: str = "s", said: str = "hello") -> AgentState:
    return AgentState(session_id=session_id, context=[UserMsg("u", said)])


def start() -> ReplyStartEvent:
    return ReplyStartEvent(session_id="s", reply_id="r", name="agent")


class TestKeeping:
    """What was stored is loaded."""

    async def test_a_state(self, storage: SQLiteSessionStorage) -> None:
        """A saved state is loaded as it was; an unknown session is None."""
        kept: SessionStorage = storage
        saved = state()
        await kept.save(saved)
        assert await kept.load("s") == saved
        assert await kept.load("other") is None

    async def test_events_after_it(self, path: Path) -> None:
        """Another process's view is the saved state with the events after it."""
        async with SQLiteSessionStorage(path) as storage:
            await storage.save(state())
            await storage.append("s", start())
            await storage.append("s", TextBlockStartEvent(reply_id="r", block_id="t"))
            await storage.append("s", TextBlockDeltaEvent(reply_id="r", block_id="t", delta="Hi"))
        async with SQLiteSessionStorage(path) as storage:
            loaded = await storage.load("s")
        assert loaded is not None
        assert [m.get_text_content() for m in loaded.context] == ["hello", "Hi"]
        assert loaded.context[-1].name == "agent"
        assert loaded.reply_id == "r"
        assert loaded.reply_message("agent") is loaded.context[-1]

    async def test_a_state_holds_the_events_before_it(self, storage: SQLiteSessionStorage) -> None:
        """Events that came before a state was saved are not taken into it again."""
        await storage.save(state())
        await storage.append("s", start())
        ended = state()
        ended.context.append(AssistantMsg("agent", "Hi", id="r"))
        await storage.save(ended)
        assert await storage.load("s") == ended
        await storage.append("s", ReplyEndEvent(session_id="s", reply_id="r"))
        loaded = await storage.load("s")
        assert loaded is not None
        assert loaded.context[-1].finished_reason == "completed"

    async def test_text_that_utf8_cannot_hold(self, storage: SQLiteSessionStorage) -> None:
        """Lone surrogates, in states, events and titles, do not keep a session from being kept."""
        odd = state(said="caf\udce9")
        await storage.save(odd, directory="/tmp/\udcff")
        await storage.append("s", start())
        await storage.append("s", TextBlockStartEvent(reply_id="r", block_id="t"))
        delta = TextBlockDeltaEvent(reply_id="r", block_id="t", delta="\ud800")
        await storage.append("s", delta)
        loaded = await storage.load("s")
        assert loaded is not None
        assert [m.get_text_content() for m in loaded.context] == ["caf\\udce9", "\\ud800"]
        (info,) = await storage.list_sessions()
        assert info.title == "caf\\udce9"

    async def test_many_at_once(self, storage: SQLiteSessionStorage) -> None:
        """Writes that are awaited together keep the order in which they were asked for."""
        await storage.save(state())
        events: list[AgentEvent] = [start(), TextBlockStartEvent(reply_id="r", block_id="t")]
        events += [
            TextBlockDeltaEvent(reply_id="r", block_id="t", delta=f"{n} ") for n in range(200)
        ]
        await asyncio.gather(*(storage.append("s", event) for event in events))
        loaded = await storage.load("s")
        assert loaded is not None
        assert loaded.context[-1].get_text_content() == "".join(f"{n} " for n in range(200))


class TestListing:
    """What a list of sessions shows."""

    async def test_titles_and_directories(self, storage: SQLiteSessionStorage) -> None:
        """The session written to last comes first; a title is the first line that the user said."""
        assert await storage.list_sessions() == []
        places = {"/w": AdditionalWorkingDirectory(path="/w", source="session")}
        first = state("a", "  Fix   the\ttests\nplease")
        first.permission_context = PermissionContext(working_directories=places)
        await storage.save(first)
        await storage.save(state("b", "x" * 200), directory="/elsewhere")
        await storage.save(AgentState(session_id="c"))
        await storage.save(first)
        listed = await storage.list_sessions()
        assert [(i.id, i.title, i.directory) for i in listed] == [
            ("a", "Fix the tests", "/w"),
            ("c", "", None),
            ("b", "x" * 77 + "...", "/elsewhere"),
        ]
        assert listed[0].updated_at > listed[1].updated_at

    async def test_a_directory_is_kept(self, storage: SQLiteSessionStorage) -> None:
        """A save that names no directory leaves the one that was named before."""
        await storage.save(state(), directory="/w")
        await storage.save(state())
        assert (await storage.list_sessions())[0].directory == "/w"


def shown_until_killed(path: Path) -> list[str]:
    """Return the lines that a writer shows before and until it is killed."""
    command = [sys.executable, "-m", "tests.session.writer", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        shown = [writer.stdout.readline() for _ in range(50)]
        writer.kill()
        return shown + writer.stdout.readlines()


class TestKilled:
    """A process that is killed."""

    async def test_nothing_that_was_shown_is_lost(self, path: Path) -> None:
        """After `kill -9` amid a call, all that was shown is there, and the call is unfinished."""
        shown = shown_until_killed(path)
        async with SQLiteSessionStorage(path) as storage:
            loaded = await storage.load("s")
        assert loaded is not None
        reply = loaded.reply_message("agent")
        assert reply is not None
        assert reply.get_text_content() == "Counting."
        (result,) = [b for b in reply.content if isinstance(b, ToolResultBlock)]
        assert result.state is ToolResultState.RUNNING
        output = "".join(getattr(block, "text", "") for block in result.output)
        whole = "".join(line for line in shown if line.endswith("\n"))
        assert output.startswith(whole)
        assert [call.id for call in loaded.get_unfinished_tool_calls("agent")] == ["c"]
        assert loaded.get_awaiting_tool_calls("agent") == []


def exit_codes_of_writers(path: Path, number: int) -> list[int]:
    """Run processes at once that save one session each."""
    code = (
        "import asyncio, sys\n"
        "from agentscope_like.session import SQLiteSessionStorage\n"
        "from agentscope_like.state import AgentState\n"
        "async def main():\n"
        "    async with SQLiteSessionStorage(sys.argv[1]) as storage:\n"
        "        await storage.save(AgentState(session_id=sys.argv[2]))\n"
        "asyncio.run(main())\n"
    )
    commands = [[sys.executable, "-c", code, str(path), str(n)] for n in range(number)]
    running = [subprocess.Popen(command) for command in commands]
    return [process.wait(50) for process in running]


class TestSharing:
    """Several storages, in one process or many, on one file."""

    async def test_two_sessions(self, path: Path) -> None:
        """Two writers with a session each do not disturb one another."""
        async with SQLiteSessionStorage(path) as one, SQLiteSessionStorage(path) as two:

            async def write(storage: SQLiteSessionStorage, name: str) -> None:
                await storage.save(state(name))
                for _ in range(50):
                    await storage.append(name, TextBlockStartEvent(reply_id="r", block_id="t"))

            await asyncio.gather(write(one, "a"), write(two, "b"))
            for name in "ab":
                loaded = await one.load(name)
                assert loaded is not None
                assert len(loaded.context[-1].content) == 50

    async def test_processes_that_begin_together(self, path: Path) -> None:
        """Processes that make the file at the same moment all succeed."""
        assert exit_codes_of_writers(path, 3) == [0, 0, 0]
        async with SQLiteSessionStorage(path) as storage:
            assert {info.id for info in await storage.list_sessions()} == {"0", "1", "2"}

    async def test_one_session_has_one_writer(self, path: Path) -> None:
        """Of two that took up the same session, the one that writes second is refused, unmixed."""
        async with SQLiteSessionStorage(path) as one, SQLiteSessionStorage(path) as two:
            await one.save(state())
            assert await two.load("s") is not None
            await one.append("s", start())
            for attempt in (two.append("s", start()), two.save(state(said="other"))):
                with pytest.raises(SessionError, match="another process"):
                    await attempt
            await one.append("s", TextBlockStartEvent(reply_id="r", block_id="t"))
            taken_up = await two.load("s")
            assert taken_up is not None
            assert len(taken_up.context) == 2
            await two.append("s", TextBlockStartEvent(reply_id="r", block_id="u"))

    async def test_events_need_a_state(self, storage: SQLiteSessionStorage) -> None:
        """An event of a session that was neither saved nor loaded is refused."""
        with pytest.raises(SessionError, match="save its state"):
            await storage.append("s", start())

    async def test_a_writer_that_does_not_end(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A file that stays locked is an error after a while, not a wait for ever."""
        monkeypatch.setattr("agentscope_like.sqlite_file.BUSY_TIMEOUT", 0.1)
        async with SQLiteSessionStorage(path) as storage:
            await storage.save(state())
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(SessionError, match="end that one"):
                await storage.append("s", start())
            other.close()
            await storage.append("s", start())


def foreign(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE sessions (x)")
    connection.close()


def newer(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA application_id = 0x41534C53")
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def garbage(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 100)


def directory(path: Path) -> None:
    path.mkdir()


def content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


class TestTrouble:
    """Files that cannot be used."""

    @pytest.mark.parametrize(
        ("make", "said"),
        [
            (foreign, "another program"),
            (newer, "newer version"),
            (garbage, "move it away"),
            (directory, "permissions"),
        ],
    )
    async def test_files_that_are_none(
        self, path: Path, make: Callable[[Path], None], said: str
    ) -> None:
        """A file that is damaged, newer or another's is named, told of, and left as it is."""
        path.parent.mkdir()
        make(path)
        before = content(path)
        async with SQLiteSessionStorage(path) as storage:
            for attempt in (storage.list_sessions(), storage.save(state())):
                with pytest.raises(SessionError, match=said) as caught:
                    await attempt
                assert str(path) in caught.value.message
        assert content(path) == before

    @pytest.mark.parametrize(
        ("statement", "said"),
        [
            ("UPDATE sessions SET state = '{'", "the state of session 's'"),
            ('UPDATE sessions SET state = \'{"x": "\\ud800"}\'', "the state of session 's'"),
            ('UPDATE events SET event = \'{"type": "NEW"}\'', "an event of session 's'"),
        ],
    )
    async def test_sessions_that_cannot_be_read(
        self, path: Path, statement: str, said: str
    ) -> None:
        """A session that is damaged is told of; the others can still be used."""
        async with SQLiteSessionStorage(path) as storage:
            await storage.save(state())
            await storage.append("s", start())
            connection = sqlite3.connect(path)
            with connection:
                connection.execute(statement)
            connection.close()
            with pytest.raises(SessionError, match=said):
                await storage.load("s")
            await storage.save(state("other"))
            assert await storage.load("other") is not None

    async def test_closed(self, path: Path) -> None:
        """A closed storage says so, and may be closed again."""
        storage = SQLiteSessionStorage(path)
        await storage.close()
        await storage.close()
        with pytest.raises(SessionError, match="closed"):
            await storage.load("s")


class TestTidiness:
    """What it leaves behind, and what it never holds up."""

    async def test_only_the_owner_can_read(self, path: Path) -> None:
        """The directory that it makes and its files are private, an old wide-open file too."""
        async with SQLiteSessionStorage(path) as storage:
            await storage.save(state())
            modes = {mode(file) for file in path.parent.iterdir()}
            assert len(list(path.parent.iterdir())) == 3
        assert modes == {0o600}
        assert mode(path.parent) == 0o700
        os.chmod(path, 0o644)
        async with SQLiteSessionStorage(path) as storage:
            await storage.list_sessions()
        assert mode(path) == 0o600

    async def test_nothing_blocks_the_loop(self, path: Path) -> None:
        """No call of the storage blocks the event loop."""
        with blockbuster_ctx():
            async with SQLiteSessionStorage(path) as storage:
                await storage.save(state())
                await storage.append("s", start())
                await storage.load("s")
                await storage.list_sessions()

    async def test_no_thread_and_no_log_is_left(self, path: Path) -> None:
        """Once closed, its thread has ended and its log is written back."""
        async with SQLiteSessionStorage(path) as storage:
            await storage.save(state())
            assert [t for t in threading.enumerate() if t.name.startswith("sessions")]
        assert not [t for t in threading.enumerate() if t.name.startswith("sessions")]
        assert [file.name for file in path.parent.iterdir()] == ["sessions.db"]

    async def test_the_users_data_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without a path, the file is in the user's data directory."""
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
        async with SQLiteSessionStorage() as storage:
            await storage.save(state())
            assert storage.path.name == "sessions.db"
            assert storage.path.parent.name == "agentscope-like"
