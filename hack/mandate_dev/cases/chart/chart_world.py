"""A world that helm installs from the chart, and the base class of the cases on it."""
import os
import subprocess
from collections.abc import Mapping
from typing import ClassVar

from mandate_dev.cases import WorldCase, WorldFixture
from mandate_dev.paths import TOOLS, ROOT
from mandate_dev.report import Report, StepFailed
from mandate_dev.world import BASE, NAMESPACE, World

CHART = os.path.join(ROOT, "charts", "mandate")
RELEASE = "mandate"
# No node runs the manager's pods here.
BARE = {"deployment.enabled": "false"}


class ChartWorld(World):
    """A world that helm installs, with the audit policy of `rbacgen audit-policy`. helm_version: the argument of
    hack/helm/build."""

    helm_version: ClassVar[tuple[str, ...]] = ()

    def _start_cluster(self) -> None:
        self.report.step("helm (minutes the first time); a control plane with the generated audit policy")
        self.helm_program = self.run([os.path.join(TOOLS, "helm", "build"), *self.helm_version], stdout=subprocess.PIPE).strip()
        policy = self.audit_policy = os.path.join(self.folder, "audit-policy.yaml")
        sources = self.run(["git", "grep", "-lE", "^// *\\+mandate:component:", "--", *self.sources],
                           stdout=subprocess.PIPE).split()
        self.run([self.rbacgen, "audit-policy", f"--namespace={NAMESPACE}", f"--out={policy}", "--bodies", *sources])
        self.up(f"--apiserver-flag=--audit-policy-file={policy}",
                "--apiserver-flag=--enable-admission-plugins=OwnerReferencesPermissionEnforcement")

    def _install(self) -> None:
        self.report.step("helm install")
        self.kubectl("create", "namespace", NAMESPACE)
        self.kubectl("label", "namespace", NAMESPACE, "pod-security.kubernetes.io/warn=restricted",
                     "pod-security.kubernetes.io/enforce=restricted")
        self.helm("install", RELEASE, CHART, values=BARE)
        self.report.held("installed")

    def try_helm(self, *arguments: str, values: Mapping[str, str] | None = None,
                 namespace: str = NAMESPACE) -> subprocess.CompletedProcess[str]:
        command = [self.helm_program, *arguments, f"--namespace={namespace}"]
        for name, value in (values or {}).items():
            json_value = value in ("true", "false") or value[0] in "[{"
            command.append(f"--set{'-json' if json_value else ''}={name}={value}")
        homes = {f"HELM_{home}_HOME": os.path.join(self.folder, "helm") for home in ("CACHE", "CONFIG", "DATA")}
        return subprocess.run(command, text=True, capture_output=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, **homes, "KUBECONFIG": self.cluster.kubeconfig})

    def helm(self, *arguments: str, values: Mapping[str, str] | None = None) -> str:
        done = self.try_helm(*arguments, values=values)
        if done.returncode != 0:
            raise StepFailed(self.report.current, f"helm {' '.join(arguments[:2])} to succeed", done.stderr.strip())
        return done.stdout

    def upgrade(self, **values: str) -> None:
        self.helm("upgrade", RELEASE, CHART, values={**BARE, **values})

    def ours(self) -> list[str]:
        """Returns all objects with the chart's label, as kind/name."""
        kinds = ("serviceaccounts,secrets,configmaps,leases,roles,rolebindings,clusterroles,clusterrolebindings,"
                 "validatingadmissionpolicies,validatingadmissionpolicybindings,"
                 "flowschemas,prioritylevelconfigurations")
        names = self.kubectl("get", kinds, "-A", "-l", f"app.kubernetes.io/name={BASE}", "-o",
                             "jsonpath={range .items[*]}{.kind}/{.metadata.name}{'\\n'}{end}")
        return sorted(names.split())

    def fence(self, component: str, resource: str) -> str:
        """The name of the only ValidatingAdmissionPolicy of the component with rules about this resource alone."""
        policies = self.get("validatingadmissionpolicies", "-l", f"app.kubernetes.io/component={component}")["items"]
        name, = (policy["metadata"]["name"] for policy in policies
                 if {r.partition("/")[0] for rule in policy["spec"]["matchConstraints"]["resourceRules"]
                     for r in rule["resources"]} == {resource})
        return str(name)

    def restart_manager(self, *flags: str) -> None:
        if self.manager_is_running():
            self.stop_manager()
        self.start_manager("-v=1", *flags)
        self.await_ready()

    def as_component(self, account: str, *arguments: str, stdin: str | None = None) -> tuple[int, str]:
        """Returns (exit code, output) of kubectl with a component's user name and groups."""
        return self.as_user(f"system:serviceaccount:{NAMESPACE}:{account}", *arguments, stdin=stdin)

    def as_user(self, name: str, *arguments: str, stdin: str | None = None) -> tuple[int, str]:
        return self.try_kubectl(*arguments, f"--as={name}", stdin=stdin)

    def try_kubectl(self, *arguments: str, stdin: str | None = None, kubeconfig: str | None = None) -> tuple[int, str]:
        """(exit code, output)"""
        done = self.cluster.try_kubectl(*arguments, stdin=stdin, kubeconfig=kubeconfig)
        return done.returncode, done.stdout + done.stderr


class ChartFixture(WorldFixture):
    name = "chart"

    def make(self, folder: str, report: Report) -> World:
        return ChartWorld(folder, report)


class ChartCase(WorldCase):
    """Cases on one ChartWorld, in the order of hack/chart_test: they build on each other's cluster."""

    fixture = ChartFixture
    world: ClassVar[ChartWorld]
