"""Tests the permissions of a container's files where the container's user owns them."""
import unittest

from mandate_release.volumes import Container


class Volumes(unittest.TestCase):
    def test_the_user_has_what_the_container_would_have(self) -> None:
        container = Container(user=100, groups=(200, 300))
        for owner, group, mode, wanted in (
                (100, 200, 0o640, 0o600), (100, 200, 0o046, 0), (0, 200, 0o640, 0o400), (0, 300, 0o750, 0o500),
                (0, 300, 0o604, 0), (0, 0, 0o640, 0), (0, 0, 0o751, 0o100), (0, 200, 0o2770, 0o700)):
            with self.subTest(f"{owner}:{group} {mode:o}"):
                self.assertEqual(container.mode(owner, group, mode), wanted)
