"""A world: a control plane, our manifests in it, the manager's token, and the manager itself."""
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from mandate_dev import bazel, world_file
from mandate_dev.clusters import Cluster
from mandate_dev.controlplane.components import new_port
from mandate_dev.paths import ROOT
from mandate_dev.processes import die_with_parent
from mandate_dev.report import Report, StepFailed

NAMESPACE = "mandate-system"
BASE = "mandate-manager"
# Seconds: long enough for two cores with ten times the load; every wait ends as soon as its condition holds.
PATIENCE = 300
# Such a machine may be late by this number of seconds.
LOADED = 40


class World:
    """A control plane and a manager in a folder, which start() fills and stop() ends.

    lasting: the control plane outlives this process, and one that already runs in the folder is used.
    root: the tree that is built and installed. Not thread-safe.
    """

    namespace = NAMESPACE
    program = "//cmd/mandate-manager"
    base = BASE
    # Pathspecs of the components' sources, and of the .proto files of their kinds. The operator of hack/demo/scoped is not
    # part of the product.
    sources: tuple[str, ...] = ("controllers", "webhooks", "manager", ":!controllers/access_observer", ":!controllers/memcached")
    protos = "api/*.proto"
    further_protos: tuple[str, ...] = ()  # folders of the files that those import
    enabled = "metrics.enabled"  # the components of plain manifests that have no controllers

    def __init__(self, folder: str, report: Report, identity_mode: str = "token", lasting: bool = False,
                 root: str = ROOT) -> None:
        self.identity_mode = identity_mode
        self.lasting = lasting
        self.folder = os.path.abspath(folder)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self.report = report
        self.root = self.proto_root = root
        self.cluster = Cluster(os.path.join(self.folder, "cluster"), lasting, root)
        self.audit_log = self.cluster.audit_log
        self.kept_audit_log = os.path.join(self.folder, "audit.log")
        self.manager_log = os.path.join(self.folder, "manager.log")
        self.token_file = os.path.join(self.folder, "base-token")
        self.manager_kubeconfig = os.path.join(self.folder, "manager.kubeconfig")
        self.manager_program = os.path.join(self.folder, os.path.basename(self.program).split(":")[-1])
        self.rbacgen = os.path.join(self.folder, "rbacgen")
        self.kubernetes_protos = ""  # known once it is built
        self.health_port = new_port([])
        self.metrics_port = new_port([self.health_port])
        self._manager: subprocess.Popen[bytes] | None = None

    # Starting.

    def prepare(self) -> None:
        self.report.section("Setting up")
        self._build()
        self._start_cluster()
        self._install()
        self.write_credentials()

    def start(self) -> None:
        self.prepare()
        how = "" if self.identity_mode == "token" else f", --identity-mode={self.identity_mode}"
        self.report.step(f"{os.path.basename(self.manager_program)} starts with base's token file and nothing else{how}")
        self.start_manager()
        self.await_ready()
        self.report.held(f"ready at http://127.0.0.1:{self.health_port}/readyz")

    def run(self, command: list[str], **options: Any) -> str:
        """Runs a command, and returns its output if it is piped. Raises StepFailed if it fails. cwd is the tree by
        default."""
        options.setdefault("cwd", self.root)
        done: subprocess.CompletedProcess[str] = subprocess.run(command, text=True, **options)
        if done.returncode != 0:
            raise StepFailed(self.report.current, f"{' '.join(command[:3])} … to exit 0",
                             f"exit {done.returncode}\n{done.stderr or ''}")
        return done.stdout or ""

    def _build(self) -> None:
        name = os.path.basename(self.manager_program)
        self.report.step(f"build {name} and rbacgen (minutes the first time, then seconds)")
        try:
            built, info = self.build_programs()
        except subprocess.SubprocessError as error:
            raise StepFailed(self.report.current, "bazel build to succeed", error) from None
        self.kubernetes_protos = os.path.join(info["output_base"], "external", "kubernetes")
        # Copies the programs, because a build must not replace the programs of a running world.
        for target, path in ((self.manager_program, built), (self.rbacgen, os.path.join(info["bazel-bin"], "rbacgen/rbacgen"))):
            shutil.copyfile(path, target + ".new")
            os.chmod(target + ".new", 0o755)
            os.replace(target + ".new", target)  # the existing program may be running
        self.report.held("built")

    def build_programs(self) -> tuple[str, dict[str, str]]:
        """Builds the manager's program and rbacgen. Returns the program's path, and bazel.info() of the tree."""
        bazel.build(self.program, "//rbacgen", "@kubernetes//:protos", root=self.root)
        info = bazel.info(root=self.root)
        folder = self.program.removeprefix("//").split(":")[0]
        return os.path.join(info["bazel-bin"], folder, os.path.basename(self.manager_program)), info

    def _start_cluster(self) -> None:
        self.report.step("a private control plane: etcd, kube-apiserver, kube-controller-manager, on loopback")
        # Some clusters enable OwnerReferencesPermissionEnforcement; our roles must suffice there, too.
        self.up("--apiserver-flag=--enable-admission-plugins=OwnerReferencesPermissionEnforcement")

    def up(self, *flags: str) -> None:
        try:
            self.cluster.up(*flags)
        except subprocess.SubprocessError as error:
            raise StepFailed(self.report.current, "the control plane to start", error) from None
        self.report.held("up")

    def _install(self) -> None:
        self.report.step("an administrator installs the CRDs, the ServiceAccounts and their generated roles")
        chart = self.chart()
        self.make_namespaces(chart)
        if self.proto_files():
            self.kubectl("apply", "-f", self.make_crds())
        self.kubectl("apply", "-f", "-", stdin=chart)
        self.report.held("installed")

    def make_namespaces(self, manifests: str) -> None:
        """Creates the namespaces that the manifests need: a marker with namespace= becomes a Role there."""
        for namespace in sorted({self.namespace, *re.findall(r"^  namespace: \"?([-a-z0-9]+)\"?$", manifests, re.MULTILINE)}):
            if not self.kubectl("get", "namespace", namespace, "--ignore-not-found", "-o", "name"):
                self.kubectl("create", "namespace", namespace)

    def make_crds(self) -> str:
        """Returns a folder with the CRDs of the current .proto files. The chart's CRDs may be older; the API server
        would then drop the fields that they lack."""
        protos = self.proto_files()
        folder = os.path.join(self.folder, "crds")
        shutil.rmtree(folder, ignore_errors=True)
        paths = [f"--proto-path={path}" for path in (".", self.kubernetes_protos, *self.further_protos)]
        self.run([self.rbacgen, "crd", *paths, f"--out-dir={folder}", *protos], cwd=self.proto_root, stdout=subprocess.DEVNULL)
        return folder

    def proto_files(self) -> list[str]:
        """Returns the .proto files of the components' kinds, relative to proto_root."""
        files = self.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", self.protos],
                         cwd=self.proto_root, stdout=subprocess.PIPE).splitlines()
        return [file for file in files if os.path.exists(os.path.join(self.proto_root, file))]

    def marker_files(self) -> list[str]:
        """Returns the sources that declare components, relative to the tree."""
        return self.run(["git", "grep", "--untracked", "-lE", "^// *\\+mandate:component:", "--", *self.sources],
                        stdout=subprocess.PIPE).split()

    def chart(self, *flags: str) -> str:
        """Returns the generated part of the chart as plain manifests, including components not yet added to git."""
        # Webhooks that no manager serves would deny every write that they cover.
        given = any(flag.startswith("--with=") for flag in flags)
        some = [f"--with={self.enabled}"] if self.enabled and not given else []
        # The sources must not follow a flag that takes a list, because it would take them, too.
        return self.run([self.rbacgen, "chart", *flags, *some, "--format=yaml", f"--namespace={self.namespace}", f"--base-name={self.base}",
                         f"--identity-mode={self.identity_mode}", *self.marker_files()],
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def write_credentials(self) -> None:
        """Writes the files that the kubelet would mount into the manager's pod: a token, and the server's address."""
        # The kubelet would renew the token; here it is not renewed.
        life = "--duration=720h" if self.lasting else "--duration=2h"
        token = self.kubectl("create", "token", self.base, "-n", self.namespace, life)
        self.write_private(self.token_file, token)
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "demo",
            "clusters": [{"name": "demo", "cluster": {
                "server": self.cluster.server(), "certificate-authority": self.cluster.ca_file}}],
            "users": [{"name": self.base, "user": {"tokenFile": self.token_file}}],
            "contexts": [{"name": "demo", "context": {"cluster": "demo", "user": self.base}}],
        }
        self.write_private(self.manager_kubeconfig, json.dumps(config))

    @staticmethod
    def write_private(path: str, text: str) -> None:
        world_file.write_private(path, text)

    # The manager.

    def start_manager(self, *flags: str) -> None:
        self._manager = self.spawn_manager(self.health_port, self.metrics_port, *(flags or ["-v=1"]))
        self._write_world()

    @property
    def manager(self) -> subprocess.Popen[bytes]:
        assert self._manager is not None, "start_manager() comes first"
        return self._manager

    def spawn_manager(self, health_port: int, metrics_port: int, *flags: str) -> subprocess.Popen[bytes]:
        """Starts one more manager process, which the caller ends."""
        with open(self.manager_log, "ab") as log:
            return subprocess.Popen(
                [self.manager_program, f"--kubeconfig={self.manager_kubeconfig}", f"--namespace={self.namespace}",
                 f"--identity-mode={self.identity_mode}", f"--health-probe-bind-address=127.0.0.1:{health_port}",
                 f"--metrics-bind-address=127.0.0.1:{metrics_port}", *flags],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent(),
                start_new_session=self.lasting)  # a Ctrl-C in the terminal must reach only hack/run

    def stop_manager(self) -> int:
        """Sends SIGTERM; returns the exit code."""
        self.manager.terminate()
        code = self.manager.wait(timeout=PATIENCE)
        self._write_world()
        return code

    def await_manager_end(self) -> int:
        """Waits until it ends by itself; returns its exit code."""
        return self.manager.wait(timeout=PATIENCE)

    def abandon_manager(self) -> None:
        """Sends SIGKILL, as if a node died."""
        self.manager.kill()
        self.manager.wait()
        self._write_world()

    def kill_manager(self) -> None:
        """SIGKILL, and started again."""
        self.abandon_manager()
        self.start_manager()

    def kill_apiserver(self) -> None:
        """SIGKILL, and started again."""
        self.cluster.restart("apiserver", "KILL")
        self._write_world()

    def _write_world(self) -> None:
        world_file.write(self, self.manager.pid if self.manager_is_running() else None)

    def manager_is_running(self) -> bool:
        return self._manager is not None and self._manager.poll() is None

    def leads(self) -> bool:
        """Whether the manager has the Lease."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=5) as answer:
                return bool(re.search(rb"^leader_election_master_status\{.*\} 1$", answer.read(), re.MULTILINE))
        except OSError:
            return False

    def readyz(self, port: int | None = None) -> tuple[int, str]:
        """Returns (code, text) of /readyz?verbose; (0, reason) without an answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port or self.health_port}/readyz?verbose", timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def is_ready(self, port: int | None = None) -> tuple[bool, str]:
        """Returns (whether it is ready, the text of /readyz)."""
        code, text = self.readyz(port)
        return code == 200, text

    def await_ready(self) -> None:
        def ready() -> tuple[bool, str]:
            if not self.manager_is_running():
                raise StepFailed(self.report.current, "the manager to run", f"exit {self.manager.returncode}")
            return self.is_ready()
        self.eventually("the manager is ready", ready)

    def manager_pid(self) -> int:
        return self.manager.pid

    def manager_ends_within(self, seconds: float) -> bool:
        try:
            self.manager.wait(timeout=seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    def manager_exit_code(self) -> int:
        """Returns the exit code of a manager that has ended."""
        return self.manager.returncode

    # Looking.

    def kubectl(self, *arguments: str, stdin: str | None = None, check: bool = True) -> str:
        done = self.cluster.try_kubectl(*arguments, stdin=stdin)
        if check and done.returncode != 0:
            raise StepFailed(self.report.current, f"kubectl {' '.join(arguments)} to succeed", done.stderr.strip())
        return done.stdout

    def get(self, *arguments: str) -> Any:
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def can(self, who: str, verb: str, resource: str, namespace: str) -> bool:
        answer = self.kubectl("auth", "can-i", verb, resource, "-n", namespace, f"--as={who}", check=False)
        return answer.strip() == "yes"

    def eventually(self, what: str, condition: Callable[[], tuple[Any, Any]], patience: float = PATIENCE) -> None:
        """Calls `condition`, which returns (holds, seen), until it holds."""
        deadline = time.monotonic() + patience
        while True:
            try:
                holds, seen = condition()
            except StepFailed as failure:  # the API server may be restarting
                if not self.manager_is_running():
                    raise
                holds, seen = False, failure.seen
            if holds:
                self.report.held(what)
                return
            if time.monotonic() > deadline:
                raise StepFailed(self.report.current, what, seen)
            time.sleep(0.1)

    # Ending.

    def show_logs(self, lines: int = 25) -> None:
        if os.path.exists(self.manager_log):
            with open(self.manager_log, encoding="utf-8", errors="replace") as f:
                tail = f.readlines()[-lines:]
            self.report.say(f"\nThe last lines of {self.manager_log}:")
            self.report.say("".join(tail))

    def end_manager(self, grace_seconds: float = 40) -> None:
        """Sends SIGTERM, then SIGKILL. Does nothing if it has ended, or was never started."""
        if self.manager_is_running():
            self.manager.terminate()
            if not self.manager_ends_within(grace_seconds):
                self.manager.kill()
                self.manager.wait()
            self._write_world()

    def stop(self, keep_logs: bool) -> None:
        """Ends all programs. keep_logs: the folder stays, with the manager's log and the API server's audit log."""
        self.end_manager()
        if os.path.isdir(self.cluster.folder):
            # `down` removes the cluster's folder; the audit log is the demo's result.
            if keep_logs and os.path.exists(self.audit_log):
                shutil.copyfile(self.audit_log, self.kept_audit_log)
            self.cluster.down()
        for path in (self.token_file, self.manager_kubeconfig, self.manager_program, self.rbacgen,
                     os.path.join(self.folder, world_file.NAME)):
            if os.path.exists(path):
                os.remove(path)
        shutil.rmtree(os.path.join(self.folder, "crds"), ignore_errors=True)
        if not keep_logs:
            shutil.rmtree(self.folder, ignore_errors=True)
