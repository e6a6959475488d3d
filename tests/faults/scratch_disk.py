"""A file system of our own in a loop device, whose power can be cut."""

import fcntl
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_SHUTDOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN
_WITHOUT_LOG_FLUSH = struct.pack("I", 2)
_SIZE = {"ext4": 64 << 20, "xfs": 320 << 20}


class ScratchDisk:
    """One file system in a file; mounted at `folder` while it has power."""

    def __init__(self, image: Path, folder: Path, kind: str, options: str) -> None:
        self.folder = folder
        self._image, self._kind, self._options = image, kind, options
        self._device = ""

    def make(self) -> None:
        """Makes the file system and mounts it."""
        with self._image.open("wb") as file:
            file.truncate(_SIZE[self._kind])
        quiet = ["-q", "-F"] if self._kind == "ext4" else ["-q", "-f"]
        _run(f"mkfs.{self._kind}", *quiet, str(self._image))
        self.folder.mkdir(exist_ok=True)
        self._device = _run("losetup", "--find", "--show", str(self._image)).strip()
        self._mount()

    def cut_power(self) -> None:
        """Stops the file system at once: what was not flushed is lost, and nothing more can be written."""
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, _SHUTDOWN, _WITHOUT_LOG_FLUSH)
        finally:
            os.close(descriptor)

    def power_on(self) -> None:
        """Mounts what is on the device, as after a restart."""
        _run("umount", str(self.folder))
        self._mount()

    def remove(self) -> None:
        """Unmounts and frees the device."""
        if self._device:
            with suppress(subprocess.CalledProcessError):
                _run("umount", str(self.folder))
            with suppress(subprocess.CalledProcessError):
                _run("losetup", "-d", self._device)

    def _mount(self) -> None:
        _run("mount", "-t", self._kind, "-o", self._options, self._device, str(self.folder))


@contextmanager
def scratch_disk(folder: Path, kind: str, options: str) -> Iterator[ScratchDisk]:
    """Makes a scratch disk and removes it, whatever happens."""
    disk = ScratchDisk(folder / "image", folder / "disk", kind, options)
    try:
        disk.make()
        yield disk
    finally:
        disk.remove()


def why_not(kind: str) -> str:
    """Tells why there can be no scratch disk here, or returns nothing."""
    if os.geteuid() != 0:
        return "cutting the power of a scratch file system needs root"
    missing = [tool for tool in ("losetup", "mount", "umount", f"mkfs.{kind}") if shutil.which(tool) is None]
    if missing:
        return f"not installed here: {', '.join(missing)}"
    try:
        free = _run("losetup", "--find").strip()
    except (subprocess.CalledProcessError, OSError) as error:
        return f"no loop device: {error}"
    if not Path(free).exists():
        try:
            os.mknod(free, 0o660 | 0o060000, os.makedev(7, int(free.removeprefix("/dev/loop"))))
        except (OSError, ValueError) as error:
            return f"no loop device: {error}"
    return ""


def _run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
