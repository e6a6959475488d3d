import subprocess
from pathlib import Path

from haytham.domain import content


def test_hashes_are_those_of_sha256sum(tmp_path: Path) -> None:
    """A reviewer can check what they approved with a tool of their own."""
    files = {"b.md": b"two\n", "a.md": b"one\n"}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    listing = subprocess.run(["sha256sum", "a.md", "b.md"], cwd=tmp_path, capture_output=True, check=True).stdout
    total = subprocess.run(["sha256sum"], input=listing, capture_output=True, check=True).stdout.decode()
    assert f"sha256:{total.split()[0]}" == content.of(files).hash


def test_hash_depends_on_names_and_bytes_and_not_on_order() -> None:
    """Renaming a file or changing a byte is another content; the order of files is none."""
    one = content.of({"a": b"1", "b": b"2"})
    assert one == content.of({"b": b"2", "a": b"1"})
    assert (
        len({one.hash, content.of({"a": b"2", "b": b"1"}).hash, content.of({"a": b"1"}).hash, content.of({}).hash}) == 4
    )
