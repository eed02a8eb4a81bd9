"""Tests of hack/run on a real control plane. usage: hack/run_test     the last line is `N passed, N failed`"""
import json
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.request

from mandate_dev import processes, world
from mandate_dev.paths import HACK
from mandate_dev.report import Report

RUN = os.path.join(HACK, "run")

# For a machine under load that builds everything first; every wait ends with what it waits for.
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


class Failed(Exception):
    pass


class Terminal:
    """A hack/run in a terminal of its own."""

    def __init__(self, folder, *arguments):
        self.text = ""
        self._lines = queue.Queue()
        self.process = subprocess.Popen([RUN, "--dir", folder, *arguments], text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def until(self, text):
        """Reads on until a line has it; the lines from here to there."""
        seen = ""
        while True:
            try:
                line = self._lines.get(timeout=SECONDS)
            except queue.Empty:
                raise Failed(f"no {text!r} in {SECONDS} s: {self.text}") from None
            if line is None:
                raise Failed(f"it ended without {text!r}: {self.text}")
            self.text += line
            seen += line
            if text in line:
                return seen

    def end(self):
        """(exit code, all that it printed)"""
        while (line := self._lines.get(timeout=SECONDS)) is not None:
            self.text += line
        return self.process.wait(timeout=SECONDS), self.text


class Test:
    def __init__(self, folder):
        self.folder = os.path.join(folder, "run here")

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def kubectl(self, *arguments):
        done = subprocess.run([self.path("cluster/bin/kubectl"), *arguments], text=True, capture_output=True,
                              env={**os.environ, "KUBECONFIG": self.path("cluster/kubeconfig")})
        if done.returncode:
            raise Failed(f"kubectl {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def record(self, of):
        """Of the API server's process, or the manager's."""
        with open(self.path(*(["run.json"] if of == "manager" else ["cluster/cluster.json"])), encoding="utf-8") as f:
            state = json.load(f)
        return state["manager"] if of == "manager" else state["components"][of]

    def the_first_run_starts_everything(self):
        self.first = Terminal(self.folder)
        started = self.first.until("everything is ready")
        expect("it says how to use it", "export KUBECONFIG=" in started and "Ctrl-C" in started, started)
        for path in ("/readyz?verbose", "/metrics"):
            url = re.search(rf"http://127\.0\.0\.1:\d+{re.escape(path)}", started)
            expect(f"and where {path} is", url, started)
            with urllib.request.urlopen(url.group(), timeout=SECONDS) as answer:
                expect("it answers", answer.status == 200, answer.status)
        exports = re.search("export KUBECONFIG=.*", started).group()
        expect("its line for another terminal works in a shell", subprocess.run(["bash", "-c", f"{exports}; kubectl create configmap mine"],
                                                                                capture_output=True).returncode == 0, exports)
        self.servers = {name: self.record(name) for name in ("etcd", "kube-apiserver")}

    def a_second_run_restarts_the_manager_alone(self):
        before = self.record("manager")
        with open(self.path("run.json"), encoding="utf-8") as state:
            self.second = Terminal(self.folder)
            self.second.until("everything is ready")
            expect("whoever reads the state meanwhile reads it whole", json.load(state)["manager"] == before, before)
        code, text = self.first.end()
        expect("the first ends, and says why", code == 0 and "Another hack/run has taken over." in text, (code, text))
        expect("its manager is another", not processes.is_alive(before) and processes.is_alive(self.record("manager")), before)
        expect("the control plane is the same", {n: self.record(n) for n in self.servers} == self.servers, self.servers)
        expect("and has what was in it", self.kubectl("get", "configmap", "mine", "-o", "name"), "")

    def a_marker_may_name_any_namespace(self):
        env = world.World(self.folder, Report(), lasting=True)
        env.make_namespaces("metadata:\n  name: a\n  namespace: shop\n---\nmetadata:\n  name: b\n  namespace: \"1\"\n")
        expect("it is made for the Role", self.kubectl("get", "namespace", "shop", "1", "-o", "name"), "")

    def the_crds_are_those_of_the_proto_files(self):
        root = tempfile.mkdtemp(dir=os.path.dirname(self.folder))
        shutil.copytree(os.path.join(os.path.dirname(HACK), "api"), os.path.join(root, "api"))
        subprocess.run(["git", "init", "-q", root], check=True)
        with open(os.path.join(root, "api", "probe.proto"), "w", encoding="utf-8") as f:
            f.write(PROBE)
        env = world.World(self.folder, Report(), lasting=True)
        env.root = root
        env.prepare()
        expect("a kind that the chart does not have yet is installed",
               self.kubectl("get", "crd", "probes.run.example.com", "-o", "name"), "")

    def a_component_that_is_not_ready_is_named_and_all_goes_on(self):
        binding = "clusterrolebinding/mandate-manager-scope-template"
        kept = self.kubectl("get", binding, "-o", "json")
        self.kubectl("delete", binding)
        # Something to do: what it may not do any more is noticed when the server refuses it.
        self.kubectl("apply", "-f", os.path.join(HACK, "demo", "document.yaml"))
        said = self.second.until("The manager's log: " + self.path("manager.log"))
        expect("which, why", "scope-template is not ready: " in said, said)
        expect("it all runs", processes.is_alive(self.record("manager")) and self.kubectl("get", "configmap", "mine"), "")
        given = subprocess.run([self.path("cluster/bin/kubectl"), "apply", "-f", "-"], input=kept, text=True, capture_output=True,
                               env={**os.environ, "KUBECONFIG": self.path("cluster/kubeconfig")})
        expect("the binding is back", given.returncode == 0, given.stderr)
        self.second.until("scope-template is ready")

    def ctrl_c_stops_the_manager_alone(self):
        manager = self.record("manager")
        os.killpg(self.second.process.pid, signal.SIGINT)
        code, text = self.second.end()
        expect("it ends, and says what stays and how to end that",
               code == 0 and f"make stop DIR={shlex.quote(self.folder)}" in text, (code, text))
        expect("the manager has ended by itself", not processes.is_alive(manager) and "fatal" not in text, text)
        expect("the control plane is the same", {n: self.record(n) for n in self.servers} == self.servers, self.servers)

    def not_ready_from_the_start(self):
        # Tokens that the API server does not accept.
        run = Terminal(self.folder, "--", "--token-audiences=nobody")
        said = run.until("The manager's log: " + self.path("manager.log"))
        expect("which, why", "scope-instance is not ready: " in said, said)
        expect("it all runs", processes.is_alive(self.record("manager")) and self.kubectl("get", "configmap", "mine"), "")
        os.kill(run.process.pid, signal.SIGTERM)
        expect("SIGTERM does what Ctrl-C does", run.end()[0] == 0, run.text)

    def a_killed_manager_holds_the_lease_for_a_while(self):
        run = Terminal(self.folder)
        run.until("everything is ready")
        env = world.World(self.folder, Report(), lasting=True)
        env.metrics_port = int(re.search(r"http://127\.0\.0\.1:(\d+)/metrics", run.text).group(1))
        while run.process.poll() is None and not env.leads():
            pass
        os.kill(self.record("manager")["pid"], signal.SIGKILL)
        expect("it ends", run.end()[0] == 1, run.text)
        run = Terminal(self.folder)
        run.until("It waits for the Lease")
        run.until("it has the Lease")
        os.kill(run.process.pid, signal.SIGTERM)
        expect("it is stopped", run.end()[0] == 0, run.text)

    def a_manager_that_ends_by_itself(self):
        code, text = Terminal(self.folder, "--", "--no-such-flag").end()
        expect("exit 1 and the end of its log", code == 1 and "no-such-flag" in text.partition("The last lines of")[2]
               and "ended by itself" in text, (code, text))
        expect("the control plane is the same", {n: self.record(n) for n in self.servers} == self.servers, self.servers)

    def stop_removes_it(self):
        run = Terminal(self.folder)
        run.until("everything is ready")
        manager = self.record("manager")
        done = subprocess.run([RUN, "stop", "--dir", self.folder], text=True, capture_output=True, timeout=SECONDS)
        expect("stopped", done.returncode == 0 and "is removed" in done.stdout, done)
        code, text = run.end()
        expect("the run ends, and says why", code == 0 and "Stopped by hack/run stop." in text, (code, text))
        expect("nothing is left", not os.path.exists(self.folder) and not processes.is_alive(manager)
               and not any(map(processes.is_alive, self.servers.values())), self.folder)
        again = subprocess.run([RUN, "stop", "--dir", self.folder], text=True, capture_output=True)
        expect("once more is no mistake", again.returncode == 0 and "Nothing runs" in again.stdout, again)

    def other_folders_are_left_alone(self):
        os.makedirs(self.folder)
        with open(self.path("thesis.txt"), "w", encoding="utf-8") as f:
            f.write("x")
        for command in ([RUN, "stop"], [RUN]):
            done = subprocess.run([*command, "--dir", self.folder], text=True, capture_output=True)
            expect(f"{' '.join(command[1:]) or 'run'}: refused", done.returncode == 2 and "holds other things" in done.stderr, done)
        expect("it is there", os.path.exists(self.path("thesis.txt")), "")
        # Names that a person's folder may have, too.
        os.makedirs(self.path("cluster"))
        for name in ("mandate-manager", "run.json"):
            with open(self.path(name), "w", encoding="utf-8") as f:
                f.write('["x"]')
        done = subprocess.run([RUN, "stop", "--dir", self.folder], text=True, capture_output=True)
        expect("names that hack/run uses do not make the folder its own",
               done.returncode == 2 and os.path.exists(self.path("thesis.txt")), done)


def expect(what, holds, seen):
    if not holds:
        raise Failed(f"{what}: saw {seen}")
    print(f"  {what}", flush=True)


ALL = ["the_first_run_starts_everything", "a_second_run_restarts_the_manager_alone", "a_marker_may_name_any_namespace",
       "the_crds_are_those_of_the_proto_files",
       "a_component_that_is_not_ready_is_named_and_all_goes_on", "ctrl_c_stops_the_manager_alone", "not_ready_from_the_start",
       "a_killed_manager_holds_the_lease_for_a_while", "a_manager_that_ends_by_itself", "stop_removes_it", "other_folders_are_left_alone"]


def main(argv):
    if argv in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    if argv:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):  # as `finally` below wants them
        signal.signal(number, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    folder = tempfile.mkdtemp(prefix="mandate-run-test-")
    test, passed = Test(folder), 0
    try:
        # Each goes on where the one before ended.
        for name in ALL:
            print(name, flush=True)
            try:
                getattr(test, name)()
            except (Failed, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as failure:
                print(f"FAILED {name}: {failure}", flush=True)
                break
            passed += 1
    finally:
        subprocess.run([RUN, "stop", "--dir", test.folder], capture_output=True)
        for terminal in (getattr(test, "first", None), getattr(test, "second", None)):
            if terminal is not None and terminal.process.poll() is None:
                terminal.process.terminate()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{passed} passed, {len(ALL) - passed} failed")
    return int(passed < len(ALL))
