"""A failing test prints its reason, through hack/bazel and through hack/test, nothing that failed counts as passed, and
every program of hack/ answers --help.

usage: hack/test_test     the last line is `N passed, N failed`
"""
import subprocess
import sys

from mandate_dev.paths import ROOT
from mandate_dev.suite import own_results

FAILS = "//hack/testdata/failing:fails"
REASON = "expected the widget to be 42"

# command → (exit code, what its output has, what it has not)
CHECKS = {
    ("hack/bazel", "test", FAILS): (3, [f"FAIL: {FAILS}", REASON], []),
    # Once more: Bazel remembers a test that passed, never one that failed.
    ("hack/test", FAILS): (1, [REASON, f"{FAILS} FAILED", "0 passed, 1 failed"], []),
    ("hack/test", "--runs", "2", FAILS): (1, [REASON, f"run 2 of 2: {FAILS} FAILED", "0 passed, 2 failed"], []),
    ("hack/test", "//hack/testdata/failing:passes", FAILS): (1, [REASON, "1 passed, 1 failed"], ["a line of a test that passes"]),
    ("hack/test", "//hack/testdata/failing:passes"): (0, ["1 passed, 0 failed"], ["Failed:"]),
    # Two runs are two tests, though nothing has changed.
    ("hack/test", "--runs", "2", "//hack/testdata/failing:passes"): (0, ["2 passed, 0 failed"], ["(cached)"]),
    ("hack/test", "//hack/testdata/failing:absent"): (1, ["0 passed, 1 failed", "the build"], []),
    ("hack/test", "hack/no_such_program"): (2, ["'hack/no_such_program' is neither"], ["==>"]),
    # It would write there, and remove things.
    ("hack/demo/demo", "--dir", "hack"): (2, ["hack holds other things"], ["Setting up"]),
    ("hack/test", "--runs", "0"): (2, ["--runs"], ["==>"]),
}

# What a person may try first: answered at once, and nothing is done.
HELP = ["bench/run", "chart_test", "cluster", "cluster_test", "component", "component_test", "demo/demo", "e2e/run", "fuzz",
        "least_privilege_test", "manifests", "mutation_test", "nightly", "release", "run", "run_test", "setup", "test", "test_test"]

# What a program of the table printed, and its exit code → what hack/test counts and names.
PROGRAMS = [
    ("ok   a\n\n2 passed, 0 failed\n", 0, (2, [])),
    ("FAIL: b\n\n1 passed, 1 failed\n", 1, (1, ["b"])),
    ("a step\n\nFailed: a_kill_switch, wrong_usage; logs in /tmp/x\n\n15 passed, 2 failed\n", 1, (15, ["a_kill_switch", "wrong_usage"])),
    ("3 passed, 2 failed\n", 1, (3, ["(see above)"] * 2)),
    ("3 passed, 0 failed\n", 1, (3, ["(see above)"])),
    ("killed\n", -9, (0, ["(see above)"])),
]


def check_programs():
    """Whether each output is understood; (passed, failed)."""
    wrong = [(output, seen) for output, code, wanted in PROGRAMS if (seen := own_results(code, output)) != wanted]
    for output, seen in wrong:
        print(f"FAIL own_results: {output!r} is read as {seen}", flush=True)
    return len(PROGRAMS) - len(wrong), len(wrong)


def check_help():
    """(passed, failed)."""
    wrong = 0
    for name in HELP:
        done = subprocess.run([f"hack/{name}", "--help"], cwd=ROOT, text=True, capture_output=True)
        if done.returncode != 0 or "usage:" not in done.stdout or done.stderr:
            wrong += 1
            print(f"FAIL hack/{name} --help: exit {done.returncode}\n{done.stdout}{done.stderr}", flush=True)
    return len(HELP) - wrong, wrong


def main(argv):
    if argv in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    if argv:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    passed, failed = map(sum, zip(check_programs(), check_help()))
    for command, (code, wanted, unwanted) in CHECKS.items():
        done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        wrong = [f"exit {done.returncode}, not {code}"] if done.returncode != code else []
        wrong += [f"{text!r} is missing" for text in wanted if text not in done.stdout]
        wrong += [f"{text!r} is there" for text in unwanted if text in done.stdout]
        print("FAIL" if wrong else "ok  ", " ".join(command), "; ".join(wrong), flush=True)
        if wrong:
            print(done.stdout)
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"\n{passed} passed, {failed} failed")
    return int(failed > 0)
