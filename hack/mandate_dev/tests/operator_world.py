"""What hack/run finds in the repository of an operator."""
import os
import shutil
import tempfile
import unittest
from unittest import mock

from mandate_dev.operator_world import OperatorWorld
from mandate_dev.paths import ROOT
from mandate_dev.report import Report, StepFailed

WEBAPP = os.path.join(ROOT, "examples", "webapp")


class Found(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def world(self, operator: str, program: str = "//:webapp-operator") -> OperatorWorld:
        return OperatorWorld(os.path.join(self.folder, "world"), Report(), operator, program)

    def test_names_and_files(self) -> None:
        world = self.world(WEBAPP)
        self.assertEqual(world.base, "webapp-operator")
        self.assertEqual(os.path.basename(world.manager_program), "webapp-operator")
        self.assertEqual(world.proto_files(), ["api/v1alpha1/webapp.proto"])
        self.assertEqual(world.marker_files(), [os.path.join(WEBAPP, folder, "reconciler.h") for folder in ("webapp", "summary")])

    def test_sources_of_other_repositories_count(self) -> None:
        observer = "controllers/access_observer/access_observer.h"
        other = os.path.join(self.folder, "other.h")
        with open(other, "w", encoding="utf-8") as f:
            f.write("// +mandate:component:name=other\n")
        operator = os.path.join(self.folder, "operator")
        os.makedirs(os.path.join(operator, "backup"))
        with open(os.path.join(operator, "forgotten.h"), "w", encoding="utf-8") as f:
            f.write("// +mandate:component:name=forgotten\n")  # the chart would lack it, too
        for sources in (f"[backup, {observer}, ../other.h]  # not absent.h", f"\n- backup\n- {observer}  # Mandate's\n- ../other.h",
                        f"\n  - backup\n  - '{observer}'\n  - ../other.h\nbase-name: x"):
            with self.subTest(sources=sources):
                with open(os.path.join(operator, "rbacgen.yaml"), "w", encoding="utf-8") as f:
                    f.write(f"sources: {sources}\n")
                self.assertEqual(self.world(operator).marker_files(), [os.path.join(ROOT, observer), other])

    def test_a_program_that_is_built_already(self) -> None:
        with mock.patch("mandate_dev.bazel.build"), mock.patch("mandate_dev.bazel.info", return_value={}):
            self.assertEqual(self.world(WEBAPP, "main.cc").build_programs()[0], os.path.join(WEBAPP, "main.cc"))
            with self.assertRaisesRegex(StepFailed, "build/webapp-operator"):
                self.world(WEBAPP, "build/webapp-operator").build_programs()

    def test_the_base_name_has_a_default(self) -> None:
        with open(os.path.join(self.folder, "rbacgen.yaml"), "w", encoding="utf-8") as f:
            f.write("sources: [backup]\n")
        self.assertEqual(self.world(self.folder).base, "mandate-manager")

    def test_another_folder_is_rejected(self) -> None:
        with self.assertRaisesRegex(ValueError, "is not an operator: .*rbacgen.yaml"):
            self.world(self.folder)

    def test_several_programs(self) -> None:
        with mock.patch.object(OperatorWorld, "_bazel", return_value="//:a\n//:b\n"):
            with self.assertRaisesRegex(ValueError, "has 2 programs; choose one with --program: //:a, //:b"):
                self.world(WEBAPP, "")
