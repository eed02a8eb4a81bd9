"""What takes too long for every change. The last results stand in docs/nightly.md.

usage: hack/nightly [NAME]…     all of them by default; the last line is `N passed, N failed`
       hack/nightly mutants [ROOM|FILE]… [--per-file=3|--share=PERCENT|--all|--survivors] [--seed=1] [--least=92]

  asan, tsan    all tests under Address-, UndefinedBehavior- and LeakSanitizer; under ThreadSanitizer
  threadsafety  clang's analysis of locks, on everything
  seeds         10,000 seeds of every simulation (SEEDS=n in the environment: another number, in twenty parts)
  measures      benchmarks with a limit: the start of the scope controllers, the longest turn of the event loop, and the
                p99 of a component while another is in trouble
  rbac          100,000 decisions of manager/rbac beside the real server's
  explore       20,000 random sequences of requests, on the real server and on the double
  fences        30,000 random writes, while the API server is killed 30 times (ATTEMPTS, SEED): the components', base's
                requests for tokens, and somebody else's of what is the components'
  demo          hack/demo/demo in the modes impersonate and single (`make demo` is in mode token)
  fuzz          ten minutes of each fuzz target
  mutants       seeded bugs, and the share of them that the tests of their room find

The builds of the first three have Bazel servers and outputs of their own, so that the next ordinary build is not a
new one.
"""
import os
import re
import subprocess
import sys
import time

from mandate_dev.paths import ROOT, cache

CACHE = cache("nightly")
SIMULATIONS = "kind(cc_test, rdeps(//..., //manager/core/testing:seeds, 1))"


def bazel(name, *command):
    return {"command": ["hack/bazel", *command], "env": {"BAZEL_OUTPUT_BASE": os.path.join(CACHE, name)}}


PARTS = 20  # of the seeds of a simulation: each is one run of its test, so that two cores have work


def simulations():
    found = subprocess.run(["hack/bazel", "query", SIMULATIONS], cwd=ROOT, text=True, stdout=subprocess.PIPE, check=True)
    in_part = -(-int(os.environ.get("SEEDS", "10000")) // PARTS)
    return {"command": ["hack/bazel", "test", "--keep_going", "--test_timeout=7200", f"--runs_per_test={PARTS}",
                        f"--test_env=SEEDS={in_part}", *found.stdout.split()]}


def measures():
    run = "hack/bazel run --config=release"
    return {"command": ["bash", "-c", f"failed=0; {run} //hack/bench/ours:scope_start || failed=1; "
                                      f"{run} //manager:bulkhead_benchmark || failed=1; exit $failed"]}


ALL = {
    "asan": lambda: bazel("asan", "test", "--config=asan", "--keep_going", "//..."),
    "tsan": lambda: bazel("tsan", "test", "--config=tsan", "--keep_going", "//..."),
    "threadsafety": lambda: bazel("threadsafety", "build", "--config=threadsafety", "--keep_going", "//..."),
    "seeds": simulations,
    "measures": measures,
    "rbac": lambda: {"command": ["testing/rbac_fidelity/run", "--decisions=100000"]},
    "explore": lambda: {"command": ["testing/conformance/explore/run", "--sequences=20000"]},
    "fuzz": lambda: {"command": ["hack/fuzz", "--seconds=600"]},
    "demo": lambda: {"command": ["sh", "-c", "for mode in impersonate single; do hack/demo/demo --identity-mode=$mode || exit 1; done"]},
    "fences": lambda: {"command": ["hack/chart_test", "nothing_gets_past_the_fences"],
                       "env": {"ATTEMPTS": os.environ.get("ATTEMPTS", "30000")}},
    "mutants": lambda: {"command": ["hack/mutation/run"]},
}


def run(command, env=None):
    """(passed, failed); what it prints is shown as it comes."""
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **(env or {})}, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = []
    for line in process.stdout:
        lines.append(line)
        print(line, end="", flush=True)
    code, text = process.wait(), "".join(lines)
    said = re.findall(r"^(\d+) passed, (\d+) failed", text, re.MULTILINE)
    if said:
        passed, failed = map(int, said[-1])
    else:
        passed = len(re.findall(r"^//\S+\s+(?:\(cached\) )?PASSED", text, re.MULTILINE)) or int(code == 0)
        failed = len(re.findall(r"^//\S+\s+(?:FAILED|TIMEOUT|NO STATUS|FLAKY)", text, re.MULTILINE))
    return passed, failed or int(code != 0)


def main(argv):
    if argv[:1] == ["mutants"] and argv[1:]:
        return subprocess.run([os.path.join(ROOT, "hack/mutation/run"), *argv[1:]]).returncode
    unknown = [a for a in argv if a not in ALL]
    if unknown:
        if argv in (["-h"], ["--help"]):
            print(__doc__.strip())
            return 0
        print(f"hack/nightly: {unknown[0]!r} must be one of {', '.join(ALL)}", file=sys.stderr)
        return 2
    rows = []
    for name in argv or ALL:
        print(f"\n==> {name}", flush=True)
        start = time.monotonic()
        passed, failed = run(**ALL[name]())
        rows.append((name, passed, failed, time.monotonic() - start))
    print(f"\n{'':14}passed  failed  seconds")
    for name, passed, failed, seconds in rows:
        print(f"{name:14}{passed:6}  {failed:6}  {seconds:7.0f}")
    print(f"\n{sum(r[1] for r in rows)} passed, {sum(r[2] for r in rows)} failed")
    return int(any(r[2] for r in rows))
