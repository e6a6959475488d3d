"""The commands there are: where each one is defined, and what the overview says about it.

Imports nothing, so that the overview costs no more than starting Python.
"""

SUMMARY = "Sessions of phased, multi-agent workflows as markdown and git"
START = "Begin: haytham demo"

COMPLETION = "_HAYTHAM_COMPLETE"  # the variable by which a shell asks for the words that may come next

COMMANDS = {
    "demo": ("haytham.cli.demo", "Run a scripted session, offline, and show what it leaves"),
    "init": ("haytham.cli.init", "Make a project for an idea"),
    "new": ("haytham.cli.new", "Begin a session of a project"),
    "workflow": ("haytham.cli.workflow", "List, show and check workflows"),
    "doctor": ("haytham.cli.doctor", "Check that this machine has what Haytham needs"),
    "next": ("haytham.cli.next", "Show the one thing to do next, and why"),
    "resume": ("haytham.cli.resume", "Show what to do next in a session, and why"),
    "start": ("haytham.cli.start", "Note that a phase begins"),
    "complete": ("haytham.cli.complete", "Complete a phase with what its agents wrote"),
    "finish": ("haytham.cli.finish", "End a session and keep its result"),
    "review": ("haytham.cli.review", "Decide about a phase in your editor"),
    "approve": ("haytham.cli.approve", "Approve a phase as it is now"),
    "request-changes": ("haytham.cli.request_changes", "Send a phase back with changes to make"),
    "skip": ("haytham.cli.skip", "Leave out a phase that has run"),
    "status": ("haytham.cli.status", "Show how far projects and sessions got"),
    "watch": ("haytham.cli.watch", "Watch a session while it goes on"),
    "show": ("haytham.cli.show", "Show a phase as it was at a commit or an attempt"),
    "log": ("haytham.cli.log", "Show the history of a session or a project"),
    "diff": ("haytham.cli.diff", "Show what changed between attempts, commits or sessions"),
    "compare": ("haytham.cli.compare", "Compare two sessions: outputs, figures, decisions"),
    "validate": ("haytham.cli.validate", "Check every document and the history behind them"),
    "verify": ("haytham.cli.verify", "Find out whether sessions still are what was written"),
    "repair": ("haytham.cli.repair", "Finish what crashes left in a session"),
    "fork": ("haytham.cli.fork", "Make a session that goes on from a point of another one"),
    "rollback": ("haytham.cli.rollback", "Take a session back to a phase or a commit"),
    "export": ("haytham.cli.export", "Write a session or a project into one file"),
    "import": ("haytham.cli.import_", "Make a session or a project from an exported file"),
    "migrate": ("haytham.cli.migrate", "Bring documents of older formats up to the present one"),
    "archive": ("haytham.cli.archive", "Archive sessions, or open one again"),
    "delete": ("haytham.cli.delete", "Delete sessions with their history"),
    "gc": ("haytham.cli.gc", "Clean up after crashes, and pack histories"),
}

GROUPS = {  # as the overview shows them
    "Begin": ("demo", "init", "new", "workflow", "doctor"),
    "Run": ("next", "resume", "start", "complete", "finish"),
    "Review": ("review", "approve", "request-changes", "skip"),
    "Look": ("status", "watch", "show", "log", "diff", "compare"),
    "Operate": (
        "validate",
        "verify",
        "repair",
        "fork",
        "rollback",
        "export",
        "import",
        "migrate",
        "archive",
        "delete",
        "gc",
    ),
}

_OPTIONS = {
    "--version": "Show the version and exit",
    "-h, --help": "Show this message and exit",
}


def overview() -> str:
    """Returns the text of `haytham --help`, as click lays it out; a test compares the two."""
    parts = ["Usage: haytham [OPTIONS] COMMAND [ARGS]...", f"  {SUMMARY}", f"  {START}", _section("Options", _OPTIONS)]
    return "\n\n".join([*parts, *(_section(name, dict(rows)) for name, rows in sections())])


def sections() -> list[tuple[str, list[tuple[str, str]]]]:
    """Returns the groups of commands, each with its lines; names are padded, so that all lines begin alike."""
    width = max(map(len, COMMANDS))
    return [(group, [(name.ljust(width), COMMANDS[name][1]) for name in names]) for group, names in GROUPS.items()]


def _section(title: str, rows: dict[str, str]) -> str:
    width = max(map(len, rows))
    return "\n".join([f"{title}:", *(f"  {name.ljust(width)}  {text}" for name, text in rows.items())])
