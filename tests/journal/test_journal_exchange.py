import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haytham import HaythamError, InvalidInput
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals
from tests.evidence import snapshot
from tests.journal.states import HOSTILE, exact

Export = dict[str, Any]
Damage = Callable[[Export], None]
ID = "0123456789abcdef01234567"


@pytest.fixture
def exported(journal: Journal) -> str:
    """The export of a journal with hostile text, a rollback, and every kind of change."""
    journal.save(
        {"messages": [{"role": "user", "content": text} for text in HOSTILE], "list": [1, 2, 3], "d": {"a": 1}}
    )
    first = journal.save({"messages": [], "list": [2, 3, 4], "d": {}, "n": 1.0}, name="named", metadata={"k": "é"})
    journal.save({"list": [2], "n": True}, kind="pre_operation", status="failed", reason="a\nb")
    journal.rollback_to(first)
    journal.state.add_tool_call("t", {"a": [1]}, "r")
    journal.save(succeeded=journal.all()[2])
    return journal.export()


def _states(journal: Journal) -> dict[str, str]:
    return {each.id: exact(journal.state_at(each)) for each in journal}


def test_an_export_comes_back_whole(journal: Journal, journals: Journals, exported: str) -> None:
    """Imported into an empty journal, every entry and every state is as it was; so is its own export."""
    other = journals.journal("writer", "copy")
    assert 5 == other.import_entries(exported)
    assert journal.all() == other.all()
    assert _states(journal) == _states(other)
    assert json.loads(exported)["entries"][1:] == json.loads(other.export())["entries"][1:]
    assert [] == other.verify()


def test_an_import_comes_behind_what_is_there(journals: Journals, exported: str) -> None:
    """Ids stay and do not collide, numbers go on, the state to work on stays, and the next save goes on from it."""
    other = journals.journal("critic")
    own = other.save({"own": 1})
    other.import_entries(exported)
    assert ["critic"] * 6 == [each.agent for each in other]
    assert [1, 2, 3, 4, 5, 6] == [each.number for each in other]
    other.state["own"] = 2
    last = other.save()
    assert (own.id, {"own": 2}) == (last.parent, other.state_at(last))
    assert 7 == len({each.id for each in other})


def test_what_is_there_already_is_not_imported_twice(journal: Journal, exported: str) -> None:
    """An entry that is in the journal is refused by its id, and nothing is added."""
    before = snapshot(journal.path.parent)
    with pytest.raises(InvalidInput, match=journal.all()[0].id):
        journal.import_entries(exported)
    assert before == snapshot(journal.path.parent)


def test_a_fork_is_exported_with_its_beginning(journal: Journal, journals: Journals, exported: str) -> None:
    """The export of a fork needs no other journal."""
    fork = journal.fork("b", journal.all()[1])
    fork.state["more"] = 1
    fork.save()
    other = journals.journal("critic")
    other.import_entries(fork.export())
    assert _states(fork) == _states(other)
    assert journal.all()[1].id == json.loads(fork.export())["forked_from"]


def test_a_fork_takes_entries_in_and_becomes_independent(journal: Journal, journals: Journals, exported: str) -> None:
    """Importing into a fork leaves its states as they were."""
    fork = journal.fork("b", journal.all()[1])
    before = _states(fork)
    source = journals.journal("critic")
    source.save({"x": 1})
    fork.import_entries(source.export())
    journal.clear()
    assert before.items() <= _states(fork).items()
    assert [] == fork.verify()


def test_an_export_that_was_cut_from_its_beginning_is_refused_or_whole(
    journals: Journals, journal: Journal, exported: str
) -> None:
    """Entries without those that they are based on are refused, unless they hold a whole state."""
    value = json.loads(exported)
    value["entries"] = value["entries"][3:]
    with pytest.raises(InvalidInput, match="does not come before"):
        journals.journal("critic").import_entries(json.dumps(value))


def test_nothing_is_a_valid_export(journals: Journals) -> None:
    """An export of an empty journal can be imported, and adds nothing."""
    assert 0 == journals.journal("critic").import_entries(journals.journal("writer").export())


VALUES: list[Any] = [None, True, -1, 1.5, "", "x", "\ud800", [], {}, [None], 10**30, f"{ID}\n", "2026-13-01T00:00:00Z"]
FIELDS = ("id", "timestamp", "step", "name", "kind", "status", "reason", "metadata", "parent", "succeeded", "base")
ALLOWED: dict[str, tuple[Any, ...]] = {  # what is fine in a field after all
    "name": ("", "x", "2026-13-01T00:00:00Z"),
    "reason": ("",),
    "metadata": ({},),
    "parent": (None,),
    "succeeded": (None,),
    "base": (None,),
}
BAD_CHANGES: list[dict[str, Any]] = [
    {"verb": "clear", "path": ["a"], "value": None},
    {"verb": "clear", "path": [], "value": 1},
    {"verb": "put", "path": [], "value": 1},
    {"verb": "put", "path": [0], "value": 1},
    {"verb": "put", "path": ["d", 0], "value": 1},
    {"verb": "put", "path": ["list", 99], "value": 1},
    {"verb": "put", "path": ["list", 1.0], "value": 1},
    {"verb": "put", "path": ["list", True], "value": 1},
    {"verb": "put", "path": ["nowhere", "a"], "value": 1},
    {"verb": "put", "path": ["messages"], "value": ["x"]},
    {"verb": "put", "path": ["memory"], "value": 1},
    {"verb": "put", "path": ["\ud800"], "value": 1},
    {"verb": "add", "path": ["messages"], "value": "x"},
    {"verb": "add", "path": ["tool_calls"], "value": {"tool_name": "x"}},
    {"verb": "add", "path": ["d"], "value": 1},
    {"verb": "add", "path": [], "value": 1},
    {"verb": "drop", "path": ["nowhere"], "value": None},
    {"verb": "drop", "path": ["list"], "value": 1},
    {"verb": "drop", "path": [], "value": None},
    *(
        {"verb": verb, "path": ["list"], "value": value}
        for verb in ("cut", "skip")
        for value in (None, -1, True, 1.0, "1")
    ),
    {"verb": "cut", "path": ["d"], "value": 1},
    {"verb": "skip", "path": [], "value": 1},
    {"verb": "run", "path": ["list"], "value": 1},
    {"verb": "put", "path": "list", "value": 1},
    {"verb": "put", "path": ["list"]},
    {"verb": "put", "path": ["list"], "value": 1, "more": 1},
    {"__class__": "os.system", "verb": "put", "path": ["list"], "value": 1},
]


def _put(place: tuple[str | int, ...], value: Any) -> Damage:
    def damage(export: Export) -> None:
        target: Any = export
        for key in place[:-1]:
            target = target[key]
        target[place[-1]] = value

    return damage


def _drop(place: tuple[str | int, ...]) -> Damage:
    def damage(export: Export) -> None:
        target: Any = export
        for key in place[:-1]:
            target = target[key]
        del target[place[-1]]

    return damage


def _add(change: dict[str, Any]) -> Damage:
    return lambda export: export["entries"][1]["changes"].append(change)


def _damages() -> Iterator[tuple[str, Damage]]:
    for field in ("format", "version", "session", "agent", "branch", "forked_from", "entries"):
        yield f"no {field}", _drop((field,))
    for field, value in [("format", "other"), ("version", 2), ("version", "1"), ("entries", {}), ("entries", [1])]:
        yield f"{field} is {value}", _put((field,), value)
    yield "an unknown field", _put(("more",), 1)
    yield "an unknown field of an entry", _put(("entries", 1, "more"), 1)
    for field in (*FIELDS, "number", "agent", "changes"):
        yield f"entry without {field}", _drop(("entries", 1, field))
    for field in FIELDS:
        for value in VALUES:
            if not any(type(value) is type(each) and value == each for each in ALLOWED.get(field, ())):
                yield f"{field} is {value!a}", _put(("entries", 1, field), value)
    for change in BAD_CHANGES:
        yield f"change {change!a}", _add(change)
    yield "the same entry twice", lambda export: export["entries"].append(copy.deepcopy(export["entries"][0]))
    yield "entries in another order", lambda export: export["entries"].reverse()
    yield "an entry is missing", _drop(("entries", 1))
    yield "based on itself", lambda export: _put(("entries", 3, "base"), export["entries"][3]["id"])(export)
    yield "based on a later one", lambda export: _put(("entries", 1, "base"), export["entries"][4]["id"])(export)


DAMAGES = dict(_damages())
TEXTS = {
    "nothing": "",
    "no json": "{",
    "not a number": '{"format": NaN}',
    "a number": "7",
    "a list": "[]",
    "null": "null",
    "too deep": "[" * 100_000,
    "a long number": "1" * 5000,
    "two values": "{} {}",
    "a text": '"x"',
    "bytes": b"{}",
    "None": None,
    "a surrogate": "\ud800",
}


def test_there_are_enough_of_them() -> None:
    """At least two hundred damaged or hostile exports are tried."""
    assert len(DAMAGES) + len(TEXTS) >= 200


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_export_is_refused(what: str, journals: Journals, exported: str) -> None:
    """A damaged export is refused by an error of ours, and the journal is as it was."""
    other = journals.journal("critic")
    other.save({"own": 1})
    value = json.loads(exported)
    DAMAGES[what](value)
    before = snapshot(journals._folder)
    with pytest.raises(HaythamError):
        other.import_entries(json.dumps(value))
    assert before == snapshot(journals._folder)


@pytest.mark.parametrize("what", TEXTS)
def test_what_is_no_export_is_refused(what: str, journals: Journals) -> None:
    """Anything else is refused, in words."""
    other = journals.journal("critic")
    other.save({"own": 1})
    before = snapshot(journals._folder)
    with pytest.raises(HaythamError):
        other.import_entries(TEXTS[what])  # type: ignore[arg-type]
    assert before == snapshot(journals._folder)


@given(data=st.data())
def test_whatever_is_taken_in_can_be_read(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """An export with any of its leaves replaced is refused, or gives a journal whose every state can be read."""
    folder = tmp_path_factory.mktemp("any")
    source = Journals(folder / "j", folder / "n", "s").journal("writer")
    source.save({"messages": [{"role": "user", "content": "x"}], "list": [1, 2]})
    source.save({"messages": [{"role": "user", "content": "y"}], "list": [2, 3], "d": {"a": 1}})
    source.rollback_to(source.all()[0])
    value = json.loads(source.export())
    places = list(_places(value, ()))
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.sampled_from(places))
        try:
            _put(place, data.draw(st.sampled_from([*VALUES, ID, "put", "cut", "list", ["list"], 0, 1])))(value)
        except (LookupError, TypeError):
            continue
    other = Journals(folder / "j2", folder / "n2", "s").journal("writer")
    try:
        other.import_entries(json.dumps(value))
    except HaythamError:
        assert [] == other.all()
        return
    assert [] == other.verify()
    for each in other:
        other.state_at(each)
    again = Journals(folder / "j3", folder / "n3", "s").journal("writer")
    again.import_entries(other.export())
    assert _states(other) == _states(again)


def _places(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _places(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _places(each, (*path, index))
