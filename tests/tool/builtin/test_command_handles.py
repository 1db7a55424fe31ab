"""A provider that can do nothing but run commands is enough for the file tools."""
# ruff: noqa: F401 - the tests are imported to be run again, with the workspace of this module

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agentscope_like.sandbox import SandboxConfig, SandboxType
from tests.sandbox.kit import MyRemoteSandbox
from tests.tool.builtin.file_kit import Workspace
from tests.tool.builtin.test_file_permissions import (
    test_a_grant_ends_where_a_symlink_was_swapped,
    test_a_model_reads_edits_and_searches,
    test_a_question_says_what_would_be_done,
    test_a_sensitive_write_asks_whatever_the_rules_say,
    test_searches_are_judged_by_where_they_look,
)
from tests.tool.builtin.test_glob import (
    test_a_name_that_cannot_be_shown_is_escaped,
    test_symlinks_are_not_followed,
    test_the_last_modified_comes_first,
)
from tests.tool.builtin.test_grep import (
    test_matches_over_several_lines,
    test_odd_names,
)
from tests.tool.builtin.test_read import (
    test_a_missing_file_is_told_its_neighbour,
    test_an_image_is_handed_over,
    test_what_cannot_be_read_is_a_clear_error,
)
from tests.tool.builtin.test_search_rules import (
    project,
    test_a_rule_for_read_decides_about_the_searched_directory,
    test_who_was_asked_about_a_directory_does_not_lift_a_denial_below,
)
from tests.tool.builtin.test_write_edit import (
    test_a_failed_write_removes_the_directories_it_made,
    test_a_file_that_changed_since_it_was_read_is_refused,
    test_a_new_file_needs_no_reading,
    test_a_read_only_file_is_not_replaced,
    test_a_set_id_bit_is_dropped,
    test_a_symlink_stays_a_symlink,
    test_other_hard_links_keep_their_content,
    test_the_metadata_carries_the_difference,
    test_two_edits_at_once_lose_nothing,
)


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    """Return an empty workspace in a sandbox."""
    root = tmp_path / "project"
    root.mkdir()
    config = SandboxConfig(mode=SandboxType.REMOTE, remote_provider="mine", workspace=str(tmp_path))
    async with MyRemoteSandbox(config) as handle:
        yield Workspace(root, handle)
