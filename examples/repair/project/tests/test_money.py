from tallybook.money import cents, show


def test_amounts_are_read_as_cents():
    assert cents("12.34") == 1234


def test_debts_are_shown_with_their_sign():
    assert show(-5) == "-0.05"
