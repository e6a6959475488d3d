"""What a disk, a copy or a hand can do to a journal's bytes is found by `verify`, and nothing acknowledged is lost."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from haytham import DamagedJournal
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals
from tests.journal.states import FAKE, exact
from tests.trials import count

Reopen = Callable[[], Journals]
SAMPLE = count(smoke=12, release=120)  # bytes of the small journal that are given every other value


def _filled(journal: Journal, entries: int) -> bytes:
    for number in range(entries):
        journal.state.add_message("user", f"step {number} é{FAKE if number % 7 == 0 else ''}")
        journal.state["memory"] = {"n": number}
        journal.save(name=f"n{number}")
    return journal.path.read_bytes()


def _parts(data: bytes) -> list[bytes]:
    """Returns the first lines and the entries, as they stand one after the other."""
    ending = b" -->\n"
    first, *others = data.removesuffix(ending).split(ending + b"\n")
    return [first + ending, *(b"\n" + each + ending for each in others)]


def _is_found(path: Path, data: bytes, reopen: Reopen) -> bool:
    """Tells whether these bytes are found to be damaged, with a line, and left as they are."""
    path.write_bytes(data)
    found = reopen().journal("writer").verify()
    assert data == path.read_bytes()
    return len(found) == 1 and ", line " in found[0]


def test_every_byte_of_a_small_journal_counts(journal: Journal, reopen: Reopen) -> None:
    """A flip of a bit, of any byte, is found; for a sample of bytes so is every other value."""
    data = _filled(journal, 3)
    assert [] == reopen().journal("writer").verify()
    flips = [(place, byte ^ bit) for place, byte in enumerate(data) for bit in (0x01, 0x20, 0x80)]
    for place in random.sample(range(len(data)), SAMPLE):
        flips += [(place, other) for other in range(256) if other != data[place]]
    missed = [
        (place, other)
        for place, other in flips
        if not _is_found(journal.path, data[:place] + bytes([other]) + data[place + 1 :], reopen)
    ]
    assert [] == missed


def test_random_flips_of_a_large_journal_are_found(journal: Journal, reopen: Reopen) -> None:
    """In a journal of many entries a changed byte is found, wherever it is."""
    data = _filled(journal, 400)
    chance = random.Random()
    for _ in range(count(smoke=200, release=5000)):
        place = chance.randrange(len(data))
        other = (data[place] + chance.randrange(1, 256)) % 256
        assert _is_found(journal.path, data[:place] + bytes([other]) + data[place + 1 :], reopen), (place, other)


def test_a_missing_entry_is_found(journal: Journal, reopen: Reopen) -> None:
    """Each entry that is taken out is missed, also the last, and all of them."""
    parts = _parts(_filled(journal, 6))
    assert 7 == len(parts)
    for gone in range(len(parts)):
        assert _is_found(journal.path, b"".join(parts[:gone] + parts[gone + 1 :]), reopen), gone
        assert _is_found(journal.path, b"".join(parts[:gone]), reopen), gone


def test_other_orders_and_repetitions_are_found(journal: Journal, reopen: Reopen) -> None:
    """Two entries that changed places, and one that stands twice, are found."""
    parts = _parts(_filled(journal, 5))
    for one in range(len(parts)):
        for other in range(one + 1, len(parts)):
            swapped = list(parts)
            swapped[one], swapped[other] = parts[other], parts[one]
            assert _is_found(journal.path, b"".join(swapped), reopen), (one, other)
        for place in range(len(parts) + 1):
            repeated = b"".join([*parts[:place], parts[one], *parts[place:]])
            assert _is_found(journal.path, repeated, reopen), (one, place)


def test_an_entry_of_another_journal_is_found(journal: Journal, journals: Journals, reopen: Reopen) -> None:
    """An entry that is whole, but was written elsewhere, does not belong here."""
    data = _filled(journal, 3)
    other = _parts(_filled(journals.journal("critic"), 3))
    assert _is_found(journal.path, data + other[3], reopen)


def test_a_torn_tail_is_cut_off_at_every_point(journal: Journal, reopen: Reopen, tmp_path: Path) -> None:
    """Wherever the last entry broke off: reading gives the state before, the next save puts the tail aside and says so.

    The process died before the entry was acknowledged, so the note names the one before.
    """
    before = _filled(journal, 3)
    note = (tmp_path / "notes" / "writer.md").read_bytes()
    state, entries = exact(journal.state.to_dict()), journal.all()
    journal.state.add_message("user", f"the last {FAKE}")
    journal.save()
    whole = journal.path.read_bytes()
    for cut in range(len(before) + 1, len(whole)):
        journal.path.write_bytes(whole[:cut])
        (tmp_path / "notes" / "writer.md").write_bytes(note)
        fresh = reopen().journal("writer")
        assert entries == fresh.all()
        assert state == exact(fresh.state.to_dict())
        assert "unfinished" in fresh.verify()[0]
        assert whole[:cut] == journal.path.read_bytes()
        fresh.state["cut"] = cut
        entry = fresh.save()
        assert [*entries, entry] == reopen().journal("writer").all()
        aside = journal.path.with_name("writer.md.torn-1")
        assert whole[len(before) : cut] == aside.read_bytes()
        assert ["an unfinished entry was put into writer.md.torn-1"] == fresh.problems
        assert [] == fresh.verify()
        aside.unlink()


def test_an_acknowledged_entry_that_is_torn_is_damage(journal: Journal, reopen: Reopen) -> None:
    """If the note says that the last entry was whole once, nobody cuts it off in silence."""
    data = _filled(journal, 2)
    for cut in range(1, len(data), 7):
        journal.path.write_bytes(data[:cut])
        with pytest.raises(DamagedJournal):
            reopen().journal("writer").save({})
        assert data[:cut] == journal.path.read_bytes()
