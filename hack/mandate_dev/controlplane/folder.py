"""A cluster's folder, and its lock, which the cluster's supervisor holds for as long as it runs."""
import fcntl
import json
import os
import shutil
import stat
import struct
from typing import Any

from mandate_dev import processes
from mandate_dev.controlplane import components


class Misuse(Exception):
    """The call is invalid: exit 2."""


class Failure(Exception):
    """The call is valid but failed: exit 1."""


def check_folder(directory: str) -> None:
    """Rejects a folder that is not a cluster's, or belongs to another user: `down` removes everything in it."""
    try:
        info = os.lstat(directory)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
        raise Misuse(f"{directory} is not a folder of yours")
    names = os.listdir(directory)
    if names and components.LOCK_FILE not in names:
        raise Misuse(f"{directory} has files that are not a cluster's; choose an empty or a new folder with --dir")


# An open-file-description lock: a forked supervisor keeps it, and it ends with its last holder, however that ends.
# Unlike with flock, another process can check the lock without taking it and being mistaken for the holder.
_FLOCK = "hhqqi"  # struct flock: type, whence, start, length, pid


def _lock_request(fd: int, what: int, kind: int) -> int:
    return int(struct.unpack(_FLOCK, fcntl.fcntl(fd, what, struct.pack(_FLOCK, kind, os.SEEK_SET, 0, 0, 0)))[0])


def take_lock(directory: str) -> int | None:
    """The lock's descriptor, or None if another process holds it. Creates a missing folder."""
    path = os.path.join(directory, components.LOCK_FILE)
    while True:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            continue
        try:
            _lock_request(fd, fcntl.F_OFD_SETLK, fcntl.F_WRLCK)
            if os.stat(path).st_ino == os.fstat(fd).st_ino:
                return fd
        except (BlockingIOError, PermissionError):  # EAGAIN, EACCES: both mean held
            os.close(fd)
            return None
        except FileNotFoundError:
            pass
        os.close(fd)  # the folder was removed, and perhaps recreated, between opening and locking


def is_locked(directory: str) -> bool:
    try:
        fd = os.open(os.path.join(directory, components.LOCK_FILE), os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return _lock_request(fd, fcntl.F_OFD_GETLK, fcntl.F_WRLCK) != fcntl.F_UNLCK
    finally:
        os.close(fd)


def read_state(directory: str) -> components.State:
    try:
        with open(os.path.join(directory, components.STATE_FILE), encoding="utf-8") as f:
            state: dict[str, Any] = json.load(f)
            return state
    except (FileNotFoundError, ValueError):
        return {}


def running_state(directory: str) -> components.State:
    check_folder(directory)
    if not is_locked(directory):
        raise Failure(f"no cluster is running in {directory}; `hack/cluster up` starts one")
    return read_state(directory)


def kill_leftovers(state: components.State) -> None:
    """Ends the programs that a killed supervisor left; normally the kernel has ended them already."""
    for name, rec in state.get("components", {}).items():
        if not processes.kill(rec):
            raise Failure(f"{name} (pid {rec['pid']}) does not end")


def empty_folder(directory: str) -> None:
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        if name != components.LOCK_FILE:
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
