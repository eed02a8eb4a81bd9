"""What was tried, outside the tree: a run goes on where another ended, and one beside it adds to the same record."""
import fcntl
import json
import os


class Record:
    def __init__(self, path):
        self.path, self.tried = path, {}
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            with open(path) as f:
                for line in f:
                    try:
                        entry = json.loads(line)
                    except ValueError:
                        continue  # cut off when a run was killed
                    self.tried[entry["key"]] = entry

    def get(self, key):
        return self.tried.get(key)

    def add(self, key, result, by, name):
        entry = {"key": key, "result": result, "by": by, "name": name}
        self.tried[key] = entry
        with open(self.path, "a+") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            f.seek(0, os.SEEK_END)
            if f.tell() > 0:
                f.seek(f.tell() - 1)
                if f.read(1) != "\n":
                    f.write("\n")
            f.write(json.dumps(entry) + "\n")


def table(rows):
    """(lines, share found by group) of rows (room, tried, found)."""
    lines = [f"{'':32}tried  found  share"]
    groups = {}
    for room, tried, found in rows:
        lines.append(f"{room:32}{tried:5}  {found:5}  {share(tried, found)}")
        group = groups.setdefault(room.split("/")[0], [0, 0])
        group[0] += tried
        group[1] += found
    for name, (tried, found) in groups.items():
        lines.append(f"{name + '/ in all':32}{tried:5}  {found:5}  {share(tried, found)}")
    return lines, {name: found / tried for name, (tried, found) in groups.items() if tried}


def share(tried, found):
    return f"{100 * found / tried:4.0f} %" if tried else "     -"
