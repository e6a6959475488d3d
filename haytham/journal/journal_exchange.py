"""A journal as one JSON text, for other machines and programs: written, and read back after every check."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from haytham.documents import schemas
from haytham.documents.journal_text import Written
from haytham.domain import state_changes
from haytham.domain.agent_state import checked_state
from haytham.domain.errors import HaythamError, InvalidDocument, InvalidInput, Location, Problem
from haytham.domain.identifiers import check_text
from haytham.domain.instants import parse
from haytham.domain.journal_entry import Entry, note
from haytham.domain.json_data import copy_of
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
    ids = [each.entry.id for each in found]
    for place, entry_id in enumerate(ids):
        if log.index_of(entry_id) is not None or entry_id in ids[:place]:
            raise InvalidInput(f"entry {entry_id} is in the journal already.", hint="import it into another branch.")
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
        state = checked_state(_state_after(state, each)) if each.is_whole else _state_after(state, each)
        if each.entry.id in needed:
            kept[each.entry.id] = _copied(state)


def _state_after(state: State, written: Written) -> State:
    fresh = [each._replace(value=_copied(each.value)) for each in written.changes]
    try:
        return state_changes.applied(state, fresh)
    except (LookupError, TypeError, AttributeError) as error:
        raise InvalidInput(f"the changes of entry {written.entry.id} do not fit the state before it.") from error


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
    changes = [Change(Verb(each["verb"]), tuple(each["path"]), _copied(each["value"])) for each in value["changes"]]
    return Written(entry=entry, previous=None, base=value["base"], changes=changes)


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
