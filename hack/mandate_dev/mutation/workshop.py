"""The copy of the tree in which bugs are seeded: Bazel builds it, and its libraries are replaced one at a time.

Bazel links tests to one shared library for each cc_library. So a bug in a source is tried without Bazel: only that
source is compiled, with its headers precompiled once, and it is loaded before its library. The programs that scripts
test are linked to shared libraries for the same reason. A bug in a header is built and tested by Bazel in the copy.
"""
import contextlib
import fcntl
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree
from typing import Any

# A bug may cause these warnings; they must not count as compile errors.
WARNINGS = ("unused-variable unused-but-set-variable unused-but-set-parameter unused-parameter unused-function "
            "unused-value parentheses sign-compare type-limits maybe-uninitialized uninitialized empty-body "
            "misleading-indentation unused-local-typedefs bool-compare nonnull address tautological-compare "
            "implicit-fallthrough").split()
PRAGMAS = "".join(f'_Pragma("GCC diagnostic ignored \\"-W{w}\\"") ' for w in WARNINGS)
MEMORY = 6 << 30  # of one test: a bug may request all memory
SEEDS = "20"  # of a simulation, for each bug
BAZEL_TIMEOUT = 1800
SHARED = ".shared"  # the suffix of a program that is linked to shared libraries
CPP = re.compile(r"^ERROR: .*: (?:C\+\+ compilation of rule|Compiling|Linking|Link) .*failed", re.MULTILINE)
NOT_CPP = re.compile(r"^ERROR: .* failed:? \(", re.MULTILINE)

FOUND, SURVIVED, BROKEN = "found", "survived", "does not compile"


class Test:
    def __init__(self, rule: Any) -> None:
        self.label = rule.get("name")
        self.kind = rule.get("class")
        package, self.name = self.label[2:].split(":")
        self.package = package
        lists = {e.get("name"): [v.get("value") for v in e] for e in rule.findall("list")}
        self.sources = [s[2:].replace(":", "/") for s in lists.get("srcs", ()) if s.startswith("//")]
        self.needs = lists.get("data", [])  # labels
        self.data = [s[2:].replace(":", "/") for s in self.needs if s.startswith("//")]
        self.args = [self.expand(a) for a in lists.get("args", ())]
        self.plain = self.kind == "cc_test" and not self.args
        self.programs: list[str] = []  # labels of the programs that a script runs
        self.manual = "manual" in lists.get("tags", ())
        self.small = any(e.get("name") == "size" and e.get("value") == "small" for e in rule.findall("string"))
        self.seconds = None  # of a run without a bug

    def expand(self, arg: Any) -> Any:
        """Returns `$(location LABEL)` relative to a test's working directory."""
        def location(match: Any) -> str:
            parts = re.fullmatch(r"(?:@(\w+))?(?://([^:]*))?:?(.*)", match[1])
            assert parts is not None
            repository, package, name = parts.groups()
            if repository is None and package is None:
                package = self.package
            name = name or os.path.basename(package)
            return os.path.join("external" if repository else "", repository or "", package or "", name)
        return re.sub(r"\$\(location ([^)]*)\)", location, arg)


class Workshop:
    def __init__(self, root: Any, cache: Any, log: Any) -> None:
        self.root, self.log = root, log
        os.makedirs(cache, exist_ok=True)
        for i in range(100):
            self.lock = open(os.path.join(cache, f"copy{i}.lock"), "w")
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                self.lock.close()
        self.tree = os.path.join(cache, f"mutants{i}")
        self.environment = {**os.environ, "BAZEL_OUTPUT_BASE": os.path.join(cache, f"out{i}")}
        self.tmp = tempfile.mkdtemp(prefix="mutants-")
        self.copy()

    def close(self) -> None:
        shutil.rmtree(self.tmp, ignore_errors=True)

    def git(self, *command: str, cwd: Any = None) -> str:
        return subprocess.run(["git", *command], cwd=cwd or self.root, text=True, check=True, stdout=subprocess.PIPE).stdout.strip()

    def copy(self) -> None:
        """Copies the working tree without the files that are not in git."""
        revision = self.git("stash", "create") or self.git("rev-parse", "HEAD")
        if not os.path.exists(os.path.join(self.tree, ".git")):
            self.git("worktree", "prune")
            shutil.rmtree(self.tree, ignore_errors=True)
            self.git("worktree", "add", "--quiet", "--detach", self.tree, revision)
        self.git("checkout", "--quiet", "--force", "--detach", revision, cwd=self.tree)

    def bazel(self, *command: str, **options: Any) -> Any:
        program = os.environ.get("BAZEL", "hack/bazel")
        return subprocess.run([program, *command], cwd=self.tree, env=self.environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def query(self, verb: str, *command: str) -> Any:
        done = self.bazel(verb, *command)
        if done.returncode:
            raise RuntimeError(f"bazel {verb} {' '.join(command)}: {done.stderr[-2000:]}")
        return done.stdout

    def prepare(self, targets: Any) -> None:
        """Builds the room's tests, and records how its sources are compiled."""
        self.execroot = self.query("info", "execution_root").strip()
        self.bin = self.query("info", "bazel-bin").strip()
        universe = " + ".join(targets)
        self.tests = {}
        rules = self.query("query", f'kind("_test rule", {universe})', "--output=xml")
        for rule in xml.etree.ElementTree.fromstring(rules).findall("rule"):
            test = Test(rule)
            if not test.manual:
                self.tests[test.label] = test
        programs = self.query("query", f'kind("cc_binary rule", labels(data, kind("sh_test rule", {universe})))').split()
        for test in self.tests.values():
            test.programs = [p for p in test.needs if p in programs] if test.kind == "sh_test" else []
        if programs:
            # Kept next to Bazel's later output for these programs.
            self.query("build", "--dynamic_mode=fully", *programs)
            for program in programs:
                made = os.path.join(self.bin, program[2:].replace(":", "/"))
                shutil.copy(made, made + SHARED)
        self.query("build", *targets)
        self.commands: dict[str, Any] = {}
        self.needed: dict[str, Any] = {}
        self.reach: dict[str, Any] = {}
        self.pass_by_bazel: dict[str, Any] = {}
        actions = json.loads(self.query("aquery", f'mnemonic("CppCompile", {universe})', "--output=jsonproto"))
        for action in actions.get("actions", ()):
            words = action["arguments"]
            source, target = words[words.index("-c") + 1], words[words.index("-o") + 1]
            library = re.search(r"/bin/(.*)/_objs/([^/]*)/", target)
            if source not in self.commands and library:
                self.commands[source] = (self.flags(words), library[1], library[2])

    @staticmethod
    def flags(words: Any) -> Any:
        """Returns the compiler's flags without those for files, warnings and optimization."""
        kept, at = [], 0
        while at < len(words):
            word = words[at]
            if word in ("-c", "-o", "-MF"):
                at += 1
            elif word != "-MD" and not word.startswith(("-W", "-O", "-frandom-seed")):
                kept.append(word)
            at += 1
        return kept + ["-w", "-O0"]

    def tests_of(self, path: str) -> Any:
        """Returns the room's tests that contain this file, the file's own test first."""
        if path not in self.reach:
            universe = " + ".join(self.tests)
            found = self.query("query", f"rdeps({universe}, {self.label(path)})", "--output=label") if universe else ""
            reached = [self.tests[label] for label in found.split() if label in self.tests]
            # A test that runs other tests finds only the bugs that those find.
            reached = [t for t in reached if not any(label in self.tests for label in t.needs)]
            beside = os.path.splitext(path)[0] + "_test"
            self.reach[path] = sorted(reached, key=lambda t: (f"{t.package}/{t.name}" != beside, not t.plain, t.label))
        return self.reach[path]

    def label(self, path: str) -> str:
        package = os.path.dirname(path)
        while not os.path.exists(os.path.join(self.tree, package, "BUILD.bazel")):
            package = os.path.dirname(package)
        return f"//{package}:{os.path.relpath(path, package)}"

    def digest(self, test: Any) -> Any:
        """Returns a digest of the test's content, which changes with the test."""
        digest = hashlib.sha256()
        for path in sorted({*test.sources, *test.data}):
            with contextlib.suppress(OSError), open(os.path.join(self.tree, path), "rb") as f:
                digest.update(path.encode() + b"\0" + f.read())
        return digest.hexdigest()

    def links(self, test: Any, package: Any, target: str) -> bool:
        """Whether the test, or a program that it runs, loads the library at its start (and is not statically linked to
        it)."""
        mangled = f"{package}/lib{target}".replace("_", "_U").replace("/", "_S")
        started = [f"{test.package}/{test.name}"] if test.plain else [p[2:].replace(":", "/") + SHARED for p in test.programs]
        return any(f"lib{mangled}.so" in self.libraries(path) for path in started)

    def libraries(self, program: str) -> Any:
        if program not in self.needed:
            text = subprocess.run(["readelf", "-d", os.path.join(self.bin, program)], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            self.needed[program] = set(re.findall(r"Shared library: \[(.*)\]", text))
        return self.needed[program]

    def bench(self, path: str) -> Any:
        return Bench(self, path)

    def run(self, test: Any, library: Any, seconds: float) -> bool:
        """Whether the test passes with the library loaded before all others, within this CPU time. The limit of the
        wall time, for a test that waits forever, is much longer, because the machine may be busy."""
        runfiles = os.path.join(self.bin, test.package, test.name + ".runfiles")
        scratch = tempfile.mkdtemp(dir=self.tmp)
        if test.programs:
            runfiles = self.with_library(runfiles, os.path.join(scratch, "runfiles"), test.programs, library)
        environment = {
            "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TEST_SRCDIR": runfiles,
            "RUNFILES_DIR": runfiles, "TEST_WORKSPACE": "mandate", "TEST_TMPDIR": scratch, "TEST_TARGET": test.label,
            "GTEST_FAIL_FAST": "1", "USER": "nobody", "SEEDS": os.environ.get("SEEDS", SEEDS), **({"LD_PRELOAD": library} if test.plain else {}),
        }

        def limits() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))

        child = subprocess.Popen([os.path.join(runfiles, "mandate", test.package, test.name), *test.args],
                                 env=environment, cwd=os.path.join(runfiles, "mandate"), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                 preexec_fn=limits)
        try:
            return child.wait(6 * seconds) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            shutil.rmtree(scratch, ignore_errors=True)

    def with_library(self, runfiles: Any, copy: Any, programs: Any, library: Any) -> Any:
        """Returns a copy of the runfiles in which only these programs load the library, and not the programs that run
        them."""
        shutil.copytree(runfiles, copy, symlinks=True)
        for program in programs:
            path = program[2:].replace(":", "/")
            script = os.path.join(copy, "mandate", path)
            os.unlink(script)
            with open(script, "w") as f:
                f.write(f'#!/bin/sh\nLD_PRELOAD={library} exec {os.path.join(self.bin, path + SHARED)} "$@"\n')
            os.chmod(script, 0o755)
        return copy

    def passing_by_bazel(self, tests: Any) -> list[Any]:
        """Returns the tests that pass without a bug; the others would find every bug."""
        new = [t.label for t in tests if t.label not in self.pass_by_bazel]
        if new:
            done = self.bazel("test", "--keep_going", "--test_output=summary", "--noshow_progress", *new)
            passed = re.findall(r"^(//\S+)\s+(?:\(cached\) )?PASSED", done.stdout, re.MULTILINE)
            for label in new:
                self.pass_by_bazel[label] = label in passed
                if label not in passed:
                    self.log(f"  {label} does not pass without a bug: skipped")
        return [t for t in tests if self.pass_by_bazel[t.label]]


def judge(done: Any) -> tuple[Any, Any]:
    """Returns (result, by) of a completed `bazel test`. https://bazel.build/run/scripts#exit-codes"""
    said = done.stdout + done.stderr
    if done.returncode == 0:
        return SURVIVED, ""
    if done.returncode == 3:
        failed = re.search(r"^(//\S+)\s+(?:FAILED|TIMEOUT)", said, re.MULTILINE)
        return FOUND, failed[1] if failed else ""
    if done.returncode != 1:
        raise RuntimeError(f"bazel test: exit code {done.returncode}: {done.stderr[-2000:]}")
    if "static assertion failed" in said:  # a static assertion is a test, too
        return FOUND, "a static_assert"
    if NOT_CPP.search(said) and not CPP.search(said):
        return FOUND, "a program that the build runs"
    return BROKEN, ""


class Bench:
    """The environment for the bugs of one file."""

    def __init__(self, shop: Any, path: str) -> None:
        self.shop, self.path = shop, path
        self.tests = shop.tests_of(path)
        with open(os.path.join(shop.tree, path)) as f:
            self.source = f.read()
        self.linked: list[Any] = []
        self.passes: dict[Any, Any] = {}
        self.folder = tempfile.mkdtemp(dir=shop.tmp)
        if path in shop.commands:
            self.set_up()

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def set_up(self) -> None:
        flags, package, target = self.shop.commands[self.path]
        linked = [t for t in self.tests if self.shop.links(t, package, target)]
        if not linked:
            return
        self.header = os.path.join(self.folder, "headers.h")
        with open(self.header, "w") as f:
            f.write("".join(line + "\n" for line in self.source.split("\n") if line.startswith("#include ")))
        self.compile([*flags, "-x", "c++-header", self.header, "-o", self.header + ".gch"])
        self.sound = self.make(self.source, "sound.so")
        if self.sound:
            self.linked = linked[:1] + sorted(linked[1:], key=lambda t: t.seconds or (3 if t.small else 30))

    def passes_without_bug(self, test: Any) -> Any:
        """Whether the test passes without a bug; otherwise its failure would not show the bug. It runs when the test is
        first needed: most bugs are found by earlier tests."""
        if test.label not in self.passes:
            start = time.monotonic()
            self.passes[test.label] = self.shop.run(test, self.sound, 600)
            test.seconds = time.monotonic() - start
        return self.passes[test.label]

    def compile(self, command: Any) -> bool:
        return subprocess.run(command, cwd=self.shop.execroot, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def make(self, source: str, name: str) -> Any:
        """Returns the library of only this source; None if it does not compile."""
        flags = self.shop.commands[self.path][0]
        text = os.path.join(self.folder, os.path.basename(self.path))
        library = os.path.join(self.folder, name)
        with open(text, "w") as f:
            f.write(source)
        made = os.path.join(self.folder, "object.o")
        compiled = (self.compile([*flags, "-include", self.header, "-c", text, "-o", made]) and
                    self.compile([flags[0], "-shared", "-fuse-ld=gold", "-o", library, made]))
        return library if compiled else None

    def attempt(self, candidate: Any) -> Any:
        lines = self.source.split("\n")
        lines[candidate.line - 1] = candidate.text
        source = "\n".join(lines)
        others = list(self.tests)
        if self.linked:
            library = self.make(source, "library.so")
            if library is None:
                return BROKEN, ""
            for test in self.linked:
                if not self.passes_without_bug(test):
                    continue
                if not self.shop.run(test, library, 5 + 10 * test.seconds):
                    return FOUND, test.label
                others.remove(test)
        if not others:
            return SURVIVED, ""
        return self.by_bazel(source, others)

    def by_bazel(self, source: str, others: Any) -> tuple[Any, Any]:
        path = os.path.join(self.shop.tree, self.path)
        others = self.shop.passing_by_bazel(others)
        try:
            with open(path, "w") as f:
                f.write(PRAGMAS + "\n" + source)
            for tests in (others[:1], others[1:]):
                if not tests:
                    continue
                result, by = judge(self.shop.bazel(
                    "test", "--disk_cache=", "--notest_keep_going", "--test_output=summary", "--noshow_progress",
                    *(t.label for t in tests), timeout=BAZEL_TIMEOUT))
                if result != SURVIVED:
                    return result, by
        except subprocess.TimeoutExpired:
            return FOUND, "time"
        finally:
            with open(path, "w") as f:
                f.write(self.source)
        return SURVIVED, ""
