"""Reading expenses."""

import csv
from typing import NamedTuple

from tallybook.money import cents


class Expense(NamedTuple):
    """Somebody paid an amount for some people."""

    payer: str
    amount: int
    shared_by: tuple[str, ...]


def read_expenses(path: str) -> list[Expense]:
    """Return the expenses of a CSV file."""
    with open(path, newline="", encoding="utf-8") as file:
        return [
            Expense(row["payer"], cents(row["amount"]), tuple(row["shared_by"].split(";")))
            for row in csv.DictReader(file)
        ]
