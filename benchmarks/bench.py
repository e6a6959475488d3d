"""Measures what Haytham costs, as ratios in one run, beside counts that noise cannot change.

Run it with `make bench`. Options: --quick (fewer repetitions).
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.documents import reader

OUTPUT = (
    "Findings of the agent, with *markdown*, numbers such as 1,204 and a list:\n\n- a point\n- another\n\n" * 100
)[:8000]
AGENTS = ("market_intelligence", "competitor_analysis")


def median_ms(action: Callable[[], object], repeat: int) -> float:
    """Times an action several times; returns the median in milliseconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


FIGURES = {"duration": 2.5, "model": "m", "input_tokens": 600, "output_tokens": 300, "cost": 0.01}


def complete_phase(manager: CheckpointManager, session: str, phase: int = 2) -> None:
    """Completes a phase in one call: two outputs of 8 KB, checkpoint, feedback form, manifest, one durable commit."""
    outputs = [{"agent_name": name, "output_content": OUTPUT, **FIGURES} for name in AGENTS]
    manager.complete_phase("bench", session, phase, outputs, duration=5.0)


def complete_in_steps(manager: CheckpointManager, session: str, phase: int = 2) -> None:
    """Does the same in three calls, each of them durable."""
    for name in AGENTS:
        manager.save_agent_output("bench", session, phase, name, OUTPUT, duration=2.5, model="m")
    agents = [
        {"agent_name": name, "status": "completed", "output_file": f"{name}.md", "tokens": 900} for name in AGENTS
    ]
    manager.save_checkpoint("bench", session, phase, "completed", agents, duration=5.0, execution_mode="parallel")


def raw_write(folder: Path, documents: dict[str, bytes]) -> None:
    """Writes, flushes and renames the same documents, each durably, and nothing else."""
    for name, data in documents.items():
        path = folder / name
        temporary = path.with_name(f"{path.name}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(descriptor, data)
        os.fsync(descriptor)
        os.close(descriptor)
        temporary.rename(path)
        descriptor = os.open(path.parent, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def documents_of(session: Path, phase_folder: str) -> dict[str, bytes]:
    """Returns the five documents that completing a phase writes."""
    names = [f"{phase_folder}/{path.name}" for path in sorted((session / phase_folder).glob("*.md"))]
    return {name: (session / name).read_bytes() for name in [*names, "session_manifest.md"]}


class Sessions:
    """Fresh sessions in one project, one per repetition, so that each completes its phase for the first time."""

    def __init__(
        self, base: Path, workflows: tuple[Path, ...] = (), workflow: str = "idea_validation", mode: str = "full"
    ) -> None:
        self.manager = CheckpointManager(base, workflows=workflows)
        self.workflow = workflow
        self.mode = mode
        self._count = 0

    def new(self) -> str:
        """Makes a session and opens it."""
        self._count += 1
        name = f"s-{self._count}"
        self.manager.create_session("bench", name, "user", self.workflow, self.mode)
        self.manager.load_session("bench", name)
        return name


def bench_phase(base: Path, repeat: int) -> None:
    """Completing a phase against the raw write of the same documents, interleaved."""
    sessions = Sessions(base)
    names = [sessions.new() for _ in range(2 * repeat + 3)]
    for name in names[:3]:
        complete_phase(sessions.manager, name)
    folder = base / "bench" / "sessions" / names[0]
    documents = documents_of(folder, "phase_2_market_research")
    raw = base / "raw"
    (raw / "phase_2_market_research").mkdir(parents=True)
    ours, steps, plain = [], [], []
    for name, other in zip(names[3::2], names[4::2], strict=False):
        ours.append(median_ms(partial(complete_phase, sessions.manager, name), 1))
        plain.append(median_ms(partial(raw_write, raw, documents), 1))
        steps.append(median_ms(partial(complete_in_steps, sessions.manager, other), 1))
    base_line = statistics.median(plain)
    ratio("complete a phase / raw durable write of its 5 documents", statistics.median(ours), base_line, 3)
    ratio("the same in three calls / the same", statistics.median(steps), base_line, None)


def bench_sessions(base: Path, repeat: int) -> None:
    """The same with 1, 100 and 1,000 sessions in the project, interleaved."""
    groups = {count: Sessions(base / str(count)) for count in (1, 100, 1000)}
    for count, sessions in groups.items():
        for _ in range(count - 1):
            sessions.new()
    times: dict[int, list[float]] = {count: [] for count in groups}
    for _ in range(repeat):
        for count, sessions in groups.items():
            name = sessions.new()
            times[count].append(median_ms(partial(complete_phase, sessions.manager, name), 1))
    first = statistics.median(times[1])
    for count in (100, 1000):
        ratio(f"complete a phase, {count:,} sessions / 1 session", statistics.median(times[count]), first, 1.2)


def bench_phases(base: Path, repeat: int) -> None:
    """The same in workflows of 7, 50 and 200 phases, all but one completed."""
    groups: dict[int, tuple[Sessions, str]] = {}
    for count in (7, 50, 200):
        path = base / f"{count}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(workflow_text(count))
        sessions = Sessions(base / str(count), (path,), f"w{count}", "all")
        name = sessions.new()
        for phase in range(1, count):
            sessions.manager.save_checkpoint("bench", name, phase, "completed", [])
        groups[count] = (sessions, name)
    times: dict[int, list[float]] = {count: [] for count in groups}
    for _ in range(repeat):
        for count, (sessions, name) in groups.items():
            times[count].append(median_ms(partial(complete_phase, sessions.manager, name, count), 1))
    first = statistics.median(times[7])
    for count in (50, 200):
        ratio(f"complete the last phase of {count} / of 7", statistics.median(times[count]), first, None)


def workflow_text(count: int) -> str:
    """Writes a workflow of many phases."""
    phases = "".join(
        f'[[phases]]\nnumber = {n}\nname = "Phase {n}"\nfolder = "phase_{n}"\nagents = []\n'
        for n in range(1, count + 1)
    )
    return f'name = "w{count}"\ntitle = "Many phases"\n{phases}[modes]\nall = {list(range(1, count + 1))}\n'


def bench_load(base: Path, repeat: int) -> None:
    """Loading a finished session of seven phases against reading and parsing its manifest with mistune."""
    import mistune

    sessions = Sessions(base)
    name = sessions.new()
    for phase in range(1, 8):
        complete_phase(sessions.manager, name, phase)
    path = base / "bench" / "sessions" / name / "session_manifest.md"
    markdown = mistune.create_markdown(renderer=None, plugins=["table"])
    plain = median_ms(lambda: markdown(path.read_bytes().decode()), repeat * 5)
    ratio(
        "load_session / read the manifest and parse it",
        median_ms(lambda: sessions.manager.load_session("bench", name), repeat * 5),
        plain,
        10,
    )

    def cold() -> None:
        reader._read_cached.cache_clear()
        sessions.manager.load_session("bench", name)

    ratio("load_session, nothing cached / the same", median_ms(cold, repeat), plain, 10)

    def in_full() -> None:
        (path.parent / ".git" / "haytham.seal").unlink(missing_ok=True)
        cold()

    ratio("load_session, nothing cached, first after a change / the same", median_ms(in_full, repeat), plain, None)
    outputs = median_ms(lambda: sessions.manager.get_phase_outputs("bench", name), repeat)
    ratio("get_phase_outputs (14 of 8 KB) / the same", outputs, plain, None)


def bench_operations(base: Path, repeat: int) -> None:
    """Forking, comparing and rolling back a finished session of seven phases, against a bar in milliseconds."""
    sessions = Sessions(base)
    name = sessions.new()
    for phase in range(1, 8):
        complete_phase(sessions.manager, name, phase)
    forks = [f"fork-{number}" for number in range(repeat)]
    times = {"fork": [median_ms(partial(sessions.manager.fork, "bench", name, each), 1) for each in forks]}
    times["compare"] = [median_ms(partial(sessions.manager.compare, "bench", name, each), 1) for each in forks]
    times["rollback"] = [median_ms(partial(sessions.manager.rollback, "bench", each, phase=3), 1) for each in forks]
    for what, found in times.items():
        middle = statistics.median(found)
        print(f"{middle:6.1f}  ms: {what}, seven phases   bar 60: {'kept' if middle <= 60 else 'MISSED'}", flush=True)


def bench_start(base: Path, repeat: int) -> None:
    """The start of `haytham --help`, and the log of a session of seven phases and of one of 600 commits."""
    sessions = Sessions(base / "projects")
    short, long = sessions.new(), sessions.new()
    for phase in range(1, 8):
        complete_phase(sessions.manager, short, phase)
    complete_phase(sessions.manager, long)
    for number in range(600):  # of a phase that is completed: each is a commit
        sessions.manager.save_agent_output("bench", long, 2, AGENTS[0], f"revision {number}")
    names = ("nothing", "help", short, long, f"git {short}", f"git {long}")
    haytham = [sys.executable, "-c", "from haytham.cli.main import main; main()"]
    commands: dict[str, list[str]] = {"nothing": [sys.executable, "-c", "pass"], "help": [*haytham, "--help"]}
    for each in (short, long):
        commands[each] = [*haytham, "log", "--base-dir", str(base / "projects"), "--session", each]
        commands[f"git {each}"] = ["git", "-C", str(base / "projects" / "bench" / "sessions" / each), "log"]
    taken = _interleaved({name: partial(_run_compiled, commands[name], base) for name in names}, repeat)
    ratio("haytham --help / python -c pass", taken["help"], taken["nothing"], 4)
    for each, what in ((short, "of seven phases"), (long, "of 600 commits")):
        bar = 2 * taken[f"git {each}"] + taken["nothing"]
        ratio(f"haytham log {what} / (2 git log + python -c pass)", taken[each], bar, 1)


def _run_compiled(command: list[str], base: Path) -> None:
    """Runs a command as an installed package runs: Python finds its modules compiled."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment = kept | {"PYTHONPYCACHEPREFIX": str(base / "compiled")}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)


def _interleaved(runs: Mapping[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """Takes turns, so that a busy moment meets all alike; returns the median of each, in milliseconds."""
    for run in runs.values():
        run()
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeat):
        for name, run in runs.items():
            taken[name].append(median_ms(run, 1))
    return {name: statistics.median(found) for name, found in taken.items()}


def bench_status(base: Path, repeat: int) -> None:
    """`haytham status` of a project with 1,000 sessions, as a process of its own, against one second."""
    sessions = Sessions(base / "projects")
    for _ in range(1000):
        complete_phase(sessions.manager, sessions.new())
    command = [sys.executable, "-m", "haytham.cli.main", "status", "--base-dir", str(base / "projects")]

    def status() -> None:
        _run_compiled(command, base)

    status()
    forget_files(base / "projects")
    ratio("haytham status of 1,000 sessions, their files not in memory / 1 s", median_ms(status, 1), 1000, None)
    ratio("haytham status of 1,000 sessions / 1 s", median_ms(status, repeat), 1000, 1)


def forget_files(base: Path) -> None:
    """Lets the system forget what it read of these files, and of no others: the machine may be shared."""
    os.sync()
    for path in base.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def count_calls(base: Path) -> None:
    """Counts what completing a phase asks of the system, with strace."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[2]); from bench import *; from pathlib import Path\n"
        "s = Sessions(Path(sys.argv[1])); n = s.new(); complete_phase(s.manager, s.new()); os.stat('/marker-start')\n"
        "complete_phase(s.manager, n)\n"
    ).replace("os.stat('/marker-start')", "os.path.exists('/marker-start')")
    log = base / "strace.log"
    subprocess.run(
        [
            "strace",
            "-f",
            "-o",
            log,
            "-e",
            "trace=fsync,fdatasync,execve,rename,renameat,renameat2,openat,stat,newfstatat",
            sys.executable,
            "-c",
            script,
            base / "counted",
            Path(__file__).parent,
        ],
        check=True,
    )
    lines = log.read_text().partition("/marker-start")[2].splitlines()
    counts = {
        "fsync": sum("sync(" in line for line in lines),
        "processes": sum("execve(" in line for line in lines),
        "files created": sum("O_CREAT" in line and "O_EXCL" in line and "= -1" not in line for line in lines),
        "renames": sum("rename" in line for line in lines),
    }
    print("per phase:", ", ".join(f"{value} {name}" for name, value in counts.items()))


def ratio(what: str, ours: float, reference: float, bar: float | None) -> None:
    """Prints one line: the ratio, the times behind it, the bar if there is one."""
    kept = "" if bar is None else f"   bar {bar:g}: {'kept' if ours <= bar * reference else 'MISSED'}"
    print(f"{ours / reference:6.2f}  {what}  ({ours:.2f} / {reference:.2f} ms){kept}", flush=True)


@contextmanager
def folder() -> Iterator[Path]:
    """Gives a folder on the disk that the project is on, not in memory."""
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent.parent, prefix=".bench-") as name:
        yield Path(name)


def main() -> None:
    """Runs everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    repeat = 15 if parser.parse_args().quick else 60
    with folder() as base:
        bench_phase(base / "phase", repeat)
        bench_load(base / "load", repeat)
        bench_operations(base / "operations", max(15, repeat // 2))
        bench_start(base / "start", repeat)
        count_calls(base)
        bench_status(base / "status", 5)
        bench_phases(base / "phases", max(5, repeat // 4))
        bench_sessions(base / "sessions", repeat)


if __name__ == "__main__":
    main()
