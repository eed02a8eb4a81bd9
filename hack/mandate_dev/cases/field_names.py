"""A field has one name: random kinds on a real API server, which keeps all that the codec writes and drops nothing.

usage: rbacgen/field_names_cluster_test [--first SEED] [--count N] [--dir DIR]

For each seed the server accepts the definition that rbacgen makes of a random .proto file, and an object of it with
every field set, spec and status by server-side apply and strict about fields that it does not know; what it then
answers is what was sent, also when the codec reads it; the scale subresource reads the fields that the options name.
Starts a control plane of its own in DIR (default: a new temporary folder) and stops it. The last line is
`N passed, N failed`; the exit code is 0 only when nothing failed.
"""
import argparse
import json
import os
import shutil
import subprocess
import tempfile

from mandate_dev.paths import ROOT

CLUSTER = os.path.join(ROOT, "hack", "cluster")
GROUP = "random.example.com"


def built():
    """(random_kinds, the folder of Kubernetes' .proto files)"""
    subprocess.run(["hack/bazel", "build", "//rbacgen/crd/testing:random_kinds", "@kubernetes//:protos"], cwd=ROOT, check=True)
    info = subprocess.run(["hack/bazel", "info", "bazel-bin", "output_base"], cwd=ROOT, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    folders = dict(line.split(": ", 1) for line in info.splitlines())
    return (os.path.join(folders["bazel-bin"], "rbacgen/crd/testing/random_kinds"),
            os.path.join(folders["output_base"], "external/kubernetes"))


class Checks:
    def __init__(self, folder, kubectl):
        self.folder, self.kubectl = folder, kubectl
        self.passed = self.failed = 0

    def run(self, *arguments, stdin=None):
        """(exit code, output, errors) of kubectl."""
        env = {k: v for k, v in os.environ.items() if k != "KUBECONFIG"}
        done = subprocess.run([self.kubectl, *arguments], input=stdin, capture_output=True, text=True, env=env)
        return done.returncode, done.stdout, done.stderr

    def check(self, name, holds, seen=""):
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        print(f"{'ok  ' if holds else 'FAIL'} {name}{'' if holds else f': {seen}'}", flush=True)
        return holds

    def path(self, seed, suffix):
        return os.path.join(self.folder, f"{seed}.{suffix}")

    def apply(self, seed, *flags, path=None):
        return self.run("apply", "--server-side", "--field-manager=one", "--validate=strict", *flags, "-f",
                        path or self.path(seed, "json"))

    def definition(self, seed):
        code, _, errors = self.run("apply", "--server-side", "-f", self.path(seed, "crd.yaml"))
        if code == 0:
            code, _, errors = self.run("wait", "--for=condition=Established", "--timeout=120s", "-f", self.path(seed, "crd.yaml"))
        if code == 0:
            _, types, errors = self.run("get", "-f", self.path(seed, "crd.yaml"), "-o", "jsonpath={.status.conditions[*].type}")
            code = "NonStructural" in types
        return self.check(f"seed {seed}: the definition is accepted", code == 0, errors)

    def object(self, seed):
        with open(self.path(seed, "json"), encoding="utf-8") as f:
            sent = json.load(f)
        for flags in ((), ("--subresource=status",)):
            code, _, errors = self.apply(seed, *flags)
            if not self.check(f"seed {seed}: {' '.join(flags) or 'spec'} is applied", code == 0, errors):
                return
        _, text, errors = self.run("get", f"r{seed}s.{GROUP}", "random", "-n", "default", "-o", "json")
        with open(self.path(seed, "read.json"), "w", encoding="utf-8") as f:
            f.write(text)
        read = json.loads(text or "{}")
        for part in ("spec", "status"):
            self.check(f"seed {seed}: nothing of {part} is lost", read.get(part) == sent[part],
                       f"sent {sent[part]}, read {read.get(part)} {errors}")
        _, text, errors = self.run("get", "--raw", f"/apis/{GROUP}/v1/namespaces/default/r{seed}s/random/scale")
        scale = json.loads(text or "{}")
        seen = (scale.get("spec", {}).get("replicas"), scale.get("status", {}).get("replicas"))
        self.check(f"seed {seed}: scale", seen == (sent["spec"]["desiredReplicas"], sent["status"]["readyReplicas"]),
                   f"{seen} {errors}")

    def another_name(self, seed):
        """The server does tell: the same object by the names of the .proto file is refused."""
        with open(self.path(seed, "json"), encoding="utf-8") as f:
            sent = json.load(f)
        for part, name, other, flags in (("spec", "desiredReplicas", "desired_replicas", ()),
                                         ("status", "readyReplicas", "ready_replicas", ("--subresource=status",))):
            changed = {**sent, part: {**sent[part], other: 1}}
            del changed[part][name]
            with open(self.path(seed, "changed.json"), "w", encoding="utf-8") as f:
                json.dump(changed, f)
            code, _, errors = self.apply(seed, *flags, path=f.name)
            self.check(f"{part}.{other} is refused", code != 0 and other in errors, f"exit {code}: {errors}")


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=25)
    parser.add_argument("--dir")
    flags = parser.parse_args(argv)
    program, protos = built()
    folder = os.path.abspath(flags.dir) if flags.dir else tempfile.mkdtemp(prefix="field-names-")
    os.makedirs(folder, exist_ok=True)
    cluster = os.path.join(folder, "cluster")

    def random_kinds(verb):
        done = subprocess.run([program, verb, folder, str(flags.first), str(flags.count), protos], cwd=ROOT, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode == 0, done.stdout

    made, output = random_kinds("write")
    if not made:
        print(f"{output}\n0 passed, 1 failed")
        return 1
    try:
        subprocess.run([CLUSTER, "up", "--dir", cluster, "--watch-pid", str(os.getpid())], stdout=subprocess.DEVNULL, check=True)
        c = Checks(folder, os.path.join(cluster, "bin", "kubectl"))
        seeds = [seed for seed in range(flags.first, flags.first + flags.count) if c.definition(seed)]
        for seed in seeds:
            c.object(seed)
        c.another_name(flags.first)
        c.check(f"the codec reads what the server answered, {flags.count} times", *random_kinds("check"))
    finally:
        subprocess.run([CLUSTER, "down", "--dir", cluster], stdout=subprocess.DEVNULL, check=False)
        if not flags.dir:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{c.passed} passed, {c.failed} failed")
    return int(c.failed > 0)
