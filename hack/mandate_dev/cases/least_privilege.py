"""What mandate-manager declares, contains calls for, uses and is granted is one and the same, on a real control plane.

usage: hack/least_privilege_test [--keep DIR]     --keep: leave the audit log in DIR

Plays the demo, then asks rbacgen: the four-way report, the diff of the tree and the cluster, and a matrix of can-i
questions beside kubectl's own answers. Each is also shown to fail where it should. Ends with `N passed, N failed`.
"""
import glob
import itertools
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import traceback
import urllib.error
import urllib.request

from mandate_dev import world
from mandate_dev.cases.e2e import checks as e2e
from mandate_dev.demo import story
from mandate_dev.report import Report, StepFailed

SOURCES = ["controllers", "webhooks", "manager/telemetry"]


class Checks:
    def __init__(self, env, report):
        self.env, self.report = env, report
        self.sources = [s for s in SOURCES if os.path.isdir(os.path.join(env.root, s))]
        self.cluster = ["--kubeconfig", env.admin_kubeconfig, "--kubectl", os.path.join(env.kubectl_folder, "kubectl")]

    def rbacgen(self, *arguments, cwd=None):
        done = subprocess.run([self.env.rbacgen, *arguments], cwd=cwd or self.env.root, text=True, capture_output=True)
        return done.returncode, done.stdout, done.stderr

    def expect(self, what, holds, seen):
        if not holds:
            raise StepFailed(self.report.current, what, seen)
        self.report.held(what)

    def audit(self, *arguments, cwd=None):
        return self.rbacgen("audit", *arguments, f"--compiled={self.env.manager_program}", "--granted=cluster",
                            *self.cluster, *[f"--sources={s}" for s in self.sources], self.env.audit_log, cwd=cwd)

    def mended_by_hand(self):
        """What somebody changes behind the manager's back is mended: the writes that the demo does not need."""
        env, name = self.env, "least"
        e2e.apply(env, e2e.template(name), e2e.instance([], name, name))

        def objects(kind):
            return [o for o in env.get(kind)["items"]
                    if o["metadata"]["name"].removeprefix("scope-template:").startswith(name + "-")]
        for kind, field in (("clusterroles", "rules"), ("clusterrolebindings", "subjects")):
            env.eventually(f"{kind} are there", lambda: (len(objects(kind)) == 1, objects(kind)))
            whole = objects(kind)[0]
            env.kubectl("patch", kind, whole["metadata"]["name"], "--type=json", "-p",
                        json.dumps([{"op": "remove", "path": f"/{field}"}]))
            env.eventually(f"{kind} have their {field} again",
                           lambda: (objects(kind)[0].get(field) == whole[field], objects(kind)))
        env.kubectl("delete", f"scopeinstance/{name}", f"scopetemplate/{name}")
        env.eventually("all is gone", lambda: (
            objects("clusterroles") + objects("clusterrolebindings") == [], "it is not"))

    def samples_are_kept(self):
        """Components with a sample have something to do: it is made, then changed (sample.yaml, sample_changed.yaml)."""
        samples = sorted(glob.glob(os.path.join(self.env.root, "controllers", "*", "sample*.yaml")))
        for sample in samples:
            self.env.kubectl("apply", "-f", sample)
            self.env.kubectl("wait", "--for=condition=Ready", "-f", sample, f"--timeout={world.PATIENCE}s")
            self.report.held(os.path.relpath(sample, self.env.root))

    def metrics_are_asked_for(self):
        """The component metrics-auth has something to do."""
        self.env.stop_manager()
        self.env.start_manager("--metrics-secure", "-v=1")
        self.env.await_ready()
        token = self.env.kubectl("create", "token", "default", "-n", "default").strip()
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        request = urllib.request.Request(f"https://127.0.0.1:{self.env.metrics_port}/metrics",
                                         headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, timeout=60, context=context) as answer:
                code = answer.status
        except urllib.error.HTTPError as error:
            code = error.code
        self.expect("who may not scrape is refused: 403", code == 403, code)

    def four_way_report(self):
        """Declared, compiled, used and granted agree; base wrote tokens and its lease alone."""
        code, out, err = self.audit()
        self.report.say(out.rstrip())
        code_json, text, _ = self.audit("--json")
        self.expect("exit 0", code == 0 and code_json == 0, out.splitlines()[-12:] + [err])
        findings = json.loads(text)["findings"]
        self.expect("no right unused, none refused, none undeclared, base in its bounds", findings == [], findings)
        self.expect("each component's token was made by base, and used", all(
            t["joined"] for t in json.loads(text)["tokens"]) and json.loads(text)["tokens"], text[-2000:])

    def a_rule_too_many(self):
        """A verb that nothing uses is found, and the suggestion takes it out again."""
        folder = os.path.join(self.env.folder, "tree")
        for source in self.sources:
            shutil.copytree(os.path.join(self.env.root, source), os.path.join(folder, source))
        path = os.path.join(folder, "controllers/scope/instance_reconciler.h")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        more = text.replace("resources=namespaces,verbs=list;watch", "resources=namespaces,verbs=list;watch;delete")
        self.expect("the copied tree has one verb more", more != text, text[:600])
        with open(path, "w", encoding="utf-8") as f:
            f.write(more)
        code, out, _ = self.audit(cwd=folder)
        self.expect("exit 1, the verb is named", code == 1 and "never used: delete namespaces" in out, out)
        code, diff, _ = self.audit("--suggest", cwd=folder)
        subprocess.run(["patch", "--quiet", "-p0"], input=diff, text=True, check=True, cwd=folder)
        with open(path, encoding="utf-8") as f:
            self.expect("the suggestion takes it out, and nothing else", f.read() == text, diff)

    def the_tree_and_the_cluster(self):
        """The cluster grants what the tree declares; a right more is said in plain words."""
        tree = ",".join(self.sources)
        code, out, err = self.rbacgen("diff", tree, "cluster", *self.cluster)
        self.expect("no difference", code == 0 and out == "", out + err)
        self.env.kubectl("create", "clusterrolebinding", "too-much", "--clusterrole=view",
                         f"--serviceaccount={world.NAMESPACE}:{world.BASE}-scope-instance")
        try:
            code, out, _ = self.rbacgen("diff", tree, "cluster", *self.cluster)
            self.expect("a binding more is a difference", code == 1 and out.startswith("scope-instance\n  + may "), out)
        finally:
            self.env.kubectl("delete", "clusterrolebinding", "too-much")

    def can_i(self):
        """The same answers as `kubectl auth can-i`, from the cluster."""
        dump = os.path.join(self.env.folder, "rbac.json")
        with open(dump, "w", encoding="utf-8") as f:
            f.write(self.env.kubectl("get", "clusterroles,clusterrolebindings,roles,rolebindings,serviceaccounts", "-A",
                                     "-o", "json"))
        users = [f"{world.NAMESPACE}/{world.BASE}{s}" for s in ("", "-scope-instance", "-scope-template")]
        users += ["kube-system/replicaset-controller", "default/default"]
        things = [("create", "serviceaccounts", "token"), ("update", "leases.coordination.k8s.io/mandate-manager", ""),
                  ("patch", "scopeinstances.operators.coreos.com", "status"), ("list", "namespaces", ""),
                  ("create", "rolebindings.rbac.authorization.k8s.io", ""), ("get", "secrets", ""),
                  ("bind", "clusterroles.rbac.authorization.k8s.io", ""), ("update", "replicasets.apps", "status")]
        asked, yes, differ = 0, 0, []
        for who, (verb, resource, sub), ns in itertools.product(users, things, (world.NAMESPACE, "kube-system")):
            account = who.replace("/", ":")
            theirs = self.env.kubectl("auth", "can-i", verb, resource, *([f"--subresource={sub}"] if sub else []), "-n", ns,
                                      f"--as=system:serviceaccount:{account}", "--as-group=system:authenticated",
                                      "--as-group=system:serviceaccounts",
                                      f"--as-group=system:serviceaccounts:{who.split('/')[0]}", check=False).strip()
            code, ours, _ = self.rbacgen("can-i", f"--as={who}", verb, resource, *([f"--subresource={sub}"] if sub else []),
                                         "-n", ns, f"--input={dump}")
            asked, yes = asked + 1, yes + (theirs == "yes")
            theirs = re.split(r"\s", theirs)[0]
            if ours.strip() != theirs or code != (0 if theirs == "yes" else 1):
                differ.append((who, verb, resource, sub, ns, theirs, ours.strip(), code))
        self.expect(f"{asked} questions, {yes} of them yes, no difference", not differ and 0 < yes < asked, differ)

    def blast_radius(self):
        """Base reaches its components and no other ServiceAccount by a token."""
        code, out, err = self.rbacgen("blast-radius", "cluster", "--json", *self.cluster)
        steps = json.loads(out)["steps"] if code == 0 else []
        reached = [s["reached"] for s in steps if "serviceaccounts/token" in s.get("right", "")]
        self.expect("base reaches its components by tokens", {"scope-instance", "scope-template"} <= set(reached)
                    and not any("/" in r for r in reached), (steps[:12], err))

    def all(self):
        return [self.mended_by_hand, self.samples_are_kept, self.metrics_are_asked_for, self.four_way_report,
                self.a_rule_too_many, self.the_tree_and_the_cluster, self.can_i, self.blast_radius]


def main(argv):
    if argv in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    keep = argv[1] if argv[:1] == ["--keep"] and len(argv) == 2 else None
    if argv and not keep:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    report = Report()
    folder = tempfile.mkdtemp(prefix="mandate-least-privilege-")
    env = world.World(folder, report)
    failed, names = [], ["the demo"]
    try:
        env.start()
        story.play(env, report, kill=False)
        checks = Checks(env, report)
        names += [c.__name__ for c in checks.all()]
        for check in checks.all():
            report.section(f"{check.__name__}: {check.__doc__.strip()}")
            report.step(check.__name__)
            try:
                check()
            except StepFailed as failure:
                report.failed(failure)
                failed.append(check.__name__)
            except (OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError):
                traceback.print_exc()
                failed.append(check.__name__)
        if keep:
            os.makedirs(keep, exist_ok=True)
            shutil.copyfile(env.audit_log, os.path.join(keep, "audit.log"))
    except StepFailed as failure:
        report.failed(failure)
        env.show_logs()
        failed.append("the demo")
    finally:
        env.stop(keep_logs=bool(failed))
    if failed:
        report.say(f"\nFailed: {', '.join(failed)}; logs in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    report.say(f"\n{len(names) - len(failed)} passed, {len(failed)} failed")
    return int(bool(failed))
