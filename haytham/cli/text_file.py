"""Files that a person names on the command line, read as text, byte for byte; `-` is standard input."""

from pathlib import Path
from typing import Any

import click


class TextFile(click.ParamType[str]):
    """A file of UTF-8 text; its value is the text."""

    name = "FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Reads the file; a fault is one of usage."""
        try:
            with click.open_file(value, "rb") as opened:
                data: bytes = opened.read()
            return data.decode()
        except UnicodeDecodeError:
            self.fail(f"{value!r} is no UTF-8 text", param, ctx)
        except OSError as error:
            self.fail(f"{value!r}: {error.strerror}", param, ctx)


class AgentOutput(click.ParamType[tuple[str, str]]):
    """What an agent wrote, as `[AGENT=]FILE`; its value is the agent's name and the text."""

    name = "[AGENT=]FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Reads the file; without a name, the agent is called as the file is, without its ending."""
        agent, is_named, path = str(value).partition("=")
        if not is_named:
            agent, path = Path(value).stem, str(value)
        if path == "-" and not is_named:
            self.fail("standard input has no name to call the agent by; write AGENT=-", param, ctx)
        return agent, TextFile().convert(path, param, ctx)
