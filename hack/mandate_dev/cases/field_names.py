"""Each field has the same name everywhere: a real API server keeps all fields of random kinds that the codec writes.

usage: rbacgen/field_names_cluster_test [--first SEED] [--count N] [--dir DIR] [-k PATTERN]… [--list] [--junit FILE]

For each seed the server accepts the definition that rbacgen makes of a random .proto file, and an object of it with
every field set, spec and status by server-side apply and strict about unknown fields. Its answer is what was sent, also
when the codec reads it. The scale subresource reads the fields that the options name. Starts a control plane of its own
in DIR (default: a new temporary folder) and stops it. The last line is `N passed, N failed`; the exit code is 0 only
when nothing failed.
"""
import json
import os
import subprocess
from collections.abc import Sequence
from typing import Any, ClassVar

from mandate_dev import bazel, runner
from mandate_dev.cases import ClusterCase, ClusterFixture
from mandate_dev.paths import ROOT

GROUP = "random.example.com"


class FieldNames(ClusterCase):
    """One case whose subtests build on each other, seed by seed."""

    first: ClassVar[int] = 1
    number: ClassVar[int] = 25

    def check(self, name: str, holds: Any, seen: str = "") -> bool:
        with self.subTest(name):
            self.assertTrue(holds, seen)
        return bool(holds)

    def run_kubectl(self, *arguments: str) -> tuple[int, str, str]:
        """(exit code, output, errors)"""
        done = self.cluster.try_kubectl(*arguments)
        return done.returncode, done.stdout, done.stderr

    def path(self, seed: int, suffix: str) -> str:
        return os.path.join(self.folder, f"{seed}.{suffix}")

    def apply(self, seed: int, *flags: str, path: str | None = None) -> Any:
        return self.run_kubectl("apply", "--server-side", "--field-manager=one", "--validate=strict", *flags, "-f",
                        path or self.path(seed, "json"))

    def definition(self, seed: int) -> Any:
        code, _, errors = self.run_kubectl("apply", "--server-side", "-f", self.path(seed, "crd.yaml"))
        if code == 0:
            code, _, errors = self.run_kubectl("wait", "--for=condition=Established", "--timeout=120s", "-f", self.path(seed, "crd.yaml"))
        if code == 0:
            _, types, errors = self.run_kubectl("get", "-f", self.path(seed, "crd.yaml"), "-o", "jsonpath={.status.conditions[*].type}")
            code = "NonStructural" in types
        return self.check(f"seed {seed}: the definition is accepted", code == 0, errors)

    def object(self, seed: int) -> None:
        with open(self.path(seed, "json"), encoding="utf-8") as f:
            sent = json.load(f)
        for flags in ((), ("--subresource=status",)):
            code, _, errors = self.apply(seed, *flags)
            if not self.check(f"seed {seed}: {' '.join(flags) or 'spec'} is applied", code == 0, errors):
                return
        _, text, errors = self.run_kubectl("get", f"r{seed}s.{GROUP}", "random", "-n", "default", "-o", "json")
        with open(self.path(seed, "read.json"), "w", encoding="utf-8") as f:
            f.write(text)
        read = json.loads(text or "{}")
        for part in ("spec", "status"):
            self.check(f"seed {seed}: nothing of {part} is lost", read.get(part) == sent[part],
                       f"sent {sent[part]}, read {read.get(part)} {errors}")
        _, text, errors = self.run_kubectl("get", "--raw", f"/apis/{GROUP}/v1/namespaces/default/r{seed}s/random/scale")
        scale = json.loads(text or "{}")
        seen = (scale.get("spec", {}).get("replicas"), scale.get("status", {}).get("replicas"))
        self.check(f"seed {seed}: scale", seen == (sent["spec"]["desiredReplicas"], sent["status"]["readyReplicas"]),
                   f"{seen} {errors}")

    def another_name(self, seed: int) -> None:
        """The server checks names: it denies the same object with the names of the .proto file."""
        with open(self.path(seed, "json"), encoding="utf-8") as f:
            sent = json.load(f)
        for part, name, other, flags in (("spec", "desiredReplicas", "desired_replicas", ()),
                                         ("status", "readyReplicas", "ready_replicas", ("--subresource=status",))):
            changed = {**sent, part: {**sent[part], other: 1}}
            del changed[part][name]
            with open(self.path(seed, "changed.json"), "w", encoding="utf-8") as f:
                json.dump(changed, f)
            code, _, errors = self.apply(seed, *flags, path=f.name)
            self.check(f"{part}.{other} is denied", code != 0 and other in errors, f"exit {code}: {errors}")

    def test_field_names(self) -> None:
        program = bazel.program("//rbacgen/emit/crd/testing:random_kinds")
        protos = bazel.kubernetes_protos()

        def random_kinds(verb: str) -> tuple[bool, str]:
            done = subprocess.run([program, verb, self.folder, str(self.first), str(self.number), protos], cwd=ROOT, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            return done.returncode == 0, done.stdout

        made, output = random_kinds("write")
        self.assertTrue(made, output)
        seeds = [seed for seed in range(self.first, self.first + self.number) if self.definition(seed)]
        for seed in seeds:
            self.object(seed)
        self.another_name(self.first)
        self.check(f"the codec reads what the server answered, {self.number} times", *random_kinds("check"))


def main(argv: Sequence[str]) -> int:
    parser = runner.Parser("rbacgen/field_names_cluster_test", __doc__)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=25)
    parser.add_argument("--dir")
    options = parser.parse_args(argv)
    FieldNames.first, FieldNames.number, ClusterFixture.given = options.first, options.count, options.dir
    return runner.run("rbacgen/field_names_cluster_test", [FieldNames], options)
