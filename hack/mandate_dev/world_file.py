"""world.json: describes the programs that run in a world's folder, for programs that automate it.

The file has no secrets, only the paths of the files that have them; its mode is 0600. All paths are absolute. Fields:

  version         1; it increases when a field changes its meaning or is removed
  identityMode    token, impersonate or single
  namespace       the manager's
  folder          everything below is in it
  rbacgen         path of the program
  cluster         folder, server (URL), kubeconfig (the administrator's), kubectl, caFile, auditLog,
                  ports {apiserver, etcd, etcd-peer, controller-manager},
                  pids {supervisor, etcd, kube-apiserver, kube-controller-manager}
  manager         pid (null: it does not run), program, kubeconfig (base's), tokenFile, log, ports {health, metrics},
                  readyz and metrics (URLs)
"""
import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mandate_dev.world import World

NAME = "world.json"
VERSION = 1


def describe(world: "World", manager_pid: int | None) -> dict[str, Any]:
    state = world.cluster.state()
    pids = {name: record.get("pid") for name, record in state["components"].items()}
    return {
        "version": VERSION,
        "identityMode": world.identity_mode,
        "namespace": world.namespace,
        "folder": world.folder,
        "rbacgen": world.rbacgen,
        "cluster": {
            "folder": world.cluster.folder, "server": world.cluster.server(), "kubeconfig": world.cluster.kubeconfig,
            "kubectl": world.cluster.kubectl_program, "caFile": world.cluster.ca_file, "auditLog": world.cluster.audit_log,
            "ports": state["ports"], "pids": {"supervisor": state["supervisor"]["pid"], **pids}},
        "manager": {
            "pid": manager_pid, "program": world.manager_program, "kubeconfig": world.manager_kubeconfig,
            "tokenFile": world.token_file, "log": world.manager_log,
            "ports": {"health": world.health_port, "metrics": world.metrics_port},
            "readyz": f"http://127.0.0.1:{world.health_port}/readyz",
            "metrics": f"http://127.0.0.1:{world.metrics_port}/metrics"},
    }


def write_private(path: str, text: str) -> None:
    """Writes a file that only its owner can read; it replaces a former file atomically."""
    new = path + ".new"
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(new, path)


def write(world: "World", manager_pid: int | None) -> None:
    write_private(os.path.join(world.folder, NAME), json.dumps(describe(world, manager_pid), indent=1) + "\n")
