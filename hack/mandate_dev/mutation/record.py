"""The record of the bugs that were tried, outside the tree: a run continues the last one, and parallel runs share it."""
import fcntl
import json
import os
from typing import Any


class Record:
    def __init__(self, path: str) -> None:
        self.path = path
        self.tried: dict[str, Any] = {}
        self.latest: dict[str, str] = {}
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            with open(path) as f:
                for line in f:
                    try:
                        entry = json.loads(line)
                    except ValueError:
                        continue  # truncated because a run was killed
                    self.keep(entry)

    def keep(self, entry: Any) -> None:
        self.tried[entry["key"]] = entry
        self.latest[entry["name"]] = entry["result"]

    def get(self, key: str, tests: Any) -> Any:
        """Returns the result of this bug if a new try would have the same result. `tests` maps the label of each test
        of the file to a digest. A bug that a test found counts as found until that test changes; a bug that survived is
        tried again as soon as any test changes."""
        entry = self.tried.get(key)
        if entry is None or entry["result"] == "does not compile":
            return entry
        before = entry.get("tests", {})
        if entry["result"] == "found" and entry["by"] in before:
            return entry if tests.get(entry["by"]) == before[entry["by"]] else None
        return entry if tests == before else None

    def survived(self, name: str) -> bool:
        """Whether the bug was not found in its last try, regardless of the tests at that time."""
        return self.latest.get(name) == "survived"

    def add(self, key: str, result: Any, by: Any, name: str, tests: Any) -> None:
        entry = {"key": key, "result": result, "by": by, "name": name, "tests": tests}
        self.keep(entry)
        with open(self.path, "a+") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            f.seek(0, os.SEEK_END)
            if f.tell() > 0:
                f.seek(f.tell() - 1)
                if f.read(1) != "\n":
                    f.write("\n")
            f.write(json.dumps(entry) + "\n")


def table(rows: Any) -> tuple[Any, Any]:
    """Returns (lines, share found by group) of rows (room, tried, found)."""
    lines = [f"{'':32}tried  found  share"]
    groups: dict[str, list[int]] = {}
    for room, tried, found in rows:
        lines.append(f"{room:32}{tried:5}  {found:5}  {share(tried, found)}")
        group = groups.setdefault(room.split("/")[0], [0, 0])
        group[0] += tried
        group[1] += found
    for name, (tried, found) in groups.items():
        lines.append(f"{name + '/ in all':32}{tried:5}  {found:5}  {share(tried, found)}")
    return lines, {name: found / tried for name, (tried, found) in groups.items() if tried}


def share(tried: Any, found: Any) -> Any:
    return f"{100 * found / tried:4.0f} %" if tried else "     -"
