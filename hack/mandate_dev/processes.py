"""Processes that cannot outlive their parent, and records that identify a process reliably.

A pid alone does not identify a process, because the kernel reuses it. Here a process is (pid, start time, boot id), and
a signal is sent through a pidfd that was checked against all three: it reaches this process or no process.
"""
import ctypes
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import IO, Any

Record = dict[str, Any]  # pid, start, boot, and other values of its owner
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)  # loaded before any fork: a forked child must not load libraries


def boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        return f.read().strip()


def start_time(pid: int) -> int | None:
    """Returns the clock ticks from boot to the start of `pid`; None if the process does not exist or is a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            fields = f.read().rpartition(b") ")[2].split()  # the command, in brackets, may contain any characters
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def record(pid: int) -> Record:
    return {"pid": pid, "start": start_time(pid), "boot": boot_id()}


def open_pidfd(rec: Record | None) -> int | None:
    """Returns a pidfd of the recorded process, or None if it has ended."""
    if not rec or not rec.get("pid") or rec.get("boot") != boot_id():
        return None
    try:
        fd = os.pidfd_open(rec["pid"])
    except ProcessLookupError:
        return None
    # Checked after opening, so that the descriptor refers to the process that was checked.
    if start_time(rec["pid"]) == rec["start"]:
        return fd
    os.close(fd)
    return None


def is_alive(rec: Record | None) -> bool:
    fd = open_pidfd(rec)
    if fd is None:
        return False
    os.close(fd)
    return True


def wait_gone(fd: int, seconds: float) -> bool:
    """Waits; returns True when the process behind the pidfd has ended, and False after `seconds`."""
    return bool(select.select([fd], [], [], seconds)[0])


def kill(rec: Record | None, sig: signal.Signals = signal.SIGKILL, seconds: float = 10) -> bool:
    """Signals the recorded process and waits for its end. Returns whether it has ended."""
    fd = open_pidfd(rec)
    if fd is None:
        return True
    try:
        signal.pidfd_send_signal(fd, sig)
        return wait_gone(fd, seconds)
    except ProcessLookupError:
        return True
    finally:
        os.close(fd)


def die_with_parent(sig: signal.Signals = signal.SIGKILL) -> Callable[[], None]:
    """A preexec_fn: the kernel signals the child when its parent ends, however it ends.

    The kernel watches the thread that forked, not its process, so call this only from a process's main thread.
    """
    parent = os.getpid()

    def in_child() -> None:
        if _libc.prctl(_PR_SET_PDEATHSIG, int(sig), 0, 0, 0) != 0 or os.getppid() != parent:
            os._exit(127)  # the parent ended before prctl took effect: the signal would never come

    return in_child


def spawn(argv: Sequence[str], log: str, **options: Any) -> subprocess.Popen[bytes]:
    """Starts argv with its output appended to `log`, in its own session: a Ctrl-C at the terminal reaches only the
    supervisor, which then stops its children in order."""
    with open(log, "ab") as out:
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                start_new_session=True, preexec_fn=die_with_parent(), **options)


def interrupt_on_sigterm(*more: signal.Signals) -> None:
    """Makes SIGTERM and `more` signals raise KeyboardInterrupt as Ctrl-C does, so that `finally` blocks clean up."""
    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, *more):
        signal.signal(number, interrupt)


def show(command: str | Sequence[str], cwd: str, env: Mapping[str, str] | None = None,
         out: IO[str] | None = None) -> tuple[int, str]:
    """Runs the command (a string: in a shell), and shows its output as it arrives, or writes it to `out`. Returns (exit code,
    output)."""
    out = out or sys.stdout
    process = subprocess.Popen(command, cwd=cwd, shell=isinstance(command, str), text=True, errors="replace",
                               env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        out.write(line)
        out.flush()
    return process.wait(), "".join(lines)
