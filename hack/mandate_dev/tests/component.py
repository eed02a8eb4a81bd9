"""Tests how a new component's files are made."""
import io
import re
import unittest
from contextlib import redirect_stderr
from itertools import combinations
from unittest import mock

from mandate_dev import component, component_names

WORDS = {**component.check("disk-check", "DiskCheck", "disks.example.com"), "VERSION": "v1alpha1"}


class Selected(unittest.TestCase):
    def test_lines_follow_the_options(self) -> None:
        text = "a\n@if A !B@\nb\n@if C@\nc\n@else@\nd\n@end@\n@end@\ne\n"
        for options, lines in (({"A"}, "abde"), ({"A", "C"}, "abce"), ({"A", "B"}, "ae"), ({"C"}, "ae"), (set[str](), "ae")):
            with self.subTest(options=options):
                self.assertEqual(component.selected(text, options).replace("\n", ""), lines)


class Options(unittest.TestCase):
    def test_options_stand_anywhere(self) -> None:
        self.assertEqual(component.options_of(["--conversion=1", "a", "--webhook", "B"]),
                         ({"CONVERSION", "WEBHOOK"}, ["a", "B"]))

    def test_another_option_or_value_is_rejected(self) -> None:
        for arguments, why in ((["--webhooks", "a", "B"], 'unknown option "--webhooks"; there are --webhook, '),
                               (["--webhook=0", "a", "B"], 'WEBHOOK must be 1, or not set; got "0"'),
                               (["--resource=0", "a", "B"], 'RESOURCE must be true or false; got "0"'),
                               (["--resource=false", "--demands", "a", "B"], "RESOURCE=false cannot be combined with DEMANDS")):
            with self.subTest(why), redirect_stderr(io.StringIO()) as said:
                self.assertEqual(component.main(arguments), 2)
                self.assertIn(why, said.getvalue())


class Files(unittest.TestCase):
    def setUp(self) -> None:
        unformatted = mock.patch.object(component, "formatted", lambda path, text: text)
        unformatted.start()
        self.addCleanup(unformatted.stop)

    def test_each_combination_of_options_fills_all_words(self) -> None:
        names = sorted(component.OPTIONS.values())
        for options in (set(some) for n in range(len(names) + 1) for some in combinations(names, n)):
            for path, text in component.new_files(WORDS, options).items():
                with self.subTest(options=options, path=path):
                    self.assertIsNone(re.search(r"@[A-Za-z! ]+@", text.replace("?(@.type", "")))

    def test_a_component_of_an_existing_kind_has_no_kind_of_its_own(self) -> None:
        words = {**component_names.names_of("pod-names"), "KIND": "Pod", "GROUP": "", "RBACGROUP": "core", "PLURAL": "pods",
                 "CAMEL": "PodNames", "KINDTYPE": "corev1::Pod", "KINDHEADER": "manager/object/kinds/core_v1.h",
                 "KINDTARGET": "//manager/object/kinds:core_v1"}
        files = component.new_files(words, {component.EXISTING})
        self.assertEqual({path.rpartition("/")[0] for path in files}, {"controllers/pod_names"})
        self.assertIn("groups=core,resources=pods,verbs=list;watch;patch", files["controllers/pod_names/reconciler.h"])
        for path, text in files.items():
            with self.subTest(path=path):
                self.assertIsNone(re.search(r"@[A-Za-z! ]+@", text))

    def test_conversion_has_both_versions(self) -> None:
        files = component.new_files(WORDS, {"CONVERSION"})
        self.assertIn("storageVersion: true", files["api/disk_check/v1/disk_check.proto"])
        self.assertNotIn("conversion {", files["api/disk_check/v1beta1/disk_check.proto"])
        self.assertIn("webhooks/disk_check/converter.cc", files)
        self.assertNotIn("+kubebuilder:webhook", files["webhooks/disk_check/webhook.h"])
        self.assertIn("apiVersion: disks.example.com/v1beta1", files["controllers/disk_check/sample_v1beta1.yaml"])
