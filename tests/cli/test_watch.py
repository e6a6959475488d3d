"""The command `haytham watch`."""

import asyncio
import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from haytham import open_session, resources
from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.domain.records import SessionOverview
from tests import pictures, terminal
from tests.cli.conftest import PROGRAM, Sample, Shell, check_form
from tests.cli.waiting import attempt, form, waiting_session


@contextmanager
def _watching(base: Path, *options: str) -> Iterator["subprocess.Popen[str]"]:
    """Runs the command, and ends it with the test that started it."""
    command = [*PROGRAM, "watch", "--base-dir", str(base), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            yield running
        finally:
            running.kill()


def _line(running: "subprocess.Popen[str]") -> str:
    assert running.stdout is not None
    return running.stdout.readline()


def test_end_to_end(tmp_path: Path) -> None:
    """As a process of its own it tells each change as a line, takes in a decision, and ends with the session."""
    sample = waiting_session(tmp_path)
    with _watching(tmp_path) as running:
        _follow(running, sample)


def _follow(running: "subprocess.Popen[str]", sample: Sample) -> None:
    assert _line(running)[10:] == "1 Concept Expansion: completed, review open\n"
    assert _line(running)[10:] == "s-1: in_progress\n"
    form(sample).write_text(form(sample).read_text().replace("- Action: -", "- Action: approved"))
    assert _line(running)[10:] == "1 Concept Expansion: completed, review approved\n"
    manager = CheckpointManager(sample.base)
    manager.start_phase(*sample.ids, 2)
    assert _line(running)[10:] == "2 Market Research: in_progress\n"
    assert manager.get_approved_phases(*sample.ids) == [1]
    manager.complete_session(*sample.ids)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out[10:], err) == (0, "s-1: completed\n", "")


def test_json_lines(tmp_path: Path) -> None:
    """Each line is an object of one form; Ctrl-C ends it with code 130 and an error in JSON."""
    sample = waiting_session(tmp_path, review="none")
    with _watching(tmp_path, "--json") as running:
        first = last = json.loads(_line(running))
        attempt(sample, 2, "text\n")
        while last["session"]["phase_statuses"]["2"] != "completed":
            last = json.loads(_line(running))
            check_form(last)
        check_form(first)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=30)
    assert (running.returncode, json.loads(err)["kind"]) == (130, "Interrupted")


def test_form_is_that_of_status() -> None:
    """A session is described once: what `status` prints of it and what `watch` does are the same."""
    status, watch = (
        json.loads(resources.text("schemas/cli", f"{name}.schema.json"))["$defs"] for name in ("status", "watch")
    )
    assert {**status["session"], "type": "object"} == watch["session"]
    assert [status["phase"], status["problem"]] == [watch["phase"], watch["problem"]]


def test_in_a_terminal(tmp_path: Path) -> None:
    """In a terminal one table is kept up to date; at the end it stands there once."""
    sample = waiting_session(tmp_path, review="none")
    timer = threading.Timer(1.5, lambda: CheckpointManager(tmp_path).complete_session(*sample.ids))
    timer.start()
    code, written = terminal.run(*PROGRAM, "watch", "--base-dir", str(tmp_path), environment={})
    timer.join()
    shown = [" ".join(run.text.strip() for run in line) for line in pictures.screen(written)]
    assert code == 0
    assert b"in_progress" in written
    assert shown.count("Session s-1") == 1
    assert "Next nothing, it is completed" in shown


def test_api(tmp_path: Path) -> None:
    """The manager yields the overview, at once and then only when it changed; a stop ends it."""
    sample = waiting_session(tmp_path)
    stop = threading.Event()
    views = CheckpointManager(tmp_path).watch(*sample.ids, stop=stop)
    assert next(views) == CheckpointManager(tmp_path).overview(*sample.ids)
    timer = threading.Timer(1.2, stop.set)
    timer.start()
    assert list(views) == []
    timer.join()


def test_half_saved_form_is_waited_over(tmp_path: Path) -> None:
    """A form that cannot be understood is a problem of the overview, not the end of watching."""
    sample = waiting_session(tmp_path)
    views = open_session(*sample.ids, tmp_path).watch()
    assert next(views)["problems"] == []
    good = form(sample).read_text()
    form(sample).write_text(good.replace("- Action: -", "- Action: aprove"))
    assert next(views)["problems"]
    form(sample).write_text(good.replace("- Action: -", "- Action: approved"))
    seen = next(views)
    while seen["problems"] or seen["phases"][0]["review"] != "approved":
        seen = next(views)
    views.close()  # type: ignore[attr-defined]  # it is a generator


def test_async(tmp_path: Path) -> None:
    """The async twin yields the same, and leaves the event loop free."""
    sample = waiting_session(tmp_path)
    session = open_session(*sample.ids, tmp_path)

    async def watch() -> list[SessionOverview]:
        found = []
        async for view in session.watch_async():
            found.append(view)
            if len(found) == 1:
                session.manager.save_user_feedback(*sample.ids, 1, reviewed=True, approved=True)
                session.manager.complete_session(*sample.ids)
        return found

    found = asyncio.run(asyncio.wait_for(watch(), timeout=30))
    assert (found[0]["status"], found[-1]["status"]) == ("in_progress", "completed")


def test_errors(sample: Sample, shell: Shell) -> None:
    """A session that is not there is reported, and nobody waits for it."""
    said = shell("watch", "--base-dir", sample.base, "--session", "nope", "--project", sample.project)
    assert (said.code, said.out) == (1, "")
    assert "has no session 'nope'" in said.err
