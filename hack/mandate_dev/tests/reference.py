"""Tests the API reference."""
import os
import shutil
import subprocess
import unittest

from mandate_dev import paths, reference


class Reference(unittest.TestCase):
    def test_the_public_headers_exist(self) -> None:
        headers = reference.public_headers()
        self.assertIn("cmd/program/program.h", headers)
        self.assertIn("manager/controller/demand_set.h", headers)
        self.assertIn("testing/environment/environment.h", headers)
        self.assertEqual(len(headers), len(set(headers)))

    def test_examples_and_new_components_include_only_public_headers(self) -> None:
        public = set(reference.public_headers())
        found = subprocess.run(["git", "grep", "-noE", '#include "(manager|controllers|cmd|testing)/[^"@]+"', "--", "examples",
                                "hack/component_templates"], cwd=paths.ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout
        self.assertIn("manager/client/client.h", found)
        for line in found.splitlines():
            file, number, include = line.split(":", 2)
            header = include.split('"')[1]
            # Tests use what may change: folders named testing.
            is_test = "_test.cc" in file or "/testing" in file
            if "/kinds/" in header or (is_test and "testing" in header.split("/")):
                continue
            self.assertIn(header, public, f"{file}:{number}: docs/versioning.md does not list it")

    def test_the_first_page_has_a_sentence_for_each(self) -> None:
        page = reference.main_page(reference.public_headers())
        self.assertIn('| @ref predicates.h "manager/controller/predicates.h" | Filters of events. |', page)
        for line in page.splitlines()[4:]:
            self.assertRegex(line, r"^\| @ref \S+ \"\S+\" \| \S.* \|$")

    def test_the_pages_have_the_comments(self) -> None:
        folder = paths.new_folder("reference")
        self.addCleanup(shutil.rmtree, folder)
        reference.write(reference.public_headers(), folder)
        with open(os.path.join(folder, "classmandate_1_1DemandSet.html"), encoding="utf-8") as f:
            self.assertIn("Releases the demands of the owner, without any request to the server.", f.read())
