"""Runs a Pod's container as a kubelet would: volumes, environment, user, file system, network, probes.

The container is a process in namespaces of its own: bubblewrap mounts the unpacked image read-only. Works as root, and as
a user that may make user namespaces.
"""
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from typing import Any

from mandate_release.cluster import Cluster
from mandate_release.volumes import Container, Volumes, expect

HERE = os.path.dirname(os.path.realpath(__file__))
SERVICE_ADDRESS = ("10.0.0.1", 443)  # of the Service `kubernetes` of hack/cluster


class Pod:
    """One container of a Pod that the API server has. Not thread-safe.

    image: the folder of the unpacked image; configuration: that of the image. folder: made here, for the pod's files;
    every user may enter its parents. The Pod's address is `10.244.0.NUMBER`.
    """

    def __init__(self, cluster: Cluster, pod: dict[str, Any], image: str, configuration: dict[str, Any], folder: str,
                 number: int) -> None:
        self.name: str = pod["metadata"]["name"]
        self.object = pod
        self._cluster, self._image, self._folder = cluster, image, folder
        self._configuration = configuration["config"]
        self._spec = pod["spec"]
        expect("one container", len(self._spec["containers"]) == 1 and "initContainers" not in self._spec)
        self.container: dict[str, Any] = self._spec["containers"][0]
        self.address = f"10.244.0.{number}"
        self.log = os.path.join(folder, "log")
        self._process: subprocess.Popen[bytes] | None = None
        os.mkdir(folder, 0o755)
        security = {**self._spec.get("securityContext", {}), **self.container.get("securityContext", {})}
        self.user: int = security["runAsUser"]
        self.group: int = security["runAsGroup"]
        fs_group: int | None = security.get("fsGroup")
        self._groups = (self.group,) if fs_group is None else (self.group, fs_group)
        self._volumes = Volumes(cluster, pod, Container(self.user, self._groups), fs_group, self.address, folder)
        expect("the restricted security context",
               bool(security.get("runAsNonRoot") and self.user and security.get("readOnlyRootFilesystem")
                    and security.get("allowPrivilegeEscalation") is False
                    and security.get("capabilities") == {"drop": ["ALL"]}
                    and security.get("seccompProfile") == {"type": "RuntimeDefault"}))

    # What the kubelet prepares.

    def _give(self, path: str, mode: int) -> None:
        os.chmod(path, mode)
        if os.getuid() == 0:
            os.chown(path, self.user, self.group)

    def _environment(self) -> dict[str, str]:
        host, port = SERVICE_ADDRESS
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/",
                       "HOSTNAME": self.name, "KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": str(port),
                       "KUBERNETES_SERVICE_PORT_HTTPS": str(port), "KUBERNETES_PORT": f"tcp://{host}:{port}"}
        environment |= dict(entry.split("=", 1) for entry in self._configuration.get("Env", []))
        expect("variables of their own", "envFrom" not in self.container)
        for entry in self.container.get("env", []):
            field = entry.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
            environment[entry["name"]] = self._volumes.field(field) if field else entry.get("value", "")
        return environment

    @property
    def memory_limit(self) -> int:
        text: str = self.container["resources"]["limits"]["memory"]
        return int(text[:-2]) * {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}[text[-2:]]

    def _mounts(self) -> list[str]:
        folders = self._volumes.make()
        cgroup = os.path.join(self._folder, "cgroup")
        os.mkdir(cgroup)
        with open(os.path.join(cgroup, "memory.max"), "w", encoding="ascii") as f:
            f.write(f"{self.memory_limit}\n")
        # A container runtime makes the mount points that an image lacks.
        for point in ("/proc", "/dev", "/sys", *(mount["mountPath"] for mount in self.container["volumeMounts"])):
            os.makedirs(self._image + point, exist_ok=True)
        arguments = ["--ro-bind", self._image, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/sys",
                     "--ro-bind", cgroup, "/sys/fs/cgroup", "--remount-ro", "/sys"]
        for mount in self.container["volumeMounts"]:
            how = "--ro-bind" if mount.get("readOnly") else "--bind"
            arguments += [how, folders[mount["name"]], mount["mountPath"]]
        return arguments

    def _sandbox(self) -> list[str]:
        environment = [part for name, value in self._environment().items() for part in ("--setenv", name, value)]
        program = self.container.get("command") or self._configuration["Entrypoint"]
        bubblewrap = ["bwrap", "--unshare-user", "--uid", str(self.user), "--gid", str(self.group), "--unshare-pid",
                      "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", self.name, "--as-pid-1",
                      "--die-with-parent", "--cap-drop", "ALL", "--clearenv", *environment, *self._mounts(), "--",
                      *program, *self.container.get("args", [])]
        config = {"addresses": [SERVICE_ADDRESS[0], self.address], "command": bubblewrap,
                  "relays": [(f"tcp:{SERVICE_ADDRESS[0]}:{SERVICE_ADDRESS[1]}", f"unix:{self._folder}/api"),
                             *((f"unix:{self._socket(port['containerPort'])}", f"tcp:{self.address}:{port['containerPort']}")
                               for port in self.container["ports"])],
                  "pid_file": os.path.join(self._folder, "pid")}
        user = (["setpriv", f"--reuid={self.user}", f"--regid={self.group}", "--groups=" + ",".join(map(str, self._groups))]
                if os.getuid() == 0 else [])
        return [*user, "unshare", "--user", "--map-root-user", "--net", "--", "python3", "-m",
                "mandate_release.sandbox", json.dumps(config)]

    # Its life.

    def start(self) -> None:
        self._give(self._folder, 0o755)
        # The user of the container may not be able to read this tree.
        shutil.copytree(HERE, os.path.join(self._folder, "mandate_release"), ignore=shutil.ignore_patterns("__pycache__"))
        api = self._cluster.server.removeprefix("https://")
        self._relay = subprocess.Popen([sys.executable, "-m", "mandate_release.relay", f"unix:{self._folder}/api", f"tcp:{api}"],
                                       stdout=subprocess.PIPE, cwd=self._folder)
        assert self._relay.stdout is not None
        self._relay.stdout.readline()
        with open(self.log, "wb") as log:
            self._process = subprocess.Popen(self._sandbox(), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                             cwd=self._folder, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
        deadline = time.monotonic() + 60
        while not os.path.exists(os.path.join(self._folder, "pid")):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"{self.name} did not start:\n{self.tail()}")
            time.sleep(0.05)

    def tail(self) -> str:
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return "".join(f.readlines()[-25:])

    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _pid(self) -> int:
        """The container's process. The sandbox, which still runs, has not reaped it."""
        with open(os.path.join(self._folder, "pid"), encoding="ascii") as f:
            return int(f.read())

    def status(self) -> dict[str, str]:
        """/proc/PID/status."""
        with open(f"/proc/{self._pid()}/status", encoding="ascii") as f:
            return {name: value.strip() for name, _, value in (line.partition(":") for line in f)}

    def identity(self) -> tuple[int, int]:
        """The user and the group, as the process sees itself."""
        inside = []
        for kind, name in (("uid", "Uid"), ("gid", "Gid")):
            with open(f"/proc/{self._pid()}/{kind}_map", encoding="ascii") as f:
                first, outside, _ = map(int, f.read().split())
            inside.append(first + int(self.status()[name].split()[0]) - outside)
        return inside[0], inside[1]

    def mounts(self) -> dict[str, list[str]]:
        """Mount point to options."""
        with open(f"/proc/{self._pid()}/mountinfo", encoding="utf-8") as f:
            return {fields[4]: fields[5].split(",") for fields in map(str.split, f)}

    @property
    def grace_period(self) -> int:
        seconds: int = self._spec["terminationGracePeriodSeconds"]
        return seconds

    def kill(self) -> None:
        """SIGKILL, as at the end of a node."""
        self._end(signal.SIGKILL, 10)

    def terminate(self) -> tuple[int, float]:
        """SIGTERM: the exit code, and the seconds that it took; SIGKILL after the Pod's grace period."""
        return self._end(signal.SIGTERM, self.grace_period)

    def _end(self, number: signal.Signals, seconds: int) -> tuple[int, float]:
        assert self._process is not None
        since = time.monotonic()
        if self.runs():
            os.kill(self._pid(), number)
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._relay.terminate()
        self._relay.wait()
        return code, time.monotonic() - since

    # Its ports.

    def _socket(self, port: int) -> str:
        return os.path.join(self._folder, f"port-{port}")

    def port(self, name: str) -> int:
        number: int = next(port["containerPort"] for port in self.container["ports"] if port["name"] == name)
        return number

    def get(self, port: int, path: str, scheme: str = "HTTP", timeout: float = 30, token: str = "") -> tuple[int, str]:
        """(status, body). Raises OSError."""
        connection = http.client.HTTPConnection(self.address, port, timeout=timeout)
        plain = socket.socket(socket.AF_UNIX)
        plain.settimeout(timeout)
        try:
            plain.connect(self._socket(port))
            # A kubelet does not verify certificates.
            connection.sock = ssl._create_unverified_context().wrap_socket(plain) if scheme == "HTTPS" else plain
            headers = {"User-Agent": "kube-probe/1.36", "Accept": "*/*", "Connection": "close"}
            connection.request("GET", path, headers={**headers, **({"Authorization": f"Bearer {token}"} if token else {})})
            answer = connection.getresponse()
            status: int = answer.status
            return status, answer.read().decode("utf-8", "replace")
        except http.client.HTTPException as error:
            raise OSError(f"bad HTTP answer: {error!r}") from error
        finally:
            plain.close()

    def probe(self, kind: str) -> tuple[bool, str]:
        """Calls livenessProbe, readinessProbe or startupProbe once. (whether it succeeds, what it says)."""
        probe = self.container[kind]
        get = probe["httpGet"]
        port = get["port"] if isinstance(get["port"], int) else self.port(get["port"])
        try:
            code, text = self.get(port, get["path"], get["scheme"], probe["timeoutSeconds"])
        except OSError as error:
            return False, str(error)
        return 200 <= code < 400, f"{code} {text}"
