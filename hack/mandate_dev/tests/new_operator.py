"""How a new operator's files are made, and which names it cannot have."""
import io
import os
import shutil
import tempfile
import unittest
from contextlib import redirect_stderr
from unittest import mock

from mandate_dev import new_operator
from mandate_dev.component_names import Refused, words_of
from mandate_dev.paths import ROOT

OUTSIDE = os.path.join(os.path.dirname(ROOT), "disk")


class Files(unittest.TestCase):
    def setUp(self) -> None:
        unformatted = mock.patch.object(new_operator, "formatted", lambda path, text: text)
        unformatted.start()
        self.addCleanup(unformatted.stop)
        self.files = new_operator.new_files(OUTSIDE, words_of("disk-check", "DiskCheck", "disks.example.org"))

    def test_no_word_of_the_example_is_left(self) -> None:
        for path, text in self.files.items():
            with self.subTest(path=path):
                self.assertNotRegex(path + text.replace("Greeted", ""), "(?i)greeting|example\\.com")

    def test_names_are_where_they_belong(self) -> None:
        self.assertIn("+mandate:component:name=disk-check\n", self.files["disk_check/reconciler.h"])
        self.assertIn("groups=disks.example.org,resources=diskchecks,", self.files["disk_check/reconciler.h"])
        self.assertIn('.Named("disk-check")', self.files["disk_check/reconciler.cc"])
        self.assertIn("message DiskCheck {", self.files["api/v1alpha1/disk_check.proto"])
        self.assertIn('base_name = "disk-check-operator"', self.files["disk_check/BUILD.bazel"])
        self.assertIn("base-name: disk-check-operator ", self.files["rbacgen.yaml"])
        self.assertIn("chart/crds/disks.example.org_diskchecks.yaml", self.files["disk_check/reconciler_test.cc"])
        webhook = self.files["webhook/webhook.h"]
        self.assertIn("+mandate:component:name=disk-check-webhook,", webhook)
        self.assertIn("path=/validate-disks-example-org-v1alpha1-diskcheck,", webhook)
        self.assertIn("name=diskchecks.disks.example.org,", webhook)
        certificates = self.files["webhook/certificates.h"]
        self.assertIn("resourceNames=disk-check-operator-disk-check-webhook-validating,", certificates)
        self.assertIn("resourceNames=disk-check-operator-webhook-certificate,", certificates)
        self.assertIn("&mandate::kDiskCheckWebhook, {}", self.files["disk_check/main.cc"])

    def test_several_objects(self) -> None:
        for kind, several in (("DiskCheck", "DiskChecks"), ("BackupPolicy", "BackupPolicies"), ("Box", "Boxes")):
            self.assertEqual(new_operator.several(kind), several)
        self.assertIn("validates DiskChecks", self.files["README.md"])

    def test_the_clone_is_found_from_the_folder(self) -> None:
        clone = os.path.basename(ROOT)
        self.assertIn(f'path = "../{clone}"', self.files["WORKSPACE"])
        self.assertIn(f"../{clone}/hack/run --operator .", self.files["README.md"])

    def test_generated_files_are_not_copied(self) -> None:
        self.assertIn("chart/Chart.yaml", self.files)
        self.assertFalse([path for path in self.files if "generated" in path or "crds" in path])


class Rejected(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def rejected(self, *arguments: str) -> str:
        with redirect_stderr(io.StringIO()) as said:
            self.assertEqual(new_operator.main(arguments), 2)
        self.assertEqual(os.listdir(self.folder), [])
        return said.getvalue()

    def test_names(self) -> None:
        for name, kind, group, why in (("Backup", "Backup", "example.org", "NAME must be a DNS label"),
                                       ("base", "Backup", "example.org", 'NAME "base" is reserved'),
                                       ("backup", "backup", "example.org", "KIND must be CamelCase"),
                                       ("backup", "Backup", "example", "GROUP must be a DNS name"),
                                       ("plan", "Backup", "example.org", 'NAME: the sources use the word "plan"'),
                                       ("class", "Backup", "example.org", 'NAME: the sources use the word "class"'),
                                       ("backup", "ConfigMap", "example.org", 'KIND: the sources use the word "ConfigMap"')):
            with self.subTest(why):
                self.assertIn(why, self.rejected(self.folder, name, kind, group))

    def test_folders(self) -> None:
        self.assertIn("is in the clone of Mandate", self.rejected(os.path.join(ROOT, "new"), "backup", "Backup"))
        self.assertFalse(os.path.exists(os.path.join(ROOT, "new")))
        full = os.path.join(self.folder, "full")
        os.mkdir(full)
        with open(os.path.join(full, "file"), "w", encoding="utf-8"):
            pass
        with redirect_stderr(io.StringIO()) as said:
            self.assertEqual(new_operator.main([full, "backup", "Backup"]), 2)
        self.assertIn("is not an empty folder", said.getvalue())
        self.assertEqual(os.listdir(full), ["file"])
        shutil.rmtree(full)

    def test_arguments(self) -> None:
        self.assertIn("NAME and KIND missing", self.rejected(self.folder))
        self.assertIn("GROUP is empty", self.rejected(self.folder, "backup", "Backup", ""))
        self.assertIn("too many arguments", self.rejected(self.folder, "backup", "Backup", "example.org", "more"))

    def test_nothing_is_left_after_a_failure(self) -> None:
        with mock.patch.object(new_operator, "generate", side_effect=Refused("no such marker")):
            self.assertIn("no such marker", self.rejected(self.folder, "backup", "Backup", "example.org"))
