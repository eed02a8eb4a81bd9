"""Every test: Bazel's, then the programs that need a real control plane, then the house rules. A table, and its sum.

usage: hack/test [--ci] [--runs N] [NAME]…

The last line is `N passed, N failed`; exit 0 only when nothing failed. A failing test prints its reason where it fails,
and the end of the output names every failure.

  --ci      adds the demo, with and without kills
  --runs N  all of it N times, also the tests that Bazel has passed before; the end says what failed in which run
  NAME      only this: a program or rule of the table, or Bazel targets in place of //... (//manager/core/...)
"""
import argparse
import re
import subprocess
import sys
import time

from mandate_dev.paths import ROOT

# Programs that start a control plane of their own, or Bazel; each ends with `N passed, N failed`.
PROGRAMS = [
    "hack/test_test",
    "hack/mutation_test",
    "hack/cluster_test",
    "hack/run_test",
    "hack/e2e/run",
    "testing/conformance/run",
    "testing/rbac_fidelity/run",
    "rbacgen/builtin_cluster_test",
    "rbacgen/crd_cluster_test",
    "rbacgen/field_names_cluster_test",
    "hack/chart_test",
    "hack/chart_test --helm3",
    "rbacgen/webhook/controller_gen_test",
    "rbacgen/go_docs_test",
    "manager/client/guard_cluster_test",
    "hack/least_privilege_test",
    "hack/component_test",
]
# Exit 0 is one passed.
RULES = {
    "clang-format changes nothing": "git ls-files '*.h' '*.cc' | xargs clang-format --dry-run -Werror",
    "make manifests changes nothing": "hack/manifests --check",
    # Time and randomness are injected: a clock is asked, and a seed is drawn, in one place each.
    "no other clock, sleep or seed":
        r"! git grep -nE 'absl::Now|\bsleep(_for|_until)?\(|SleepFor|(system|steady|high_resolution)_clock|random_device|BitGen' "
        r"-- 'manager/*.h' 'manager/*.cc' 'controllers/*.h' 'controllers/*.cc' 'cmd/*.cc' ':!*_test.cc' ':!*/testing/*' "
        r"':!manager/core/clock.cc' ':!cmd/*/main.cc'",
}
DEMOS = {"the demo": "hack/demo/demo", "the demo, with kills": "hack/demo/demo --kill"}


def run(command):
    """(exit code, output); the output is shown as it comes."""
    process = subprocess.Popen(command, cwd=ROOT, shell=isinstance(command, str), text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = []
    for line in process.stdout:
        lines.append(line)
        sys.stdout.write(line)
        sys.stdout.flush()
    return process.wait(), "".join(lines)


def bazel_results(code, output):
    """(passed, failures) of `bazel test`, one a target."""
    passed = len(re.findall(r"^//\S+\s+(?:\(cached\) )?PASSED", output, re.MULTILINE))
    failures = [" ".join(row) for row in
                re.findall(r"^(//\S+)\s+(FAILED TO BUILD|FAILED|TIMEOUT|NO STATUS|FLAKY)", output, re.MULTILINE)]
    # A build that broke before any test ran has no row of its own.
    return passed, failures or ["the build"] * (code != 0)


def own_results(code, output):
    """(passed, failures) of a program that prints both numbers; what it calls failed names the failures."""
    found = re.findall(r"^(\d+) passed, (\d+) failed", output, re.MULTILINE)
    passed, failed = map(int, found[-1]) if found else (0, 1)
    failed = failed or int(code != 0)
    names = re.findall(r"^\s*(?:FAIL|FAILED|ERROR|NOT FOUND)\b:?\s*(.*)", output, re.MULTILINE)
    for listed in re.findall(r"^Failed: ([^;\n]*)", output, re.MULTILINE):  # `Failed: NAME, NAME; logs in FOLDER`
        names += listed.split(", ")
    names = names[:failed]
    return passed, names + ["(see above)"] * (failed - len(names))


def exit_results(code, _):
    return int(code == 0), [f"exit {code}"] * (code != 0)


def table(options):
    """[(name, command, results)] of one run."""
    targets = [name for name in options.names if name.startswith(("//", "@"))]
    others = {program: (program.split(), own_results) for program in PROGRAMS}
    others |= {name: (command, exit_results) for name, command in {**RULES, **DEMOS}.items()}
    unknown = [name for name in options.names if name not in targets and name not in others]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is neither a Bazel target nor one of: {', '.join(others)}")
    if not options.names:
        targets = ["//..."]
        if not options.ci:
            others = {name: row for name, row in others.items() if name not in DEMOS}
    else:
        others = {name: row for name, row in others.items() if name in options.names}
    again = ["--nocache_test_results"] if options.runs > 1 else []
    bazel = ["hack/bazel", "test", "--keep_going", *again, *targets]
    rows = [(f"bazel test {' '.join(targets)}", bazel, bazel_results)] if targets else []
    return rows + [(name, *row) for name, row in others.items()]


def parse(argv):
    parser = argparse.ArgumentParser(prog="hack/test", add_help=False, allow_abbrev=False)
    parser.add_argument("--ci", action="store_true")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(argv)
    if options.runs < 1:
        parser.error("--runs: from 1 up")
    return options


def main(argv):
    options = parse(argv)
    if options.help:
        print(__doc__.strip())
        return 0
    try:
        rows = table(options)
    except ValueError as error:
        print(f"hack/test: {error}", file=sys.stderr)
        return 2
    sums = {name: [0, 0, 0.0] for name, *_ in rows}
    failures = []
    for number in range(1, options.runs + 1):
        which = f", run {number} of {options.runs}" if options.runs > 1 else ""
        for name, command, results in rows:
            print(f"\n==> {name}{which}", flush=True)
            start = time.monotonic()
            passed, failed = results(*run(command))
            for i, more in enumerate((passed, len(failed), time.monotonic() - start)):
                sums[name][i] += more
            failures += [f"{name}{which}: {failure}" for failure in failed]

    width = max(len(name) for name in sums)
    print(f"\n{'':{width}}  passed  failed  seconds")
    for name, (passed, failed, seconds) in sums.items():
        print(f"{name:{width}}  {passed:6}  {failed:6}  {seconds:7.0f}")
    if failures:
        print("\nFailed:", *failures, sep="\n  ")
    print(f"\n{sum(s[0] for s in sums.values())} passed, {len(failures)} failed")
    return int(bool(failures))
