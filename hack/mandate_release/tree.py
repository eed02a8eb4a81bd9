"""The version of this tree, its commit, and the time that reproducible builds use."""
import datetime
import os
import subprocess

from mandate_dev.paths import ROOT as ROOT


def version() -> str:
    """The one version of all that is released, from the file VERSION."""
    with open(os.path.join(ROOT, "VERSION"), encoding="ascii") as f:
        return f.read().strip()


def _git(*arguments: str) -> str | None:
    """None outside of a git work tree."""
    done = subprocess.run(["git", "-C", ROOT, *arguments], check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def revision() -> str | None:
    """The commit, with -dirty after it if files differ from it."""
    return _git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def source_date_epoch() -> int:
    """$SOURCE_DATE_EPOCH, or the time of the commit."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct") or 0)


def rfc3339(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def architecture() -> str:
    """As Debian and OCI both name it."""
    done = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True)
    return done.stdout.strip()
