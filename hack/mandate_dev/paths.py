"""The paths of the tree, and of the cache outside of it."""
import os
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
TOOLS = os.path.join(ROOT, "hack")


def read(path: str) -> str:
    """Returns the text of a file of the tree."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def cache(*parts: str) -> str:
    """Returns a path in the cache folder: $MANDATE_CACHE, $XDG_CACHE_HOME/mandate or ~/.cache/mandate."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    root = os.path.abspath(os.environ.get("MANDATE_CACHE") or os.path.join(base, "mandate"))
    return os.path.join(root, *parts)


def temporary_folder() -> str:
    """Returns the folder for temporary folders: $TMPDIR or /tmp."""
    return os.environ.get("TMPDIR") or "/tmp"


def new_folder(name: str) -> str:
    """Creates a private folder, which the caller removes."""
    return tempfile.mkdtemp(prefix=f"mandate-{name}-", dir=temporary_folder())
