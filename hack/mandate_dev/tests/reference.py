"""Tests the API reference."""
import os
import shutil
import unittest

from mandate_dev import paths, reference


class Reference(unittest.TestCase):
    def test_the_public_headers_exist(self) -> None:
        headers = reference.public_headers()
        self.assertIn("cmd/program/program.h", headers)
        self.assertIn("manager/controller/demand_set.h", headers)
        self.assertIn("testing/environment/environment.h", headers)
        self.assertEqual(len(headers), len(set(headers)))

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
