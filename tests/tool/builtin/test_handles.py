"""What the file tools promise on this host they promise in a sandbox: the same tests, run there."""
# ruff: noqa: F401 - the tests are imported to be run again, with the workspace of this module

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.sandbox.kit import passthrough
from tests.tool.builtin.file_kit import Workspace
from tests.tool.builtin.test_file_permissions import (
    test_a_grant_ends_where_a_symlink_was_swapped,
    test_a_model_reads_edits_and_searches,
    test_a_question_offers_the_directory,
    test_a_question_says_what_would_be_done,
    test_a_sensitive_write_asks_whatever_the_rules_say,
    test_allow_rules,
    test_rules_that_forbid,
    test_searches_are_judged_by_where_they_look,
    test_the_contexts_working_directories_replace_the_tools_own,
    test_writing,
)
from tests.tool.builtin.test_glob import (
    test_a_name_that_cannot_be_shown_is_escaped,
    test_a_search_elsewhere_shows_absolute_paths,
    test_credentials_are_left_out_and_counted,
    test_globs,
    test_nothing_found_is_no_error,
    test_symlinks_are_not_followed,
    test_the_last_modified_comes_first,
    test_what_cannot_be_searched_is_a_clear_error,
)
from tests.tool.builtin.test_grep import (
    project,
    test_credentials_are_left_out_and_give_nothing_away,
    test_groups_of_context_are_kept_apart,
    test_matches_over_several_lines,
    test_what_is_shown,
)
from tests.tool.builtin.test_read import (
    test_a_missing_file_is_told_its_neighbour,
    test_a_read_is_remembered_by_digest_and_lines,
    test_a_window_of_lines,
    test_an_empty_file_is_said_to_be_empty,
    test_an_image_is_handed_over,
    test_encodings,
    test_what_is_no_text_is_refused,
)
from tests.tool.builtin.test_write_edit import (
    test_a_failed_write_removes_the_directories_it_made,
    test_a_file_that_changed_since_it_was_read_is_refused,
    test_a_new_file_needs_no_reading,
    test_a_read_only_file_is_not_replaced,
    test_a_set_id_bit_is_dropped,
    test_a_symlink_stays_a_symlink,
    test_an_edit_takes_the_line_ends_of_its_place,
    test_an_edit_that_cannot_be_made_says_why,
    test_an_existing_file_must_have_been_read,
    test_other_hard_links_keep_their_content,
    test_the_metadata_carries_the_difference,
    test_the_mode_is_kept,
    test_two_edits_at_once_lose_nothing,
    test_write_keeps_line_ends_encoding_and_mark,
)


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    """Return an empty workspace in a sandbox, which reaches what lies beside it, too."""
    root = tmp_path / "project"
    root.mkdir()
    async with passthrough(workspace=str(tmp_path)) as handle:
        yield Workspace(root, handle)
