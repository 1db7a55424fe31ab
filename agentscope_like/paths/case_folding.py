"""Folds the case and Unicode form of paths for deny rules and sensitive names.

Allow rules compare exactly. Rules that forbid compare as the most lenient file system would:
ignoring case and Unicode composition, so that `.ENV` on a case-insensitive disk is still `.env`.
"""

from __future__ import annotations

import unicodedata

__all__ = ["compose", "fold", "without_invisible"]

_UNDOTTED = {0x130: "i", 0x131: "i"}
"""Turkish i: regular expressions that ignore case take both for `i`, casefolding takes neither."""


def compose(text: str) -> str:
    """Return `text` in Unicode NFC, so that one name has one spelling."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    """Return a key that is equal for names that any file system might confuse.

    Strings that are equal for a regular expression with IGNORECASE have the same key; the
    key of a concatenation of composed strings is the concatenation of their keys.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text).translate(_UNDOTTED).casefold()


def without_invisible(text: str) -> str:
    """Return `text` without format characters, which HFS+ ignores in names (CVE-2014-9390)."""
    if text.isascii():
        return text
    return "".join(char for char in text if unicodedata.category(char) != "Cf")
