"""Where bugs are seeded: a copy of the tree of its own, built by Bazel, whose libraries are replaced one at a time.

Bazel links tests to one shared library for each cc_library. So a bug in a source is tried without Bazel: that source
alone is compiled, with its headers precompiled once, and loaded before the library that it belongs to. A bug in a
header, and one that only other tests than C++'s can notice, is built and tested by Bazel in the copy.
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

# What a bug may cause and is no reason to call it one that does not compile.
WARNINGS = ("unused-variable unused-but-set-variable unused-but-set-parameter unused-parameter unused-function "
            "unused-value parentheses sign-compare type-limits maybe-uninitialized uninitialized empty-body "
            "misleading-indentation unused-local-typedefs bool-compare nonnull address tautological-compare "
            "implicit-fallthrough").split()
PRAGMAS = "".join(f'_Pragma("GCC diagnostic ignored \\"-W{w}\\"") ' for w in WARNINGS)
MEMORY = 6 << 30  # of one test: a bug may ask for all there is
BAZEL_TIMEOUT = 1800

FOUND, SURVIVED, BROKEN = "found", "survived", "does not compile"


class Test:
    def __init__(self, rule):
        self.label = rule.get("name")
        self.kind = rule.get("class")
        package, self.name = self.label[2:].split(":")
        self.package = package
        lists = {e.get("name"): [v.get("value") for v in e] for e in rule.findall("list")}
        self.sources = [s[2:].replace(":", "/") for s in lists.get("srcs", ()) if s.startswith("//")]
        self.data = [s[2:].replace(":", "/") for s in lists.get("data", ()) if s.startswith("//")]
        self.plain = self.kind == "cc_test" and not lists.get("args")
        self.manual = "manual" in lists.get("tags", ())
        self.seconds = None  # of a run without a bug


class Workshop:
    def __init__(self, root, cache, log):
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

    def close(self):
        shutil.rmtree(self.tmp, ignore_errors=True)

    def git(self, *command, cwd=None):
        return subprocess.run(["git", *command], cwd=cwd or self.root, text=True, check=True, stdout=subprocess.PIPE).stdout.strip()

    def copy(self):
        """The working tree as it is, but for files that git does not know."""
        revision = self.git("stash", "create") or self.git("rev-parse", "HEAD")
        if not os.path.exists(os.path.join(self.tree, ".git")):
            self.git("worktree", "prune")
            shutil.rmtree(self.tree, ignore_errors=True)
            self.git("worktree", "add", "--quiet", "--detach", self.tree, revision)
        self.git("checkout", "--quiet", "--force", "--detach", revision, cwd=self.tree)

    def bazel(self, *command, **options):
        program = os.environ.get("BAZEL", "hack/bazel")
        return subprocess.run([program, *command], cwd=self.tree, env=self.environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def query(self, verb, *command):
        done = self.bazel(verb, *command)
        if done.returncode:
            raise RuntimeError(f"bazel {verb} {' '.join(command)}: {done.stderr[-2000:]}")
        return done.stdout

    def prepare(self, targets):
        """Builds the room's tests, and learns how its sources are compiled."""
        built = self.bazel("build", targets)
        if built.returncode:
            raise RuntimeError(f"bazel build {targets}: {built.stderr[-2000:]}")
        self.execroot = self.query("info", "execution_root").strip()
        self.bin = self.query("info", "bazel-bin").strip()
        self.tests = {}
        rules = self.query("query", f'kind("_test rule", {targets})', "--output=xml")
        for rule in xml.etree.ElementTree.fromstring(rules).findall("rule"):
            test = Test(rule)
            if not test.manual:
                self.tests[test.label] = test
        self.commands, self.needed, self.reach = {}, {}, {}
        actions = json.loads(self.query("aquery", f'mnemonic("CppCompile", {targets})', "--output=jsonproto"))
        for action in actions.get("actions", ()):
            words = action["arguments"]
            source, target = words[words.index("-c") + 1], words[words.index("-o") + 1]
            library = re.search(r"/bin/(.*)/_objs/([^/]*)/", target)
            if source not in self.commands and library:
                self.commands[source] = (self.flags(words), library[1], library[2])

    @staticmethod
    def flags(words):
        """Those of the compiler, without what concerns files, warnings and speed."""
        kept, at = [], 0
        while at < len(words):
            word = words[at]
            if word in ("-c", "-o", "-MF"):
                at += 1
            elif word != "-MD" and not word.startswith(("-W", "-O", "-frandom-seed")):
                kept.append(word)
            at += 1
        return kept + ["-w", "-O0"]

    def tests_of(self, path):
        """The room's tests that have this file in them, the one beside it first."""
        if path not in self.reach:
            universe = " + ".join(self.tests)
            found = self.query("query", f"rdeps({universe}, {self.label(path)})", "--output=label") if universe else ""
            reached = [self.tests[label] for label in found.split() if label in self.tests]
            beside = os.path.splitext(path)[0] + "_test"
            self.reach[path] = sorted(reached, key=lambda t: (f"{t.package}/{t.name}" != beside, not t.plain, t.label))
        return self.reach[path]

    def label(self, path):
        package = os.path.dirname(path)
        while not os.path.exists(os.path.join(self.tree, package, "BUILD")):
            package = os.path.dirname(package)
        return f"//{package}:{os.path.relpath(path, package)}"

    def digest(self, tests):
        """Of what the tests say, so that a changed test is another one."""
        digest = hashlib.sha256()
        for path in sorted({p for t in tests for p in (*t.sources, *t.data)}):
            with contextlib.suppress(OSError), open(os.path.join(self.tree, path), "rb") as f:
                digest.update(path.encode() + b"\0" + f.read())
        return digest.hexdigest()

    def links(self, test, package, target):
        """Whether the test loads the library when it starts (and does not have it within)."""
        if test.label not in self.needed:
            text = subprocess.run(["readelf", "-d", os.path.join(self.bin, test.package, test.name)], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            self.needed[test.label] = set(re.findall(r"Shared library: \[(.*)\]", text))
        mangled = f"{package}/lib{target}".replace("_", "_U").replace("/", "_S")
        return f"lib{mangled}.so" in self.needed[test.label]

    def bench(self, path):
        return Bench(self, path)

    def run(self, test, library, seconds):
        """Whether the test passes with the library loaded before all others, in so much of a processor's time. What
        waits for ever has much longer: the machine may be busy."""
        runfiles = os.path.join(self.bin, test.package, test.name + ".runfiles")
        scratch = tempfile.mkdtemp(dir=self.tmp)
        environment = {
            "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "LD_PRELOAD": library, "TEST_SRCDIR": runfiles,
            "RUNFILES_DIR": runfiles, "TEST_WORKSPACE": "mandate", "TEST_TMPDIR": scratch, "TEST_TARGET": test.label,
            "GTEST_FAIL_FAST": "1", "USER": "nobody",
        }

        def limits():
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))

        child = subprocess.Popen([os.path.join(runfiles, "mandate", test.package, test.name)], env=environment,
                                 cwd=os.path.join(runfiles, "mandate"), stdin=subprocess.DEVNULL,
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


class Bench:
    """For the bugs of one file."""

    def __init__(self, shop, path):
        self.shop, self.path = shop, path
        self.tests = shop.tests_of(path)
        with open(os.path.join(shop.tree, path)) as f:
            self.source = f.read()
        self.plain, self.others = [], list(self.tests)
        self.folder = tempfile.mkdtemp(dir=shop.tmp)
        if path in shop.commands:
            self.set_up()

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def set_up(self):
        flags, package, target = self.shop.commands[self.path]
        linked = [t for t in self.tests if t.plain and self.shop.links(t, package, target)]
        if not linked:
            return
        self.header = os.path.join(self.folder, "headers.h")
        with open(self.header, "w") as f:
            f.write("".join(line + "\n" for line in self.source.split("\n") if line.startswith("#include ")))
        self.compile([*flags, "-x", "c++-header", self.header, "-o", self.header + ".gch"])
        if not self.make(self.source):
            return
        # Without a bug they pass so, or it is not the bug that they notice.
        for test in linked:
            start = time.monotonic()
            if self.shop.run(test, self.library, 600):
                test.seconds = time.monotonic() - start
                self.plain.append(test)
        self.plain[1:] = sorted(self.plain[1:], key=lambda t: t.seconds)
        self.others = [t for t in self.tests if t not in self.plain]

    def compile(self, command):
        return subprocess.run(command, cwd=self.shop.execroot, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def make(self, source):
        flags = self.shop.commands[self.path][0]
        # At the same place as seen from what it includes.
        text = os.path.join(self.folder, os.path.basename(self.path))
        self.library = os.path.join(self.folder, "library.so")
        with open(text, "w") as f:
            f.write(source)
        made = os.path.join(self.folder, "object.o")
        return (self.compile([*flags, "-include", self.header, "-c", text, "-o", made]) and
                self.compile([flags[0], "-shared", "-fuse-ld=gold", "-o", self.library, made]))

    def attempt(self, candidate):
        lines = self.source.split("\n")
        lines[candidate.line - 1] = candidate.text
        source = "\n".join(lines)
        if self.plain:
            if not self.make(source):
                return BROKEN, ""
            for test in self.plain:
                if not self.shop.run(test, self.library, 5 + 10 * test.seconds):
                    return FOUND, test.label
        if not self.others:
            return SURVIVED, ""
        return self.by_bazel(source)

    def by_bazel(self, source):
        path = os.path.join(self.shop.tree, self.path)
        try:
            with open(path, "w") as f:
                f.write(PRAGMAS + "\n" + source)
            for tests in (self.others[:1], self.others[1:]):
                if not tests:
                    continue
                done = self.shop.bazel("test", "--disk_cache=", "--notest_keep_going", "--test_output=summary",
                                       "--noshow_progress", *(t.label for t in tests), timeout=BAZEL_TIMEOUT)
                if done.returncode == 1:
                    # What a test says to the compiler is a test too.
                    said = "static assertion failed" in done.stdout + done.stderr
                    return (FOUND, "a static_assert") if said else (BROKEN, "")
                if done.returncode != 0:
                    failed = re.search(r"^(//\S+)\s+(?:FAILED|TIMEOUT)", done.stdout + done.stderr, re.MULTILINE)
                    return FOUND, failed[1] if failed else ""
        except subprocess.TimeoutExpired:
            return FOUND, "time"
        finally:
            with open(path, "w") as f:
                f.write(self.source)
        return SURVIVED, ""
