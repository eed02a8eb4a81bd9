"""Writes an OCI image: layers, a layout folder, and an archive of it. The same input gives the same bytes."""
import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
from typing import Any

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
REF_NAME = "org.opencontainers.image.ref.name"


def _digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _entry(name: str, mode: int) -> tarfile.TarInfo:
    """Root owns every file, and its time is 0: a layer with the same content has the same digest in each release."""
    entry = tarfile.TarInfo(name)
    entry.mode, entry.uname, entry.gname = mode, "root", "root"
    return entry


class Layer:
    """The files of one layer, by their paths without the first slash."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[bytes, int]] = {}
        self._links: dict[str, str] = {}

    def add(self, path: str, data: bytes, mode: int = 0o644) -> None:
        self._files[path] = (data, mode)

    def link(self, path: str, target: str) -> None:
        self._links[path] = target

    def paths(self) -> list[str]:
        return sorted([*self._files, *self._links])

    def tar(self) -> bytes:
        """Folders come before what is in them."""
        folders = {"/".join(parts[:n]) for path in self.paths() for parts in [path.split("/")] for n in range(1, len(parts))}
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for path in sorted(folders | set(self.paths())):
                if path in self._files:
                    data, mode = self._files[path]
                    entry = _entry(path, mode)
                    entry.size = len(data)
                    tar.addfile(entry, io.BytesIO(data))
                elif path in self._links:
                    entry = _entry(path, 0o777)
                    entry.type, entry.linkname = tarfile.SYMTYPE, self._links[path]
                    tar.addfile(entry)
                else:
                    entry = _entry(path + "/", 0o755)
                    entry.type = tarfile.DIRTYPE
                    tar.addfile(entry)
        return out.getvalue()


def write(folder: str, layers: list[Layer], config: dict[str, Any], platform: dict[str, str], created: str, name: str,
          tag: str) -> str:
    """Writes the layout folder and FOLDER.tar, and returns the digest of the manifest.

    config: the `config` of the image configuration. created: RFC 3339. name and tag are what `docker load` calls the
    image; the reference in index.json is the tag alone.
    """
    shutil.rmtree(folder, ignore_errors=True)
    blobs = os.path.join(folder, "blobs", "sha256")
    os.makedirs(blobs)

    def put(media: str, data: bytes) -> dict[str, Any]:
        digest = _digest(data)
        with open(os.path.join(blobs, digest.removeprefix("sha256:")), "wb") as f:
            f.write(data)
        return {"mediaType": media, "digest": digest, "size": len(data)}

    tars = [layer.tar() for layer in layers]
    compressed = [put(LAYER, gzip.compress(tar, compresslevel=6, mtime=0)) for tar in tars]
    configuration = put(CONFIG, _json({
        **platform, "created": created, "config": config,
        "rootfs": {"type": "layers", "diff_ids": [_digest(tar) for tar in tars]},
        "history": [{"created": created, "created_by": "hack/image"} for _ in tars]}))
    manifest = put(MANIFEST, _json({"schemaVersion": 2, "mediaType": MANIFEST, "config": configuration, "layers": compressed,
                                    "annotations": config["Labels"]}))
    index = {"schemaVersion": 2, "mediaType": INDEX,
             "manifests": [{**manifest, "platform": platform, "annotations": {REF_NAME: tag}}]}
    # Docker before version 25 reads manifest.json, and everybody else index.json.
    path = {what["digest"]: "blobs/sha256/" + what["digest"].removeprefix("sha256:") for what in [configuration, *compressed]}
    docker = [{"Config": path[configuration["digest"]], "RepoTags": [f"{name}:{tag}"],
               "Layers": [path[layer["digest"]] for layer in compressed]}]
    for file, value in (("oci-layout", {"imageLayoutVersion": "1.0.0"}), ("index.json", index), ("manifest.json", docker)):
        with open(os.path.join(folder, file), "wb") as f:
            f.write(_json(value))
    _archive(folder)
    return str(manifest["digest"])


def _archive(folder: str) -> None:
    files = sorted(os.path.relpath(os.path.join(parent, name), folder)
                   for parent, _, names in os.walk(folder) for name in names)
    with tarfile.open(folder + ".tar", "w", format=tarfile.GNU_FORMAT) as tar:
        for file in files:
            entry = _entry(file, 0o644)
            entry.size = os.path.getsize(os.path.join(folder, file))
            with open(os.path.join(folder, file), "rb") as data:
                tar.addfile(entry, data)


def unpack(archive: str, folder: str) -> dict[str, Any]:
    """Unpacks the layers of an archive that `write` made, and returns the image configuration. Every digest is checked."""
    with tarfile.open(archive) as tar:
        def blob(descriptor: dict[str, Any]) -> bytes:
            data = read("blobs/sha256/" + descriptor["digest"].removeprefix("sha256:"))
            if _digest(data) != descriptor["digest"] or len(data) != descriptor["size"]:
                raise ValueError(f"{archive}: the blob {descriptor['digest']} has another digest or size")
            return data

        def read(name: str) -> bytes:
            file = tar.extractfile(name)
            assert file is not None
            return file.read()

        manifest = json.loads(blob(json.loads(read("index.json"))["manifests"][0]))
        configuration: dict[str, Any] = json.loads(blob(manifest["config"]))
        for layer, diff in zip(manifest["layers"], configuration["rootfs"]["diff_ids"], strict=True):
            data = gzip.decompress(blob(layer))
            if _digest(data) != diff:
                raise ValueError(f"{archive}: a layer has another content than {diff}")
            with tarfile.open(fileobj=io.BytesIO(data)) as files:
                files.extractall(folder)
    return configuration
