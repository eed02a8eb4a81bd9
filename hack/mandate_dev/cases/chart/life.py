"""The life of an installed chart: it works, components get grants, and it is removed."""
import os
import subprocess
from typing import Any

from mandate_dev.cases.chart.chart_world import ChartCase, RELEASE
from mandate_dev.cases.chart.fences import subjects_are_never_base
from mandate_dev.cases.chart.things import TEMPLATE, account
from mandate_dev.cases.e2e import checks as e2e
from mandate_dev.world import BASE, NAMESPACE


def a_tenant_grants_to_base(case: ChartCase) -> None:
    world = case.world
    case.step("a tenant's template with base, or a component, for a subject")
    thing = e2e.template("tenant")
    for name in (BASE, TEMPLATE):
        thing["spec"]["clusterRoles"][0]["subjects"] = [account(name)]
        e2e.apply(world, thing, e2e.instance(["default"], name="tenant", of="tenant"))

        def refused() -> tuple[Any, Any]:
            seen = e2e.condition(world, "scopeinstance", "tenant", "Scoped")
            return seen.get("status") == "False" and "may never bind a role to the manager's own" in seen["message"], seen
        world.eventually(f"Scoped=False for {name}, with the fence's message", refused)
        may = world.can(f"system:serviceaccount:{NAMESPACE}:{name}", "get", "pods", "default")
        case.expect("nothing is granted", not may, "it may get pods")
        world.kubectl("delete", "scopeinstance/tenant", "scopetemplate/tenant")


EXTERNAL = """// +mandate:component:name=sample
// +mandate:rbac:justify="a test",granted=external,groups=apps,resources=deployments,verbs=get;create
"""


class Works(ChartCase):
    """Tests the installed chart."""

    def test_the_installed_chart_works(self) -> None:
        """The chart grants the permissions that the manager needs, fences included."""
        world = self.world
        self.step("a template and an instance")
        e2e.apply(world, e2e.template(), e2e.instance(["default"]))
        e2e.scoped(world, "True")
        self.step("an administrator's edits by hand are reverted, labels and owners too")
        name = world.get("rolebindings", "-n", "default")["items"][0]["metadata"]["name"]
        world.kubectl("label", "rolebinding", "-n", "default", name, "operators.coreos.io/scopeInstanceUID-")

        def labelled() -> tuple[Any, Any]:
            meta = world.get("rolebinding", name, "-n", "default")["metadata"]
            return "operators.coreos.io/scopeInstanceUID" in meta.get("labels", {}), meta
        world.eventually("the label is back", labelled)
        world.kubectl("patch", "rolebinding", "-n", "default", name, "--type=merge", "-p",
                      '{"metadata": {"ownerReferences": null}}')
        world.eventually("the owner is back", lambda: (
            bool(world.get("rolebinding", name, "-n", "default")["metadata"].get("ownerReferences")), "none"))
        a_tenant_grants_to_base(self)
        world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
        world.eventually("the binding and the role are gone", lambda: (
            not world.get("rolebindings", "-n", "default")["items"]
            and not [r for r in world.get("clusterroles")["items"] if r["metadata"]["name"].startswith("scope-template:e2e-")], "not yet"))


class External(ChartCase):
    """Grants to components by ScopeTemplates."""

    def test_external_grants_arrive(self) -> None:
        """A component's external rules as a ScopeTemplate: they take effect in the scope of a ScopeInstance, with and
        without fences."""
        world = self.world
        self.step("rbacgen chart --external=scopetemplate, and a ScopeInstance")
        # Without this setting components cannot be subjects.
        world.upgrade(externalGrants="scopetemplate")
        source = os.path.join(world.folder, "sample.h")
        world.write_private(source, EXTERNAL)
        text = world.run([world.rbacgen, "chart", "--format=yaml", f"--namespace={NAMESPACE}", "--external=scopetemplate",
                          source], stdout=subprocess.PIPE)
        world.kubectl("apply", "-l", "app.kubernetes.io/component=sample", "-f", "-", stdin=text)
        e2e.apply(world, e2e.instance(["default"], name="sample", of=f"{BASE}-sample-external"))
        e2e.scoped(world, "True", name="sample")
        who = f"system:serviceaccount:{NAMESPACE}:{BASE}-sample"
        world.eventually("granted there, and nowhere else", lambda: (
            world.can(who, "create", "deployments.apps", "default")
            and not world.can(who, "create", "deployments.apps", "kube-system"), "not yet"))
        subjects_are_never_base(self)
        world.kubectl("delete", "scopeinstance/sample", f"scopetemplate/{BASE}-sample-external")
        world.kubectl("delete", "-l", "app.kubernetes.io/component=sample", "-n", NAMESPACE,
                      "serviceaccounts,clusterroles,clusterrolebindings,validatingadmissionpolicies,"
                      "validatingadmissionpolicybindings")
        world.upgrade()


class Goes(ChartCase):
    """Tests the removal, which is the last case."""

    def test_helm_uninstall_removes_everything(self) -> None:
        """helm uninstall removes all our objects except the CRDs."""
        world = self.world
        self.step("helm uninstall")
        world.stop_manager()
        world.helm("uninstall", RELEASE)
        self.expect("nothing is left", not world.ours(), world.ours())
