"""The commands there are: where each one is defined, and what the overview says about it.

Imports nothing, so that the overview costs no more than starting Python.
"""

SUMMARY = "Sessions of phased, multi-agent workflows as markdown and git"

COMPLETION = "_HAYTHAM_COMPLETE"  # the variable by which a shell asks for the words that may come next

COMMANDS = {
    "demo": ("haytham.cli.demo", "Run a scripted session, offline, and show what it leaves"),
    "init": ("haytham.cli.init", "Make a project for an idea"),
    "new": ("haytham.cli.new", "Begin a session of a project"),
    "next": ("haytham.cli.next", "Show the one thing to do next, and why"),
    "start": ("haytham.cli.start", "Note that a phase begins"),
    "complete": ("haytham.cli.complete", "Complete a phase with what its agents wrote"),
    "finish": ("haytham.cli.finish", "End a session and keep its result"),
    "status": ("haytham.cli.status", "Show how far projects and sessions got"),
    "watch": ("haytham.cli.watch", "Watch a session while it goes on"),
    "resume": ("haytham.cli.resume", "Show what to do next in a session, and why"),
    "review": ("haytham.cli.review", "Decide about a phase in your editor"),
    "approve": ("haytham.cli.approve", "Approve a phase as it is now"),
    "request-changes": ("haytham.cli.request_changes", "Send a phase back with changes to make"),
    "skip": ("haytham.cli.skip", "Leave out a phase that has run"),
    "diff": ("haytham.cli.diff", "Show what changed between attempts, commits or sessions"),
    "show": ("haytham.cli.show", "Show a phase as it was at a commit or an attempt"),
    "log": ("haytham.cli.log", "Show the history of a session or a project"),
    "validate": ("haytham.cli.validate", "Check every document and the history behind them"),
    "workflow": ("haytham.cli.workflow", "List, show and check workflows"),
    "doctor": ("haytham.cli.doctor", "Check that this machine has what Haytham needs"),
    "export": ("haytham.cli.export", "Write a session or a project into one file"),
    "import": ("haytham.cli.import_", "Make a session or a project from an exported file"),
    "migrate": ("haytham.cli.migrate", "Bring documents of older formats up to the present one"),
    "verify": ("haytham.cli.verify", "Find out whether sessions still are what was written"),
    "fork": ("haytham.cli.fork", "Make a session that goes on from a point of another one"),
    "rollback": ("haytham.cli.rollback", "Take a session back to a phase or a commit"),
    "compare": ("haytham.cli.compare", "Compare two sessions: outputs, figures, decisions"),
    "archive": ("haytham.cli.archive", "Archive sessions, or open one again"),
    "delete": ("haytham.cli.delete", "Delete sessions with their history"),
    "gc": ("haytham.cli.gc", "Clean up after crashes, and pack histories"),
    "repair": ("haytham.cli.repair", "Finish what crashes left in a session"),
}

_OPTIONS = {
    "--version": "Show the version and exit",
    "-h, --help": "Show this message and exit",
}


def overview() -> str:
    """Returns the text of `haytham --help`, as click lays it out; a test compares the two."""
    commands = {name: line for name, (_, line) in COMMANDS.items()}
    return "\n".join(
        [
            "Usage: haytham [OPTIONS] COMMAND [ARGS]...",
            "",
            f"  {SUMMARY}",
            "",
            "Options:",
            *_columns(_OPTIONS),
            "",
            "Commands:",
            *_columns(commands),
        ]
    )


def _columns(rows: dict[str, str]) -> list[str]:
    width = max(len(name) for name in rows)
    return [f"  {name.ljust(width)}  {text}" for name, text in rows.items()]
