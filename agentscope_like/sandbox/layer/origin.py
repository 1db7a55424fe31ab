"""Tells whether a directory on a layer is of the directory that lies below it now.

overlayfs notes on each directory that it copies which one it was, as a file handle
(name_to_handle_at(2)) in an attribute.
"""

from __future__ import annotations

import ctypes
import os

__all__ = ["is_of_directory"]

_ATTRIBUTES = ("trusted.overlay.origin", "user.overlay.origin")
_MAGIC = 0xFB
_HEADER_BYTES = 21
_TYPE_AT = 4
"""struct ovl_fb (fs/overlayfs/overlayfs.h): version, magic, length, flags, type, UUID, handle."""

_MOST_HANDLE_BYTES = 128
_AT_EMPTY_PATH = 0x1000


def is_of_directory(upper: int, lower: int) -> bool:
    """Return whether a directory of a layer is known to be a copy of another directory.

    Args:
        upper: Descriptor of the directory on the layer.
        lower: Descriptor of the other one.
    """
    noted = _noted(upper)
    return noted is not None and noted == _handle(lower)


def _noted(directory: int) -> tuple[int, bytes] | None:
    for name in _ATTRIBUTES:
        try:
            value = os.getxattr(directory, name)
        except OSError:
            continue
        if len(value) > _HEADER_BYTES and value[1] == _MAGIC:
            return value[_TYPE_AT], value[_HEADER_BYTES : value[2]]
    return None


def _handle(directory: int) -> tuple[int, bytes] | None:
    """Return the type and bytes of a directory's file handle; None where there are none."""
    try:
        function = ctypes.CDLL(None, use_errno=True).name_to_handle_at
    except AttributeError:
        return None
    buffer = (ctypes.c_uint32 * (2 + _MOST_HANDLE_BYTES // 4))(_MOST_HANDLE_BYTES)
    mount = ctypes.c_int()
    if function(directory, b"", buffer, ctypes.byref(mount), _AT_EMPTY_PATH) != 0:
        return None
    size, kind = buffer[0], buffer[1]
    return kind, bytes(buffer)[8 : 8 + size]
