"""How an exception is told in a document."""


def told(error: BaseException) -> str:
    """Returns the kind of an exception with its message, if it has one."""
    return writable(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def writable(text: str) -> str:
    """Returns an error's text as UTF-8 can hold it: no error may hide another because of its wording."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
