"""A journal as one JSON text, for other machines and programs: written, and read back after every check."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from haytham.documents import schemas
from haytham.documents.journal_text import Written
from haytham.domain import state_changes
from haytham.domain.agent_state import check_change
from haytham.domain.errors import HaythamError, InvalidDocument, InvalidInput, Location, Problem
from haytham.domain.identifiers import check_text
from haytham.domain.instants import parse
from haytham.domain.journal_entry import Entry, note
from haytham.domain.json_data import copy_of
from haytham.domain.numbers import check_count
from haytham.domain.state_changes import Change, State, Verb
from haytham.journal.journal_log import JournalLog

FORMAT, VERSION = "haytham.journal", 1


def exported(log: JournalLog) -> str:
    """Returns the entries of a journal, with what each of them changed, as JSON."""
    value = {
        "format": FORMAT,
        "version": VERSION,
        "session": log.header.session,
        "agent": log.header.agent,
        "branch": log.header.branch,
        "forked_from": log.header.forked_from or None,
        "entries": [_exported(each) for each in log.all_written()],
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def imported(text: str, log: JournalLog) -> list[Written]:
    """Reads an export for a journal; raises InvalidInput or InvalidDocument with everything that is wrong."""
    given = _parsed(text)["entries"]
    last = log.last()
    start = last.number + 1 if last else 1
    found = [_written(each, log.header.agent, start + place) for place, each in enumerate(given)]
    seen: set[str] = set()
    for each in found:
        if log.index_of(each.entry.id) is not None or each.entry.id in seen:
            raise InvalidInput(
                f"entry {each.entry.id} is in the journal already.", hint="import it into another branch."
            )
        seen.add(each.entry.id)
    if found and not found[0].is_whole:
        found[0] = replace(found[0], changes=state_changes.whole(_state_after({}, found[0])))
    _check_states(found)
    return found


def _check_states(found: list[Written]) -> None:
    """Raises InvalidInput if the changes of an entry do not fit the state that it is based on."""
    needed = {each.base for each in found}
    kept: dict[str, State] = {}
    state: State = {}
    for each in found:
        if each.base is not None:
            if each.base not in kept:
                raise InvalidInput(f"entry {each.entry.id} is based on {each.base}, which does not come before it.")
            state = _copied(kept[each.base])
        state = _state_after(state, each)
        if each.entry.id in needed:
            kept[each.entry.id] = _copied(state)


def _state_after(state: State, written: Written) -> State:
    try:
        for each in written.changes:
            if each.verb is not Verb.CLEAR:
                check_change(state, each)
            state = state_changes.applied(state, [each._replace(value=_copied(each.value))])
    except (LookupError, TypeError, AttributeError) as error:
        raise InvalidInput(f"the changes of entry {written.entry.id} do not fit the state before it.") from error
    return state


def _copied(value: Any) -> Any:
    return copy_of(value, "state")


def _exported(written: Written) -> dict[str, Any]:
    changes = [{"verb": each.verb.value, "path": list(each.path), "value": each.value} for each in written.changes]
    return {**written.entry.record(), "base": written.base, "changes": changes}


def _written(value: Mapping[str, Any], agent: str, number: int) -> Written:
    said = note(
        value["name"],
        value["kind"],
        value["status"],
        value["reason"],
        value["step"],
        value["metadata"],
        value["succeeded"],
    )
    entry = Entry(
        id=value["id"],
        number=number,
        agent=agent,
        timestamp=parse(value["timestamp"], "timestamp"),
        step=value["step"],
        name=said.name,
        kind=said.kind,
        status=said.status,
        reason=said.reason,
        metadata=said.metadata,
        parent=value["parent"],
        succeeded=said.succeeded,
    )
    changes = [_change(each) for each in value["changes"]]
    return Written(entry=entry, previous=None, base=value["base"], changes=changes)


def _change(value: Mapping[str, Any]) -> Change:
    verb, path, given = Verb(value["verb"]), tuple(value["path"]), value["value"]
    if not path if verb is Verb.CLEAR else path and isinstance(path[0], str):
        if verb in {Verb.PUT, Verb.ADD}:
            return Change(verb, tuple(_copied(key) for key in path), copy_of(given, "value", len(path)))
        if verb in {Verb.CUT, Verb.SKIP}:
            return Change(verb, path, check_count(given, verb.value))
        if given is None:
            return Change(verb, path, None)
    raise InvalidInput(f"there is no change {json.dumps(value)[:200]}.", hint="pass what export() returned.")


def _parsed(text: object) -> Any:
    try:
        value = json.loads(check_text(text, "the export"))
    except ValueError as error:
        if isinstance(error, HaythamError):
            raise
        raise InvalidInput(f"the export is no JSON: {error}.", hint="pass what export() returned.") from error
    except RecursionError as error:
        raise InvalidInput("the export is nested too deep.", hint="pass what export() returned.") from error
    if faults := schemas.faults("journal_export", value):
        raise InvalidDocument(
            [
                Problem(message=each.message, location=Location(field=".".join(map(str, each.path))), hint=each.hint)
                for each in faults
            ]
        )
    return value
