"""Makes the list of all calls from their signatures and the first lines of their docstrings."""

import inspect

from haytham import CheckpointManager, ProjectManager, Session

CLASSES = (ProjectManager, CheckpointManager, Session)


def made() -> str:
    """Returns the part of the page that is made."""
    return "\n".join(f"## {each.__name__}\n\n{_calls(each)}" for each in CLASSES)


def _calls(kind: type) -> str:
    found = inspect.getmembers(kind, inspect.isfunction)
    return "".join(_line(name, call) for name, call in found if not name.startswith("_"))


def _line(name: str, call: object) -> str:
    parameters = list(inspect.signature(call).parameters.values())[1:]  # type: ignore[arg-type]
    marks = ["*"] if any(each.kind is each.KEYWORD_ONLY for each in parameters) else []
    positional = [_shown(each) for each in parameters if each.kind is not each.KEYWORD_ONLY]
    named = [_shown(each) for each in parameters if each.kind is each.KEYWORD_ONLY]
    summary = (inspect.getdoc(call) or "").partition("\n")[0]
    return f"- `{name}({', '.join([*positional, *marks, *named])})`: {summary}\n"


def _shown(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return parameter.name
    return f"{parameter.name}={parameter.default!r}"
