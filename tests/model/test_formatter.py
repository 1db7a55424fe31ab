"""Messages as a chat-completions server takes them."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.message import (
    AssistantMsg,
    Base64Source,
    ContentBlock,
    DataBlock,
    HintBlock,
    Msg,
    SystemMsg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    URLSource,
    UserMsg,
)
from agentscope_like.model.openai.formatter import INTERRUPTED, NO_OUTPUT, format_messages

PNG = DataBlock(source=Base64Source(data="iVBO", media_type="image/png"), name="shot.png")


def call(call_id: str, name: str = "Bash", raw: str = "{}") -> ToolCallBlock:
    return ToolCallBlock(id=call_id, name=name, input=raw)


def result(
    call_id: str,
    output: str | list[TextBlock | DataBlock] = "ok",
    state: ToolResultState = ToolResultState.SUCCESS,
) -> ToolResultBlock:
    return ToolResultBlock(id=call_id, name="Bash", output=output, state=state)


def brief(entries: list[dict[str, Any]]) -> list[str]:
    """Return one word an entry: its role, the calls it makes or answers, its text."""
    words = []
    for entry in entries:
        ids = ",".join(made["id"] for made in entry.get("tool_calls", []))
        words.append(
            f"{entry['role']}:{entry.get('tool_call_id', ids)}:{entry.get('content') or ''}"
        )
    return words


class TestRounds:
    """An assistant message of many rounds becomes a valid history."""

    @pytest.mark.parametrize(
        ("blocks", "expected"),
        [
            ([TextBlock(text="hi")], ["assistant::hi"]),
            (
                [TextBlock(text="I look."), call("a"), call("b"), result("b", "2"), result("a")],
                ["assistant:a,b:I look.", "tool:a:ok", "tool:b:2"],
            ),
            (
                [call("a"), result("a"), TextBlock(text="next"), call("b"), result("b")],
                ["assistant:a:", "tool:a:ok", "assistant:b:next", "tool:b:ok"],
            ),
            (
                [call("a"), result("a"), call("b")],
                ["assistant:a:", "tool:a:ok", "assistant:b:", f"tool:b:{INTERRUPTED}"],
            ),
            (
                [call("a"), call("b"), result("a"), HintBlock(hint="now"), result("b")],
                ["assistant:a,b:", "tool:a:ok", "tool:b:ok", "user::now"],
            ),
            (
                [call("a"), result("a", "1"), call("a"), result("a", "2")],
                ["assistant:a:", "tool:a:1", "assistant:a:", "tool:a:2"],
            ),
            (
                [call("a"), TextBlock(text="x"), call("a"), result("a", "2")],
                ["assistant:a,a:x", f"tool:a:{INTERRUPTED}", "tool:a:2"],
            ),
            (
                [result("gone", "kept"), TextBlock(text="so")],
                ["assistant::[Result of an earlier call of Bash]\nkept", "assistant::so"],
            ),
            (
                [call("a"), result("a", "so far", ToolResultState.RUNNING)],
                ["assistant:a:", f"tool:a:so far\n{INTERRUPTED}"],
            ),
            ([call("a"), result("a", [])], ["assistant:a:", f"tool:a:{NO_OUTPUT}"]),
            ([ThinkingBlock(thinking="hm")], []),
            ([], []),
        ],
    )
    def test_order(self, blocks: list[Any], expected: list[str]) -> None:
        """Each round is one assistant message and one tool message a call, in the calls' order."""
        assert brief(format_messages([AssistantMsg("a", blocks)])) == expected

    def test_a_result_in_a_later_message(self) -> None:
        """A result is found wherever it stands, and is told right after its call."""
        messages = [
            AssistantMsg("a", [call("c")]),
            UserMsg("u", "and?"),
            AssistantMsg("a", [result("c", "late")]),
        ]
        assert brief(format_messages(messages)) == ["assistant:c:", "tool:c:late", "user::and?"]

    def test_roles(self) -> None:
        """System and user messages keep their role; two of the user in a row become one."""
        messages = [SystemMsg("s", "be kind"), UserMsg("u", "a"), UserMsg("v", "b")]
        assert brief(format_messages(messages)) == ["system::be kind", "user::a\nb"]

    @given(
        st.lists(
            st.one_of(
                st.builds(call, st.sampled_from("abc"), st.text(), st.text()),
                st.builds(
                    result, st.sampled_from("abc"), st.text(), st.sampled_from(ToolResultState)
                ),
                st.builds(TextBlock, text=st.text()),
                st.builds(HintBlock, hint=st.text()),
                st.builds(ThinkingBlock, thinking=st.text()),
                st.just(PNG),
            )
        )
    )
    def test_any_history_is_valid(self, blocks: list[ContentBlock]) -> None:
        """Whatever the blocks, each message with calls is followed by just their results."""
        entries = format_messages([Msg(name="a", role="assistant", content=blocks)])
        json.dumps(entries).encode()
        waiting: list[str] = []
        for entry in entries:
            if entry["role"] == "tool":
                assert entry["tool_call_id"] == waiting.pop(0)
                assert isinstance(entry["content"], str)
            else:
                assert waiting == []
            for made in entry.get("tool_calls", []):
                waiting.append(made["id"])
                assert isinstance(json.loads(made["function"]["arguments"]), dict)
                assert made["function"]["name"]
        assert waiting == []


class TestSlips:
    """What a model did wrong must not make the next request invalid."""

    @pytest.mark.parametrize(
        ("raw", "sent"),
        [
            ('{"command": "ls"}', '{"command": "ls"}'),
            ("", "{}"),
            (" ", "{}"),
            ('{"command": ', '{"malformed_arguments": "{\\"command\\": "}'),
            ("[1]", '{"malformed_arguments": "[1]"}'),
        ],
    )
    def test_arguments(self, raw: str, sent: str) -> None:
        """Arguments are sent as they were, unless they are no JSON object."""
        entry = format_messages([AssistantMsg("a", [call("c", raw=raw)])])[0]
        assert entry["tool_calls"][0]["function"]["arguments"] == sent

    @pytest.mark.parametrize(
        ("name", "sent"),
        [
            ("Bash", "Bash"),
            ("workspace.read", "workspace.read"),
            ("functions.Bash", "functions_Bash"),
            ("", "unnamed"),
            ("x" * 99, "x" * 64),
        ],
    )
    def test_names(self, name: str, sent: str) -> None:
        """Names are spelled with legal characters, unless the server was told them."""
        messages = [AssistantMsg("a", [call("c", name)])]
        entry = format_messages(messages, tool_names=["workspace.read"])[0]
        assert entry["tool_calls"][0]["function"]["name"] == sent

    def test_surrogates(self) -> None:
        """Lone surrogates are replaced wherever they stand."""
        blocks: list[Any] = [call("c", raw='{"x": "\ud800"}'), result("c", "\udc80")]
        json.dumps(format_messages([AssistantMsg("a", blocks)]), ensure_ascii=False).encode()


class TestThinking:
    """Reasoning is the model's own."""

    def test_sent_back_only_where_wanted(self) -> None:
        """Reasoning is left out unless the server wants it."""
        messages = [AssistantMsg("a", [ThinkingBlock(thinking="hm"), TextBlock(text="x")])]
        assert "reasoning_content" not in format_messages(messages)[0]
        sent = format_messages(messages, send_thinking=True)[0]
        assert sent == {"role": "assistant", "content": "x", "reasoning_content": "hm"}


def data(media_type: str, content: bytes = b"abc", name: str | None = None) -> DataBlock:
    encoded = base64.b64encode(content).decode()
    return DataBlock(source=Base64Source(data=encoded, media_type=media_type), name=name)


class TestData:
    """Images, sounds and files."""

    @pytest.mark.parametrize(
        ("block", "part"),
        [
            (PNG, {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}),
            (
                DataBlock.model_validate(
                    {"source": {"type": "url", "url": "https://x.y/a.png", "media_type": "image/*"}}
                ),
                {"type": "image_url", "image_url": {"url": "https://x.y/a.png"}},
            ),
            (
                data("audio/wav"),
                {"type": "input_audio", "input_audio": {"data": "YWJj", "format": "wav"}},
            ),
            (data("audio/flac", name="a"), {"type": "text", "text": "[audio/flac 'a']"}),
            (data("text/csv; x=y"), {"type": "text", "text": "[text/csv; x=y]\nabc"}),
            (
                data("application/pdf"),
                {
                    "type": "file",
                    "file": {
                        "filename": "file.pdf",
                        "file_data": "data:application/pdf;base64,YWJj",
                    },
                },
            ),
            (
                DataBlock(
                    source=URLSource.model_validate(
                        {"url": "https://x.y/a.pdf", "media_type": "application/pdf"}
                    )
                ),
                {"type": "text", "text": "[application/pdf at https://x.y/a.pdf]"},
            ),
        ],
    )  # fmt: skip
    def test_of_the_user(self, block: DataBlock, part: dict[str, Any]) -> None:
        """Data of the user goes in the part that the interface has for it."""
        sent = format_messages([UserMsg("u", [TextBlock(text="see"), block])])[0]["content"]
        if isinstance(sent, str):
            sent = [
                {"type": "text", "text": text}
                for text in (sent[:3], sent[4:])
            ]  # fmt: skip
        assert sent == [{"type": "text", "text": "see"}, part]

    def test_of_a_tool(self) -> None:
        """Data in results is named there, and follows all results of the round as the user's."""
        blocks: list[Any] = [
            call("a"),
            call("b"),
            result("a", [TextBlock(text="see"), PNG]),
            result("b"),
        ]
        _, first, second, shown = format_messages([AssistantMsg("m", blocks)])
        assert first["content"] == "see\n[image/png 'shot.png']"
        assert second["tool_call_id"] == "b"
        assert shown["role"] == "user"
        assert shown["content"] == [
            {"type": "text", "text": "[Data in the result of the call a of Bash:]"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}},
        ]

    def test_of_the_assistant(self) -> None:
        """Data that the assistant made is named, for it cannot be shown as its own."""
        assert brief(format_messages([AssistantMsg("a", [PNG])])) == [
            "assistant::[image/png 'shot.png']"
        ]
