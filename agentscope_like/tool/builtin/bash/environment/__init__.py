"""Builds the environment variables of commands."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.bash.environment.git_aliases import aliases_of_git
    from agentscope_like.tool.builtin.bash.environment.git_programs import (
        LOOKUP_VARIABLES,
        GitPlace,
        RepositoryKeys,
        git_environment,
        git_places,
        keys_below,
        not_told,
        repository_keys,
    )
    from agentscope_like.tool.builtin.bash.environment.hardened_environment import (
        runs_unasked,
        unasked_environment,
    )
    from agentscope_like.tool.builtin.bash.environment.inherited_environment import (
        in_english,
        is_inherited,
        shell_environment,
    )
    from agentscope_like.tool.builtin.bash.environment.repository_doubts import (
        is_known_harmless,
        with_repository_doubts,
    )
    from agentscope_like.tool.builtin.bash.environment.secret_variables import (
        secret_names,
        without_secrets,
    )
    from agentscope_like.tool.builtin.bash.environment.work_tree import work_tree_of

__all__ = [
    "LOOKUP_VARIABLES",
    "GitPlace",
    "RepositoryKeys",
    "aliases_of_git",
    "git_environment",
    "git_places",
    "in_english",
    "is_inherited",
    "is_known_harmless",
    "keys_below",
    "not_told",
    "repository_keys",
    "runs_unasked",
    "secret_names",
    "shell_environment",
    "unasked_environment",
    "with_repository_doubts",
    "without_secrets",
    "work_tree_of",
]

__getattr__ = on_first_use(
    __name__,
    {
        "GitPlace": "git_programs",
        "LOOKUP_VARIABLES": "git_programs",
        "RepositoryKeys": "git_programs",
        "aliases_of_git": "git_aliases",
        "git_environment": "git_programs",
        "git_places": "git_programs",
        "in_english": "inherited_environment",
        "is_inherited": "inherited_environment",
        "is_known_harmless": "repository_doubts",
        "keys_below": "git_programs",
        "not_told": "git_programs",
        "repository_keys": "git_programs",
        "runs_unasked": "hardened_environment",
        "secret_names": "secret_variables",
        "shell_environment": "inherited_environment",
        "unasked_environment": "hardened_environment",
        "with_repository_doubts": "repository_doubts",
        "without_secrets": "secret_variables",
        "work_tree_of": "work_tree",
    },
)
