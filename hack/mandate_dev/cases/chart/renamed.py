"""The chart with other names and in another namespace, as kustomize renders it, without the original chart."""
import json
import os
from typing import Any

from mandate_dev.cases.chart.chart_world import ChartCase, ChartWorld
from mandate_dev.cases.chart.fences import PASSES, STOPPED
from mandate_dev.cases.chart.things import INSTANCE, TEMPLATE, event, token_request
from mandate_dev.world import BASE, NAMESPACE

PLACE, PREFIX, SUFFIX = "other", "acme-", "-two"
KUSTOMIZATION = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "namespace": PLACE,
                 "namePrefix": PREFIX, "nameSuffix": SUFFIX, "resources": ["chart.yaml"]}


def new_name(account: str) -> str:
    return f"{PREFIX}{account}{SUFFIX}"


def user_of(account: str) -> str:
    return f"system:serviceaccount:{PLACE}:{new_name(account)}"


def with_new_subjects(thing: Any) -> Any:
    """Returns the object with the renamed ServiceAccounts as its subjects."""
    def new(subject: Any) -> dict[str, Any]:
        if subject.get("namespace") == NAMESPACE:
            return {**subject, "namespace": PLACE, "name": new_name(subject["name"])}
        name = subject["name"].replace(f":{NAMESPACE}", f":{PLACE}")
        if name.startswith(f"system:serviceaccount:{PLACE}:"):
            name = user_of(name.rpartition(":")[2])
        return {**subject, "name": name}
    return {**thing, "subjects": [new(s) for s in thing["subjects"]]} if "subjects" in thing else thing


def create(world: ChartWorld, account: str, thing: Any) -> Any:
    return world.as_user(user_of(account), "create", "--dry-run=server", "-f", "-", stdin=json.dumps(thing))


def writes_are_judged(case: ChartCase) -> None:
    world = case.world
    case.step("its writes that the API server denies")
    who, thing, says = STOPPED["cluster-admin"]

    # A policy takes effect some time after its creation.
    def stopped() -> tuple[Any, Any]:
        code, said = create(world, who, thing)
        return code != 0 and says in said, said
    world.eventually("the policies are obeyed", stopped)
    for name, (who, thing, says) in STOPPED.items():
        code, said = create(world, who, with_new_subjects(thing))
        case.expect(f"not {name}", code != 0 and says in said and "ValidatingAdmissionPolicy" in said, said)
    case.step("its writes that pass")
    for name, (who, thing) in PASSES.items():
        code, said = create(world, who, with_new_subjects(thing))
        case.expect(name, code == 0, said)


def events_and_tokens_are_judged(case: ChartCase) -> None:
    world = case.world
    case.step("its events, and the tokens that base may request")
    for name, controller, passes in (("its own event", "scope-template", True), ("another's event", "kubelet", False)):
        code, said = create(world, TEMPLATE, event(controller))
        case.expect(name if passes else f"not {name}",
                    (code == 0) == passes and (passes or "may only write its own events" in said), said)
    path = f"/api/v1/namespaces/{PLACE}/serviceaccounts/{new_name(INSTANCE)}/token"
    for account, seconds, passes in ((BASE, 3600, True), (BASE, 1 << 32, False), (INSTANCE, 7200, True)):
        code, said = world.as_user(user_of(account), "create", "--raw", path, "-f", "-", stdin=token_request(expirationSeconds=seconds))
        case.expect(f"{'' if passes else 'not '}{seconds} s, for {account}",
                    (code == 0) == passes and (passes or "valid for an hour at most" in said), said)


class Renamed(ChartCase):
    """Tests the chart with the names from kustomize."""

    def test_a_renamed_component_is_fenced(self) -> None:
        """kustomize renames objects and not expressions: the fences also match the components' new names."""
        world = self.world
        # Afterwards the renamed fences are the only ones, and no manager corrects the objects of the test.
        world.stop_manager()
        plain = world.chart()
        world.upgrade(fences="false")
        self.step("kubectl kustomize, with namespace, namePrefix and nameSuffix")
        folder = os.path.join(world.folder, "kustomized")
        os.makedirs(folder, exist_ok=True)
        world.write_private(os.path.join(folder, "chart.yaml"), plain)
        world.write_private(os.path.join(folder, "kustomization.yaml"), json.dumps(KUSTOMIZATION))
        world.kubectl("create", "namespace", PLACE)
        world.kubectl("apply", "-k", folder)
        policies = world.get("validatingadmissionpolicies", "-l", f"app.kubernetes.io/name={BASE}")["items"]
        bindings = world.get("validatingadmissionpolicybindings", "-l", f"app.kubernetes.io/name={BASE}")["items"]
        names = {p["metadata"]["name"] for p in policies}
        self.expect(f"{len(names)} policies, all of them renamed, and bound", names
                    and all(name.startswith(PREFIX) and name.endswith(SUFFIX) for name in names)
                    and {b["spec"]["policyName"] for b in bindings} == names, [names, [b["spec"] for b in bindings]])
        # kustomize does not rename the names inside roles, such as those of ServiceAccounts. RBAC allows everything here.
        for account in (BASE, INSTANCE, TEMPLATE):
            world.kubectl("create", "clusterrolebinding", f"renamed-{account}", "--clusterrole=cluster-admin", f"--user={user_of(account)}")
        try:
            writes_are_judged(self)
            events_and_tokens_are_judged(self)
        finally:
            world.kubectl("delete", "clusterrolebinding", *[f"renamed-{account}" for account in (BASE, INSTANCE, TEMPLATE)])
            world.kubectl("delete", "-k", folder)
            world.kubectl("delete", "namespace", PLACE)
        world.upgrade()
        world.restart_manager()
