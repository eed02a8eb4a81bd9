"""Tests examples/: each builds and passes its tests as its own repository, and its generated files are up to date.

usage: hack/examples_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

The last line is `N passed, N failed`. Bazel's outputs are in the cache folder and stay there.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest
from collections.abc import Sequence
from typing import Any

from mandate_dev import bazel, paths, runner, webhooks
from mandate_dev.operator_world import OperatorWorld
from mandate_dev.paths import ROOT, cache
from mandate_dev.report import Report
from mandate_release import closure

OPERATOR = os.path.join(ROOT, "examples", "operator")
WEBAPP = os.path.join(ROOT, "examples", "webapp")
MOST_LINES = 400  # of C++ in WEBAPP, without its tests
IN_EVERY_IMAGE = {"libc6", "libgcc-s1"}  # packages that Debian does not work without
GO_PROJECT = os.path.join(ROOT, "examples", "go-project")
MARKER = "// +kubebuilder:rbac:groups=example.com,resources=greetings/status,verbs=patch"


def rbacgen(command: str, folder: str) -> subprocess.CompletedProcess[str]:
    """Runs //:manifests on the project in the folder, as `bazel run @mandate//:manifests` does there."""
    bazel.build("//:manifests")
    return subprocess.run([os.path.join(bazel.info()["bazel-bin"], "manifests"), command], text=True, capture_output=True,
                          env={**os.environ, "BUILD_WORKSPACE_DIRECTORY": folder}, timeout=600)


def run_tests(folder: str) -> subprocess.CompletedProcess[str]:
    """Runs the tests of an example as its README says. The examples share what they build of Mandate."""
    base = cache("examples", os.path.basename(folder))
    return subprocess.run(["bazel", f"--output_base={base}", "test", f"--disk_cache={cache('bazel')}", "//..."], cwd=folder, text=True,
                          capture_output=True, timeout=bazel.BUILD_SECONDS)


class Operator(unittest.TestCase):
    def test_builds_and_passes_its_tests(self) -> None:
        done = run_tests(OPERATOR)
        self.assertEqual(0, done.returncode, f"{done.stdout}{done.stderr[-6000:]}")
        self.assertNotIn("violates visibility", done.stderr)

    def test_its_chart_is_up_to_date(self) -> None:
        done = rbacgen("check", OPERATOR)
        self.assertEqual(0, done.returncode, f"{done.stdout}{done.stderr}")

    def test_a_removed_marker_is_found(self) -> None:
        folder = paths.new_folder("examples")
        self.addCleanup(shutil.rmtree, folder)
        copy = shutil.copytree(OPERATOR, os.path.join(folder, "operator"))
        header = os.path.join(copy, "greeting", "reconciler.h")
        with open(header, encoding="utf-8") as f:
            text = f.read()
        self.assertIn(f"{MARKER}\n", text)
        with open(header, "w", encoding="utf-8") as f:
            f.write(text.replace(f"{MARKER}\n", ""))
        done = rbacgen("check", copy)
        self.assertEqual(1, done.returncode, f"{done.stdout}{done.stderr}")
        self.assertIn("chart/templates/generated/greeting.yaml", done.stdout + done.stderr)


class NewOperator(unittest.TestCase):
    """hack/operator, as write-a-controller.md says."""

    def test_builds_passes_its_tests_and_runs(self) -> None:
        folder = paths.new_folder("examples")
        self.addCleanup(shutil.rmtree, folder)
        operator = os.path.join(folder, "disk-check")
        done = subprocess.run(["hack/operator", operator, "disk-check", "DiskCheck", "disks.example.org"], cwd=ROOT, text=True,
                              capture_output=True, timeout=bazel.BUILD_SECONDS)
        self.assertEqual(0, done.returncode, f"{done.stdout}{done.stderr}")
        self.assertIn("as ServiceAccount disk-check-operator-disk-check", done.stdout)
        done = run_tests(operator)
        self.assertEqual(0, done.returncode, f"{done.stdout}{done.stderr[-6000:]}")
        done = rbacgen("check", operator)
        self.assertEqual(0, done.returncode, f"{done.stdout}{done.stderr}")
        self.check_it_runs(operator, os.path.join(folder, "world"))

    def check_it_runs(self, operator: str, folder: str) -> None:
        program = os.path.join(cache("examples", "disk-check"), "execroot", "disk_check_operator", "bazel-out", "k8-fastbuild", "bin",
                               "disk_check", "disk-check-operator")
        world = OperatorWorld(folder, Report(), operator, program)
        self.addCleanup(world.stop, False)
        world.start()
        webhooks.serve(world)
        sample = os.path.join(operator, "sample.yaml")
        world.kubectl("apply", "-f", sample)
        ready = ("--for=condition=Ready", "diskchecks.disks.example.org/ann", "-n", "default", "--timeout=60s")
        world.kubectl("wait", *ready)
        with open(sample, encoding="utf-8") as f:
            again = f.read().replace("name: ann", "name: other")
        denied = world.cluster.try_kubectl("apply", "-f", "-", stdin=again)
        self.assertIn("ann has the name Ann already; choose another", denied.stderr)
        owner = world.get("configmap", "ann", "-n", "default")["metadata"]["ownerReferences"][0]
        self.assertEqual("DiskCheck", owner["kind"])
        with open(world.audit_log, encoding="utf-8") as f:
            self.assertIn("system:serviceaccount:mandate-system:disk-check-operator-disk-check", f.read())


class WebApp(unittest.TestCase):
    def test_builds_and_passes_its_tests_by_cmake(self) -> None:
        folder = paths.new_folder("examples")
        self.addCleanup(shutil.rmtree, folder)
        installed, build = os.path.join(folder, "installed"), os.path.join(folder, "build")
        for command in (["hack/install", "--fastbuild", "--prefix", installed],
                        ["cmake", "-S", WEBAPP, "-B", build, f"-DCMAKE_PREFIX_PATH={installed}"],
                        ["cmake", "--build", build, "--parallel", str(os.cpu_count())],
                        ["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error"]):
            done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, timeout=bazel.BUILD_SECONDS)
            self.assertEqual(0, done.returncode, f"{done.stdout[-6000:]}{done.stderr[-6000:]}")
        self.assertRegex(done.stdout, r"manifests \.+ +Passed")
        self.assertRegex(done.stdout, r"webapp_test \.+ +Passed")
        self.check_packages(os.path.join(build, "webapp-operator"))

    def check_packages(self, program: str) -> None:
        """The Dockerfile installs the packages whose libraries the program names, and no others."""
        dynamic = subprocess.run(["readelf", "--dynamic", program], check=True, text=True, capture_output=True).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic))
        files = [path for path in closure.shared_libraries(program) if os.path.basename(path) in needed]
        with open(os.path.join(WEBAPP, "Dockerfile"), encoding="utf-8") as f:
            installed = re.search(r"--no-install-recommends([^&]+)&&", f.read())
        assert installed is not None
        self.assertEqual({package.name for package in closure.packages(files)} - IN_EVERY_IMAGE,
                         set(installed[1].replace("\\", " ").split()))

    def test_builds_and_passes_its_tests_by_bazel(self) -> None:
        done = run_tests(WEBAPP)
        self.assertEqual(0, done.returncode, f"{done.stdout}{done.stderr[-6000:]}")
        self.assertNotIn("violates visibility", done.stderr)

    def test_its_chart_is_up_to_date(self) -> None:
        done = rbacgen("check", WEBAPP)
        self.assertEqual(0, done.returncode, f"{done.stdout}{done.stderr}")

    def test_it_is_short(self) -> None:
        lines = 0
        for path in pathlib.Path(WEBAPP).rglob("*"):
            if path.suffix in (".h", ".cc") and not path.stem.endswith("_test"):
                lines += len(path.read_text(encoding="utf-8").splitlines())
        self.assertLessEqual(lines, MOST_LINES)


class GoProject(unittest.TestCase):
    def sarif(self, folder: str, code: int) -> Any:
        """Returns the run in the output of the workflow's command, which must exit with `code`."""
        with open(os.path.join(GO_PROJECT, ".github", "workflows", "rbacgen.yaml"), encoding="utf-8") as f:
            self.assertIn("run: rbacgen check --format=sarif > rbacgen.sarif\n", f.read())
        done = subprocess.run([bazel.program("//rbacgen"), "check", "--format=sarif"], cwd=folder, text=True, capture_output=True,
                              timeout=600)
        self.assertEqual(code, done.returncode, f"{done.stdout}{done.stderr}")
        log = json.loads(done.stdout)
        self.assertEqual("2.1.0", log["version"])
        self.assertEqual(1, len(log["runs"]))
        return log["runs"][0]

    def test_the_workflow_passes(self) -> None:
        self.assertEqual([], self.sarif(GO_PROJECT, 0)["results"])

    def test_the_workflow_reports_roles_that_are_out_of_date(self) -> None:
        folder = paths.new_folder("examples")
        self.addCleanup(shutil.rmtree, folder)
        copy = shutil.copytree(GO_PROJECT, os.path.join(folder, "project"))
        source = os.path.join(copy, "internal", "controller", "shop", "controller.go")
        with open(source, encoding="utf-8") as f:
            text = f.read()
        with open(source, "w", encoding="utf-8") as f:
            f.write(text.replace("resources=shops/status,verbs=patch", "resources=shops/status,verbs=patch;update"))
        run = self.sarif(copy, 1)
        rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
        self.assertEqual(1, len(run["results"]))
        result = run["results"][0]
        self.assertEqual(("drift", "error"), (result["ruleId"], result["level"]))
        self.assertIn(result["ruleId"], rules)
        place = result["locations"][0]["physicalLocation"]
        self.assertEqual("config/rbac/roles.yaml", place["artifactLocation"]["uri"])
        self.assertGreater(place["region"]["startLine"], 1)


def main(argv: Sequence[str]) -> int:
    parser = runner.Parser("hack/examples_test", __doc__)
    return runner.run("hack/examples_test", [Operator, NewOperator, WebApp, GoProject], parser.parse_args(argv))
