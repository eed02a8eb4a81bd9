"""Seeds bugs, one at a time, in a copy of the tree, and counts the bugs that the tests of their room find.

usage: hack/nightly mutants [ROOM|FILE]… [--per-file=3|--share=PERCENT|--all|--survivors] [--seed=1] [--least=92]

ROOM is a folder (manager/identity, rbacgen); all rooms of manager/, controllers/ and rbacgen/ by default. A run
continues the last one: the results are kept outside the tree until the file, the bug or its tests change. Exit 1 if
less than --least percent were found in one of the three. docs/nightly.md has the rest.
"""
import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from mandate_dev import processes
from mandate_dev.paths import TOOLS, ROOT, cache

HERE = os.path.join(TOOLS, "mutation")
CACHE = cache("mutants")
TOOL = "universalmutator==1.14.1"
RULES = os.path.join(HERE, "cpp.rules")
EQUIVALENTS = os.path.join(HERE, "equivalents.txt")


def say(*words: str) -> None:
    print(*words, flush=True)


def get_tool() -> None:
    """Installs universalmutator in its own environment. Only its module of regular expressions is used, which has no
    dependencies."""
    folder = os.path.join(CACHE, TOOL)
    made = os.path.join(folder, "made")
    if not os.path.exists(made):
        say(f"installing {TOOL}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([os.path.join(folder, "bin", "pip"), "install", "--quiet", "--no-deps", "--disable-pip-version-check",
                        TOOL], check=True)
        open(made, "w").close()
    packages = os.path.join(folder, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages")
    sys.path.append(packages)


def room_of(path: str) -> Any:
    parts = path.split("/")
    return parts[0] if parts[0] == "rbacgen" or len(parts) < 3 else "/".join(parts[:2])


# Tests of a room that are in another folder.
ELSEWHERE = {"controllers/scope": ["//testing/simulation/scope:scope_runs_test"]}


def targets_of(room: Any) -> list[Any]:
    return [f"//{room}:all" if room == "manager" else f"//{room}/...", *ELSEWHERE.get(room, ())]


def files_of(wanted: Any) -> Any:
    from mandate_dev.mutation.candidates import is_product
    known = subprocess.run(["git", "ls-files", "manager", "controllers", "rbacgen"], cwd=ROOT, text=True,
                           stdout=subprocess.PIPE, check=True).stdout.split()
    known = [p for p in known if is_product(p) and os.path.exists(os.path.join(ROOT, p))]
    if not wanted:
        return known
    found = []
    for name in wanted:
        name = os.path.relpath(os.path.join(ROOT, name), ROOT)
        its = [p for p in known if p == name or room_of(p) == name or (name != "manager" and p.startswith(name + "/"))]
        if not its:
            raise SystemExit(f"hack/nightly mutants: {name!r} must be a room or a source of manager/, controllers/ or rbacgen/")
        found += [p for p in its if p not in found]
    return found


def try_file(shop: Any, path: str, options: Any, record: Any, equivalents: Any, report: Any) -> tuple[Any, Any]:
    """Returns (tried, found) of one file."""
    from mandate_dev.mutation.candidates import candidates, key, mutants, sample
    with open(os.path.join(shop.tree, path)) as f:
        source = f.read()
    found = candidates(path, source, mutants([line + "\n" for line in source.split("\n")], RULES))
    found = [c for c in found if not equivalents.keys() & set(c.names) and
             (not options.survivors or record.survived(c.name))]
    ordered, limit = sample(found, options.seed, options.per_file, options.share)
    if limit == 0 or not shop.tests_of(path):
        if limit:
            report.untested.append(path)
        return 0, 0
    tests = {t.label: shop.digest(t) for t in shop.tests_of(path)}
    bench, tried, noticed = None, 0, 0
    try:
        for candidate in ordered:
            if tried == limit:
                break
            its = key(source, candidate)
            known = record.get(its, tests)
            if known is None:
                bench = bench or shop.bench(path)
                start = time.monotonic()
                result, by = bench.attempt(candidate)
                report.attempts += 1
                record.add(its, result, by, candidate.name, tests)
                known = record.get(its, tests)
                say(f"  {path}:{candidate.line} {result}{' by ' + by if by else ''}, {time.monotonic() - start:.0f} s")
            if known["result"] == "does not compile":
                continue
            tried += 1
            if known["result"] == "found":
                noticed += 1
            else:
                report.survivors.append(candidate)
    finally:
        if bench:
            bench.close()
    return tried, noticed


class Report:
    def __init__(self) -> None:
        self.survivors: list[Any] = []
        self.untested: list[str] = []
        self.attempts = 0


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="hack/nightly mutants", add_help=False)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--per-file", type=int)
    parser.add_argument("--share", type=float)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--survivors", action="store_true")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--least", type=float, default=92)
    parser.add_argument("-h", "--help", action="store_true")
    options = parser.parse_args(argv)
    if options.help:
        print(__doc__.strip())
        return 0
    processes.interrupt_on_sigterm(signal.SIGINT)
    if options.per_file is None and options.share is None and not options.all and not options.survivors:
        options.per_file = 3
    files = files_of(options.names)
    get_tool()
    from mandate_dev.mutation.candidates import read_equivalents
    from mandate_dev.mutation.record import Record, table
    from mandate_dev.mutation.workshop import Workshop
    with open(EQUIVALENTS) as f:
        equivalents = read_equivalents(f.read())
    record = Record(os.path.join(CACHE, "record.jsonl"))
    report, rows, start = Report(), [], time.monotonic()
    shop = Workshop(ROOT, CACHE, say)
    try:
        rooms = list(dict.fromkeys(room_of(p) for p in files))
        for room in rooms:
            say(f"\n{room}")
            shop.prepare(targets_of(room))
            tried = found = 0
            try:
                for path in (p for p in files if room_of(p) == room):
                    its_tried, its_found = try_file(shop, path, options, record, equivalents, report)
                    tried, found = tried + its_tried, found + its_found
            finally:
                rows.append((room, tried, found))
    except KeyboardInterrupt:
        say("\nstopped; the same command goes on from here")
    finally:
        shop.close()
    if report.survivors:
        say("\nBugs that no test noticed:")
    for c in report.survivors:
        say(f"{c.path}:{c.line}\n    was     {c.was}\n    became  {c.became}")
    for path in report.untested:
        say(f"{path}: no test of its room contains it")
    lines, shares = table(rows)
    hours = (time.monotonic() - start) / 3600
    say("\n" + "\n".join(lines))
    say(f"{report.attempts} tried now, {report.attempts / hours:.0f} an hour")
    return int(any(100 * s < options.least for s in shares.values()))
