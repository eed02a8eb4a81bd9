"""A local control plane for the tests of the image, with kubectl and helm."""
import json
import os
import subprocess
from typing import Any

from mandate_release.tree import ROOT


class CommandFailed(AssertionError):
    """A command that had to succeed: what it was, and its standard error."""


def run(*command: str, stdin: str | None = None, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, input=stdin, text=True, capture_output=True, check=False, cwd=ROOT,
                          env={**os.environ, **(env or {})})
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(command[:6])}: exit {done.returncode}\n{done.stderr.strip()}")
    return done.stdout


class Cluster:
    """Its control plane ends with this process."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.join(folder, "cluster")
        self._helm_home = os.path.join(folder, "helm")
        self._helm = run("hack/helm/build").strip()
        run("hack/cluster", "up", "--dir", self.folder, "--watch-pid", str(os.getpid()),
            "--apiserver-flag=--enable-admission-plugins=OwnerReferencesPermissionEnforcement")
        with open(os.path.join(self.folder, "server"), encoding="ascii") as f:
            self.server = f.read().strip()

    def down(self) -> None:
        run("hack/cluster", "down", "--dir", self.folder)

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        return run(os.path.join(self.folder, "bin", "kubectl"), *arguments, stdin=stdin,
                   env={"KUBECONFIG": os.path.join(self.folder, "kubeconfig")})

    def get(self, *arguments: str) -> Any:
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def apply(self, *objects: dict[str, Any]) -> None:
        self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def helm(self, *arguments: str) -> str:
        homes = {f"HELM_{home}_HOME": self._helm_home for home in ("CACHE", "CONFIG", "DATA")}
        return run(self._helm, *arguments, env={**homes, "KUBECONFIG": os.path.join(self.folder, "kubeconfig")})
