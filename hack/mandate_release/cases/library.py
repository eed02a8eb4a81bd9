"""The Debian package libmandate-dev, and a component that CMake builds against it."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from typing import ClassVar

from mandate_dev import reference
from mandate_release import debian, library, programs, tree

GREETER = os.path.join(tree.ROOT, "hack", "library", "greeter")
SYSTEM_LIBRARIES = "/usr/lib/x86_64-linux-gnu;/lib/x86_64-linux-gnu"


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=3600)


class SourceTest(unittest.TestCase):
    """A build beside `hack/install` removes the links of the execution root for a moment."""

    def test_no_file_is_read_through_a_link_of_the_execution_root(self) -> None:
        for path, expected in {
                "manager/core/log.h": os.path.join(tree.ROOT, "manager/core/log.h"),
                "external/kubernetes/k8s.io/api/core/v1/generated.proto": "/base/external/kubernetes/k8s.io/api/core/v1/generated.proto",
                "bazel-out/k8-opt/bin/api/mandate/options.pb.h": "/base/execroot/mandate/bazel-out/k8-opt/bin/api/mandate/options.pb.h",
        }.items():
            with self.subTest(path):
                self.assertEqual(expected, library.source(path, "/base", "/base/execroot/mandate/bazel-out"))


class OptimisedTest(unittest.TestCase):
    """The flags of `make install`: the whole library takes ten minutes, and a small part of it fails in the same way."""

    def test_a_part_compiles(self) -> None:
        programs.bazel("build", *library.RELEASE, "--noshow_progress", "//manager/object:names")


class LibraryTest(unittest.TestCase):
    """The library is as tests build it; a release has the optimised one, which differs in its objects alone."""

    folder: ClassVar[str]
    package: ClassVar[str]
    root: ClassVar[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.mkdtemp(prefix="mandate-library-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.package = debian.package(cls.folder, library.build(release=False), compression="none")
        cls.root = os.path.join(cls.folder, "root")
        subprocess.run(["dpkg-deb", "--extract", cls.package, cls.root], check=True)

    def configure(self, name: str, *flags: str, source: str = GREETER) -> tuple[str, subprocess.CompletedProcess[str]]:
        """The folder of the build, and what CMake did. Its messages in one line each."""
        build = os.path.join(self.folder, name)
        done = run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.root}/usr", *flags)
        done.stdout = re.sub(r"\n +", " ", done.stdout)
        return build, done

    def build(self, folder: str) -> None:
        done = run("cmake", "--build", folder, "--parallel", str(os.cpu_count()))
        self.assertEqual(0, done.returncode, done.stdout[-6000:])

    def test_its_control_file(self) -> None:
        done = subprocess.run(["dpkg-deb", "--field", self.package], check=True, text=True, capture_output=True)
        fields = dict(re.findall(r"^([\w-]+): (.*)$", done.stdout, re.MULTILINE))
        self.assertEqual(("libmandate-dev", debian.version(), tree.architecture()),
                         (fields["Package"], fields["Version"], fields["Architecture"]))
        depends = dict(re.findall(r"(\S+) \(>= ([^)]+)\)", fields["Depends"]))
        self.assertLessEqual({"libabsl-dev", "libprotobuf-dev", "libgrpc++-dev", "libcurl4-openssl-dev", "libboost1.81-dev",
                              "prometheus-cpp-dev", "protobuf-compiler"}, set(depends))
        self.assertEqual("3.21", depends["libprotobuf-dev"])
        self.assertIn("libgtest-dev", fields["Recommends"])
        self.assertNotIn("libgtest-dev", depends)

    def test_everybody_may_read_it_and_root_owns_it(self) -> None:
        done = subprocess.run(["dpkg-deb", "--contents", self.package], check=True, text=True, capture_output=True)
        rows = {tuple(line.split()[:2]) for line in done.stdout.splitlines()}
        self.assertEqual({("drwxr-xr-x", "root/root"), ("-rw-r--r--", "root/root"), ("-rwxr-xr-x", "root/root")}, rows)

    def test_it_has_the_public_headers_and_what_they_include(self) -> None:
        includes = os.path.join(self.root, "usr", library.INCLUDES)
        missing = [header for header in reference.public_headers() if not os.path.isfile(os.path.join(includes, header))]
        self.assertEqual([], missing)
        for folder, _, names in os.walk(includes):
            for name in names:
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    for included in re.findall(r'^#include "((?:manager|controllers|cmd|api|k8s\.io)/[^"]+)"', f.read(), re.MULTILINE):
                        self.assertTrue(os.path.isfile(os.path.join(includes, included)), f"{name} includes {included}")

    def test_rbacgen_runs(self) -> None:
        self.assertEqual(f"rbacgen {tree.version()}\n", run(f"{self.root}/usr/bin/rbacgen", "--version").stdout)

    def test_a_component(self) -> None:
        source = shutil.copytree(GREETER, os.path.join(self.folder, "greeter"))
        folder = os.path.join(self.folder, "build")
        with self.subTest("a component is built and prints the version"):
            _, done = self.configure("build", "-DWANTED=" + tree.version().rpartition(".")[0], source=source)
            self.assertEqual(0, done.returncode, done.stdout)
            self.build(folder)
            self.assertEqual(f"greeter-manager {tree.version()}\n", run(f"{folder}/greeter-manager", "--version").stdout)
            with open(os.path.join(folder, "generated", "base_mandate.h"), encoding="utf-8") as f:
                self.assertIn('{"greeter-manager-access-observer", "greeter-manager-greeter"}', f.read())

        header = os.path.join(folder, "generated", "mandates.h")
        first = os.stat(header).st_mtime_ns
        path = os.path.join(source, "greeter.cc")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for what, changed, is_written in (("another line", text.replace("Hello", "Good day"), False),
                                          ("a marker", text.replace("verbs=list;watch", "verbs=get;list;watch"), True)):
            with self.subTest(f"{what} changes: mandates.h is {'' if is_written else 'not '}written"):
                self.assertNotEqual(text, changed)
                with open(path, "w", encoding="utf-8") as f:
                    f.write(changed)
                self.build(folder)
                self.assertEqual(is_written, os.stat(header).st_mtime_ns != first)

    def test_what_cannot_be_configured_is_explained(self) -> None:
        major, minor, _ = tree.version().split(".", 2)
        for what, flag, message in (
                ("another version", f"-DWANTED={major}.{int(minor) + 1}", "compatible with requested version"),
                ("an unknown component", "-DCOMPONENTS=wings", "Mandate has no component wings, only: testing"),
                ("libraries that are not there", f"-DCMAKE_IGNORE_PATH={SYSTEM_LIBRARIES}",
                 "Mandate::mandate needs libraries: apt-get install libyaml-cpp-dev libgrpc++-dev")):
            with self.subTest(what):
                _, done = self.configure(f"without {what}", flag)
                self.assertNotEqual(0, done.returncode)
                self.assertIn(message, done.stdout)
