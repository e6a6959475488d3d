"""The entry point of the command line.

Answers the overview, the version and a plain log at once, without click, which takes longer to import than Python to
start.
Everything else is handed to the group of commands.
"""

import os
import sys

from haytham import __version__
from haytham.cli.commands import COMPLETION, overview


def main() -> int:
    """Runs one command and returns the exit code."""
    _replace_closed_streams()
    arguments = sys.argv[1:]
    if instruction := os.environ.get(COMPLETION):
        from haytham.cli.group import complete

        return complete(instruction)
    if arguments in ([], ["--help"], ["-h"]):
        return _say(f"{overview()}\n")
    if arguments == ["--version"]:
        return _say(f"haytham {__version__}\n")
    if arguments[0] == "log":
        from haytham.cli import quick_log

        if (text := quick_log.text(arguments[1:])) is not None and not _needs_pager(text):
            return _say(text)
    from haytham.cli.group import run

    return run(arguments)


def _replace_closed_streams() -> None:
    """Lets whoever closed the output or the errors have what they want, without any command having to know."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - for good; pathlib is slow


def _needs_pager(text: str) -> bool:
    """Tells whether a person looks at the output, and it may be longer than the screen: then the command pages it."""
    return sys.stdout.isatty() and text.count("\n") >= os.get_terminal_size(sys.stdout.fileno()).lines


def _say(text: str) -> int:
    try:
        sys.stdout.buffer.write(text.encode(sys.stdout.encoding, "backslashreplace"))
        sys.stdout.flush()
    except OSError as error:
        from haytham.cli.reporting import report_output_failure

        return report_output_failure(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
