"""Runs the tests that take too long for every change. docs/nightly.md has the last results.

usage: hack/nightly [NAME]…     all of them by default; the last line is `N passed, N failed`
       hack/nightly mutants [ROOM|FILE]… [--per-file=3|--share=PERCENT|--all|--survivors] [--seed=1] [--least=92]

  asan, tsan    all tests under Address-, UndefinedBehavior- and LeakSanitizer; under ThreadSanitizer
  threadsafety  clang's analysis of locks, on everything
  arm64         every program and library for arm64, with Debian's cross compiler
  seeds         10,000 seeds of every simulation (SEEDS=n in the environment: another number, in twenty parts)
  scoped        the same of the scoped cache alone
  model         100 random programs of the scoped cache on a real kube-apiserver (RUNS, SEED)
  measures      benchmarks with a limit: the start of the scope controllers, the longest turn of the event loop, and the
                p99 of a component while another one is failing
  rbac          100,000 decisions of manager/rbac, compared with the real server's
  explore       20,000 random sequences of requests, on the real server and on the double
  fences        30,000 random writes, while the API server is killed 30 times (ATTEMPTS, SEED): writes of the components,
                base's requests for tokens, and writes of other users to the components' objects
  webhooks      10,000 random decisions of scope-webhook, compared with the API server's (CASES, SEED; by default another
                seed each day), and a thousand reviews a second for a minute
  demo          hack/demo/demo in the modes impersonate and single (`make demo` is in mode token)
  fuzz          ten minutes of each fuzz target
  mutants       seeded bugs, and the share of them that the tests of their room find

The builds of the first three have Bazel servers and outputs of their own, so that the next ordinary build is not a
new one.
"""
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from mandate_dev import bazel, junit, processes
from mandate_dev.paths import ROOT, cache
from mandate_dev.suite import PROGRAMS, last_line_results, program_results, summarize

Command = tuple[list[str], dict[str, str]]  # its arguments, and its additional environment variables
CACHE = cache("nightly")
SIMULATIONS = "kind(cc_test, rdeps(//..., //manager/core/testing:seeds, 1))"


def bazel_of(name: str, *command: str) -> Command:
    return ["hack/bazel", *command], {"BAZEL_OUTPUT_BASE": os.path.join(CACHE, name)}


PARTS = 20  # of a simulation's seeds: each part is one run of its test, so that two cores are busy


def seeds_of(*targets: str) -> Command:
    in_part = -(-int(os.environ.get("SEEDS", "10000")) // PARTS)
    return (["hack/bazel", "test", "--keep_going", "--test_timeout=7200", f"--runs_per_test={PARTS}",
             f"--test_env=SEEDS={in_part}", *targets], {})


def simulations() -> Command:
    found = subprocess.run(["hack/bazel", "query", SIMULATIONS], cwd=ROOT, text=True, stdout=subprocess.PIPE, check=True)
    return seeds_of(*found.stdout.split())


def measures() -> Command:
    run = "hack/bazel run --config=release"
    return (["bash", "-c", f"failed=0; {run} //hack/bench/ours:scope_start || failed=1; "
                           f"{run} //manager:bulkhead_benchmark || failed=1; exit $failed"], {})


ALL: dict[str, Callable[[], Command]] = {
    "asan": lambda: bazel_of("asan", "test", "--config=asan", "--keep_going", "//..."),
    "tsan": lambda: bazel_of("tsan", "test", "--config=tsan", "--keep_going", "//..."),
    "threadsafety": lambda: bazel_of("threadsafety", "build", "--config=threadsafety", "--keep_going", "//..."),
    "arm64": lambda: (["hack/arm64"], {}),
    "seeds": simulations,
    "scoped": lambda: seeds_of("//manager/cache:scoped_cache_sim_test"),
    "model": lambda: (["hack/scoped_model_test", f"--runs={os.environ.get('RUNS', '100')}",
                       f"--seed={os.environ.get('SEED', '1')}"], {}),
    "measures": measures,
    "rbac": lambda: (["testing/rbac_fidelity/run", "--decisions=100000"], {}),
    "explore": lambda: (["testing/conformance/explore/run", "--sequences=20000"], {}),
    "fuzz": lambda: (["hack/fuzz", "--seconds=600"], {}),
    "demo": lambda: (["sh", "-c", "for mode in impersonate single; do hack/demo/demo --identity-mode=$mode || exit 1; done"], {}),
    "webhooks": lambda: (["hack/e2e/run", "webhook_differential", "thousand_reviews_a_second"],
                         {"CASES": os.environ.get("CASES", "10000"), "SECONDS": "60",
                          "SEED": os.environ.get("SEED", str(int(time.time()) // 86400))}),
    "fences": lambda: (["hack/chart_test", "nothing_gets_past_the_fences"],
                       {"ATTEMPTS": os.environ.get("ATTEMPTS", "30000")}),
    "mutants": lambda: (["hack/mutation/run"], {}),
}


def run(command: list[str], env: dict[str, str] | None = None) -> list[junit.Outcome]:
    """Runs the command and shows its output. Returns the outcomes of Bazel's tests, of a program's cases, or of the
    whole command."""
    with tempfile.TemporaryDirectory(prefix="mandate-nightly-") as folder:
        if command[:2] == ["hack/bazel", "test"]:
            return bazel.test(lambda words: processes.show(words, ROOT, env), command[2:], folder)
        path = os.path.join(folder, "program.xml")
        if command[0] in PROGRAMS:
            return program_results(processes.show([*command, "--junit", path], ROOT, env)[0], path)
        return last_line_results(*processes.show(command, ROOT, env))


def main(argv: Sequence[str]) -> int:
    if argv[:1] == ["mutants"] and argv[1:]:
        return subprocess.run([os.path.join(ROOT, "hack/mutation/run"), *argv[1:]]).returncode
    unknown = [a for a in argv if a not in ALL]
    if unknown:
        if argv in (["-h"], ["--help"]):
            print(__doc__.strip())
            return 0
        print(f"hack/nightly: {unknown[0]!r} must be one of {', '.join(ALL)}", file=sys.stderr)
        return 2
    results = {}
    for name in argv or ALL:
        print(f"\n==> {name}", flush=True)
        start = time.monotonic()
        outcomes = run(*ALL[name]())
        results[name] = (outcomes, time.monotonic() - start)
    return int(summarize(results) > 0)
