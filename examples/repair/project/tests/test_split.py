from tallybook.book import Expense
from tallybook.split import balances, split


def test_an_even_amount_is_split_evenly():
    assert split(9000, 3) == [3000, 3000, 3000]


def test_no_cent_is_lost():
    assert sum(split(10000, 3)) == 10000


def test_shares_differ_by_a_cent_at_most():
    shares = split(10000, 3)
    assert max(shares) - min(shares) <= 1


def test_balances_cancel_out():
    book = [Expense("ada", 10000, ("ada", "ben", "cleo")), Expense("ben", 999, ("ada", "ben"))]
    assert sum(balances(book).values()) == 0
