"""The flags of hack/run."""
import unittest

from mandate_dev import run


class Flags(unittest.TestCase):
    def test_the_verbosity_of_the_user_wins(self) -> None:
        for chosen in ("-v=3", "-v3", "-v 3", "--v=3", "--v 3", "--a=b -v=3"):
            self.assertEqual(run.manager_flags(chosen.split()), chosen.split())
        for others in ("", "--version", "--webhook-bind-address=127.0.0.1:1"):
            self.assertEqual(run.manager_flags(others.split()), ["-v=1", *others.split()])

    def test_flags_of_the_manager_follow_two_dashes(self) -> None:
        self.assertEqual(run.parse(["--webhooks", "--", "-v=3"]).flags, ["-v=3"])
