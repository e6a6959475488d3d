from pathlib import Path

import pytest

from haytham import InvalidInput, NotFound, StorageFailure
from haytham.storage import layout
from haytham.storage.layout import Layout


@pytest.fixture
def places(tmp_path: Path) -> Layout:
    """The layout of a base folder with one project and one session."""
    (tmp_path / "p-1" / "sessions" / "s-1").mkdir(parents=True)
    return Layout(base=tmp_path)


def test_folders_are_where_the_design_says(places: Layout) -> None:
    """A session lies below its project's sessions, and has a branch of its own."""
    assert (
        places.base / "p-1" / "sessions" / "s-1"
        == places.session("p-1", "s-1")
        == places.existing_session("p-1", "s-1")
    )
    assert places.base / "p-1" == places.existing_project("p-1")
    assert layout.session_branch("s-1") == "sessions/s-1"


def test_ids_are_checked_before_they_become_paths(places: Layout) -> None:
    """No path is made from an id that could lead elsewhere."""
    for call in (places.project, places.sessions, places.existing_project, places.session_ids):
        with pytest.raises(InvalidInput):
            call("../x")
    with pytest.raises(InvalidInput):
        places.session("p-1", "..")


def test_missing_ones_are_not_found_with_what_there_is(places: Layout, tmp_path: Path) -> None:
    """Who asks for the wrong one learns the right ones."""
    with pytest.raises(NotFound) as caught:
        places.existing_project("p-2")
    assert caught.value.hint == "projects here: p-1."
    with pytest.raises(NotFound) as caught:
        places.existing_session("p-1", "s-2")
    assert caught.value.hint == "sessions here: s-1."
    with pytest.raises(NotFound) as caught:
        Layout(base=tmp_path / "empty").existing_project("p-1")
    assert caught.value.hint == "there are no projects here yet."


def test_links_hidden_folders_and_files_are_not_listed(places: Layout, tmp_path: Path) -> None:
    """Only real folders are projects."""
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "p-1")
    assert places.project_ids() == ["p-1"]
    assert places.session_ids("p-1") == ["s-1"]
    with pytest.raises(StorageFailure, match="symbolic link"):
        places.existing_project("link")


def test_names_that_differ_by_case_are_not_free(places: Layout) -> None:
    """A name is free if nothing has it; its own folder does not count."""
    layout.check_free("p-1", places.base, "project id")
    layout.check_free("p-2", places.base, "project id")
    with pytest.raises(InvalidInput, match="project id 'P-1' differs only by case from the existing 'p-1'"):
        layout.check_free("P-1", places.base, "project id")
