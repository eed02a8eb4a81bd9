"""What a release consists of: its files, their checksums, and the version that all of them have."""
import hashlib
import os
import re
import subprocess
from typing import Any

from mandate_release import tree

CHECKSUMS = "SHA256SUMS"
CHART = "charts/mandate"


def helm(*arguments: str) -> str:
    program = subprocess.run(["hack/helm/build"], check=True, text=True, stdout=subprocess.PIPE, cwd=tree.ROOT).stdout.strip()
    done = subprocess.run([program, *arguments], check=True, text=True, stdout=subprocess.PIPE, cwd=tree.ROOT)
    return done.stdout


def package_chart(folder: str) -> str:
    """Writes the chart as one file, with the version of this tree, and returns its path."""
    version = tree.version()
    os.makedirs(folder, exist_ok=True)
    helm("package", CHART, "--version", version, "--app-version", version, "--destination", folder)
    return os.path.join(folder, f"mandate-{version}.tgz")


def sha256(path: str) -> str:
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def write_checksums(folder: str, files: list[str]) -> str:
    """Writes the file that `sha256sum --check` reads, and returns its path."""
    path = os.path.join(folder, CHECKSUMS)
    with open(path, "w", encoding="utf-8") as f:
        for file in sorted(files):
            f.write(f"{sha256(file)}  {os.path.relpath(file, folder)}\n")
    return path


def chart_versions(text: str) -> dict[str, Any]:
    """`version` and `appVersion` of a Chart.yaml."""
    return dict(re.findall(r"^(version|appVersion): \"?([^\"\s]+)\"?$", text, re.MULTILINE))


def size(path: str) -> str:
    number = float(os.path.getsize(path))
    for unit in ("B", "KiB", "MiB"):
        if number < 1024 or unit == "MiB":
            break
        number /= 1024
    return f"{number:.1f} {unit}" if unit != "B" else f"{number:.0f} B"


def table(files: dict[str, str]) -> str:
    """A line for each file: what it is, its name, its size and the begin of its checksum."""
    rows = [(what, os.path.basename(path), size(path), sha256(path)[:12]) for what, path in files.items()]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(f"  {row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]}" for row in rows)
