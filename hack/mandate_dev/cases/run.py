"""Tests of hack/run on a real control plane.

usage: hack/run_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

The last line is `N passed, N failed`.
"""
import json
import os
import queue
import re
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import unittest
import urllib.request
from collections.abc import Sequence
from typing import Any, ClassVar

from mandate_dev import paths, processes, runner, world, world_file
from mandate_dev.paths import TOOLS
from mandate_dev.report import Report

RUN = os.path.join(TOOLS, "run")

# Seconds for a loaded machine that builds everything first; every wait ends when its condition holds.
SECONDS = 1800

PROBE = """
syntax = "proto2";
package probe.v1;
import "api/mandate/options.proto";
import "k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto";
message Probe {
  option (mandate.api.resource) = { group: "run.example.com" version: "v1" plural: "probes" scope: "Cluster" };
  optional k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1;
  optional ProbeSpec spec = 2;
  optional ProbeStatus status = 3;
}
message ProbeSpec {}
message ProbeStatus {}
"""


def read_world(folder: str) -> Any:
    """Returns world.json, which only its owner may read."""
    path = os.path.join(folder, world_file.NAME)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    with open(path, encoding="utf-8") as f:
        return json.load(f)


class Terminal:
    """A hack/run, or another program, in its own terminal."""

    def __init__(self, folder: str, *arguments: str, program: str = RUN) -> None:
        self.text = ""
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.process = subprocess.Popen([program, "--dir", folder, *arguments], text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def until(self, text: str) -> Any:
        """Reads until a line contains the text; returns the lines that were read."""
        seen = ""
        while True:
            try:
                line = self._lines.get(timeout=SECONDS)
            except queue.Empty:
                raise AssertionError(f"no {text!r} in {SECONDS} s: {self.text}") from None
            if line is None:
                raise AssertionError(f"it ended without {text!r}: {self.text}")
            self.text += line
            seen += line
            if text in line:
                return seen

    def end(self) -> tuple[Any, Any]:
        """Returns (exit code, the whole output)."""
        while (line := self._lines.get(timeout=SECONDS)) is not None:
            self.text += line
        return self.process.wait(timeout=SECONDS), self.text


class Run(unittest.TestCase):
    """Each case continues from the state of the one before: after the first failure the others fail, too."""

    parent: ClassVar[str]
    folder: ClassVar[str]
    servers: ClassVar[dict[str, Any]]
    terminals: ClassVar[dict[str, Terminal]] = {}
    failed_case: ClassVar[str] = ""

    @classmethod
    def setUpClass(cls) -> None:
        cls.parent = paths.new_folder("run-test")
        cls.folder = os.path.join(cls.parent, "run here")

    @classmethod
    def tearDownClass(cls) -> None:
        subprocess.run([RUN, "stop", "--dir", cls.folder], capture_output=True)
        for terminal in cls.terminals.values():
            if terminal.process.poll() is None:
                terminal.process.terminate()
        shutil.rmtree(cls.parent, ignore_errors=True)

    def setUp(self) -> None:
        print(runner.name_of(self), flush=True)
        self.assertEqual(self.failed_case, "", "a case before this one failed")

    def run(self, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        done = super().run(result)
        if result is not None and not result.wasSuccessful() and not self.failed_case:
            Run.failed_case = runner.name_of(self)
        return done

    def expect(self, what: str, holds: Any, seen: Any) -> None:
        self.assertTrue(holds, f"{what}: saw {seen}")
        print(f"  {what}", flush=True)

    def path(self, *parts: str) -> str:
        return os.path.join(self.folder, *parts)

    def kubectl(self, *arguments: str) -> Any:
        done = subprocess.run([self.path("cluster/bin/kubectl"), *arguments], text=True, capture_output=True,
                              env={**os.environ, "KUBECONFIG": self.path("cluster/kubeconfig")})
        if done.returncode:
            raise AssertionError(f"kubectl {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def record(self, of: str) -> Any:
        """Returns the record of the API server's process, or of the manager's."""
        with open(self.path(*(["run.json"] if of == "manager" else ["cluster/cluster.json"])), encoding="utf-8") as f:
            state = json.load(f)
        return state["manager"] if of == "manager" else state["components"][of]

    def test_the_first_run_starts_everything(self) -> None:
        first = self.terminals["first"] = Terminal(self.folder)
        started = first.until("everything is ready")
        self.expect("it prints how to use it", "export KUBECONFIG=" in started and "Ctrl-C" in started, started)
        for path in ("/readyz?verbose", "/metrics"):
            urls = re.findall(rf"http://127\.0\.0\.1:\d+{re.escape(path)}", started)
            self.expect(f"it prints the URL of {path}", urls, started)
            with urllib.request.urlopen(urls[0], timeout=SECONDS) as answer:
                self.expect("it answers", answer.status == 200, answer.status)
        exports = re.findall("export KUBECONFIG=.*", started)[0]
        self.expect("its line for another terminal works in a shell", subprocess.run(["bash", "-c", f"{exports}; kubectl create configmap mine"],
                                                                                     capture_output=True).returncode == 0, exports)
        Run.servers = {name: self.record(name) for name in ("etcd", "kube-apiserver")}
        described = read_world(self.folder)
        self.expect("world.json describes it", (described["manager"]["pid"], described["cluster"]["pids"]["etcd"])
                    == (self.record("manager")["pid"], self.servers["etcd"]["pid"]), described)
        with urllib.request.urlopen(described["manager"]["readyz"], timeout=SECONDS) as answer:
            self.expect("its URL answers", answer.status == 200, answer.status)

    def test_a_second_run_restarts_the_manager_alone(self) -> None:
        before = self.record("manager")
        with open(self.path("run.json"), encoding="utf-8") as state:
            second = self.terminals["second"] = Terminal(self.folder)
            second.until("everything is ready")
            self.expect("a reader of the state meanwhile reads the whole of it", json.load(state)["manager"] == before, before)
        code, text = self.terminals["first"].end()
        self.expect("the first ends, and prints the reason", code == 0 and "Another hack/run has taken over." in text, (code, text))
        self.expect("another manager runs", not processes.is_alive(before) and processes.is_alive(self.record("manager")), before)
        self.expect("the control plane is the same", {n: self.record(n) for n in self.servers} == self.servers, self.servers)
        self.expect("its objects are still there", self.kubectl("get", "configmap", "mine", "-o", "name"), "")

    def test_a_marker_may_name_any_namespace(self) -> None:
        env = world.World(self.folder, Report(), lasting=True)
        env.make_namespaces("metadata:\n  name: a\n  namespace: shop\n---\nmetadata:\n  name: b\n  namespace: \"1\"\n")
        self.expect("it is made for the Role", self.kubectl("get", "namespace", "shop", "1", "-o", "name"), "")

    def test_the_crds_are_those_of_the_proto_files(self) -> None:
        root = tempfile.mkdtemp(dir=os.path.dirname(self.folder))
        shutil.copytree(os.path.join(os.path.dirname(TOOLS), "api"), os.path.join(root, "api"))
        subprocess.run(["git", "init", "-q", root], check=True)
        with open(os.path.join(root, "api", "probe.proto"), "w", encoding="utf-8") as f:
            f.write(PROBE)
        env = world.World(self.folder, Report(), lasting=True)
        env.proto_root = root
        env.prepare()
        self.expect("a kind that the chart does not have yet is installed",
                    self.kubectl("get", "crd", "probes.run.example.com", "-o", "name"), "")

    def test_a_component_that_is_not_ready_is_named_and_all_goes_on(self) -> None:
        binding = "clusterrolebinding/mandate-manager-scope-template"
        kept = self.kubectl("get", binding, "-o", "json")
        self.kubectl("delete", binding)
        # Creates work: a component notices a lost permission when the server denies a request.
        self.kubectl("apply", "-f", os.path.join(TOOLS, "demo", "document.yaml"))
        said = self.terminals["second"].until("The manager's log: " + self.path("manager.log"))
        self.expect("its name and the reason are printed", "scope-template is not ready: " in said, said)
        self.expect("it all runs", processes.is_alive(self.record("manager")) and self.kubectl("get", "configmap", "mine"), "")
        given = subprocess.run([self.path("cluster/bin/kubectl"), "apply", "-f", "-"], input=kept, text=True, capture_output=True,
                               env={**os.environ, "KUBECONFIG": self.path("cluster/kubeconfig")})
        self.expect("the binding is back", given.returncode == 0, given.stderr)
        self.terminals["second"].until("scope-template is ready")

    def test_ctrl_c_stops_the_manager_alone(self) -> None:
        manager = self.record("manager")
        os.killpg(self.terminals["second"].process.pid, signal.SIGINT)
        code, text = self.terminals["second"].end()
        self.expect("it ends, and prints what stays and how to end it",
                    code == 0 and f"make stop DIR={shlex.quote(self.folder)}" in text, (code, text))
        self.expect("the manager has ended by itself", not processes.is_alive(manager) and "fatal" not in text, text)
        self.expect("world.json has no pid of a manager", read_world(self.folder)["manager"]["pid"] is None, "a pid")
        self.expect("the control plane is the same", {n: self.record(n) for n in self.servers} == self.servers, self.servers)

    def test_not_ready_from_the_start(self) -> None:
        # Tokens that the API server does not accept.
        run = Terminal(self.folder, "--", "--token-audiences=nobody")
        said = run.until("The manager's log: " + self.path("manager.log"))
        self.expect("its name and the reason are printed", "scope-instance is not ready: " in said, said)
        self.expect("it all runs", processes.is_alive(self.record("manager")) and self.kubectl("get", "configmap", "mine"), "")
        os.kill(run.process.pid, signal.SIGTERM)
        self.expect("SIGTERM does what Ctrl-C does", run.end()[0] == 0, run.text)

    def test_a_killed_manager_holds_the_lease_for_a_while(self) -> None:
        run = Terminal(self.folder)
        run.until("everything is ready")
        env = world.World(self.folder, Report(), lasting=True)
        env.metrics_port = int(re.findall(r"http://127\.0\.0\.1:(\d+)/metrics", run.text)[0])
        while run.process.poll() is None and not env.leads():
            pass
        os.kill(self.record("manager")["pid"], signal.SIGKILL)
        self.expect("it ends", run.end()[0] == 1, run.text)
        run = Terminal(self.folder)
        run.until("The manager waits for the Lease")
        run.until("it has the Lease")
        os.kill(run.process.pid, signal.SIGTERM)
        self.expect("it is stopped", run.end()[0] == 0, run.text)

    def test_a_manager_that_ends_by_itself(self) -> None:
        code, text = Terminal(self.folder, "--", "--no-such-flag").end()
        self.expect("exit 1 and the end of its log", code == 1 and "no-such-flag" in text.partition("The last lines of")[2]
                    and "ended by itself" in text, (code, text))
        self.expect("the control plane is the same", {n: self.record(n) for n in self.servers} == self.servers, self.servers)

    def test_stop_removes_it(self) -> None:
        run = Terminal(self.folder)
        run.until("everything is ready")
        manager = self.record("manager")
        done = subprocess.run([RUN, "stop", "--dir", self.folder], text=True, capture_output=True, timeout=SECONDS)
        self.expect("stopped", done.returncode == 0 and "is removed" in done.stdout, done)
        code, text = run.end()
        self.expect("the run ends, and prints the reason", code == 0 and "Stopped by hack/run stop." in text, (code, text))
        self.expect("nothing is left", not os.path.exists(self.folder) and not processes.is_alive(manager)
                    and not any(map(processes.is_alive, self.servers.values())), self.folder)
        again = subprocess.run([RUN, "stop", "--dir", self.folder], text=True, capture_output=True)
        self.expect("a second stop is not an error", again.returncode == 0 and "Nothing runs" in again.stdout, again)

    def test_other_folders_are_left_alone(self) -> None:
        os.makedirs(self.folder)
        with open(self.path("thesis.txt"), "w", encoding="utf-8") as f:
            f.write("x")
        for command in ([RUN, "stop"], [RUN]):
            done = subprocess.run([*command, "--dir", self.folder], text=True, capture_output=True)
            self.expect(f"{' '.join(command[1:]) or 'run'}: rejected", done.returncode == 2 and "has other files" in done.stderr, done)
        self.expect("it is there", os.path.exists(self.path("thesis.txt")), "")
        # File names that also a user's folder may have.
        os.makedirs(self.path("cluster"))
        for name in ("mandate-manager", "run.json"):
            with open(self.path(name), "w", encoding="utf-8") as f:
                f.write('["x"]')
        done = subprocess.run([RUN, "stop", "--dir", self.folder], text=True, capture_output=True)
        self.expect("names that hack/run uses do not make the folder its own",
                    done.returncode == 2 and os.path.exists(self.path("thesis.txt")), done)


class Demo(unittest.TestCase):
    def test_a_demo_that_stays_is_for_programs(self) -> None:
        folder = paths.new_folder("demo-test")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        demo = Terminal(folder, "--stay", program=os.path.join(TOOLS, "demo", "demo"))
        self.addCleanup(demo.process.terminate)
        demo.until("Everything runs until")
        world = read_world(folder)
        for url in (world["manager"]["readyz"], world["manager"]["metrics"]):
            with urllib.request.urlopen(url, timeout=SECONDS) as answer:
                self.assertEqual(answer.status, 200)
        cluster = world["cluster"]
        done = subprocess.run([cluster["kubectl"], "get", "--raw", "/readyz"], text=True, capture_output=True,
                              env={**os.environ, "KUBECONFIG": cluster["kubeconfig"]})
        self.assertEqual(done.stdout, "ok", done.stderr)
        demo.process.terminate()
        self.assertEqual(demo.end()[0], 0, demo.text)
        # So that another demo may use the folder.
        self.assertEqual(sorted(os.listdir(folder)), ["audit.log", "manager.log"])
        for pid in (world["manager"]["pid"], *cluster["pids"].values()):
            self.assertIsNone(processes.start_time(pid))


def main(argv: Sequence[str]) -> int:
    return runner.main("hack/run_test", __doc__, [Run, Demo], argv)
