"""Keeps what a run writes on a layer over the working directories, lists it and applies it."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.sandbox.layer.application import (
        ApplyError,
        apply_layer,
        apply_objection,
        finish_applying,
    )
    from agentscope_like.sandbox.layer.file_state import FileKind, FileState, read_file_below
    from agentscope_like.sandbox.layer.layer import Layer, LayerDescriptors
    from agentscope_like.sandbox.layer.manifest import Change, Manifest
    from agentscope_like.sandbox.layer.mounting import layer_objection, mounting_words
    from agentscope_like.sandbox.layer.sorting import (
        MOST_UNDO_BYTES,
        MOST_UNDO_BYTES_IN_ALL,
        Sort,
        SortedChange,
        UndoBudget,
        sort_changes,
    )
    from agentscope_like.sandbox.layer.sorting_table import cache_directory_names

__all__ = [
    "MOST_UNDO_BYTES",
    "MOST_UNDO_BYTES_IN_ALL",
    "ApplyError",
    "Change",
    "FileKind",
    "FileState",
    "Layer",
    "LayerDescriptors",
    "Manifest",
    "Sort",
    "SortedChange",
    "UndoBudget",
    "apply_layer",
    "apply_objection",
    "cache_directory_names",
    "finish_applying",
    "layer_objection",
    "mounting_words",
    "read_file_below",
    "sort_changes",
]

__getattr__ = on_first_use(
    __name__,
    {
        "ApplyError": "application",
        "apply_layer": "application",
        "apply_objection": "application",
        "cache_directory_names": "sorting_table",
        "finish_applying": "application",
        "Change": "manifest",
        "FileKind": "file_state",
        "FileState": "file_state",
        "Layer": "layer",
        "LayerDescriptors": "layer",
        "Manifest": "manifest",
        "MOST_UNDO_BYTES": "sorting",
        "MOST_UNDO_BYTES_IN_ALL": "sorting",
        "Sort": "sorting",
        "SortedChange": "sorting",
        "UndoBudget": "sorting",
        "layer_objection": "mounting",
        "mounting_words": "mounting",
        "read_file_below": "file_state",
        "sort_changes": "sorting",
    },
)
