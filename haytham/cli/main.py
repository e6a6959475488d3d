"""The entry point of the command line.

Answers the overview and the version at once, without click, which takes longer to import than Python to start.
Everything else is handed to the group of commands.
"""

import os
import sys

from haytham import __version__
from haytham.cli.commands import COMPLETION, overview


def main() -> int:
    """Runs one command and returns the exit code."""
    arguments = sys.argv[1:]
    if instruction := os.environ.get(COMPLETION):
        from haytham.cli.group import complete

        return complete(instruction)
    if arguments in ([], ["--help"], ["-h"]):
        return _say(overview())
    if arguments == ["--version"]:
        return _say(f"haytham {__version__}")
    from haytham.cli.group import run

    return run(arguments)


def _say(text: str) -> int:
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except OSError as error:
        from haytham.cli.reporting import report_output_failure

        return report_output_failure(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
