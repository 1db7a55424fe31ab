"""Provides `FileEditorTool`."""

from agentscope_like.typed.tools.file_editor.definition import (
    FileEditorAction,
    FileEditorObservation,
    FileEditorTool,
)

__all__ = ["FileEditorAction", "FileEditorObservation", "FileEditorTool"]
