"""The Helm chart on a real control plane: rendered, installed, upgraded, run under, fenced, removed.

usage: hack/chart_test [--helm3] [NAME…]     all checks, or those named; the last line is `N passed, N failed`

helm is built once from its Go module, at the version pinned in hack/helm: its version 4, or with --helm3 its version 3. The
manager runs outside the cluster with base's token and what the chart grants it.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

from mandate_dev.cases.chart.chart_environment import RELEASE, ChartEnvironment
from mandate_dev.cases.chart.fences import fences_hold, subjects_are_never_base
from mandate_dev.cases.chart.hunt import nothing_gets_past_the_fences
from mandate_dev.cases.chart.renamed import a_renamed_component_is_fenced
from mandate_dev.cases.chart.rendered import definitions_are_upgraded, helm_makes_what_rbacgen_makes, it_renders, the_cluster_is_asked_first
from mandate_dev.cases.chart.theft import (a_kill_switch_ends_a_theft, a_theft_of_bases_credential_ends, forged_bindings_are_found,
                   it_is_traced)
from mandate_dev.cases.chart.things import TEMPLATE, account, expect
from mandate_dev.cases.chart.upgrades import a_component_is_cut_off, a_component_is_disabled_and_enabled, the_modes, the_switches
from mandate_dev.cases.e2e import checks as e2e
from mandate_dev.report import Report, StepFailed
from mandate_dev.world import BASE, NAMESPACE


def it_works(env, report):
    """What the chart grants is what the manager needs, fences and all."""
    report.step("a template and an instance")
    e2e.apply(env, e2e.template(), e2e.instance(["default"]))
    e2e.scoped(env, "True")
    report.step("what an administrator edits by hand is mended, labels and owners too")
    name = env.get("rolebindings", "-n", "default")["items"][0]["metadata"]["name"]
    env.kubectl("label", "rolebinding", "-n", "default", name, "operators.coreos.io/scopeInstanceUID-")

    def labelled():
        meta = env.get("rolebinding", name, "-n", "default")["metadata"]
        return "operators.coreos.io/scopeInstanceUID" in meta.get("labels", {}), meta
    env.eventually("the label is back", labelled)
    env.kubectl("patch", "rolebinding", "-n", "default", name, "--type=merge", "-p",
                '{"metadata": {"ownerReferences": null}}')
    env.eventually("the owner is back", lambda: (
        bool(env.get("rolebinding", name, "-n", "default")["metadata"].get("ownerReferences")), "none"))
    a_tenant_grants_to_base(env, report)
    env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
    env.eventually("the binding and the role are gone", lambda: (
        not env.get("rolebindings", "-n", "default")["items"]
        and not [r for r in env.get("clusterroles")["items"] if r["metadata"]["name"].startswith("scope-template:e2e-")], "not yet"))


def a_tenant_grants_to_base(env, report):
    report.step("a tenant's template with base, or a component, for a subject")
    thing = e2e.template("tenant")
    for name in (BASE, TEMPLATE):
        thing["spec"]["clusterRoles"][0]["subjects"] = [account(name)]
        e2e.apply(env, thing, e2e.instance(["default"], name="tenant", of="tenant"))

        def refused():
            seen = e2e.condition(env, "scopeinstance", "tenant", "Scoped")
            return seen.get("status") == "False" and "may never bind a role to the manager's own" in seen["message"], seen
        env.eventually(f"Scoped=False for {name}, in the fence's words", refused)
        may = env.can(f"system:serviceaccount:{NAMESPACE}:{name}", "get", "pods", "default")
        expect(report, "nothing is granted", not may, "it may get pods")
        env.kubectl("delete", "scopeinstance/tenant", "scopetemplate/tenant")


EXTERNAL = """// +mandate:component:name=sample
// +mandate:rbac:justify="a test",granted=external,groups=apps,resources=deployments,verbs=get;create
"""


def external_grants_arrive(env, report):
    """A component's external rules as a ScopeTemplate: they hold where a ScopeInstance says, fences or not."""
    report.step("rbacgen chart --external=scopetemplate, and a ScopeInstance")
    # Else no component may be bound.
    env.upgrade(externalGrants="scopetemplate")
    source = os.path.join(env.folder, "sample.h")
    env.write_private(source, EXTERNAL)
    text = env._run([env.rbacgen, "chart", "--format=yaml", f"--namespace={NAMESPACE}", "--external=scopetemplate",
                     source], stdout=subprocess.PIPE)
    env.kubectl("apply", "-l", "app.kubernetes.io/component=sample", "-f", "-", stdin=text)
    e2e.apply(env, e2e.instance(["default"], name="sample", of=f"{BASE}-sample-external"))
    e2e.scoped(env, "True", name="sample")
    who = f"system:serviceaccount:{NAMESPACE}:{BASE}-sample"
    env.eventually("granted there, and nowhere else", lambda: (
        env.can(who, "create", "deployments.apps", "default")
        and not env.can(who, "create", "deployments.apps", "kube-system"), "not yet"))
    subjects_are_never_base(env, report)
    env.kubectl("delete", "scopeinstance/sample", f"scopetemplate/{BASE}-sample-external")
    env.kubectl("delete", "-l", "app.kubernetes.io/component=sample", "-n", NAMESPACE,
                "serviceaccounts,clusterroles,clusterrolebindings,validatingadmissionpolicies,"
                "validatingadmissionpolicybindings")
    env.upgrade()


def it_goes(env, report):
    """helm uninstall leaves nothing of ours, but the CRDs."""
    report.step("helm uninstall")
    env.stop_manager()
    env.helm("uninstall", RELEASE)
    expect(report, "nothing is left", not env.ours(), env.ours())


ALL = [it_renders, the_cluster_is_asked_first, helm_makes_what_rbacgen_makes, definitions_are_upgraded, it_works, fences_hold,
       a_renamed_component_is_fenced, nothing_gets_past_the_fences,
       a_component_is_disabled_and_enabled, the_modes, the_switches, a_component_is_cut_off, external_grants_arrive,
       a_theft_of_bases_credential_ends, a_kill_switch_ends_a_theft, it_is_traced,
       forged_bindings_are_found, it_goes]


def main(argv):
    if argv in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    if "--helm3" in argv:
        argv = [a for a in argv if a != "--helm3"]
        ChartEnvironment.helm_version = ["v3"]
    chosen = [c for c in ALL if not argv or c.__name__ in argv]
    if unknown := [name for name in argv if name not in {c.__name__ for c in ALL}]:
        print(f"hack/chart_test: no check is named {unknown[0]!r}; there are: {', '.join(c.__name__ for c in ALL)}",
              file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    report = Report()
    folder = tempfile.mkdtemp(prefix="mandate-chart-")
    env = ChartEnvironment(folder, report)
    failed = []
    try:
        env.start()
        for check in chosen:
            report.section(f"{check.__name__}: {check.__doc__.strip()}")
            try:
                check(env, report)
            except StepFailed as failure:
                report.failed(failure)
                failed.append(check.__name__)
            except (OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError):
                traceback.print_exc()
                failed.append(check.__name__)
    except StepFailed as failure:
        report.failed(failure)
        failed = [c.__name__ for c in chosen]
    finally:
        if failed:
            env.show_logs()
        env.stop(keep_logs=bool(failed))
    if failed:
        report.say(f"\nFailed: {', '.join(failed)}; logs in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    report.say(f"\n{len(chosen) - len(failed)} passed, {len(failed)} failed")
    return int(bool(failed))
