"""Print the balances of a file of expenses."""

import sys

from tallybook.book import read_expenses
from tallybook.money import show
from tallybook.split import balances


def main() -> None:
    """Read the file named on the command line and print who is owed what."""
    for name, cents in sorted(balances(read_expenses(sys.argv[1])).items()):
        print(f"{name:10} {show(cents):>10}")


main()
