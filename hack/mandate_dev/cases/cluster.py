"""Tests of hack/cluster on real control planes.

usage: hack/cluster_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

The last line is `N passed, N failed`; the exit code is 0 only when nothing failed.
"""
import concurrent.futures
import json
import os
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import tempfile
import time
import unittest
import urllib.request
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from mandate_dev import processes, runner
from mandate_dev.controlplane import components
from mandate_dev.paths import TOOLS

CLUSTER = os.path.join(TOOLS, "cluster")


def run(*argv: str, timeout: float = 900, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, **options)


def cluster(command: str, directory: str, *args: str) -> subprocess.CompletedProcess[str]:
    return run(CLUSTER, command, "--dir", directory, *args)


def kubectl(directory: str, *args: str) -> subprocess.CompletedProcess[str]:
    # KUBECONFIG of the caller is removed: the program in the folder must find its own.
    env = {k: v for k, v in os.environ.items() if k not in ("KUBECONFIG", "KUBECACHEDIR")}
    return run(os.path.join(directory, "bin", "kubectl"), *args, env=env)


def living_in(directory: str) -> list[int]:
    """Returns all processes whose working directory is the folder, even if it was removed."""
    found = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            where = os.readlink(f"/proc/{pid}/cwd").removesuffix(" (deleted)")
        except OSError:
            continue
        if where == directory and processes.start_time(int(pid)) is not None:
            found.append(int(pid))
    return found


def state_of(directory: str) -> Any:
    try:
        with open(os.path.join(directory, components.STATE_FILE), encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        return {}


class ClusterTest(unittest.TestCase):
    def setUp(self) -> None:
        self.root = tempfile.mkdtemp(prefix="cluster-test-")
        self.dir = os.path.join(self.root, "c")
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.addCleanup(lambda: cluster("down", self.dir))

    def ok(self, done: subprocess.CompletedProcess[str]) -> str:
        self.assertEqual(done.returncode, 0, f"{done.args}:\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def eventually(self, condition: Callable[[], Any], what: str, seconds: float = 300) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"not within {seconds} s: {what}")
            time.sleep(0.05)

    def gone(self, folder_too: bool = True) -> None:
        self.eventually(lambda: not living_in(self.dir), "no process left")
        if folder_too:
            self.eventually(lambda: not os.path.exists(self.dir), "no folder left")

    def misuse(self, done: Any, *words: str) -> None:
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def start_in_foreground(self, *prefix: Any) -> Any:
        child = subprocess.Popen([*prefix, CLUSTER, "up", "--foreground", "--dir", self.dir], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def end() -> None:
            child.kill()
            child.wait()

        self.addCleanup(end)
        self.eventually(lambda: state_of(self.dir).get("phase") == "ready", "up")
        self.assertEqual(len(living_in(self.dir)), 4)
        return child


class SideBySide(ClusterTest):
    """Two clusters at once, one in a folder with an awkward and a long name."""

    base: ClassVar[str]
    a: ClassVar[str]
    b: ClassVar[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.base = tempfile.mkdtemp(prefix="cluster-test-")
        cls.a, cls.b = os.path.join(cls.base, "a"), os.path.join(cls.base, "b, with 'quotes' $HOME " + "x" * 120)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for done in pool.map(lambda d: cluster("up", d), (cls.a, cls.b)):
                assert done.returncode == 0, done.stdout + done.stderr

    @classmethod
    def tearDownClass(cls) -> None:
        for directory in (cls.a, cls.b):
            cluster("down", directory)
        shutil.rmtree(cls.base)

    def test_both_are_ready_and_apart(self) -> None:
        for d in (self.a, self.b):
            self.assertEqual(self.ok(kubectl(d, "get", "--raw", "/readyz")), "ok")
            self.ok(cluster("status", d))
        self.ok(kubectl(self.a, "create", "namespace", "only-in-a"))
        self.assertIn("NotFound", kubectl(self.b, "get", "namespace", "only-in-a").stderr)

    def test_paths_and_files(self) -> None:
        kubeconfig = self.ok(cluster("kubeconfig", self.b))
        self.assertEqual(kubeconfig, os.path.join(self.b, "kubeconfig"))
        self.assertEqual(self.ok(cluster("kubectl-path", self.b)), os.path.join(self.b, "bin/kubectl"))
        with open(os.path.join(self.b, "server"), encoding="ascii") as f:
            server = f.read().strip()
        self.assertEqual(server, f"https://127.0.0.1:{state_of(self.b)['ports']['apiserver']}")
        trust = ssl.create_default_context(cafile=os.path.join(self.b, "ca.crt"))
        with urllib.request.urlopen(server + "/version", context=trust, timeout=60) as answer:
            self.assertRegex(json.load(answer)["gitVersion"], r"^v1\.\d+\.\d+$")
        self.assertEqual(stat.S_IMODE(os.stat(self.b).st_mode), 0o700)
        for name in ("kubeconfig", "pki/ca.key", "pki/sa.key", "pki/admin.key", "pki/etcd.key", "audit.log"):
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.b, name)).st_mode), 0o600, name)

    def test_it_listens_on_loopback_only(self) -> None:
        links = [f"/proc/{pid}/fd/{fd}" for pid in living_in(self.a) for fd in os.listdir(f"/proc/{pid}/fd")]
        inodes = {os.readlink(link) for link in links if os.path.lexists(link)}
        listening = set()
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            with open(table, encoding="ascii") as f:
                rows = [line.split() for line in f.readlines()[1:]]
            listening |= {row[1].split(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in inodes}
        self.assertEqual(listening, {"0100007F"})

    def test_a_token_and_rbac(self) -> None:
        token = self.ok(kubectl(self.a, "create", "token", "default"))
        who = json.loads(self.ok(kubectl(self.a, "auth", "whoami", "-o", "json", "--token", token,
                                         "--kubeconfig=/dev/null",
                                         "--server", components.server_url(state_of(self.a)),
                                         "--certificate-authority", os.path.join(self.a, "ca.crt"))))
        self.assertEqual(who["status"]["userInfo"]["username"], "system:serviceaccount:default:default")
        account = "--as=system:serviceaccount:default:default"
        self.assertEqual(kubectl(self.a, "auth", "can-i", "get", "secrets", account).stdout.strip(), "no")
        self.ok(kubectl(self.a, "create", "rolebinding", "edit", "--clusterrole=edit",
                        "--serviceaccount=default:default"))
        self.eventually(lambda: kubectl(self.a, "auth", "can-i", "get", "secrets", account).stdout.strip() == "yes",
                        "allowed by its RoleBinding")
        self.assertEqual(self.ok(kubectl(self.a, "auth", "can-i", "*", "*")), "yes")

    def test_the_audit_log(self) -> None:
        self.ok(kubectl(self.a, "create", "namespace", "audited"))
        with open(os.path.join(self.a, "audit.log"), encoding="utf-8") as f:
            events = [json.loads(line) for line in f]
        made = [e for e in events if e["verb"] == "create" and e.get("objectRef", {}).get("name") == "audited"]
        self.assertEqual([(e["user"]["username"], e["level"], e["stage"], e["responseStatus"]["code"]) for e in made],
                         [("admin", "Metadata", "ResponseComplete", 201)])
        self.assertFalse([e for e in events if e["stage"] == "RequestReceived"])

    def test_killing_the_api_server_keeps_the_data(self) -> None:
        self.ok(kubectl(self.a, "create", "configmap", "kept", "--from-literal=k=v"))
        before = state_of(self.a)["components"]["kube-apiserver"]
        said = self.ok(cluster("restart", self.a, "apiserver", "--signal", "KILL"))
        self.assertIn("stopped by SIGKILL", said)
        after = state_of(self.a)["components"]["kube-apiserver"]
        self.assertNotEqual(before["pid"], after["pid"])
        self.assertFalse(processes.is_alive(before))
        self.assertEqual(self.ok(kubectl(self.a, "get", "configmap", "kept", "-o", "jsonpath={.data.k}")), "v")
        self.ok(cluster("status", self.a))

    def test_stop_start_and_a_crash(self) -> None:
        self.ok(cluster("stop", self.a, "apiserver"))
        down = cluster("status", self.a)
        self.assertEqual(down.returncode, 1)
        self.assertRegex(down.stdout, r"kube-apiserver +- +stopped")
        self.ok(cluster("start", self.a, "apiserver"))
        self.assertIn("running already", self.ok(cluster("start", self.a, "apiserver")))
        os.kill(state_of(self.a)["components"]["kube-controller-manager"]["pid"], signal.SIGKILL)
        self.eventually(lambda: "ended by SIGKILL" in cluster("status", self.a).stdout, "the crash in the table")
        self.ok(cluster("start", self.a, "controller-manager"))
        self.ok(cluster("restart", self.a, "etcd", "--signal", "KILL"))
        self.eventually(lambda: cluster("status", self.a).returncode == 0, "healthy again")

    def test_up_again_changes_nothing(self) -> None:
        pids = living_in(self.a)
        self.assertIn("already running", self.ok(cluster("up", self.a)))
        self.assertEqual(living_in(self.a), pids)
        self.misuse(cluster("up", self.a, "--port", "1"), "is on port")
        self.misuse(cluster("up", self.a, "--apiserver-flag=--v=3"), "other API server flags")


class Ends(ClusterTest):
    """A cluster leaves no processes and no files behind, however it ends."""

    def test_down(self) -> None:
        self.ok(cluster("up", self.dir))
        self.assertEqual(len(living_in(self.dir)), 4)
        self.ok(cluster("down", self.dir))
        self.assertEqual((living_in(self.dir), os.listdir(self.root)), ([], []))
        self.assertIn("no cluster", self.ok(cluster("down", self.dir)))
        for command in ("status", "kubeconfig", "kubectl-path"):
            self.assertEqual(cluster(command, self.dir).returncode, 1)

    def test_down_keep_and_up_go_on_with_the_data(self) -> None:
        self.ok(cluster("up", self.dir, "--apiserver-flag=--v=1"))
        self.ok(kubectl(self.dir, "create", "namespace", "kept"))
        self.ok(cluster("down", self.dir, "--keep"))
        self.gone(folder_too=False)
        self.assertIn("going on", self.ok(cluster("up", self.dir)))
        self.ok(kubectl(self.dir, "get", "namespace", "kept"))
        self.assertEqual(state_of(self.dir)["apiserver_flags"], ["--v=1"])

    def test_foreground_killed(self) -> None:
        child = self.start_in_foreground()
        child.kill()
        child.wait()
        self.gone(folder_too=False)
        self.assertIn("no cluster is running", cluster("status", self.dir).stderr)
        # The data was temporary: the next cluster starts without it.
        self.assertIn("certificates", self.ok(cluster("up", self.dir)))

    def test_foreground_stopped(self) -> None:
        for sig in (signal.SIGTERM, signal.SIGINT):
            child = self.start_in_foreground()
            child.send_signal(sig)
            self.assertEqual(child.wait(300), 0)
            self.gone()

    def test_foreground_when_its_parent_is_killed(self) -> None:
        child = self.start_in_foreground("sh", "-c", '"$@"; :', "sh")  # the shell stays as the parent
        child.kill()
        child.wait()
        self.gone()

    def test_watched_process_ends(self) -> None:
        with subprocess.Popen(["sleep", "600"]) as watched:
            self.addCleanup(watched.kill)
            self.ok(cluster("up", self.dir, "--watch-pid", str(watched.pid)))
            self.ok(cluster("status", self.dir))
            watched.kill()
        self.gone()

    def test_up_killed_half_way(self) -> None:
        child = subprocess.Popen([CLUSTER, "up", "--dir", self.dir], stdout=subprocess.DEVNULL)
        self.eventually(lambda: "kube-apiserver" in state_of(self.dir).get("components", {}), "half way")
        child.kill()
        child.wait()
        self.gone()

    def test_two_ups_make_one_cluster(self) -> None:
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for done in pool.map(lambda _: cluster("up", self.dir), range(3)):
                self.ok(done)
        self.assertEqual(len(living_in(self.dir)), 4)

    def test_a_component_that_does_not_start(self) -> None:
        done = cluster("up", self.dir, "--apiserver-flag=--no-such-flag")
        self.assertEqual(done.returncode, 1)
        self.assertIn("kube-apiserver ended with exit code", done.stderr)
        self.assertIn("unknown flag: --no-such-flag", done.stderr)
        self.gone()


class Assets(ClusterTest):
    def test_programs_of_KUBEBUILDER_ASSETS(self) -> None:
        """A folder of links, without kube-controller-manager, as envtest's."""
        env = {**os.environ, "KUBEBUILDER_ASSETS": ""}
        own = self.ok(run(os.path.join(TOOLS, "controlplane/build"), timeout=3600, env=env))
        env["KUBEBUILDER_ASSETS"] = os.path.join(self.root, "assets")
        os.mkdir(env["KUBEBUILDER_ASSETS"])
        for name in ("etcd", "kube-apiserver", "kubectl"):
            os.symlink(os.path.join(own, name), os.path.join(env["KUBEBUILDER_ASSETS"], name))
        done = run(CLUSTER, "up", "--dir", self.dir, "--watch-pid", str(os.getpid()), env=env)
        self.ok(done)
        self.assertIn("(KUBEBUILDER_ASSETS) has no kube-controller-manager", done.stderr)
        programs = state_of(self.dir)["bin"]
        self.addCleanup(shutil.rmtree, os.path.dirname(programs))  # it is in the cache folder
        self.assertEqual({name: os.path.dirname(os.readlink(os.path.join(programs, name))) for name in components.NAMES},
                         {name: own if name == "kube-controller-manager" else env["KUBEBUILDER_ASSETS"] for name in components.NAMES})
        self.assertEqual(self.ok(kubectl(self.dir, "get", "--raw", "/readyz")), "ok")


class Misuse(ClusterTest):
    def test_wrong_calls(self) -> None:
        self.misuse(run(CLUSTER), "COMMAND")
        self.misuse(run(CLUSTER, "frob"), "frob")
        self.misuse(cluster("up", self.dir, "--frob"), "--frob")
        self.misuse(cluster("up", self.dir, "--port", "70000"), "70000")
        self.misuse(cluster("up", self.dir, "--port", "x"), "x")
        self.misuse(cluster("up", self.dir, "--apiserver-flag=v"), "start with --")
        self.misuse(cluster("up", self.dir, "--watch-pid", "0"), "no process 0")
        self.misuse(cluster("restart", self.dir, "kubelet"), "kubelet")
        self.misuse(cluster("restart", self.dir, "apiserver", "--signal", "STOP"), "STOP")
        self.misuse(run(os.path.join(TOOLS, "controlplane/build"), "--frob"), "--frob")
        self.assertFalse(os.path.exists(self.dir))

    def test_port_taken(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.misuse(cluster("up", self.dir, "--port", str(s.getsockname()[1])), "is taken")
        self.assertFalse(os.path.exists(self.dir))

    def test_folder_of_something_else(self) -> None:
        with open(os.path.join(self.root, "precious"), "w", encoding="ascii"):
            pass
        for command in ("up", "down", "status"):
            self.misuse(cluster(command, self.root), "files that are not a cluster")
        self.assertEqual(os.listdir(self.root), ["precious"])

    def test_help(self) -> None:
        self.assertIn("usage: hack/cluster", self.ok(run(CLUSTER, "--help")))


class Processes(ClusterTest):
    def test_a_pid_handed_out_again_is_not_signalled(self) -> None:
        with subprocess.Popen(["sleep", "600"]) as other:
            self.addCleanup(other.kill)
            rec = processes.record(other.pid)
            for wrong in ({**rec, "start": rec["start"] - 1}, {**rec, "boot": "another"}, {"state": "stopped"}, None):
                self.assertTrue(processes.kill(wrong))
            self.assertTrue(processes.is_alive(rec))
            self.assertTrue(processes.kill(rec))
            self.assertFalse(processes.is_alive(rec))


CASES = [SideBySide, Ends, Assets, Misuse, Processes]


def main(argv: Sequence[str]) -> int:
    options = runner.Parser("hack/cluster_test", __doc__).parse_args(argv)
    # The first build takes minutes, longer than the timeout of a case; here its progress is shown, too.
    if not options.list and subprocess.run([os.path.join(TOOLS, "controlplane", "build")], stdout=subprocess.DEVNULL).returncode:
        print("0 passed, 1 failed")
        return 1
    return runner.run("hack/cluster_test", CASES, options)
