"""The demo's surroundings with the Helm chart: installed, upgraded, audited as `rbacgen audit-policy` says."""
import os
import subprocess

from mandate_dev import world
from mandate_dev.paths import HACK, ROOT
from mandate_dev.report import StepFailed
from mandate_dev.world import BASE, NAMESPACE

CHART = os.path.join(ROOT, "charts", "mandate")
RELEASE = "mandate"
# Nobody can run the manager's pods here.
BARE = {"deployment.enabled": "false"}


class ChartEnvironment(world.World):
    """The demo's, installed by helm, audited as `rbacgen audit-policy` says."""

    helm_version = []

    def _start_cluster(self):
        self.report.step("helm (minutes the first time); a control plane with the generated audit policy")
        self.helm_program = self._run([os.path.join(HACK, "helm", "build"), *self.helm_version], stdout=subprocess.PIPE).strip()
        policy = self.audit_policy = os.path.join(self.folder, "audit-policy.yaml")
        sources = self._run(["git", "grep", "-lE", "^// *\\+mandate:component:", "--", "controllers", "webhooks",
                             "manager"],
                            stdout=subprocess.PIPE).split()
        self._run([self.rbacgen, "audit-policy", f"--namespace={NAMESPACE}", f"--out={policy}", "--bodies", *sources])
        self._run(["hack/cluster", "up", "--dir", self.cluster_folder, "--watch-pid", str(os.getpid()),
                   f"--apiserver-flag=--audit-policy-file={policy}",
                   "--apiserver-flag=--enable-admission-plugins=OwnerReferencesPermissionEnforcement"])
        self.report.held("up")

    def _install(self):
        self.report.step("helm install")
        self.kubectl("create", "namespace", NAMESPACE)
        self.kubectl("label", "namespace", NAMESPACE, "pod-security.kubernetes.io/warn=restricted",
                     "pod-security.kubernetes.io/enforce=restricted")
        self.helm("install", RELEASE, CHART, values=BARE)
        self.report.held("installed")

    def try_helm(self, *arguments, values=(), namespace=NAMESPACE):
        command = [self.helm_program, *arguments, f"--namespace={namespace}"]
        for name, value in dict(values).items():
            json_value = value in ("true", "false") or value[0] in "[{"
            command.append(f"--set{'-json' if json_value else ''}={name}={value}")
        homes = {f"HELM_{home}_HOME": os.path.join(self.folder, "helm") for home in ("CACHE", "CONFIG", "DATA")}
        return subprocess.run(command, text=True, capture_output=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, **homes, "KUBECONFIG": self.admin_kubeconfig})

    def helm(self, *arguments, values=()):
        done = self.try_helm(*arguments, values=values)
        if done.returncode != 0:
            raise StepFailed(self.report.current, f"helm {' '.join(arguments[:2])} to succeed", done.stderr.strip())
        return done.stdout

    def upgrade(self, **values):
        self.helm("upgrade", RELEASE, CHART, values={**BARE, **values})

    def ours(self):
        """Everything with the chart's label, as kind/name."""
        kinds = ("serviceaccounts,secrets,configmaps,leases,roles,rolebindings,clusterroles,clusterrolebindings,"
                 "validatingadmissionpolicies,validatingadmissionpolicybindings,"
                 "flowschemas,prioritylevelconfigurations")
        names = self.kubectl("get", kinds, "-A", "-l", f"app.kubernetes.io/name={BASE}", "-o",
                             "jsonpath={range .items[*]}{.kind}/{.metadata.name}{'\\n'}{end}")
        return sorted(names.split())

    def restart_manager(self, *flags):
        if self.manager_is_running():
            self.stop_manager()
        self.start_manager("-v=1", *flags)
        self.await_ready()

    def as_component(self, account, *arguments, stdin=None):
        """(exit code, what it says) of kubectl under a component's user name and groups."""
        return self.as_user(f"system:serviceaccount:{NAMESPACE}:{account}", *arguments, stdin=stdin)

    def as_user(self, name, *arguments, stdin=None):
        return self.try_kubectl(*arguments, f"--as={name}", stdin=stdin)

    def try_kubectl(self, *arguments, stdin=None, kubeconfig=None):
        """(exit code, what it says)"""
        done = subprocess.run([os.path.join(self.kubectl_folder, "kubectl"), *arguments], input=stdin, text=True,
                              capture_output=True, env={**os.environ, "KUBECONFIG": kubeconfig or self.admin_kubeconfig})
        return done.returncode, done.stdout + done.stderr
