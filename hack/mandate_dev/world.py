"""The demo's surroundings: control plane, manifests, the manager's token, and the manager itself."""
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

from mandate_dev.controlplane.components import new_port
from mandate_dev.paths import ROOT
from mandate_dev.processes import die_with_parent
from mandate_dev.report import StepFailed

NAMESPACE = "mandate-system"
BASE = "mandate-manager"
# Long enough for two cores with ten times the work; every wait ends as soon as its condition holds.
PATIENCE = 300
# How many seconds later than promised such a machine may be.
LOADED = 40


class World:
    """lasting: the control plane outlives this process, and one that runs in the folder already is used."""

    def __init__(self, folder, report, identity_mode="token", lasting=False, root=ROOT):
        self.identity_mode = identity_mode
        self.lasting = lasting
        self.folder = os.path.abspath(folder)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self.report = report
        self.root = root
        self.cluster_folder = os.path.join(self.folder, "cluster")
        self.admin_kubeconfig = os.path.join(self.cluster_folder, "kubeconfig")
        self.kubectl_folder = os.path.join(self.cluster_folder, "bin")
        self.audit_log = os.path.join(self.cluster_folder, "audit.log")
        self.kept_audit_log = os.path.join(self.folder, "audit.log")
        self.manager_log = os.path.join(self.folder, "manager.log")
        self.token_file = os.path.join(self.folder, "base-token")
        self.manager_kubeconfig = os.path.join(self.folder, "manager.kubeconfig")
        self.manager_program = self.rbacgen = self._kubernetes_protos = None  # built later
        self.health_port = new_port([])
        self.metrics_port = new_port([self.health_port])
        self._manager = None

    # Starting.

    def prepare(self):
        self.report.section("Setting up")
        self._build()
        self._start_cluster()
        self._install()
        self.write_credentials()

    def start(self):
        self.prepare()
        how = "" if self.identity_mode == "token" else f", --identity-mode={self.identity_mode}"
        self.report.step(f"mandate-manager starts with base's token file and nothing else{how}")
        self.start_manager()
        self.await_ready()
        self.report.held(f"ready at http://127.0.0.1:{self.health_port}/readyz")

    def _run(self, command, **kwargs):
        done = subprocess.run(command, text=True, **{"cwd": self.root, **kwargs})
        if done.returncode != 0:
            raise StepFailed(self.report.current, f"{' '.join(command[:3])} … to exit 0",
                             f"exit {done.returncode}\n{done.stderr or ''}")
        return done.stdout

    def _build(self):
        self.report.step("build mandate-manager and rbacgen (minutes the first time, then seconds)")
        targets = ["//cmd/mandate-manager", "//rbacgen", "@kubernetes//:protos"]
        self._run(["hack/bazel", "build", *targets], stderr=None)
        info = self._run(["hack/bazel", "info", "bazel-bin", "output_base"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        info = dict(line.split(": ", 1) for line in info.splitlines())
        self._kubernetes_protos = os.path.join(info["output_base"], "external", "kubernetes")
        # Copies: a build meanwhile must not pull the programs away from under the demo.
        for name, path in (("mandate-manager", "cmd/mandate-manager/mandate-manager"), ("rbacgen", "rbacgen/rbacgen")):
            target = os.path.join(self.folder, name)
            shutil.copyfile(os.path.join(info["bazel-bin"], path), target + ".new")
            os.chmod(target + ".new", 0o755)
            os.replace(target + ".new", target)  # the one that is there may be running
        self.manager_program = os.path.join(self.folder, "mandate-manager")
        self.rbacgen = os.path.join(self.folder, "rbacgen")
        self.report.held("built")

    def _start_cluster(self):
        self.report.step("a private control plane: etcd, kube-apiserver, kube-controller-manager, on loopback")
        # OwnerReferencesPermissionEnforcement: some clusters have it on; our roles must do there too.
        watch = [] if self.lasting else ["--watch-pid", str(os.getpid())]
        self._run(["hack/cluster", "up", "--dir", self.cluster_folder, *watch,
                   "--apiserver-flag=--enable-admission-plugins=OwnerReferencesPermissionEnforcement"])
        self.report.held("up")

    def _install(self):
        self.report.step("an administrator installs the CRDs, the ServiceAccounts and their generated roles")
        chart = self.chart()
        self.make_namespaces(chart)
        self.kubectl("apply", "-f", self.make_crds())
        self.kubectl("apply", "-f", "-", stdin=chart)
        self.report.held("installed")

    def make_namespaces(self, manifests):
        """Those that the manifests need: a marker with namespace= becomes a Role there."""
        for namespace in sorted({NAMESPACE, *re.findall(r"^  namespace: \"?([-a-z0-9]+)\"?$", manifests, re.MULTILINE)}):
            if not self.kubectl("get", "namespace", namespace, "--ignore-not-found", "-o", "name"):
                self.kubectl("create", "namespace", namespace)

    def make_crds(self):
        """The folder of the CRDs that the .proto files describe now. Those of the chart may be older: then the API server
        would drop the fields that they lack."""
        files = self._run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "api/*.proto"],
                          stdout=subprocess.PIPE).splitlines()
        protos = [file for file in files if os.path.exists(os.path.join(self.root, file))]
        folder = os.path.join(self.folder, "crds")
        shutil.rmtree(folder, ignore_errors=True)
        self._run([self.rbacgen, "crd", "--proto-path=.", f"--proto-path={self._kubernetes_protos}", f"--out-dir={folder}",
                   *protos], stdout=subprocess.DEVNULL)
        return folder

    def chart(self, *flags):
        """The generated part of the chart, as plain manifests; of components not yet added to git, too."""
        sources = self._run(["git", "grep", "--untracked", "-lE", "^// *\\+mandate:component:", "--", "controllers",
                             "webhooks", "manager"], stdout=subprocess.PIPE).split()
        # A flag that takes a list would take the sources too, if they came right after it.
        return self._run([self.rbacgen, "chart", *flags, "--format=yaml", f"--namespace={NAMESPACE}",
                          f"--identity-mode={self.identity_mode}", *sources], stdout=subprocess.PIPE)

    def write_credentials(self):
        """What the kubelet would mount into the manager's pod: a token file, and where the server is."""
        # The kubelet would renew it; here nobody does.
        life = "--duration=720h" if self.lasting else "--duration=2h"
        token = self.kubectl("create", "token", BASE, "-n", NAMESPACE, life)
        self.write_private(self.token_file, token)
        with open(os.path.join(self.cluster_folder, "server"), encoding="utf-8") as f:
            server = f.read().strip()
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "demo",
            "clusters": [{"name": "demo", "cluster": {
                "server": server, "certificate-authority": os.path.join(self.cluster_folder, "ca.crt")}}],
            "users": [{"name": BASE, "user": {"tokenFile": self.token_file}}],
            "contexts": [{"name": "demo", "context": {"cluster": "demo", "user": BASE}}],
        }
        self.write_private(self.manager_kubeconfig, json.dumps(config))

    @staticmethod
    def write_private(path, text):
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as f:
            f.write(text)

    # The manager.

    def start_manager(self, *flags):
        self._manager = self.spawn_manager(self.health_port, self.metrics_port, *(flags or ["-v=1"]))

    def spawn_manager(self, health_port, metrics_port, *flags):
        """One more manager process, which the caller ends."""
        with open(self.manager_log, "ab") as log:
            return subprocess.Popen(
                [self.manager_program, f"--kubeconfig={self.manager_kubeconfig}", f"--namespace={NAMESPACE}",
                 f"--identity-mode={self.identity_mode}", f"--health-probe-bind-address=127.0.0.1:{health_port}",
                 f"--metrics-bind-address=127.0.0.1:{metrics_port}", *flags],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent(),
                start_new_session=self.lasting)  # a Ctrl-C in the terminal is hack/run's alone

    def stop_manager(self):
        """SIGTERM; the exit code."""
        self._manager.terminate()
        return self._manager.wait(timeout=PATIENCE)

    def await_manager_end(self):
        """Its exit code, when it ends by itself."""
        return self._manager.wait(timeout=PATIENCE)

    def abandon_manager(self):
        """SIGKILL: as a node that dies."""
        self._manager.kill()
        self._manager.wait()

    def kill_manager(self):
        """SIGKILL, and started anew."""
        self.abandon_manager()
        self.start_manager()

    def kill_apiserver(self):
        self._run(["hack/cluster", "restart", "apiserver", "--signal", "KILL", "--dir", self.cluster_folder],
                  stdout=subprocess.DEVNULL)

    def manager_is_running(self):
        return self._manager.poll() is None

    def leads(self):
        """Whether the manager has the Lease."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=5) as answer:
                return bool(re.search(rb"^leader_election_master_status\{.*\} 1$", answer.read(), re.MULTILINE))
        except OSError:
            return False

    def readyz(self, port=None):
        """(code, text) of /readyz?verbose; (0, reason) when nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port or self.health_port}/readyz?verbose", timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def is_ready(self, port=None):
        """(whether it is, what it says)."""
        code, text = self.readyz(port)
        return code == 200, text

    def await_ready(self):
        def ready():
            if not self.manager_is_running():
                raise StepFailed(self.report.current, "the manager to run", f"exit {self._manager.returncode}")
            return self.is_ready()
        self.eventually("the manager is ready", ready)

    def manager_pid(self):
        return self._manager.pid

    def manager_ends_within(self, seconds):
        try:
            self._manager.wait(timeout=seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    def manager_exit_code(self):
        """Of one that has ended."""
        return self._manager.returncode

    # Looking.

    def kubectl(self, *arguments, stdin=None, check=True):
        done = subprocess.run([os.path.join(self.kubectl_folder, "kubectl"), *arguments], input=stdin, text=True,
                              capture_output=True, env={**os.environ, "KUBECONFIG": self.admin_kubeconfig})
        if check and done.returncode != 0:
            raise StepFailed(self.report.current, f"kubectl {' '.join(arguments)} to succeed", done.stderr.strip())
        return done.stdout

    def get(self, *arguments):
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def can(self, who, verb, resource, namespace):
        answer = self.kubectl("auth", "can-i", verb, resource, "-n", namespace, f"--as={who}", check=False)
        return answer.strip() == "yes"

    def eventually(self, what, condition, patience=PATIENCE):
        """Asks `condition` for (holds, seen) until it holds."""
        deadline = time.monotonic() + patience
        while True:
            try:
                holds, seen = condition()
            except StepFailed as failure:  # the API server may be on its way back
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

    def show_logs(self, lines=25):
        if os.path.exists(self.manager_log):
            with open(self.manager_log, encoding="utf-8", errors="replace") as f:
                tail = f.readlines()[-lines:]
            self.report.say(f"\nThe last lines of {self.manager_log}:")
            self.report.say("".join(tail))

    def end_manager(self, grace_seconds=40):
        """SIGTERM, then SIGKILL; nothing if it has ended, or was never started."""
        if self._manager is not None and self.manager_is_running():
            self._manager.terminate()
            if not self.manager_ends_within(grace_seconds):
                self._manager.kill()
                self._manager.wait()

    def stop(self, keep_logs):
        self.end_manager()
        if os.path.isdir(self.cluster_folder):
            # `down` removes the cluster's folder; the audit log is what the demo is about.
            if keep_logs and os.path.exists(self.audit_log):
                shutil.copyfile(self.audit_log, self.kept_audit_log)
            subprocess.run(["hack/cluster", "down", "--dir", self.cluster_folder], cwd=self.root,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        for path in (self.token_file, self.manager_kubeconfig, self.manager_program, self.rbacgen):
            if path and os.path.exists(path):
                os.remove(path)
        if not keep_logs:
            shutil.rmtree(self.folder, ignore_errors=True)
