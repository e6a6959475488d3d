"""How an exception is told in a document."""


def told(error: BaseException) -> str:
    """Returns the kind of an exception with its message, if it has one."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - an error that cannot tell itself must not hide itself
        message = ""
    return writable(f"{type(error).__name__}: {message}" if message else type(error).__name__)


def writable(text: str) -> str:
    """Returns an error's text as UTF-8 can hold it: no error may hide another because of its wording."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
