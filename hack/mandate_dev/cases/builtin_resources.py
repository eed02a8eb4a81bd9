"""rbacgen's table of Kubernetes' own resources beside what a real API server serves, and by what names it knows them.

usage: rbacgen/builtin_cluster_test [RBACGEN]

RBACGEN is built if it is not named. Starts a control plane of its own and stops it. The last line is
`N passed, N failed`; the exit code is 0 only when nothing failed.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from mandate_dev.paths import ROOT

CLUSTER = os.path.join(ROOT, "hack", "cluster")
# Served with --runtime-config=api/all=true --feature-gates=AllAlpha=true,AllBeta=true.
OFF_BY_DEFAULT = {"clustertrustbundles", "devicetaintrules", "leasecandidates", "podcertificaterequests", "podgroups",
                  "resourcepoolstatusrequests", "storageversionmigrations", "storageversions", "workloads"}


def built():
    """The path of rbacgen, built from this tree."""
    bazel = os.path.join(ROOT, "hack", "bazel")
    subprocess.run([bazel, "build", "//rbacgen"], check=True, timeout=7200)
    folder = subprocess.run([bazel, "info", "bazel-bin"], capture_output=True, text=True, check=True).stdout.strip()
    return os.path.join(folder, "rbacgen", "rbacgen")


def known_resources():
    """The table, but for those that are only ever authorized: (namespaced, verbs) of each."""
    with open(os.path.join(ROOT, "rbacgen", "builtin_resources.cc"), encoding="utf-8") as f:
        text = f.read().split("// Only ever authorized.")[0]
    words = dict(re.findall(r'^constexpr std::string_view (k\w+) = "(.*?)";$', text, re.M))
    rows = re.findall(r'^    \{"(.*?)", "(.*?)", (true|false), (?:"(.*?)"|(k\w+))\},$', text, re.M)
    return {(group, name): (namespaced == "true", frozenset((verbs or words[constant]).split()))
            for group, name, namespaced, verbs, constant in rows}


class Server:
    def __init__(self, folder):
        self._kubectl = os.path.join(folder, "bin", "kubectl")
        self._env = {k: v for k, v in os.environ.items() if k not in ("KUBECONFIG", "KUBECACHEDIR")}
        self._env["HOME"] = folder

    def kubectl(self, *arguments):
        return subprocess.run([self._kubectl, *arguments], env=self._env, capture_output=True, text=True, check=True,
                              timeout=600).stdout

    def discovery(self):
        """[(group, resource as discovery describes it)], of every version."""
        paths = [("", "/api/v1")]
        for group in json.loads(self.kubectl("get", "--raw", "/apis"))["groups"]:
            paths += [(group["name"], "/apis/" + v["groupVersion"]) for v in group["versions"]]
        return [(group, r) for group, path in paths for r in json.loads(self.kubectl("get", "--raw", path))["resources"]]


def who_holds(resources):
    """Manifests in which each resource is granted by a binding that bears its name."""
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole"}
    meta = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    items = []
    for group, name in resources:
        title = {"name": f"{name}.{group}"}
        items += [{**meta, "kind": "ClusterRole", "metadata": title,
                   "rules": [{"apiGroups": [group], "resources": [name], "verbs": ["get"]}]},
                  {**meta, "kind": "ClusterRoleBinding", "metadata": title, "roleRef": {**ref, **title},
                   "subjects": [{"kind": "User", "name": "ann"}]}]
    return {"kind": "List", "items": items}


def meanings(resources):
    """What kubectl may be asked with: {name: (group, plural)}, each name that discovery has, alone and with its group."""
    found = {}
    for group, r in resources:
        for name in {r["name"], r["singularName"], r["kind"], r["name"].upper(), *r.get("shortNames", [])}:
            for asked in {name, f"{name}.{group}", f"{name}.v1.{group}"} if group else {name}:
                found.setdefault(asked, set()).add((group, r["name"]))
    # Of several, as events are, kubectl takes the first that discovery names: the core group.
    return {name: min(them) for name, them in found.items()}


def main(argv):
    if len(argv) > 1 or argv[:1] == ["--help"]:
        sys.exit(__doc__)
    rbacgen = os.path.abspath(argv[0]) if argv else built()
    results = []

    def check(name, wrong):
        print("FAIL" if wrong else "ok  ", name, wrong or "", flush=True)
        results.append(not wrong)

    with tempfile.TemporaryDirectory(prefix="mandate-builtin-") as folder:
        cluster = os.path.join(folder, "cluster")
        subprocess.run([CLUSTER, "up", "--dir", cluster, "--watch-pid", str(os.getpid())], check=True, timeout=7200)
        try:
            server = Server(cluster)
            discovered = server.discovery()
            served = {}
            for group, r in discovered:
                _, verbs = served.get((group, r["name"]), (None, frozenset()))
                served[group, r["name"]] = (r["namespaced"], verbs | set(r["verbs"]))
            known = known_resources()
            check(f"all {len(served)} resources are known, with their verbs",
                  {key: (is_so, known.get(key)) for key, is_so in served.items() if known.get(key) != is_so}
                  or len(served) < 100)
            check("the others are off by default",
                  {name.split("/")[0] for _, name in known.keys() - served.keys()} ^ OFF_BY_DEFAULT)

            whole = [(group, r) for group, r in discovered if "/" not in r["name"]]
            with open(os.path.join(folder, "held.json"), "w", encoding="utf-8") as f:
                json.dump(who_holds({(group, r["name"]) for group, r in whole}), f)
            wrong, names = {}, meanings(whole)
            for name, (group, plural) in names.items():
                done = subprocess.run([rbacgen, "who-can", "get", name, f"--input={f.name}"], capture_output=True, text=True,
                                      timeout=600)
                holders = re.findall(r"ClusterRoleBinding (\S+)", done.stdout)
                if holders != [f"{plural}.{group}"]:
                    wrong[name] = (holders, f"{plural}.{group}")
            check(f"{len(names)} names of resources mean what they mean to kubectl", wrong or len(names) < 300)
        finally:
            subprocess.run([CLUSTER, "down", "--dir", cluster], check=False)
    print(f"\n{sum(results)} passed, {len(results) - sum(results)} failed")
    return int(not all(results))
