"""A run and its children spend from one account, which is never overdrawn."""

from __future__ import annotations

import threading

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.profile import Account, BudgetError, ToolPolicy


def test_the_limit_of_a_run() -> None:
    """Beyond it no call is taken, of whatever tool."""
    account = Account(2)
    account.take_call("a")
    account.take_call("b")
    with pytest.raises(BudgetError, match="may make 2 calls of tools, and has made them"):
        account.take_call("c")
    assert account.calls == 2


def test_the_limit_of_a_tool() -> None:
    """It holds for that tool alone, and a refused call takes nothing of the run's."""
    account = Account.of(ToolPolicy(max_calls_per_run=3, max_calls_per_tool={"a": 1}))
    account.take_call("a")
    with pytest.raises(BudgetError, match="may make 1 call of a, and has made them"):
        account.take_call("a")
    assert account.calls == 1
    account.take_call("b")


def test_the_model_is_told_in_time() -> None:
    """At four fifths of a limit, and at its last units; not in between."""
    account = Account(10, {"a": 2})
    told = [account.take_call("b") for _ in range(10)]
    assert told == [
        *([""] * 7),
        "2 calls of tools left in this run.",
        "1 call of tools left in this run.",
        "That was the last call of tools in this run.",
    ]
    other = Account(100, {"a": 2})
    assert other.take_call("a") == "1 call of a left in this run."
    assert other.take_call("a") == "That was the last call of a in this run."


def test_concurrent_calls_never_overdraw_it() -> None:
    """Of 200 calls at once, exactly as many are taken as there are."""
    account = Account(120, {"a": 70})
    taken: list[str] = []
    start = threading.Barrier(20)

    def work(number: int) -> None:
        start.wait()
        for _ in range(10):
            name = "ab"[number % 2]
            try:
                account.take_call(name)
            except BudgetError:
                continue
            taken.append(name)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == account.calls == 120
    assert taken.count("a") <= 70


def test_characters_are_taken_whole_or_not_at_all() -> None:
    """A read that is too long takes nothing; a shorter one still may."""
    account = Account(1, most_characters=10)
    account.take_characters(6)
    with pytest.raises(BudgetError, match="may read 4 more characters of skills"):
        account.take_characters(5)
    account.take_characters(4)
    Account(1).take_characters(1_000_000)


def test_the_model_is_told_of_characters_in_time() -> None:
    """At four fifths of them, once, and at the last; a child is told of its parent's too."""
    parent = Account(1, most_characters=100)
    child = Account(1, most_characters=1_000, within=parent)
    assert child.take_characters(79) == ""
    assert child.take_characters(1) == "20 characters of skills left in this run."
    assert parent.take_characters(19) == ""
    told = child.take_characters(1)
    assert told == "Those were the last characters of skills that this run may read."
    assert Account(1).take_characters(1_000_000) == ""


def test_a_child_takes_from_its_parents_too() -> None:
    """Where one of them has none left, nothing is taken of any; what is left is told."""
    top = Account(3, most_characters=5)
    middle = Account(9, {"a": 1}, within=top)
    child = Account(2, within=middle)
    child.resume({"b": 1})
    child.take_call("a")
    assert (top.spent, middle.spent, child.spent) == ({"a": 1}, {"a": 1}, {"b": 1, "a": 1})
    with pytest.raises(BudgetError, match="may make 2 calls of tools"):
        child.take_call("b")
    with pytest.raises(BudgetError, match="may make 1 call of a"):
        middle.take_call("a")
    assert top.take_call("a") == "1 call of tools left in this run."
    assert middle.take_call("b") == "That was the last call of tools in this run."
    with pytest.raises(BudgetError, match="may read 5 more"):
        child.take_characters(6)
    child.take_characters(5)
    with pytest.raises(BudgetError, match="may read 0 more"):
        middle.take_characters(1)


def test_a_run_that_goes_on_has_spent_what_it_spent() -> None:
    """It is counted once, however often it is told, and not of the parent a second time."""
    top = Account(10, most_characters=10)
    child = Account(3, {"a": 2}, most_characters=10, within=top)
    for _ in range(2):
        child.resume({"a": 1, "b": 1}, 4)
    assert (child.spent, child.characters, top.spent) == ({"a": 1, "b": 1}, 4, {})
    child.take_call("a")
    with pytest.raises(BudgetError):
        child.take_call("b")
    with pytest.raises(BudgetError, match="may read 6 more"):
        child.take_characters(7)
    child.resume({"a": 1})
    assert child.spent == {"a": 2, "b": 1}


def test_a_negative_limit_is_refused() -> None:
    """The message names it."""
    with pytest.raises(ConfigurationError, match="-1"):
        Account(1, {"a": -1})
