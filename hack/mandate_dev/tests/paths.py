"""Tests the paths."""
import os
import stat
import unittest
from unittest import mock

from mandate_dev import paths


class Paths(unittest.TestCase):
    def test_the_tree_is_the_one_of_the_package(self) -> None:
        self.assertTrue(os.path.exists(os.path.join(paths.ROOT, "WORKSPACE")))
        self.assertEqual(paths.TOOLS, os.path.join(paths.ROOT, "hack"))

    def test_the_cache_folder_is_the_first_that_is_set(self) -> None:
        for variables, wanted in (({"MANDATE_CACHE": "/a/", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/a/x"),
                                  ({"MANDATE_CACHE": "", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/mandate/x"),
                                  ({"HOME": "/c"}, "/c/.cache/mandate/x")):
            with self.subTest(wanted), mock.patch.dict(os.environ, variables, clear=True):
                self.assertEqual(paths.cache("x"), wanted)

    def test_a_new_folder_is_private(self) -> None:
        folder = paths.new_folder("paths-test")
        self.addCleanup(os.rmdir, folder)
        self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o700)
        self.assertIn("mandate-paths-test-", folder)
