from haytham.domain import failures


def test_told() -> None:
    """An exception is told with its kind and message, without one by its kind alone."""
    assert failures.told(ValueError("no.")) == "ValueError: no."
    assert failures.told(KeyboardInterrupt()) == "KeyboardInterrupt"


def test_told_whatever_it_says() -> None:
    """What UTF-8 cannot hold is written as an escape."""
    assert failures.told(OSError("bad \udcff name")) == "OSError: bad \\udcff name"
