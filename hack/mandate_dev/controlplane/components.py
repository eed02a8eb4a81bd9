"""The parts of a local control plane: its folder, its ports, each program's flags and its health check.

Paths are relative to the cluster's folder, which is the working directory of every program and of every caller. So
flags do not depend on the characters in the folder's path, and sockets not on its length.
"""
import errno
import http.client
import json
import os
import random
import socket
import ssl
from collections.abc import Iterable
from typing import Any

from mandate_dev.controlplane import certificates

State = dict[str, Any]  # cluster.json
ETCD, APISERVER, MANAGER = "etcd", "kube-apiserver", "kube-controller-manager"
NAMES = (ETCD, APISERVER, MANAGER)  # in the order of their start
PORT_USES = ("apiserver", "etcd", "etcd-peer", "controller-manager")
STATE_FILE, CONTROL_SOCKET = "cluster.json", "control"
LOCK_FILE = "mandate-cluster.lock"  # a folder with this file also belongs to a cluster
AUDIT_POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
"""


def full_name(name: str) -> str | None:
    """Returns the component that a user means by `name`, or None."""
    return next((c for c in NAMES if name in (c, c.removeprefix("kube-"))), None)


def port_is_free(port: int) -> bool:
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True


def new_port(taken: Iterable[int]) -> int:
    """Returns a free port below the range that the kernel uses for outgoing connections: while a restarted server is
    down, no outgoing connection can take its port."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as f:
        ceiling = max(int(f.read().split()[0]), 12000)
    while True:
        port = random.randrange(max(10000, ceiling - 12000), ceiling)
        if port not in taken and port_is_free(port):
            return port


def choose_ports(recorded: dict[str, int], explicit: int) -> dict[str, int]:
    """Returns one port for each use: the explicit one for the API server, recorded ones if they are free, and otherwise
    new ones."""
    ports = {"apiserver": explicit} if explicit else {}
    for use in PORT_USES:
        port = recorded.get(use, 0)
        if use not in ports:
            free = port and port not in ports.values() and port_is_free(port)
            ports[use] = port if free else new_port(ports.values())
    return ports


def server_url(state: State) -> str:
    return f"https://127.0.0.1:{state['ports']['apiserver']}"


def write_files(state: State, directory: str) -> None:
    """Writes the files that depend on ports and programs; certificates exist already."""
    with open("audit-policy.yaml", "w", encoding="ascii") as f:
        f.write(AUDIT_POLICY)
    with open("server", "w", encoding="ascii") as f:
        f.write(server_url(state) + "\n")
    certificates.write_kubeconfig("kubeconfig", server_url(state), "admin")
    certificates.write_kubeconfig("controller-manager.kubeconfig", server_url(state), "controller-manager")
    # A script, not a symbolic link: kubectl caches discovery by host and port, and another cluster may have used this
    # port before. Without a kubeconfig it would act on the user's default cluster.
    os.makedirs("bin", exist_ok=True)
    quoted = {k: "'" + v.replace("'", "'\\''") + "'" for k, v in {"dir": directory, "bin": state["bin"]}.items()}
    with open("bin/kubectl", "w", encoding="utf-8") as f:
        f.write(f"""#!/bin/sh
dir={quoted["dir"]}
export KUBECONFIG="${{KUBECONFIG:-$dir/kubeconfig}}" KUBECACHEDIR="${{KUBECACHEDIR:-$dir/kubectl-cache}}"
exec {quoted["bin"]}/kubectl "$@"
""")
    os.chmod("bin/kubectl", 0o700)


def command(name: str, state: State) -> list[str]:
    ports = state["ports"]
    etcd, peer = (f"https://127.0.0.1:{ports[use]}" for use in ("etcd", "etcd-peer"))
    program = os.path.join(state["bin"], name)
    if name == ETCD:
        return [program, "--name=local", "--data-dir=etcd",
                f"--listen-client-urls={etcd}", f"--advertise-client-urls={etcd}",
                f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=local={peer}",
                "--cert-file=pki/etcd.crt", "--key-file=pki/etcd.key",
                "--trusted-ca-file=pki/etcd-ca.crt", "--client-cert-auth",
                "--peer-cert-file=pki/etcd.crt", "--peer-key-file=pki/etcd.key",
                "--peer-trusted-ca-file=pki/etcd-ca.crt", "--peer-client-cert-auth",
                # The data survives a kill -9, which keeps the page cache; only a power failure could lose it.
                "--unsafe-no-fsync"]
    if name == APISERVER:
        return [program, f"--etcd-servers={etcd}", "--etcd-cafile=pki/etcd-ca.crt",
                "--etcd-certfile=pki/etcd.crt", "--etcd-keyfile=pki/etcd.key",
                "--bind-address=127.0.0.1", f"--secure-port={ports['apiserver']}",
                # A loopback address is not allowed as an endpoint of the `kubernetes` service, and no pod would use
                # the endpoint.
                "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
                "--tls-cert-file=pki/server.crt", "--tls-private-key-file=pki/server.key",
                "--client-ca-file=pki/ca.crt", "--authorization-mode=RBAC",
                "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
                "--service-account-key-file=pki/sa.pub", "--service-account-signing-key-file=pki/sa.key",
                "--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged",
                "--audit-policy-file=audit-policy.yaml", "--audit-log-path=audit.log",
                "--audit-log-maxsize=0",  # the default moves the log away at 100 MB; 0 appends without an end
                # Without it, a stop waits a minute for clients to end their watches.
                "--shutdown-watch-termination-grace-period=1s",
                *state["apiserver_flags"]]
    return [program, "--kubeconfig=controller-manager.kubeconfig",
            "--authentication-kubeconfig=controller-manager.kubeconfig",
            "--authorization-kubeconfig=controller-manager.kubeconfig",
            "--bind-address=127.0.0.1", f"--secure-port={ports['controller-manager']}",
            "--tls-cert-file=pki/server.crt", "--tls-private-key-file=pki/server.key",
            "--service-account-private-key-file=pki/sa.key", "--root-ca-file=pki/ca.crt",
            "--use-service-account-credentials", "--leader-elect=false",
            # At its start it requests a token and discovery for each of forty controllers. With the default of 20 a
            # second this would be the longest part of a cluster's start.
            "--kube-api-qps=500", "--kube-api-burst=500"]


def port_of(name: str, state: State) -> int:
    return int(state["ports"][name.removeprefix("kube-")])


def log_of(name: str) -> str:
    return name + ".log"


def get(port: int, path: str, ca: str, client: str, timeout: float = 2) -> tuple[int, str]:
    """Sends a GET as an administrator, or as the owner of etcd. Returns (HTTP code, body); raises OSError."""
    context = ssl.create_default_context(cafile=f"pki/{ca}.crt")
    context.load_cert_chain(f"pki/{client}.crt", f"pki/{client}.key")
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=context)
    try:
        connection.request("GET", path, headers={"User-Agent": "mandate-hack-cluster"})
        response = connection.getresponse()
        return response.status, response.read().decode("utf-8", "replace")
    except http.client.HTTPException as error:
        raise OSError(f"bad HTTP answer: {error!r}") from error
    finally:
        connection.close()


def unhealthy(name: str, state: State) -> str | None:
    """Returns None if the component reports that it is healthy, and otherwise the reason in a few words."""
    path, ca, client = {ETCD: ("/health", "etcd-ca", "etcd"), APISERVER: ("/readyz", "ca", "admin"),
                        MANAGER: ("/healthz", "ca", "admin")}[name]
    try:
        code, body = get(port_of(name, state), path, ca, client)
    except OSError as error:
        return os.strerror(error.errno).lower() if error.errno else str(error)
    if name == ETCD and code == 200 and json.loads(body).get("health") != "true":
        return body.strip()
    failed = [line.split()[0].removeprefix("[-]") for line in body.splitlines() if line.startswith("[-]")]
    return None if code == 200 else f"{path} says {code} {' '.join(failed)}".rstrip()


def default_account_exists(state: State) -> bool:
    """This becomes true last in a new cluster: it needs all three programs."""
    try:
        path = "/api/v1/namespaces/default/serviceaccounts/default"
        return get(port_of(APISERVER, state), path, "ca", "admin")[0] == 200
    except OSError:
        return False
