"""The history of one folder: commits made in process, read in process. The gateway to pygit2.

Only the paths it is given are committed; a person's staged changes, branch and settings stay as they are.
No hook, no filter and no program of the repository is ever run, and no repository is ever searched for upwards.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haytham.domain import commit_text, messages
from haytham.domain.errors import BrokenRepository, HaythamError, Location, StorageFailure
from haytham.storage import branches, files, git_index, git_objects
from haytham.storage.branches import Prepared
from haytham.storage.git_objects import BLOB, FILE_MODE, FOLDER_MODE, GitObject

if TYPE_CHECKING:
    import pygit2

_STALE_LOCK = 600.0  # seconds; git holds a lock for moments
_KEEP = ".keep"  # git's own mark on a pack that gc leaves alone
_OURS = b"haytham"

_UNREADABLE = "the documents beside it are untouched; restore the folder .git from a copy or a clone."
_FOREIGN = "it belongs to another user: work as that user, or make it yours; git's safe.directory lets it be as it is."

Entries = dict[str, tuple[int, str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """Whom a commit is by."""

    name: str
    email: str

    def __str__(self) -> str:
        return f"{_bare(self.name) or 'unknown'} <{_bare(self.email)}>"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One commit, as the log tells it."""

    id: str
    author: Person
    time: datetime
    subject: str
    body: str
    trailers: Mapping[str, str]
    is_signed: bool = False


class History:
    """The git repository inside a folder, on one branch."""

    def __init__(self, folder: Path, branch: str) -> None:
        self.folder = folder
        self.branch = branch
        self.git_folder = folder / ".git"
        self._ref = f"refs/heads/{branch}"
        self._repository: pygit2.Repository | None = None
        self._keep_open = False

    @property
    def ref_path(self) -> Path:
        """Where git keeps the branch, unless it was packed."""
        return self.git_folder / self._ref

    def create(self) -> None:
        """Makes an empty repository on the branch."""
        with _translating(self.git_folder):
            _pygit2().init_repository(str(self.folder), initial_head=self.branch).free()
        files.write_whole(self.git_folder / "info" / "exclude", files.TEMPORARY_PATTERNS)
        files.make_folder(self.ref_path.parent)

    def check(self) -> None:
        """Raises BrokenRepository if the repository is gone, damaged, or on another branch."""
        with self.opened() as repository:
            self._check_branch(repository)
            self._head_tree(repository)

    def check_branch(self) -> None:
        """Raises BrokenRepository if the folder is on another branch; quick when it is not."""
        if files.read_bytes(self.git_folder / "HEAD") != f"ref: {self._ref}\n".encode():
            self.check()

    def sweep(self) -> list[Path]:
        """Removes what a writer that died left inside the repository; call it only under the lock."""
        ref = self.ref_path
        files.sweep_lock(ref, _STALE_LOCK)
        files.sweep_lock(self.git_folder / "index", _STALE_LOCK)
        files.sweep_marks(self.git_folder / "objects" / "pack", _KEEP, _OURS)
        return files.sweep([self.git_folder, ref.parent, self.git_folder / "objects" / "pack"])

    def head(self) -> str | None:
        """Returns the id of the newest commit, or None before the first."""
        with self.opened() as repository:
            return self._head_id(repository)

    def read(self, path: str, commit: str | None = None) -> bytes | None:
        """Returns a file as it was committed, by default last; None if it was not."""
        with self.opened() as repository:
            tree: Any = repository[commit].peel(_pygit2().Tree) if commit else self._head_tree(repository)
            if tree is None or path not in tree:
                return None
            entry = tree[path]
            return bytes(entry.data) if isinstance(entry, _pygit2().Blob) else None

    def names(self, folder: str, commit: str | None = None) -> list[str]:
        """Returns the names of the files in a folder as a commit has them, by default the newest."""
        with self.opened() as repository:
            tree: Any = repository[commit].peel(_pygit2().Tree) if commit else self._head_tree(repository)
            return [str(each.name) for each in tree[folder]] if tree is not None and folder in tree else []

    def blob_ids(self, paths: Iterable[str]) -> dict[str, str]:
        """Returns the ids of those of these files that are in the newest commit, by path."""
        with self.opened() as repository:
            tree = self._head_tree(repository)
            return {path: str(tree[path].id) for path in paths if path in tree} if tree is not None else {}

    def entries(self) -> Iterator[Entry]:
        """Yields the commits of the branch, newest first."""
        with self.opened() as repository:
            head = self._head_id(repository)
            if head is not None:
                for commit in repository.walk(head):
                    yield entry_of(commit)

    def prepare(
        self,
        changes: Mapping[str, bytes | None],
        message: str,
        author: Person,
        when: datetime,
        sign: Callable[[bytes], str] | None = None,
    ) -> Prepared:
        """Builds the commit of these files and nothing else; None as bytes removes a file; `sign` signs its bytes.

        Its files have to be written, durably, before `publish` makes it the newest commit.
        """
        with self.opened() as repository:
            self._check_branch(repository)
            base = self._head_id(repository)
            objects: dict[str, GitObject] = {}
            tree_id = self._tree(repository, self._head_tree(repository), git_objects.nested(changes), objects)
        stamp = f"{author} {int(when.timestamp())} +0000"
        commit = git_objects.commit(tree_id, [base] if base else [], stamp, stamp, messages.after(message, base))
        if sign is not None:
            commit = git_objects.signed(commit, sign(commit.data))
        pack = git_objects.pack([*objects.values(), commit])
        folder = self.git_folder / "objects" / "pack"
        packed = {folder / f"{pack.name}.pack": pack.data, folder / f"{pack.name}.idx": pack.index}
        return Prepared(commit=commit.id, base=base, files=packed, changes=changes)

    def publish(
        self,
        prepared: Prepared,
        again: Callable[[], Prepared] | None = None,
        seen: Mapping[str, bytes | None] | None = None,
    ) -> str:
        """Makes a prepared commit the newest one, durably, and returns its id.

        `seen` is what stood in its files before: what a person staged of them and changed again stays staged.

        If somebody else committed meanwhile, `again` prepares it on top of theirs, with its files written, while git
        has to wait; without it, Conflict is raised.
        """
        self._verify(prepared)

        def on_top() -> Prepared:
            newer = again() if again else prepared
            self._verify(newer)
            return newer

        with self.opened() as repository:
            ref = self.ref_path
            published = branches.advance(ref, prepared, lambda: self._head_id(repository), on_top if again else None)
            self._verify_ref(repository, published.commit)
        self.refresh_index(published.changes, seen)
        self.release(prepared)
        self.release(published)
        return published.commit

    def hold(self, prepared: Prepared) -> None:
        """Keeps `git gc` off the pack of a commit that no branch leads to yet; call it before its files are written."""
        files.write_line(_keep_of(prepared), _OURS)

    def release(self, prepared: Prepared) -> None:
        """Lets `git gc` have the pack again."""
        files.remove(_keep_of(prepared))

    def refresh_index(
        self, changes: Mapping[str, bytes | None], seen: Mapping[str, bytes | None] | None = None
    ) -> None:
        """Brings the index up to date for these paths, so that `git status` is clean for people.

        What is neither in history nor `seen` in the file is a person's, staged: it would be lost, so it stays.
        """
        with self.opened() as repository:

            def is_staged(path: str, oid: str) -> bool:
                known = {blob_id(each) for each in (changes[path], (seen or {}).get(path)) if each is not None}
                return oid not in known and not self.was_committed(repository, path, oid)

            git_index.refresh(self.git_folder, changes, lambda: self._head_tree(repository), is_staged)

    def was_committed(self, repository: "pygit2.Repository", path: str, oid: str) -> bool:
        """Tells whether a file had these bytes in any commit; newest first, so that it is quick when it did."""
        head = self._head_id(repository)
        trees = (commit.tree for commit in repository.walk(head)) if head else ()
        return any(path in tree and str(tree[path].id) == oid for tree in trees)

    def outdated_in_index(self) -> dict[str, str]:
        """Returns the files that the index has otherwise than the newest commit, with the ids they have there."""
        with self.opened() as repository:
            tree = self._head_tree(repository)
            committed = dict(git_index.blobs(tree)) if tree is not None else {}
        indexed = git_index.ids(self.git_folder)
        return {path: oid for path, oid in committed.items() if indexed.get(path) != oid}

    # Steps of a commit

    def _tree(
        self,
        repository: "pygit2.Repository",
        tree: "pygit2.Tree | None",
        changes: Mapping[str, object],
        objects: dict[str, GitObject],
    ) -> str:
        entries: Entries = {str(each.name): (each.filemode, str(each.id)) for each in tree or ()}
        for name, change in changes.items():
            if isinstance(change, dict):
                is_folder = name in entries and entries[name][0] == FOLDER_MODE
                below: Any = repository[entries[name][1]] if is_folder else None
                entries[name] = (FOLDER_MODE, self._tree(repository, below, change, objects))
            elif change is None:
                entries.pop(name, None)
            else:
                blob = git_objects.make(BLOB, bytes(change))  # type: ignore[call-overload]  # _nested leaves only bytes
                if entries.get(name) != (FILE_MODE, blob.id):
                    entries[name] = (FILE_MODE, blob.id)
                    objects[blob.id] = blob
        made = git_objects.tree(entries)
        if tree is None or made.id != str(tree.id):
            objects[made.id] = made
        return made.id

    def _verify(self, prepared: Prepared) -> None:
        """Reads back what was written: a full disk has been seen to report success."""
        for path, data in prepared.files.items():
            if files.read_bytes(path) != data:
                raise StorageFailure(
                    f"commit {prepared.commit} does not read back from the disk; it was not acknowledged.",
                    location=Location(path=str(path)),
                    hint="repeat the call.",
                )

    def _verify_ref(self, repository: "pygit2.Repository", commit: str) -> None:
        """Looks the branch up again: it leads to the commit, or to one that somebody has put upon it since."""
        head = self._head_id(repository)
        if head is None or (head != commit and not repository.descendant_of(head, commit)):
            raise StorageFailure(
                f"the branch does not lead to commit {commit}; it was not acknowledged.",
                location=Location(path=str(self.ref_path)),
                hint="repeat the call.",
            )

    # Reading

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Lets all that is read and committed meanwhile share one handle, opened when it is first needed."""
        before, self._keep_open = self._keep_open, True
        try:
            yield
        finally:
            self._keep_open = before
            if not before:
                self._close()

    @contextmanager
    def opened(self) -> Iterator["pygit2.Repository"]:
        """Lends the repository to the modules that read further in it."""
        if self._repository is None:
            self._repository = self._fresh()
        try:
            with _translating(self.git_folder):
                yield self._repository
        finally:
            if not self._keep_open:
                self._close()

    def _close(self) -> None:
        if self._repository is not None:
            self._repository.free()
            self._repository = None

    def _fresh(self) -> "pygit2.Repository":
        library = _pygit2()
        try:
            repository: pygit2.Repository = library.Repository(
                str(self.git_folder), library.enums.RepositoryOpenFlag.NO_SEARCH
            )
        except (library.GitError, OSError) as error:
            raise BrokenRepository(
                f"there is no git repository that can be read: {error}.",
                location=Location(path=str(self.git_folder)),
                hint=_FOREIGN if "not owned" in str(error) else _UNREADABLE,
            ) from error
        return repository

    def _check_branch(self, repository: "pygit2.Repository") -> None:
        target = repository.lookup_reference("HEAD").target
        if target != self._ref:
            shown = str(target).removeprefix("refs/heads/")
            is_there = repository.references.get(self._ref) is not None
            raise BrokenRepository(
                f"the folder is on {shown!r}; its branch is {self.branch!r}.",
                location=Location(path=str(self.folder)),
                hint=f"run: git switch {self.branch}"
                if is_there
                else "if the folder was renamed or copied, give it its old name again; there is no such branch in it.",
            )

    def _head_id(self, repository: "pygit2.Repository") -> str | None:
        reference = repository.references.get(self._ref)
        return str(reference.target) if reference is not None else None

    def _head_tree(self, repository: "pygit2.Repository") -> "pygit2.Tree | None":
        head = self._head_id(repository)
        if head is None:
            return None
        try:
            tree: pygit2.Tree = repository[head].peel(_pygit2().Tree)
        except (KeyError, ValueError, _pygit2().GitError) as error:
            raise BrokenRepository(
                f"the newest commit {head} cannot be read: {error}.",
                location=Location(path=str(self.git_folder)),
                hint=_UNREADABLE,
            ) from error
        return tree


def _keep_of(prepared: Prepared) -> Path:
    return next(path for path in prepared.files if path.suffix == ".pack").with_suffix(_KEEP)


def blob_id(data: bytes) -> str:
    """Returns the id that git gives to a file with these bytes."""
    return git_objects.make(BLOB, data).id


@contextmanager
def _translating(git_folder: Path) -> Iterator[None]:
    """Turns what libgit2 cannot do into an error of ours."""
    try:
        yield
    except (_pygit2().GitError, OSError, KeyError, ValueError) as error:  # the last two for objects that are damaged
        if isinstance(error, HaythamError):
            raise
        raise StorageFailure(
            f"git's files cannot be read or written: {error}.",
            location=Location(path=str(git_folder)),
            hint="nothing was acknowledged; repeat the call.",
        ) from error


def _pygit2() -> Any:
    import pygit2

    return pygit2


def entry_of(commit: "pygit2.Commit") -> Entry:
    """Returns what the log tells about a commit."""
    fields = commit_text.read(commit.read_raw())
    return Entry(
        id=str(commit.id),
        author=Person(name=fields["name"], email=fields["email"]),
        time=datetime.fromtimestamp(fields["seconds"], UTC),
        subject=fields["subject"],
        body=fields["body"],
        trailers=fields["trailers"],
        is_signed=fields["is_signed"],
    )


def _bare(text: str) -> str:
    return "".join(char for char in text if char.isprintable() and char not in "<>").strip()
