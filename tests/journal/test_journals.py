from collections.abc import Callable
from pathlib import Path

import pytest

from haytham import InvalidInput, NotFound
from haytham.domain.errors import DamagedJournal
from haytham.domain.retention import Retention
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals, consistent_point, recover_to
from tests.journal.conftest import Watch
from tests.journal.states import all_states, save_steps

Reopen = Callable[[], Journals]


def test_the_folder_names_its_journals(journals: Journals) -> None:
    """Journals are known by agent and branch; other files in the folder are none."""
    assert ([], []) == (journals.titles(), journals.all())
    journals.journal("writer").save({})
    journals.journal("critic").save({})
    journals.journal("writer").fork("b.2")
    (journals._folder / "writer.md.torn-1").write_bytes(b"")
    assert ["critic", "writer", "writer@b.2"] == journals.titles()
    assert [("critic", ""), ("writer", ""), ("writer", "b.2")] == [(e.agent, e.branch) for e in journals.all()]


@pytest.mark.parametrize("agent", ["", "a/b", "..", "a@b", "journal", "a b", "-a", "x" * 101, None])
def test_names_are_checked(agent: str, journals: Journals) -> None:
    """A name that cannot be a file's is refused, for an agent and for a branch."""
    with pytest.raises(InvalidInput):
        journals.journal(agent)
    if agent and agent != "journal":
        with pytest.raises(InvalidInput):
            journals.journal("writer", agent)


def test_names_that_differ_by_case_are_refused(journals: Journals) -> None:
    """Two journals that would be one file elsewhere are not both made."""
    journal = journals.journal("writer")
    journal.save({})
    with pytest.raises(InvalidInput, match="case"):
        journals.journal("Writer")
    journal.fork("b")
    with pytest.raises(InvalidInput, match="case"):
        journal.fork("B")


def test_a_fork_goes_on_from_any_entry(journal: Journal, reopen: Reopen) -> None:
    """A fork has the state of its entry, grows by itself, and neither sees what the other does afterwards."""
    states = save_steps(journal, 4)
    middle = journal.all()[1]
    fork = journal.fork("other", middle, name="try")
    save_steps(journal, 1)
    grown = save_steps(fork, 2)
    fresh = reopen().journal("writer", "other")
    assert [states[1], *grown] == all_states(fresh)
    assert (middle.id, "writer", "other", "try") == (fresh.forked_from, fresh.origin, fresh.branch, fresh.all()[0].name)
    assert (middle.id, middle.step, 1) == (fresh.all()[0].parent, fresh.all()[0].step, fresh.all()[0].number)
    assert 5 == len(reopen().journal("writer"))
    assert [] == fresh.verify()


def test_a_fork_costs_the_same_however_much_there_is(journal: Journal) -> None:
    """A fork refers to its entry: it is small, whatever the state's size."""
    journal.save({"text": "x" * 100_000})
    fork = journal.fork("b")
    assert fork.path.stat().st_size < 600
    assert {"text": "x" * 100_000} == fork.state.to_dict()


def test_a_branch_that_exists_is_refused(journal: Journal, journals: Journals) -> None:
    """A fork never continues another journal, also if somebody else began it just now, nor itself."""
    journal.save({"a": 1})
    fork = journal.fork("b")
    before = fork.path.read_bytes()
    calls: list[Callable[[], object]] = [
        lambda: journal.fork("b"),
        lambda: fork.fork("b"),
        lambda: journal.fork_into(journals, "b"),
    ]
    for call in calls:
        with pytest.raises(InvalidInput, match="already"):
            call()
    with pytest.raises(InvalidInput, match="already"):
        fork.begin(journal.all()[0], (), "late")
    with pytest.raises(InvalidInput):
        journal.fork("")
    assert before == fork.path.read_bytes()


def test_an_empty_file_does_not_stop_a_fork(journal: Journal) -> None:
    """What a process left that died before the first byte was written is no journal."""
    journal.save({"a": 1})
    journal.path.with_name("writer@b.md").touch()
    assert {"a": 1} == journal.fork("b").state.to_dict()


def test_forks_survive_what_happens_to_their_origin(journal: Journal, reopen: Reopen) -> None:
    """Before entries go away, the forks that refer to them become independent, and their own forks with them."""
    save_steps(journal, 6)
    fork = journal.fork("b", journal.all()[2])
    own = save_steps(fork, 2)
    second = fork.fork("c", fork.all()[0])
    expected = all_states(fork), all_states(second), own
    journal.cleanup(Retention(routine=None, thin_above=1, recent=1, limit=1))
    assert 1 == len(journal)
    fresh = reopen()
    assert expected[0] == all_states(fresh.journal("writer", "b"))
    assert expected[1] == all_states(fresh.journal("writer", "c"))
    journal.clear()
    fork.clear()
    assert expected[1] == all_states(reopen().journal("writer", "c"))
    assert [[]] * 3 == [each.verify() for each in reopen().all()]


def test_a_fork_of_a_lost_entry_says_so(journal: Journal, reopen: Reopen) -> None:
    """If the journal that a fork came from is gone, that is told, by verify as well."""
    journal.save({"a": 1})
    fork = journal.fork("b")
    journal.path.unlink()
    found = reopen().journal("writer", "b").verify()
    assert 1 == len(found)
    with pytest.raises(DamagedJournal):
        reopen().journal("writer", "b").resume()
    assert fork.path.exists()


def test_a_fork_into_another_session_is_whole(journal: Journal, tmp_path: Path, watch: Watch) -> None:
    """A fork elsewhere holds the state itself and tells where it came from."""
    states = save_steps(journal, 3)
    there = Journals(tmp_path / "elsewhere", tmp_path / "notes-2", "s-2", clock=watch)
    fork = journal.fork_into(there, entry=journal.all()[1])
    journal.path.unlink()
    assert [states[1]] == all_states(there.journal("writer"))
    assert ("s-2", "", "writer") == (fork.session, fork.origin, fork.title)
    assert fork.forked_from is not None
    assert fork.all()[0].id != fork.forked_from
    assert [] == there.journal("writer").verify()


def test_the_tree_shows_forks_below_their_origins(journal: Journal, journals: Journals) -> None:
    """Forks hang below the journal that they came from, to any depth."""
    journal.save({})
    second = journal.fork("b").fork("c")
    journal.fork("d")
    journals.journal("critic").save({})
    tree = journals.tree()
    assert ["critic", "writer"] == [each["title"] for each in tree]
    assert ["writer@b", "writer@d"] == [each["title"] for each in tree[1]["forks"]]
    below = tree[1]["forks"][0]["forks"]
    assert [("writer@c", "writer", "c", 1, [])] == [
        (each["title"], each["agent"], each["branch"], each["entries"], each["forks"]) for each in below
    ]
    assert second.forked_from == below[0]["forked_from"]


def test_the_newest_of_all_journals(journals: Journals, watch: Watch) -> None:
    """The newest entry is found over all agents, of one, by name and kind."""
    assert journals.latest() is None
    first = journals.journal("a").save(name="n")
    watch.move(1)
    second = journals.journal("b").save(kind="recovery")
    assert (second, first, first, second, None) == (
        journals.latest(),
        journals.latest(agent="a"),
        journals.latest(name="n"),
        journals.latest(kind="recovery"),
        journals.latest(agent="c"),
    )


def test_several_agents_go_back_to_one_point(journals: Journals, watch: Watch) -> None:
    """The latest point that all reach, a time, or a name; recovering twice does it once."""
    both = [journals.journal("a"), journals.journal("b")]
    for number in range(3):
        for each in both[: 1 if number == 2 else 2]:
            watch.move(1)
            each.save({"n": number}, name=f"n{number}")
    newest = consistent_point(both)
    assert {"a": 1, "b": 1} == {title: int(e.name[1:]) for title, e in newest.items()}
    early = consistent_point(both, both[1].all()[0].timestamp)
    assert {"a": "n0", "b": "n0"} == {title: each.name for title, each in early.items()}
    named = consistent_point(both, name="n0")
    assert early == named
    done = recover_to(both, named)
    assert done == recover_to(both, named)
    assert [{"n": 0}, {"n": 0}] == [each.state.to_dict() for each in both]
    assert ["recovery", "recovery"] == [each.kind for each in done]
    watch.move(1)
    both[0].save({"n": 9})
    assert 2 == len({each.id for each in recover_to(both, named)} - {done[0].id})


@pytest.mark.parametrize("what", [{"at": "2020-01-01T00:00:00Z"}, {"name": "never"}])
def test_a_point_that_an_agent_does_not_have_is_refused(what: dict[str, str], journals: Journals) -> None:
    """The agent without such an entry is named."""
    both = [journals.journal("a"), journals.journal("b")]
    for each in both:
        each.save({})
    with pytest.raises(InvalidInput, match="journal of a has no entry"):
        consistent_point(both, what.get("at"), name=what.get("name"))
    with pytest.raises(InvalidInput, match="journal of c"):
        consistent_point([*both, journals.journal("c")])


def test_a_fork_reads_only_the_entry_that_it_begins_from(journals: Journals, reopen: Reopen) -> None:
    """Any entry of a journal that was just opened can be forked from; its state is that of the entry."""
    journal = journals.journal("writer")
    for number in range(5):
        journal.state.add_message("user", f"<!-- {number} -->\n")
        journal.save(name=f"n{number}", metadata={"a": number})
    for number, entry in enumerate(journal.all()):
        fork = reopen().journal("writer").fork(f"b{number}", entry.id)
        assert (entry.id, {"a": number}) == (fork.forked_from, fork.all()[0].metadata)
        assert journal.state_at(entry) == fork.state.to_dict()
        assert [] == fork.verify()
    with pytest.raises(NotFound):
        reopen().journal("writer").fork("lost", "f" * 24)


def test_a_damaged_entry_cannot_be_forked_from(journals: Journals, reopen: Reopen) -> None:
    """What is not as it was written is no beginning."""
    journal = journals.journal("writer")
    entries = [journal.save({"a": number}) for number in range(3)]
    journal.path.write_bytes(journal.path.read_bytes().replace(b"## 2", b"## 7"))
    with pytest.raises(DamagedJournal):
        reopen().journal("writer").fork("b", entries[1])
    assert ["writer"] == journals.titles()
