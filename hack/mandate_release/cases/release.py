"""The parts of a release that are cheap to test: versions, checksums, the chart's package."""
import os
import re
import subprocess
import tarfile
import unittest

from mandate_release import artifacts, cases, programs, tree


class ReleaseTest(unittest.TestCase):
    """`hack/release` builds the rest, and tries it."""

    def test_there_is_one_version(self) -> None:
        version = tree.version()
        self.assertRegex(version, r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$")
        programs.bazel("build", "--noshow_progress", "//rbacgen")
        rbacgen = os.path.join(programs.bazel("info", "bazel-bin").strip(), "rbacgen", "rbacgen")
        for name, path in (("mandate-manager", cases.built().path), ("rbacgen", rbacgen)):
            with self.subTest(f"{name} --version"):
                said = subprocess.run([path, "--version"], check=True, capture_output=True, text=True).stdout
                self.assertEqual(said, f"{name} {version}\n")
        with self.subTest("the chart in the tree"), open(os.path.join(tree.ROOT, artifacts.CHART, "Chart.yaml"), encoding="utf-8") as f:
            self.assertEqual(artifacts.chart_versions(f.read()), {"version": version, "appVersion": version})
        with self.subTest("the package of the chart"), tarfile.open(cases.chart()) as tar:
            file = tar.extractfile("mandate/Chart.yaml")
            assert file is not None
            self.assertEqual(artifacts.chart_versions(file.read().decode()), {"version": version, "appVersion": version})
        with self.subTest("CHANGELOG.md"), open(os.path.join(tree.ROOT, "CHANGELOG.md"), encoding="utf-8") as f:
            headings = re.findall(r"^## \[?([^\]\s]+)", f.read(), re.MULTILINE)
            self.assertEqual(headings[0], "Unreleased")
            self.assertIn(version, headings)

    def test_checksums_are_those_that_sha256sum_reads(self) -> None:
        folder = os.path.join(cases.folder(), "sums")
        os.makedirs(folder)
        files = [os.path.join(folder, name) for name in ("b", "a")]
        for path in files:
            with open(path, "w", encoding="ascii") as f:
                f.write(path)
        artifacts.write_checksums(folder, files)
        check = ["sha256sum", "--check", "--strict", artifacts.CHECKSUMS]
        self.assertEqual(subprocess.run(check, cwd=folder, check=True, capture_output=True, text=True).stdout, "a: OK\nb: OK\n")
        with open(files[0], "a", encoding="ascii") as f:
            f.write("more")
        self.assertNotEqual(subprocess.run(check, cwd=folder, check=False, capture_output=True).returncode, 0)
