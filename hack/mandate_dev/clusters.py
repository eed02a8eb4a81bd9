"""A private control plane for a program (hack/cluster): up, kubectl, restarts, down."""
import json
import os
import ssl
import subprocess
from typing import Any

from mandate_dev.controlplane import components
from mandate_dev.paths import ROOT

SECONDS = 7200  # for `up`, which builds the programs the first time


class Cluster:
    """The control plane in a folder. `up` starts it; it ends with this process or, if it is lasting, with `down`.

    root: the tree of the hack/cluster that runs it.
    """

    def __init__(self, folder: str, lasting: bool = False, root: str = ROOT) -> None:
        self.folder, self.lasting, self.root = os.path.abspath(folder), lasting, root
        self.kubeconfig = self.path("kubeconfig")
        self.bin = self.path("bin")
        self.kubectl_program = self.path("bin", "kubectl")
        self.audit_log = self.path("audit.log")
        self.ca_file = self.path("ca.crt")

    def path(self, *parts: str) -> str:
        return os.path.join(self.folder, *parts)

    def _run(self, command: str, *arguments: str, quiet: bool = True) -> None:
        subprocess.run([os.path.join(self.root, "hack", "cluster"), command, *arguments, "--dir", self.folder], check=True,
                       timeout=SECONDS, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL if quiet else None)

    def up(self, *flags: str, quiet: bool = False) -> None:
        """Starts it; flags are those of `hack/cluster up`. Raises CalledProcessError."""
        watch = [] if self.lasting else ["--watch-pid", str(os.getpid())]
        self._run("up", *watch, *flags, quiet=quiet)

    def down(self) -> None:
        """Stops it and removes its folder. It is not an error if it does not run."""
        subprocess.run([os.path.join(self.root, "hack", "cluster"), "down", "--dir", self.folder], check=False,
                       timeout=600, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def restart(self, component: str, signal: str = "TERM") -> None:
        self._run("restart", component, "--signal", signal)

    def stop(self, component: str) -> None:
        self._run("stop", component)

    def start(self, component: str) -> None:
        self._run("start", component)

    def state(self) -> dict[str, Any]:
        """Returns cluster.json: ports, pids and flags of a running cluster."""
        with open(self.path(components.STATE_FILE), encoding="utf-8") as f:
            state: dict[str, Any] = json.load(f)
        return state

    def port(self, use: str) -> int:
        """Returns the port of apiserver, etcd or controller-manager."""
        return int(self.state()["ports"][use])

    def server(self) -> str:
        """Returns the URL of its API server."""
        with open(self.path("server"), encoding="utf-8") as f:
            return f.read().strip()

    def tls(self, client: str = "admin", ca: str = "ca") -> ssl.SSLContext:
        """Returns a TLS context with one of the cluster's client certificates: `admin`, or `etcd` with the CA
        `etcd-ca`."""
        context = ssl.create_default_context(cafile=self.path("pki", f"{ca}.crt"))
        context.load_cert_chain(self.path("pki", f"{client}.crt"), self.path("pki", f"{client}.key"))
        return context

    def try_kubectl(self, *arguments: str, stdin: str | None = None,
                    kubeconfig: str | None = None) -> subprocess.CompletedProcess[str]:
        """Runs kubectl as the administrator, or with another kubeconfig."""
        return subprocess.run([self.kubectl_program, *arguments], input=stdin, text=True, capture_output=True, timeout=SECONDS,
                              env={**os.environ, "KUBECONFIG": kubeconfig or self.kubeconfig})

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Returns the output of kubectl. Raises RuntimeError with its errors if it fails."""
        done = self.try_kubectl(*arguments, stdin=stdin)
        if done.returncode != 0:
            raise RuntimeError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def get(self, *arguments: str) -> Any:
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))
