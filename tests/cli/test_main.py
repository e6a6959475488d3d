"""The entry point: what is imported, what is printed, which exit code."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from haytham import __version__
from haytham.cli import commands, reporting
from haytham.cli.group import group
from haytham.domain.errors import InternalError
from tests import terminal
from tests.cli.conftest import PROGRAM, Said, Sample, Shell, all_commands, new_session, process

HEAVY = {"click", "jinja2", "mistune", "jsonschema", "pygit2", "git", "rich", "filelock"}


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_overview_is_what_click_prints(arguments: list[str], shell: Shell) -> None:
    """The overview that is printed without click is the very text that click lays out."""
    by_click = shell("--help")
    assert (by_click.code, by_click.err) == (0, "")
    assert process(*arguments) == by_click


def test_every_command_is_in_one_group() -> None:
    """The overview shows each command once, in the order of the table."""
    assert [name for names in commands.GROUPS.values() for name in names] == list(commands.COMMANDS)


def test_version_is_what_click_prints(shell: Shell) -> None:
    """The version that is printed without click is the very text that click prints."""
    assert process("--version") == shell("--version") == Said(code=0, out=f"haytham {__version__}\n", err="")


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_overview_imports_nothing_heavy(argument: str) -> None:
    """`haytham --help` imports none of the libraries that take longer than Python's own start."""
    program = (
        "import sys; from haytham.cli.main import main; sys.argv = ['haytham', sys.argv[1]]; main();"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program, argument], capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stderr.split()) == set()


def test_every_command_is_defined_where_the_table_says(shell: Shell) -> None:
    """Each command of the overview exists under its name, and its own help starts with the line in the overview."""
    with click.Context(group) as context:
        for name, (_, line) in commands.COMMANDS.items():
            command = group.get_command(context, name)
            assert command is not None
            assert command.name == name
            assert (command.help or "").startswith(line)
            assert "Examples:" in (command.epilog or "")


@pytest.mark.parametrize("name", ["", *commands.COMMANDS, *(name for name, _ in all_commands() if " " in name)])
def test_help_fits_a_screen(name: str, shell: Shell) -> None:
    """Every help fits 80 columns and a screen of 50 lines, shows examples, and holds no control character."""
    said = shell(*name.split(), "--help")
    assert said.code == 0
    assert max(len(line) for line in said.out.splitlines()) <= 80
    assert len(said.out.splitlines()) <= 50
    assert not name or f"  haytham {name}" in said.out.partition("Examples:")[2]
    assert said.out.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["stats"], "Error: there is no command 'stats'.\nHint: did you mean \"status\"? see: haytham --help\n"),
        (["x"], "Error: there is no command 'x'.\nHint: see: haytham --help\n"),
        (
            ["status", "--projct", "x"],
            "Error: no such option '--projct'.\nHint: did you mean \"--project\"? see: haytham status --help\n",
        ),
        (
            ["log", "-n", "0"],
            "Error: invalid value for '-n' / '--limit': 0 is not in the range x>=1.\nHint: see: haytham log --help\n",
        ),
        (["\x1b[3mx"], "Error: there is no command '\\x1b[3mx'.\nHint: see: haytham --help\n"),
    ],
)
def test_usage_errors(arguments: list[str], expected: str, shell: Shell) -> None:
    """A wrong command or option ends with code 2, nothing on standard output, and the name that was meant."""
    said = shell(*arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err == expected


def test_unknown_command_as_a_process() -> None:
    """The exit code reaches the shell."""
    said = process("stats")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Error: there is no command 'stats'.")


@pytest.mark.parametrize("error", [InternalError("read back differs."), ZeroDivisionError("x"), OSError(2, "x", "f")])
def test_a_bug_is_called_one(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    """What we did not expect ends with code 255, says that it is our bug, and shows where."""

    def run() -> int:
        raise error

    assert reporting.guarded(run) == 255
    err = capsys.readouterr().err
    assert err.startswith("Error: this is a bug of Haytham's own; what was saved before is safe.\n")
    assert "Traceback" in err
    assert type(error).__name__ in err


def test_interrupt(capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C ends with code 130 and no traceback."""

    def run() -> int:
        raise KeyboardInterrupt

    assert reporting.guarded(run) == 130
    assert capsys.readouterr().err == "\nInterrupted.\n"


def test_interrupted_process(tmp_path: Path) -> None:
    """A demo that is interrupted ends with code 130, and its session can be opened."""
    leader, follower = pty.openpty()
    command = [*PROGRAM, "demo", "--base-dir", str(tmp_path / "base")]
    running = subprocess.Popen(command, stdout=follower, stderr=subprocess.PIPE, text=True, start_new_session=True)
    os.close(follower)
    while not list((tmp_path / "base").glob("*/sessions/*/phase_1_concept/checkpoint.md")):
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)
    os.close(leader)
    assert (running.returncode, err) == (130, "\nInterrupted.\n")
    assert process("status", "--base-dir", tmp_path / "base").code == 0


def test_nobody_reads(sample: Sample) -> None:
    """A reader that goes away ends the command quietly."""
    for arguments in (["log", "--base-dir", str(sample.base)], ["--help"]):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([*PROGRAM, *arguments], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
        os.close(write)
        assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written(sample: Sample) -> None:
    """A full disk behind `>` is told, not hidden."""
    for arguments in (["status", "--base-dir", str(sample.base)], ["--version"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run([*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        expected = "Error: the output cannot be written: No space left on device.\n"
        assert (done.returncode, done.stderr) == (1, expected)


def test_ascii_terminal(tmp_path: Path) -> None:
    """A terminal that knows only ASCII gets the other characters as numbers, not a traceback."""
    sample = new_session(tmp_path / "b", "Nachtträger")
    said = process("status", "--base-dir", sample.base, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (said.code, said.err) == (0, "")
    assert "Nachttr\\xe4ger" in said.out


@pytest.mark.parametrize(
    ("arguments", "code", "kind", "message", "hint"),
    [
        (["status", "--base-dir", "nowhere"], 1, "NotFound", "there is no such folder.", "haytham init --base-dir no"),
        (["status", "--projct", "x"], 2, "Usage", "no such option '--projct'.", 'did you mean "--project"?'),
        (["stats"], 2, "Usage", "there is no command 'stats'.", 'did you mean "status"?'),
    ],
)
def test_errors_as_json(arguments: list[str], code: int, kind: str, message: str, hint: str, shell: Shell) -> None:
    """Whoever asked for JSON gets errors as JSON too: one form, on standard error, with nothing on standard output."""
    said = shell(*arguments, "--json")
    assert (said.code, said.out) == (code, "")
    assert (said.error["kind"], said.error["exit_code"]) == (kind, code)
    (problem,) = said.error["problems"]
    assert problem["message"] == message
    assert problem["hint"].startswith(hint)


def test_bug_and_interrupt_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """A bug is told to programs with its traceback, an interrupt by its name."""
    for error, code, kind in ((ZeroDivisionError("x"), 255, "Bug"), (KeyboardInterrupt(), 130, "Interrupted")):

        def run(error: BaseException = error) -> int:
            raise error

        assert reporting.guarded(run, as_json=True) == code
        said = Said(code=code, out="", err=capsys.readouterr().err)
        assert (said.error["kind"], said.error["exit_code"]) == (kind, code)
        assert ("Traceback" in said.error["problems"][0]["message"]) is (kind == "Bug")


def test_errors_are_red_on_a_terminal(sample: Sample) -> None:
    """The line that says what is wrong is red where a person sees it, unless they want no colours."""
    words = (*PROGRAM, "show", "9", "--base-dir", str(sample.base))
    code, written = terminal.run(*words, environment={})
    assert (code, b"\x1b[31mError: this session has no phase 9.\x1b[0m" in written) == (1, True)
    assert b"\x1b" not in terminal.run(*words, environment={"NO_COLOR": "1"})[1]


@pytest.mark.parametrize("command", ["verify", "status", "log", "log --session {}", "--help", "status --json"])
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams(command: str, closed: str, sample: Sample) -> None:
    """Whoever closes an output gets none, and no error."""
    words = " ".join([*PROGRAM, command.format(sample.session), closed])
    done = subprocess.run(["bash", "-c", words], cwd=sample.base.parent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
