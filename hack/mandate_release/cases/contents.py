"""What is in the image, and that the field's tools read it."""
import gzip
import io
import json
import os
import re
import subprocess
import tarfile
import unittest
from typing import Any

from mandate_release import cases, closure, image, oci, tree


def _layers(folder: str) -> list[tarfile.TarInfo]:
    """Every entry of every layer of a layout."""
    def blob(digest: str) -> bytes:
        with open(os.path.join(folder, "blobs", digest.replace(":", "/")), "rb") as f:
            return f.read()

    with open(os.path.join(folder, "index.json"), encoding="ascii") as f:
        manifest = json.loads(blob(json.load(f)["manifests"][0]["digest"]))
    entries: list[tarfile.TarInfo] = []
    for layer in manifest["layers"]:
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(blob(layer["digest"])))) as tar:
            entries += tar.getmembers()
    return entries


class ContentsTest(unittest.TestCase):
    """The image that the tests run, which has more libraries than that of a release."""

    def test_the_digest_is_reproducible(self) -> None:
        again = image.image(os.path.join(cases.folder(), "again"), cases.built())
        self.assertEqual(again.digest, cases.made().digest)
        with open(again.archive, "rb") as one, open(cases.made().archive, "rb") as other:
            self.assertEqual(one.read(), other.read())

    def test_it_holds_the_program_its_libraries_and_nothing_else(self) -> None:
        entries = _layers(cases.made().folder)
        allowed = re.compile(r"mandate-manager|lib(64)?|etc/(passwd|group|nsswitch\.conf)|usr/share/doc/[^/]+/copyright"
                             r"|usr/share/mandate-manager/sbom\.spdx\.json|usr/lib(64)?/[^/]*/?[^/]+\.so[.0-9]*")
        files = [entry for entry in entries if not entry.isdir()]
        self.assertEqual([entry.name for entry in files if not allowed.fullmatch(entry.name)], [])
        runs = [entry.name for entry in files if entry.isreg() and entry.mode & 0o111 and ".so" not in entry.name]
        self.assertEqual(runs, ["mandate-manager"])
        size = sum(entry.size for entry in files)
        print(f"  {len(files)} files, {size / 2**20:.1f} MiB unpacked, {os.path.getsize(cases.made().archive) / 2**20:.1f} MiB packed")

    def test_root_owns_everything_and_nobody_else_may_write(self) -> None:
        entries = _layers(cases.made().folder)
        self.assertEqual({(entry.uid, entry.gid) for entry in entries}, {(0, 0)})
        wrong = [entry.name for entry in entries if not entry.issym() and entry.mode & 0o7022]
        self.assertEqual(wrong, [], "setuid, setgid, sticky, or writable by others than root")
        self.assertLessEqual({entry.type for entry in entries}, {tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE})

    def test_the_configuration_is_that_of_an_unprivileged_program(self) -> None:
        configuration = oci.unpack(cases.made().archive, os.path.join(cases.folder(), "unpacked"))
        config = configuration["config"]
        self.assertEqual((config["User"], config["Entrypoint"]), ("65532:65532", ["/mandate-manager"]))
        self.assertEqual((configuration["os"], configuration["architecture"]), ("linux", tree.architecture()))
        labels = {key.removeprefix("org.opencontainers.image."): value for key, value in config["Labels"].items()}
        self.assertEqual((labels["title"], labels["version"], labels["licenses"]), ("mandate-manager", tree.version(), "Apache-2.0"))
        self.assertEqual((labels.get("revision"), labels["created"]), (tree.revision(), configuration["created"]))

    def test_the_bill_names_the_package_of_every_library(self) -> None:
        with open(cases.made().sbom, encoding="utf-8") as f:
            bill: dict[str, Any] = json.load(f)
        versions = {package["name"]: package["versionInfo"] for package in bill["packages"]}
        self.assertEqual(versions["mandate-manager"], tree.version())
        self.assertLess({"libboost1.81-dev", "libcli11-dev", "k8s.io/api"}, set(versions))
        libraries = [entry for entry in _layers(cases.made().folder) if entry.isreg() and ".so" in entry.name]
        for entry in libraries:
            # The package database has some files by their paths without /usr.
            done = subprocess.run(["dpkg-query", "-S", f"*/{os.path.basename(entry.name)}"], check=True, capture_output=True, text=True)
            owners = {line.partition(":")[0] for line in done.stdout.splitlines()}
            self.assertTrue(owners & set(versions), f"{entry.name} of {owners} is not in the bill")
        name = done.stdout.partition(":")[0]
        installed = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], check=True, capture_output=True, text=True)
        self.assertEqual(versions[name], installed.stdout)
        related = {relation["relatedSpdxElement"] for relation in bill["relationships"]}
        self.assertEqual(related, {package["SPDXID"] for package in bill["packages"]})

    def test_the_bill_names_what_is_linked_into_a_release(self) -> None:
        with open(os.path.join(cases.folder(), "link.params"), "w", encoding="ascii") as f:
            f.write("-lcurl\n-l:libprotobuf.a\n-l:libabsl_base.a\n-Wl,-S\n")
        static = closure.packages(closure.static_libraries(f.name))
        self.assertEqual([package.name for package in static], ["libabsl-dev", "libprotobuf-dev"])

    def test_skopeo_copies_it_from_both_forms(self) -> None:
        made = cases.made()
        for number, source in enumerate((f"oci-archive:{made.archive}", f"oci-archive:{made.archive}:{made.version}",
                                         f"oci:{made.folder}", f"docker-archive:{made.archive}:mandate-manager:{made.version}")):
            with self.subTest(source.replace(cases.folder(), "DIR")):
                target = os.path.join(cases.folder(), f"copy-{number}")
                # Without a policy of the machine: the test copies between its own files.
                done = subprocess.run(["skopeo", "--insecure-policy", "copy", "--quiet", source, f"oci:{target}:x"], check=False,
                                      text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(done.returncode, 0, done.stdout)
                inspected = subprocess.run(["skopeo", "inspect", "--config", f"oci:{target}:x"], check=True, capture_output=True)
                self.assertEqual(json.loads(inspected.stdout)["config"]["User"], "65532:65532")
