"""Makes a store that goes on from a commit of another one, with the history that leads to it."""

from collections.abc import Mapping

from haytham.storage import files, git_objects, history_past
from haytham.storage.history import History
from haytham.storage.store import CommitNote, Store


def create(
    store: Store,
    source: History,
    commit: str,
    contents: Mapping[str, bytes | None],
    note: CommitNote,
    empty: tuple[str, ...] = (),
) -> bool:
    """Makes the folder of a store, some empty ones in it, and a commit upon one of the source; all or nothing.

    `contents` are all files that it is to have, and None for those of the commit that it is to have no more.
    Nothing is shared with the source, so either may be deleted. Returns False if the folder was there first.
    """
    pack = git_objects.pack(history_past.objects(source, commit))

    def fill(building: Store) -> None:
        place = building.history.git_folder / "objects" / "pack"
        files.write_new({place / f"{pack.name}.pack": pack.data, place / f"{pack.name}.idx": pack.index})
        files.write_new({building.history.ref_path: f"{commit}\n".encode()})
        prepared = building.history.prepare(contents, note.message, note.author, building.now())
        written = {building.path(name): data for name, data in contents.items() if data is not None}
        files.write_new({**prepared.files, **written}, [building.path(folder) for folder in empty])
        building.note_head(building.history.publish(prepared))

    return store.build(fill)
