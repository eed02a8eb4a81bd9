"""The checks of hack/e2e/run about webhooks. Each leaves the cluster as it found it."""
import json
from typing import Any

from mandate_dev.cases import WorldCase
from mandate_dev.cases.e2e.checks import apply, audit_events, instance, ours, scoped, template
from mandate_dev.cases.e2e.grants import restart
from mandate_dev.cases.e2e.tenant_checks import Tenant
from mandate_dev.webhooks import CERTIFICATES, COMPONENT, CONFIGURATION, NOT_HELD, secret_of, serve
from mandate_dev.world import BASE, NAMESPACE, World

OBJECTS = "scopeinstances.operators.coreos.com,scopetemplates.operators.coreos.com"


def end(world: World) -> None:
    for component in (COMPONENT, CERTIFICATES):
        world.kubectl("delete", f"clusterrole/{BASE}-{component}", f"clusterrolebinding/{BASE}-{component}",
                      "--ignore-not-found")
    world.kubectl("delete", f"validatingwebhookconfiguration/{CONFIGURATION}", "--ignore-not-found")
    world.kubectl("delete", "-n", NAMESPACE, f"role/{BASE}-{CERTIFICATES}", f"rolebinding/{BASE}-{CERTIFICATES}",
                  f"secret/{secret_of(world)}", "--ignore-not-found")
    world.kubectl("apply", "-f", "-", stdin=world.chart())
    restart(world)
    world.await_ready()


def with_rules(*rules: Any, name: str = "e2e") -> Any:
    made = template(name)
    made["spec"]["clusterRoles"][0]["rules"] = list(rules)
    return made


PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
SECRETS = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}


class Webhooks(WorldCase):
    """The admission webhooks of the scope objects."""

    def test_nobody_grants_more_than_they_hold(self) -> None:
        """A tenant who may write templates and instances grants only the rights that the tenant has; an administrator grants all."""
        world = self.world
        serve(world)
        tenant = Tenant(world, "e2e-tenant", ("create,get,patch,delete", OBJECTS))
        try:
            self._try(tenant)
        finally:
            # Its configuration would deny the writes of the other cases.
            end(world)
        world.kubectl("delete", "scopeinstance/e2e-admin", "scopeinstance/e2e", "scopetemplate/e2e-pods", "scopetemplate/e2e-secrets")
        tenant.leave()

    def _try(self, tenant: Tenant) -> None:
        world = self.world
        _, offset = audit_events(world)
        world.kubectl("create", "rolebinding", "e2e-edit", "--clusterrole=edit", "--serviceaccount=e2e-tenant:e2e-tenant",
                      "-n", "e2e-tenant")

        def tries(what: str, made: Any, words: str) -> None:
            code, said = tenant.kubectl("create", "-f", "-", stdin=json.dumps(made))
            self.expect(what, (code == 0) if not words else (code != 0 and words in said), said)

        self.step("a tenant's templates")
        tries("rights that the tenant lacks are denied", with_rules(SECRETS, name="e2e-x"), NOT_HELD)
        tries("rights that the tenant has in one namespace are denied: a template is for the cluster",
              with_rules(PODS, name="e2e-x"), "user \"system:serviceaccount:e2e-tenant:e2e-tenant\" cannot get resource \"pods\" "
              "in API group \"\" at the cluster scope")
        tries("a wildcard is denied", with_rules({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}, name="e2e-x"), NOT_HELD)
        tries("a URL is denied", with_rules({"nonResourceURLs": ["/metrics"], "verbs": ["get"]}, name="e2e-x"),
              "cannot get path \"/metrics\"")

        self.step("an administrator's templates")
        apply(world, with_rules(PODS, name="e2e-pods"), with_rules(SECRETS, name="e2e-secrets"))

        self.step("a tenant's instances")
        tries("of rights that the tenant has there", instance(["e2e-tenant"], of="e2e-pods"), "")
        scoped(world, "True")
        tries("of Secrets in its own namespace, as `edit` has them", instance(["e2e-tenant"], "e2e-own", "e2e-secrets"), "")
        tries("in another namespace", instance(["default"], "e2e-x", "e2e-pods"), "in the namespace \"default\"")
        tries("in the whole cluster", instance([], "e2e-x", "e2e-pods"), "at the cluster scope")
        selects = instance(["e2e-tenant"], "e2e-x", "e2e-pods")
        selects["spec"]["namespaceSelector"] = {"kubernetes.io/metadata.name": "e2e-tenant"}
        tries("by a selector, even of its own namespace", selects, "at the cluster scope")
        tries("of a template that does not exist yet", instance(["e2e-tenant"], "e2e-x", "e2e-later"), NOT_HELD)
        tries("in kube-system", instance(["kube-system"], "e2e-x", "e2e-pods"), "cannot be a target")
        for what, change, words in [
                ("one more namespace", {"namespaces": ["e2e-tenant", "default"]}, "in the namespace \"default\""),
                ("the last namespace taken out", {"namespaces": []}, "at the cluster scope"),
                ("matchLabels null", {"namespaceSelector": {"matchLabels": None}}, "at the cluster scope"),
                ("another template", {"scopeTemplateName": "e2e-secrets", "namespaces": ["default"]}, NOT_HELD)]:
            code, said = tenant.patch({"spec": change}, "scopeinstance", "e2e")
            self.expect(f"an edit is denied: {what}", code != 0 and words in said, said)
        code, said = tenant.kubectl("patch", "scopeinstance", "e2e", "--type=json", "-p",
                                    json.dumps([{"op": "remove", "path": "/spec/namespaces"}]))
        self.expect("a JSON patch that removes the namespaces is denied", code != 0 and "at the cluster scope" in said, said)

        self.step("an administrator's mistakes")
        wrong = with_rules(PODS, name="e2e-wrong")
        wrong["spec"]["clusterRoles"][0]["subjects"] = [{"kind": "Group", "name": "system:unauthenticated"}]
        said = world.kubectl("create", "-f", "-", stdin=json.dumps(wrong), check=False)
        self.expect("nobody grants to requests without a credential",
                    not world.kubectl("get", "scopetemplate", "e2e-wrong", "--ignore-not-found"), said)
        apply(world, instance(["default"], "e2e-admin", "e2e-secrets"))
        scoped(world, "True", "e2e-admin")

        self.step("the audit log")
        events, _ = audit_events(world, offset)
        reviews = [e for e in ours(events) if e.get("objectRef", {}).get("resource") == "subjectaccessreviews"]
        self.expect("the component asks under its own identity",
                    reviews and {e["user"]["username"].rsplit(":", 1)[1] for e in reviews} == {f"{BASE}-{COMPONENT}"},
                    reviews[:1])

        self.step("while the manager is down")
        world.stop_manager()
        said = world.kubectl("create", "-f", "-", stdin=json.dumps(instance(["default"], "e2e-down", "e2e-pods")), check=False)
        self.expect("nothing is granted (failurePolicy Fail)",
                    not world.kubectl("get", "scopeinstance", "e2e-down", "--ignore-not-found"), said)
        code, said = tenant.kubectl("delete", "scopeinstance", "e2e-own")
        self.expect("deleting is allowed", code == 0, said)
