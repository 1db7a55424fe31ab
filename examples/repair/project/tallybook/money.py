"""Amounts of money, counted in cents."""

from decimal import Decimal


def cents(text: str) -> int:
    """Return the amount `12.34` as 1234."""
    return int(Decimal(text) * 100)


def show(amount: int) -> str:
    """Return 1234 as `12.34`."""
    sign = "-" if amount < 0 else ""
    return f"{sign}{abs(amount) // 100}.{abs(amount) % 100:02}"
