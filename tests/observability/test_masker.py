"""Masking text, whole and in pieces."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentscope_like.exception import ConfigurationError
from agentscope_like.observability import MASK, SecretMasker

SECRET = 'hun/ter2 +"ü"\\!'


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(SECRET)[1:-1])[1:-1],
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        re.sub(r"%..", lambda escape: escape[0].lower(), quote(SECRET)),
        re.sub(r"[^a-zA-Z0-9%]", lambda one: f"%{ord(one[0]):02x}", quote(SECRET).lower()),
        "".join(f"%{byte:02X}" for byte in SECRET.encode()),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
    ],
)
def test_a_secret_is_masked_in_every_form(form: str) -> None:
    """As it is, as JSON, as part of a URL, in hexadecimal."""
    assert SecretMasker([SECRET]).mask(f"before {form} after") == f"before {MASK} after"


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
@pytest.mark.parametrize("after", ["", "x", "xy"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_secret_is_masked_in_base64(
    before: str, after: str, encode: Callable[[bytes], bytes]
) -> None:
    """At each place in a group of three bytes where it may begin, in both alphabets."""
    encoded = encode(f"{before}{SECRET}{after}".encode()).decode()
    masked = SecretMasker([SECRET]).mask(encoded)
    assert MASK in masked
    assert len(masked.replace(MASK, "")) <= len(encode(f"{before}{after}".encode())) + 4


def test_base64_that_a_program_breaks_into_lines_is_masked() -> None:
    """`base64` breaks its output after 76 characters, in the middle of a secret."""
    secret = "0123456789abcdef" * 6
    done = subprocess.run(
        ["base64"], input=f"key={secret}", capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.count("\n") > 1
    masked = SecretMasker([secret]).mask(done.stdout)
    assert masked.startswith("a2V5P")
    assert len(masked.replace(MASK, "")) < 12


@pytest.mark.parametrize("escape", [1, 2])
def test_base64_that_is_broken_into_lines_inside_of_json_is_masked(escape: int) -> None:
    """As the result of a tool that returns what a program printed, or of a server's."""
    secret = "0123456789abcdef" * 6
    text = base64.encodebytes(f"key={secret}".encode()).decode()
    for _ in range(escape):
        text = json.dumps({"stdout": text})
    masker = SecretMasker([secret])
    masked = masker.mask(text)
    assert MASK in masked
    assert len(masked.replace(MASK, "")) < 60
    stream = masker.stream()
    assert "".join(map(stream.feed, text)) + stream.flush() == masked


def test_what_only_looks_like_a_break_in_json_hides_nothing() -> None:
    """A secret's base64 may begin with the letter that stands behind a backslash."""
    encoded = base64.b64encode(b"--ground-floors").decode()[3:]
    assert encoded.startswith("n")
    assert SecretMasker(["ground-floors"]).mask(f"C:\\{encoded}") == f"C:\\{MASK}"


def test_a_line_of_a_long_secret_is_masked_by_itself() -> None:
    """A key of several lines is often shown line by line; a short line is an ordinary word."""
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nend\n-----END KEY-----\n"
    masker = SecretMasker([key])
    assert masker.mask("  2\tMIIEvQIBADANBgkqhkiG9w0B\n") == f"  2\t{MASK}\n"
    assert masker.mask("the end") == "the end"


@pytest.mark.parametrize("text", ["", "hun", "HUN/TER2", "nothing of the kind", "aHVudGVy"])
def test_other_text_stays_as_it_is(text: str) -> None:
    """What only resembles a secret is not masked."""
    assert SecretMasker([SECRET]).mask(text) == text


def test_overlapping_secrets_leave_no_rest() -> None:
    """A secret that begins inside another is masked with it, and so is one that holds another."""
    masker = SecretMasker(["abcdef", "defghi", "abcd"])
    assert masker.mask("-abcdefghi-abcd-") == f"-{MASK}-{MASK}-"


@pytest.mark.parametrize("short", ["", " ", "abc", " abc\n"])
def test_a_secret_that_is_too_short_is_refused(short: str) -> None:
    """It would mask half of any text; what it is does not stand in the message."""
    with pytest.raises(ConfigurationError, match="4 or more"):
        SecretMasker().register(short)
    SecretMasker().register("abcd")


def test_data_is_masked_with_its_keys() -> None:
    """Texts are masked wherever they stand; other values stay as they are."""
    masker = SecretMasker(["secret-1"])
    data = {"a": ["secret-1", 1, None], "secret-1": {"b": True}, "c": ("x=secret-1",)}
    assert masker.mask_value(data) == {
        "a": [MASK, 1, None],
        MASK: {"b": True},
        "c": (f"x={MASK}",),
    }


def test_bytes_keep_their_length() -> None:
    """A secret in a file of bytes becomes as many asterisks."""
    masker = SecretMasker(["sécret-1"])
    data = b"\x89PNG\0" + "sécret-1".encode() + b"\xff"
    assert masker.mask_bytes(data) == b"\x89PNG\0" + b"*" * 9 + b"\xff"


def test_a_masker_does_not_tell_its_secrets() -> None:
    """Its `repr` names none."""
    assert "secret-1" not in repr(SecretMasker(["secret-1"]))


PIECES = st.lists(
    st.sampled_from(
        ["ab", "abcd", "cdef", "a", "aaaa", "\n", "\r\n", "x", "hunter2!", "\\", "\\n", "n"]
        + [base64.b64encode(b"-hunter2!")[a:b].decode() for a, b in pairwise([0, 3, 7, 12])]
    ),
    max_size=12,
)


@given(PIECES)
@example(["aaaa", "abcd", "ef"])
def test_masking_in_pieces_says_what_masking_at_once_says(pieces: list[str]) -> None:
    """Wherever the text is cut, the masked pieces join to the masked whole."""
    masker = SecretMasker(["hunter2!", "abcd", "cdef", "aaaa"])
    stream = masker.stream()
    shown = [stream.feed(piece) for piece in pieces] + [stream.flush()]
    assert "".join(shown) == masker.mask("".join(pieces))


@given(st.text(st.characters(codec="utf-8"), min_size=4).filter(lambda s: len(s.strip()) >= 4))
def test_no_secret_survives_a_character_at_a_time(secret: str) -> None:
    """Whatever the secret is, it is masked though it comes one character at a time."""
    masker = SecretMasker([secret])
    stream = masker.stream()
    shown = "".join(map(stream.feed, f"<{secret.strip()}>")) + stream.flush()
    assert shown == f"<{MASK}>"


def test_text_that_cannot_be_a_secret_is_shown_at_once() -> None:
    """Only what may be the beginning of a secret is kept back."""
    stream = SecretMasker(["secret-1"]).stream()
    assert stream.feed("Password: ") == "Password: "
    assert stream.feed("it is sec") == "it is "
    assert stream.feed("ond") == "second"


def test_a_flood_of_beginnings_is_not_hoarded() -> None:
    """A masked run that never ends is shown as one mask, and does not pile up."""
    stream = SecretMasker(["aaaa"]).stream()
    shown = [stream.feed("a" * 1000) for _ in range(50)]
    assert "".join(shown) == MASK
    assert stream.flush() == ""
    assert stream.feed("b") == "b"


def test_a_secret_registered_later_counts_from_then_on() -> None:
    """A stream that is under way masks it too."""
    masker = SecretMasker()
    stream = masker.stream()
    assert stream.feed("secret-1 ") == "secret-1 "
    masker.register("secret-1")
    assert stream.feed("secret-1 ") + stream.flush() == f"{MASK} "
