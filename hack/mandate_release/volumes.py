"""The volumes of a Pod, with the owners and modes that a kubelet gives their files (Kubernetes' pkg/volume).

root owns the files, with the mode of their volume; the container's user owns its tokens (0600). With fsGroup, this group owns all
of them: it may also read them, and write in an emptyDir.

Only root can give files away. If another user runs the test, that user is the container's, and each file has the permissions
that the container would have.
"""
import base64
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mandate_release.cluster import Cluster


class NotSupported(AssertionError):
    """The Pod asks for something that this kubelet does not do."""


def expect(what: str, holds: bool) -> None:
    if not holds:
        raise NotSupported(f"this test's kubelet runs only pods with {what}")


@dataclass(frozen=True)
class Container:
    """The ids of the container's process. groups: its group, and fsGroup."""

    user: int
    groups: tuple[int, ...]

    def mode(self, owner: int, group: int, mode: int) -> int:
        """The mode, for a file of the container's user, with which that user has what the container has by `mode`."""
        shift = 6 if owner == self.user else 3 if group in self.groups else 0
        return (mode >> shift & 0o7) << 6


@dataclass(frozen=True)
class _File:
    name: str
    content: bytes
    mode: int
    owner: int = 0


class Volumes:
    """Makes the folders of a Pod's volumes in `folder`. fs_group: None if the Pod has none. address: the Pod's."""

    def __init__(self, cluster: Cluster, pod: dict[str, Any], container: Container, fs_group: int | None, address: str,
                 folder: str) -> None:
        self._cluster, self._pod, self._folder = cluster, pod, folder
        self._container, self._fs_group, self._address = container, fs_group, address
        self._namespace: str = pod["metadata"]["namespace"]

    def make(self) -> dict[str, str]:
        """Volume name to folder."""
        return {volume["name"]: self._make(volume) for volume in self._pod["spec"]["volumes"]}

    def field(self, path: str) -> str:
        value: Any = {**self._pod, "status": {"podIP": self._address, "podIPs": [{"ip": self._address}]}}
        for part in path.split("."):
            value = value[part]
        return str(value)

    def _make(self, volume: dict[str, Any]) -> str:
        folder = os.path.join(self._folder, "volume-" + volume["name"])
        os.mkdir(folder)
        if "emptyDir" in volume:
            self._give(folder, 0, 0o777, 0o660)
            return folder
        expect("projected, Secret and emptyDir volumes", "projected" in volume or "secret" in volume)
        for file in self._projected(volume["projected"]) if "projected" in volume else self._secret(volume["secret"]):
            path = os.path.join(folder, file.name)
            with open(path, "wb") as f:
                f.write(file.content)
            self._give(path, file.owner, file.mode, 0o440)
        self._give(folder, 0, 0o755, 0o440)
        return folder

    def _give(self, path: str, owner: int, mode: int, of_group: int) -> None:
        """of_group: the bits that a volume with fsGroup adds."""
        group = 0
        if self._fs_group is not None:
            group, mode = self._fs_group, mode | of_group
            if os.path.isdir(path):
                mode |= stat.S_ISGID | 0o110
        if os.getuid() == 0:
            os.chown(path, owner, group)
            os.chmod(path, mode)  # after chown, which clears bits
        else:
            os.chmod(path, self._container.mode(owner, group, mode))

    def _token(self, source: dict[str, Any]) -> bytes:
        meta, account = self._pod["metadata"], self._pod["spec"]["serviceAccountName"]
        return self._cluster.kubectl(
            "create", "token", account, "-n", self._namespace, f"--duration={source['expirationSeconds']}s",
            "--bound-object-kind=Pod", f"--bound-object-name={meta['name']}", f"--bound-object-uid={meta['uid']}",
            *(["--audience=" + source["audience"]] if "audience" in source else [])).encode()

    def _projected(self, volume: dict[str, Any]) -> Iterator[_File]:
        mode: int = volume["defaultMode"]
        for source in volume["sources"]:
            (kind, what), = source.items()
            if kind == "serviceAccountToken":
                yield _File(what["path"], self._token(what), 0o600, self._container.user)
            elif kind == "downwardAPI":
                for item in what["items"]:
                    yield _File(item["path"], self.field(item["fieldRef"]["fieldPath"]).encode(), item.get("mode", mode))
            else:
                expect("projected tokens, ConfigMaps and fields", kind == "configMap")
                data = self._cluster.get("configmap", what["name"], "-n", self._namespace)["data"]
                for item in what["items"]:
                    yield _File(item["path"], data[item["key"]].encode(), item.get("mode", mode))

    def _secret(self, volume: dict[str, Any]) -> Iterator[_File]:
        data = self._cluster.get("secret", volume["secretName"], "-n", self._namespace).get("data", {})
        for item in volume.get("items", [{"key": key, "path": key} for key in data]):
            yield _File(item["path"], base64.b64decode(data[item["key"]]), item.get("mode", volume["defaultMode"]))
