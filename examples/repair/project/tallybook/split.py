"""Splitting expenses."""

from collections import defaultdict
from collections.abc import Iterable

from tallybook.book import Expense


def split(amount: int, people: int) -> list[int]:
    """Return the share of each person, in cents."""
    share = amount // people
    return [share] * people


def balances(expenses: Iterable[Expense]) -> dict[str, int]:
    """Return what each person is owed; those who owe have a negative balance."""
    totals: defaultdict[str, int] = defaultdict(int)
    for expense in expenses:
        totals[expense.payer] += expense.amount
        for name, share in zip(expense.shared_by, split(expense.amount, len(expense.shared_by))):
            totals[name] -= share
    return dict(totals)
