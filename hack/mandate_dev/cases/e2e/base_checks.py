"""The checks of hack/e2e/run about the manager's own credential. Each restores the cluster's state."""
import json
import os
import shutil
import subprocess
import tempfile
from typing import Any

from mandate_dev.cases import WorldCase
from mandate_dev.cases.e2e.checks import apply, audit_events
from mandate_dev.cases.e2e.grants import restart
from mandate_dev.world import BASE, NAMESPACE, PATIENCE, World

INSTEAD = f"kubectl create token {BASE}"
NOBODY = 65534


def binding(name: str, role: str, subject: Any) -> dict[str, Any]:
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}, "subjects": [subject]}


def account(world: World, name: str) -> str:
    """Returns the token of a new ServiceAccount."""
    world.kubectl("create", "serviceaccount", name, "-n", NAMESPACE)
    return world.kubectl("create", "token", name, "-n", NAMESPACE).strip()


def certificate(world: World, subject: str) -> tuple[str, str]:
    """Returns the files (certificate, key) of a user, signed by the cluster's CA."""
    path = os.path.join(world.folder, "client")
    ca = world.cluster.path("pki", "ca")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", subject, "-addext", "extendedKeyUsage=clientAuth", "-addext", "basicConstraints=critical,CA:FALSE",
                    "-CA", f"{ca}.crt", "-CAkey", f"{ca}.key", "-keyout", f"{path}.key", "-out", f"{path}.crt"],
                   check=True, capture_output=True)
    return f"{path}.crt", f"{path}.key"


def kubeconfig(world: World, user: Any) -> str:
    """Returns a file: base's kubeconfig with another user."""
    with open(world.manager_kubeconfig, encoding="utf-8") as f:
        config = json.load(f)
    config["users"][0]["user"] = user
    path = os.path.join(world.folder, "other.kubeconfig")
    world.write_private(path, json.dumps(config))
    return path


class BaseCredential(WorldCase):
    """Tests the manager's own credential."""

    def test_an_administrators_credential_is_rejected(self) -> None:
        """An administrator's credential ends the manager at once, in every form, and the error names the remedy."""
        world = self.world
        self.step("administrators' credentials")
        token = account(world, "e2e-root")
        apply(world, binding("e2e-root", "cluster-admin", {"kind": "ServiceAccount", "name": "e2e-root", "namespace": NAMESPACE}),
              binding("e2e-admins", "cluster-admin", {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group",
                                                      "name": "kubeadm:cluster-admins"}))
        crt, key = certificate(world, "/O=kubeadm:cluster-admins/CN=kubernetes-admin")
        printed = json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}})
        plugin = os.path.join(world.folder, "root-plugin")
        world.write_private(plugin, f"#!/bin/sh\necho '{printed}'\n")
        os.chmod(plugin, 0o700)
        root = f"system:serviceaccount:{NAMESPACE}:e2e-root"
        _, offset = audit_events(world)
        for what, user, says in (
                ("a ServiceAccount's token", {"token": token}, root),
                ("a certificate of O=kubeadm:cluster-admins", {"client-certificate": crt, "client-key": key}, "kubernetes-admin"),
                ("an exec plugin that prints the token", {"exec": {
                    "apiVersion": "client.authentication.k8s.io/v1", "command": plugin, "interactiveMode": "Never"}}, root),
                ("the administrator's kubeconfig of this cluster", None, "system:masters")):
            config = kubeconfig(world, user) if user else world.cluster.kubeconfig
            done = subprocess.run([world.manager_program, f"--kubeconfig={config}", f"--namespace={NAMESPACE}",
                                   "--health-probe-bind-address=0", "--metrics-bind-address=0"],
                                  text=True, capture_output=True, timeout=PATIENCE)
            last = (done.stderr.strip().splitlines() or [""])[-1]
            self.expect(f"{what}: exit 2, and the remedy", done.returncode == 2 and INSTEAD in last and says in last,
                        (done.returncode, done.stderr))
            self.expect("the token is not in the output", token not in done.stderr + done.stdout, "it is")
        events, _ = audit_events(world, offset)
        theirs = {e["objectRef"]["resource"] for e in events if e["user"].get("username") in (root, "kubernetes-admin")
                  and e.get("objectRef")}
        self.expect("the manager used it only to ask about itself",
                    theirs == {"selfsubjectreviews", "selfsubjectaccessreviews"}, theirs)
        world.kubectl("delete", "clusterrolebinding/e2e-root", "clusterrolebinding/e2e-admins")
        world.kubectl("delete", "serviceaccount", "e2e-root", "-n", NAMESPACE)

    def test_a_base_that_mints_for_all_is_reported(self) -> None:
        """If base has more permissions than it needs, but not all, the manager logs it and works."""
        world = self.world
        self.step("base may create tokens of every ServiceAccount")
        world.kubectl("create", "clusterrole", "e2e-minter", "--verb=create", "--resource=serviceaccounts/token")
        apply(world, binding("e2e-minter", "e2e-minter", {"kind": "ServiceAccount", "name": BASE, "namespace": NAMESPACE}))

        def reports() -> list[Any]:
            with open(world.manager_log, encoding="utf-8", errors="replace") as f:
                return [line for line in f if "The manager's own credential may do more than it needs" in line]
        before = len(reports())
        restart(world)
        world.await_ready()
        lines = reports()[before:]
        self.expect("one line reports it",
                    len(lines) == 1 and "create serviceaccounts/token (acts as these ServiceAccounts)" in lines[0], lines)
        world.kubectl("delete", "clusterrolebinding/e2e-minter", "clusterrole/e2e-minter")
        restart(world)
        world.await_ready()
        self.expect("without the grant there is no report", len(reports()) == before + 1, reports()[before:])

    def test_a_token_file_is_swapped(self) -> None:
        """Another user's token in base's token file ends the manager, which uses that token only to ask for its
        user."""
        world = self.world
        self.step("the manager, with a token that can be revoked")
        world.stop_manager()
        world.kubectl("create", "secret", "generic", "e2e-base", "-n", NAMESPACE)
        world.write_private(world.token_file, world.kubectl("create", "token", BASE, "-n", NAMESPACE, "--bound-object-kind=Secret",
                                                      "--bound-object-name=e2e-base"))
        world.start_manager()
        world.await_ready()

        def holder() -> Any:
            return world.get("lease", BASE, "-n", NAMESPACE)["spec"]["holderIdentity"]
        world.eventually("it has the Lease", lambda: (bool(holder()), "no manager has it"))
        mine = holder()
        self.step("another user's token overwrites the token file")
        _, offset = audit_events(world)
        world.write_private(world.token_file, account(world, "e2e-mallory"))
        # The manager reads the file every 50 s, and when the server rejects the token.
        world.kubectl("delete", "secret", "e2e-base", "-n", NAMESPACE)
        code = world.await_manager_end()
        self.expect("exit 1", code == 1, f"exit {code}")
        with open(world.manager_log, encoding="utf-8", errors="replace") as f:
            last = f.readlines()[-1]
        other = f"system:serviceaccount:{NAMESPACE}:e2e-mallory"
        self.expect("its last line has the reason", f'belongs to "{other}" now' in last, last)
        self.expect("the Lease is not given back", holder() == mine, holder())

        def theirs() -> list[Any]:
            return [e for e in audit_events(world, offset)[0] if e["user"].get("username") == other and e["stage"] == "ResponseComplete"]

        def asked() -> tuple[Any, Any]:
            seen = [e["objectRef"]["resource"] for e in theirs()]
            return "selfsubjectreviews" in seen, seen
        world.eventually("the audit log shows that the manager asked for its user", asked)
        done = [e for e in theirs() if e["objectRef"]["resource"] != "selfsubjectreviews" and e["responseStatus"]["code"] < 400]
        self.expect("nothing else succeeded with it", not done, done)
        world.kubectl("delete", "serviceaccount", "e2e-mallory", "-n", NAMESPACE)
        world.write_credentials()
        world.kubectl("patch", "lease", BASE, "-n", NAMESPACE, "--type=merge", "-p", '{"spec": {"holderIdentity": ""}}')
        world.start_manager()
        world.await_ready()

    def test_its_memory_is_its_own(self) -> None:
        """No other process of the manager's user can read its memory: the flag that forbids core dumps forbids this,
        too."""
        world = self.world
        folder = tempfile.mkdtemp(prefix="mandate-e2e-memory-")
        # The kernel lets root read all memory.
        user: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        try:
            os.chmod(folder, 0o755)
            program = shutil.copy(world.manager_program, folder)
            config = os.path.join(folder, "kubeconfig")
            with open(world.manager_kubeconfig, encoding="utf-8") as f:
                text = json.load(f)
            # The manager waits 15 s for an unreachable server.
            text["clusters"][0]["cluster"] = {"server": "https://127.0.0.1:1", "certificate-authority": os.path.join(folder, "ca.crt")}
            text["users"][0]["user"] = {"token": "none"}
            shutil.copy(world.cluster.ca_file, folder)
            with open(config, "w", encoding="utf-8") as f:
                json.dump(text, f)
            for file in os.listdir(folder):
                os.chmod(os.path.join(folder, file), 0o755)
            for readable in False, True:
                flags = ["--allow-core-dumps"] if readable else []
                self.step(" ".join(["a manager", *flags]))
                process = subprocess.Popen([program, f"--kubeconfig={config}", f"--namespace={NAMESPACE}", *flags],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **user)
                try:
                    def threads() -> tuple[Any, Any]:
                        seen = os.listdir(f"/proc/{process.pid}/task")
                        return process.poll() is not None or len(seen) > 2, seen
                    world.eventually("its threads run", threads)  # both calls of prctl are done by then
                    done = subprocess.run(["cat", f"/proc/{process.pid}/maps"], capture_output=True, **user)
                    self.expect("it runs", process.poll() is None, process.returncode)
                    self.expect("its user reads its memory" if readable else "its user is denied its memory",
                                (done.returncode == 0) == readable and (readable or b"Permission denied" in done.stderr), done.stderr)
                finally:
                    process.kill()
                    process.wait()
        finally:
            shutil.rmtree(folder)
