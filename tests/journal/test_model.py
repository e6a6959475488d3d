"""Random operations on journals, by two processes, against lists of states in memory.

The rules, in full: entries come one after the other; each stands for the state that its writer had; whoever writes
goes on from the entry that they saved or went back to last, or else from the newest. Removing entries changes no
state of those that stay, nor of forks.
"""

import copy
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from haytham import InvalidInput, NotFound
from haytham.domain.journal_entry import Entry
from haytham.domain.retention import Retention
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals
from tests.evidence import START, Clock
from tests.journal.states import exact, keys, messages, states, tool_calls, values
from tests.review.desk import FAST
from tests.trials import count

State = dict[str, Any]
Where = tuple[str, str, str]  # the folder, the agent, the branch
FOLDERS = ("here", "elsewhere")
AGENTS = ("writer", "critic")
BRANCHES = ("", "b1", "b2")


@dataclass(kw_only=True)
class Saved:
    """An entry of the model: what should be told about it, and the state that it stands for."""

    told: dict[str, Any]
    state: State


@dataclass(kw_only=True)
class Desk:
    """What one process works on in one journal; nothing before it has looked."""

    state: State | None = None
    base: str | None = None


@dataclass(kw_only=True)
class Book:
    """A journal of the model."""

    saved: list[Saved] = field(default_factory=list)
    has_begun: bool = False

    @property
    def ids(self) -> list[str]:
        """The ids, oldest first."""
        return [each.told["id"] for each in self.saved]


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, Any, Any]:
    """Draws a change that an agent makes."""
    what = draw(st.sampled_from(["put", "message", "call", "result", "inside", "drop", "keep", "retype", "spend"]))
    drawn: dict[str, st.SearchStrategy[Any]] = {"message": messages, "call": tool_calls, "keep": st.integers(0, 3)}
    return what, draw(keys), draw(drawn.get(what, values))


def _edit(state: Any, what: str, key: str, value: Any) -> None:
    """Makes a change on a plain dict."""
    if what == "put":
        state[f"own {key}"] = value
    elif what == "message":
        state.setdefault("messages", []).append(value)
    elif what == "call":
        state.setdefault("tool_calls", []).append(value)
    elif what == "result":
        state.setdefault("partial_results", []).append(value)
    elif what == "inside":
        state.setdefault("memory", {})[key] = value
    elif what == "drop" and state:
        del state[sorted(state)[len(key) % len(state)]]
    elif what == "keep" and "messages" in state:
        del state["messages"][: max(0, len(state["messages"]) - value)]
    elif what == "retype":
        state["number"] = {"int": 1.0, "float": True}.get(type(state.get("number")).__name__, 1)
    elif what == "spend":
        used = state.get("budget", {})
        state["budget"] = {**used, "tokens": used.get("tokens", 0) + 3, "cost": used.get("cost", 0) + 0.5}


def _edit_tracked(journal: Journal, what: str, key: str, value: Any) -> None:
    """Makes the same change by the calls that note it."""
    state = journal.state
    if what == "put":
        state[f"own {key}"] = value
    elif what == "message":
        state.append("messages", value)
    elif what == "call":
        state.append("tool_calls", value)
    elif what == "result":
        state.add_partial_result(value)
    elif what == "inside":
        if "memory" not in state:
            state["memory"] = {}
        state["memory", key] = value
    elif what == "drop" and len(state):
        del state[sorted(state)[len(key) % len(state)]]
    elif what == "keep" and "messages" in state:
        state.keep_last("messages", value)
    elif what == "retype":
        state["number"] = {"int": 1.0, "float": True}.get(type(state.get("number")).__name__, 1)
    elif what == "spend":
        state.spend(tokens=3, cost=0.5)


places = st.tuples(
    st.sampled_from(("here", "here", "here", "elsewhere")),
    st.sampled_from(("writer", "writer", "writer", "critic")),
    st.sampled_from(("", "", "", "b1", "b2")),
)
processes = st.sampled_from((0, 0, 1))
picks = st.integers(0, 10**6)


class Operations(RuleBasedStateMachine):
    """Two processes with their journals, and what these should hold."""

    @initialize(step=st.sampled_from((1, 1, 0, -7)))
    def start(self, step: float) -> None:
        """Makes two folders; the clock goes on, stands still or goes back."""
        self.folder = tempfile.TemporaryDirectory(dir=FAST)
        self.clock = Clock(step=step)
        self.books: dict[Where, Book] = {
            (folder, agent, branch): Book() for folder in FOLDERS for agent in AGENTS for branch in BRANCHES
        }
        self.journals = [self._process(), self._process()]
        self.open: list[dict[Where, Journal]] = [{}, {}]
        self.desks: list[dict[Where, Desk]] = [{}, {}]
        self.exports: list[tuple[str, list[Saved]]] = []

    def teardown(self) -> None:
        """Looks at every journal and every state once more, as a fresh process."""
        if hasattr(self, "folder"):
            fresh = self._process()
            for where, book in self.books.items():
                journal = fresh[where[0]].journal(where[1], where[2])
                assert [] == journal.verify()
                assert [each.told for each in book.saved] == [_told(each) for each in journal]
                assert [exact(s.state) for s in book.saved] == [exact(journal.state_at(each)) for each in journal]
            self.folder.cleanup()

    # Saving

    @rule(process=processes, where=places, made=st.lists(edits(), max_size=3), pick=picks)
    def save(self, process: int, where: Where, made: list[tuple[str, Any, Any]], pick: int) -> None:
        """Makes some changes and saves them."""
        journal, desk = self._at(process, where)
        for what, key, value in made:
            _edit_tracked(journal, what, key, value)
            _edit(self._state(where, desk), what, key, copy.deepcopy(value))
        self._save(where, desk, journal.save, pick)

    @rule(process=processes, where=places, steps=st.lists(st.lists(edits(), max_size=2), min_size=2, max_size=6))
    def work(self, process: int, where: Where, steps: list[list[tuple[str, Any, Any]]]) -> None:
        """Saves several steps in a row."""
        for number, made in enumerate(steps):
            self.save(process, where, made, number + len(made))

    @rule(process=processes, where=places, state=states(), pick=picks)
    def save_whole(self, process: int, where: Where, state: State, pick: int) -> None:
        """Saves a state that is handed in whole."""
        journal, desk = self._at(process, where)
        self._state(where, desk)
        desk.state = copy.deepcopy(state)
        self._save(where, desk, lambda **said: journal.save(state, **said), pick)

    def _save(self, where: Where, desk: Desk, save: Callable[..., Entry], pick: int) -> None:
        said = _said(pick)
        self._note(where, desk, save(**said), said)

    def _note(self, where: Where, desk: Desk, entry: Entry, said: dict[str, Any]) -> None:
        """Adds to the model what an operation has written."""
        book, state = self.books[where], self._state(where, desk)
        last = book.saved[-1].told if book.saved else {"number": 0, "step": 0}
        told: dict[str, Any] = {
            "id": entry.id,
            "number": last["number"] + 1,
            "agent": where[1],
            "timestamp": self.clock.present - self.clock.step,
            "step": last["step"] + 1,
            "name": "",
            "kind": "routine",
            "status": "in_progress",
            "reason": "",
            "metadata": {},
            "parent": desk.base,
            "succeeded": None,
        } | said
        assert told == _told(entry)
        assert entry.id not in [each for every in self.books.values() for each in every.ids]
        book.saved.append(Saved(told=told, state=copy.deepcopy(state)))
        book.has_begun = True
        desk.base = entry.id

    @rule(process=processes, where=places, pick=picks)
    def rollback(self, process: int, where: Where, pick: int) -> None:
        """Goes back to an entry, or is refused if there is none."""
        journal, desk = self._at(process, where)
        if not self.books[where].saved:
            with pytest.raises(NotFound):
                journal.rollback_to("0" * 24)
            return
        target = self._picked(where, pick)
        entry = journal.rollback_to(target.told["id"], reason="back")
        desk.state, desk.base = copy.deepcopy(target.state), target.told["id"]
        said = {"name": target.told["name"], "kind": "recovery", "reason": "back", "step": target.told["step"]}
        self._note(where, desk, entry, said)

    @rule(process=processes, where=places)
    def resume(self, process: int, where: Where) -> None:
        """Goes on from the newest entry."""
        journal, desk = self._at(process, where)
        entry = journal.resume()
        desk.state = None
        assert exact(self._state(where, desk)) == exact(journal.state.to_dict())
        assert desk.base == (entry.id if entry else None)

    @rule(process=processes)
    def restart(self, process: int) -> None:
        """Ends a process; another one takes its place."""
        self.journals[process], self.open[process], self.desks[process] = self._process(), {}, {}

    # Branches

    @rule(process=processes, where=places, branch=st.sampled_from(BRANCHES[1:]), pick=picks)
    def fork(self, process: int, where: Where, branch: str, pick: int) -> None:
        """Begins a branch at an entry, unless there is such a branch."""
        self._fork(process, where, (where[0], where[1], branch), pick, lambda journal, id_: journal.fork(branch, id_))

    @rule(process=processes, where=places, there=places, pick=picks)
    def fork_into(self, process: int, where: Where, there: Where, pick: int) -> None:
        """Begins a journal in another session, or a branch here, with a state."""
        folder = self.journals[process][there[0]]
        place = (there[0], where[1], there[2])
        self._fork(process, where, place, pick, lambda journal, id_: journal.fork_into(folder, there[2], id_))

    def _fork(
        self, process: int, where: Where, there: Where, pick: int, fork: Callable[[Journal, str], Journal]
    ) -> None:
        journal, _ = self._at(process, where)
        if not self.books[where].saved:
            return
        origin = self._picked(where, pick)
        if self.books[there].has_begun:
            with pytest.raises(InvalidInput):
                fork(journal, origin.told["id"])
            return
        self.open[process][there] = fork(journal, origin.told["id"])
        desk = Desk(state=copy.deepcopy(origin.state), base=origin.told["id"])
        said = {"name": "fork", "step": origin.told["step"], "metadata": origin.told["metadata"]}
        self._note(there, desk, self.open[process][there].all()[0], said)
        self.desks[process][there] = Desk()

    # Keeping house

    @rule(process=processes, where=places, limit=st.integers(1, 6), is_dry=st.booleans())
    def cleanup(self, process: int, where: Where, limit: int, *, is_dry: bool) -> None:
        """Keeps only the newest entries."""
        journal, _ = self._at(process, where)
        book = self.books[where]
        policy = Retention(routine=None, until_success=False, recovery_days=None, thin_above=None, limit=limit)
        report = journal.cleanup(policy, dry_run=is_dry)
        assert book.ids[:-limit] == [each["id"] for each in report["removed"]]
        assert min(limit, len(book.ids)) == report["kept"]
        if not is_dry:
            del book.saved[:-limit]

    @rule(process=processes, where=places, kind=st.sampled_from((None, "recovery", "pre_operation")))
    def clear(self, process: int, where: Where, kind: str | None) -> None:
        """Removes all entries, or those of a kind."""
        journal, _ = self._at(process, where)
        book = self.books[where]
        stays = [each for each in book.saved if kind is not None and each.told["kind"] != kind]
        assert len(book.saved) - len(stays) == journal.clear(kind)
        book.saved = stays

    @rule(process=processes, where=places)
    def export(self, process: int, where: Where) -> None:
        """Keeps an export for later."""
        journal, _ = self._at(process, where)
        self.exports.append((journal.export(), list(self.books[where].saved)))

    @precondition(lambda self: self.exports)
    @rule(process=processes, where=places, pick=picks)
    def import_entries(self, process: int, where: Where, pick: int) -> None:
        """Takes in an export, unless one of its entries is there."""
        journal, _ = self._at(process, where)
        text, given = self.exports[pick % len(self.exports)]
        book = self.books[where]
        if set(book.ids) & {each.told["id"] for each in given}:
            with pytest.raises(InvalidInput, match="already"):
                journal.import_entries(text)
            return
        assert len(given) == journal.import_entries(text)
        start = book.saved[-1].told["number"] + 1 if book.saved else 1
        for number, each in enumerate(given, start):
            book.saved.append(Saved(told={**each.told, "number": number, "agent": where[1]}, state=each.state))
        book.has_begun = True

    # Questions

    @rule(process=processes, where=places, pick=picks)
    def ask(self, process: int, where: Where, pick: int) -> None:
        """Asks everything that can be asked."""
        journal, _ = self._at(process, where)
        told = [each.told for each in self.books[where].saved]
        assert told == [_told(each) for each in journal.all()]
        assert len(told) == len(journal)
        assert told[-1:] == [_told(each) for each in [journal.latest()] if each]
        named = [each for each in reversed(told) if each["name"] == "n1"]
        assert named == [_told(each) for each in journal.by_name("n1")]
        assert named[:1] == [_told(each) for each in [journal.latest(name="n1")] if each]
        failed = [each for each in told if each["status"] == "failed"]
        assert failed[-1:] == [_told(each) for each in [journal.latest(status="failed")] if each]
        assert sorted(told, key=lambda each: each["step"]) == [_told(each) for each in journal.by_step()]
        first = START + timedelta(seconds=pick % 30 - 10)
        self._ask_by_time(journal, told, first, first + timedelta(seconds=pick % 7))
        assert "f" * 24 not in journal
        if told:
            one = self._picked(where, pick)
            found = journal.get(one.told["id"])
            assert found is not None
            assert found in journal
            assert one.told == _told(found)
            assert exact(one.state) == exact(journal.state_at(found))
        assert len(told) == journal.summary()["total_count"]

    @staticmethod
    def _ask_by_time(journal: Journal, told: list[dict[str, Any]], first: datetime, last: datetime) -> None:
        later = [each for each in told if each["timestamp"] > first]
        assert later == [_told(each) for each in journal.since(first)]
        within = [each for each in told if first <= each["timestamp"] <= last]
        assert within == [_told(each) for each in journal.between(first, last)]

    @rule(process=processes, where=places)
    def look_at_the_state(self, process: int, where: Where) -> None:
        """The state to work on is that of the model."""
        journal, desk = self._at(process, where)
        assert exact(self._state(where, desk)) == exact(journal.state.to_dict())

    # Steps

    def _process(self) -> dict[str, Journals]:
        root = Path(self.folder.name)
        return {name: Journals(root / name, root / f"{name}-notes", f"s-{name}", clock=self.clock) for name in FOLDERS}

    def _at(self, process: int, where: Where) -> tuple[Journal, Desk]:
        if where not in self.open[process]:
            self.open[process][where] = self.journals[process][where[0]].journal(where[1], where[2])
        return self.open[process][where], self.desks[process].setdefault(where, Desk())

    def _state(self, where: Where, desk: Desk) -> State:
        if desk.state is None:
            saved = self.books[where].saved
            desk.state = copy.deepcopy(saved[-1].state) if saved else {}
            desk.base = saved[-1].told["id"] if saved else None
        return desk.state

    def _picked(self, where: Where, pick: int) -> Saved:
        saved = self.books[where].saved
        return saved[pick % len(saved)]


def _said(pick: int) -> dict[str, Any]:
    """Returns something to say about a state."""
    said: dict[str, Any] = {}
    if pick % 2:
        said["name"] = f"n{pick % 3}"
    if pick % 5 == 0:
        said |= {"status": "failed", "reason": "no\nluck"}
    if pick % 7 == 0:
        said["step"] = pick % 20
    if pick % 11 == 0:
        said["metadata"] = {"a b": [1, 1.0, True]}
    if pick % 3 == 0:
        said["kind"] = "pre_operation"
    return said


def _told(entry: Entry) -> dict[str, Any]:
    return {**entry.record(), "timestamp": entry.timestamp}


TestOperations = Operations.TestCase
TestOperations.settings = settings(
    max_examples=count(smoke=100, release=600),
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
