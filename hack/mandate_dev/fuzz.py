"""Fuzzes the code that reads bytes from outside, with libFuzzer under ASan and UBSan. Prints a table and its sum.

usage: hack/fuzz [--seconds N] [target…]     60 seconds each by default; all targets of testing/fuzz by default

libFuzzer's interesting inputs are kept under ~/.cache/mandate/fuzz; the next run starts with them. An input that
violates a property is written to testing/fuzz/corpus/<target>/, where `bazel test //testing/fuzz:<target>_test` replays
it from then on: fix, and commit it with the fix. The last line is `N passed, N failed`.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence

from mandate_dev.paths import ROOT, cache
from mandate_dev.report import table

CACHE = cache("fuzz")
ALL = ["json_codec", "envelope", "watch_frames", "lists", "quantity", "times", "selectors", "patches", "markers",
       "audit_log", "audit_report", "webhook_markers", "admission_reviews", "crd_options", "manifests"]
# Fixtures with which a target starts; larger ones are only for the replay test, because they would slow down every run.
FIXTURES = {"json_codec": "*.json", "envelope": "*.pb"}
MAX_FIXTURE_BYTES = 5000
INSTRUMENT = "-fsanitize=fuzzer-no-link,address,undefined"
FLAGS = ["--action_env=CC=clang", "--repo_env=CC=clang", "--copt=" + INSTRUMENT, "--copt=-fno-sanitize-recover=all",
         "--copt=-fno-omit-frame-pointer", "--copt=-g1", "--linkopt=-fsanitize=address,undefined",
         # clang links the C++ part of UBSan only if it knows that this is C++; gold warns about every ASan symbol.
         "--linkopt=-fsanitize-link-c++-runtime", "--linkopt=-fuse-ld=bfd", "--nostart_end_lib"]


def build(targets: Sequence[str]) -> str:
    """Builds the targets with clang; returns the folder of their binaries."""
    env = {**os.environ, "BAZEL_OUTPUT_BASE": os.environ.get("BAZEL_OUTPUT_BASE") or os.path.join(CACHE, "bazel")}
    labels = [f"//testing/fuzz:{t}_fuzzer" for t in targets]
    if subprocess.run(["hack/bazel", "build", *FLAGS, *labels], cwd=ROOT, env=env).returncode:
        sys.exit("hack/fuzz: the targets do not build (clang and libclang-rt-dev are there? hack/setup)")
    info = subprocess.run(["hack/bazel", "info", *FLAGS, "bazel-bin"], cwd=ROOT, env=env, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return os.path.join(info.stdout.strip(), "testing/fuzz")


def seed_fixtures(target: str, binary: str) -> str | None:
    """Returns a folder with the small fixtures with which the target starts; None if it has no fixtures."""
    if target not in FIXTURES:
        return None
    folder = os.path.join(CACHE, "fixtures", target)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for path in glob.glob(f"{binary}.runfiles/kubernetes/testdata/HEAD/{FIXTURES[target]}"):
        if os.path.getsize(path) <= MAX_FIXTURE_BYTES:
            shutil.copy(path, folder)
    return folder


def fuzz(target: str, binary: str, seconds: int) -> tuple[object, ...]:
    """Runs a target; returns its row of the table: (target, runs, runs per second, corpus, coverage, result)."""
    kept = os.path.join(ROOT, "testing/fuzz/corpus", target)
    grown = os.path.join(CACHE, "corpus", target)
    os.makedirs(grown, exist_ok=True)
    folders = [grown, kept] + list(filter(None, [seed_fixtures(target, binary)]))
    command = [binary, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1",
               "-use_value_profile=1", f"-artifact_prefix={kept}/", *folders]
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
    process = subprocess.Popen(command, cwd=f"{binary}.runfiles/mandate", env=env, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    corpus, coverage, stats, tail = "-", "-", {}, []
    for line in process.stdout:
        if found := re.search(r"cov: (\d+).* corp: (\d+)", line):
            coverage, corpus = found.groups()
        elif found := re.match(r"stat::(\w+):\s+(\d+)", line):
            stats[found[1]] = int(found[2])
        if not line.startswith("#") or "pulse" in line:
            tail.append(line)
            del tail[:-60]
    code = process.wait()
    print("".join(tail), flush=True) if code else None
    return (target, stats.get("number_of_executed_units", 0), stats.get("average_exec_per_sec", 0), corpus, coverage,
            "ok" if code == 0 else f"FAILED (exit {code})")


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="hack/fuzz", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("targets", nargs="*", metavar="target", help=", ".join(ALL))
    options = parser.parse_args(argv)
    unknown = [t for t in options.targets if t not in ALL]
    if unknown:
        parser.error(f"{unknown[0]!r} must be one of {', '.join(ALL)}")
    targets = options.targets or ALL
    folder = build(targets)
    rows = []
    for target in targets:
        print(f"\n==> {target}, {options.seconds} s", flush=True)
        rows.append(fuzz(target, os.path.join(folder, target + "_fuzzer"), options.seconds))
    print("", *table(["", "runs", "runs/s", "corpus", "coverage", "result"], rows), sep="\n")
    failed = sum(r[-1] != "ok" for r in rows)
    print(f"\n{len(rows) - failed} passed, {failed} failed")
    return int(failed > 0)
