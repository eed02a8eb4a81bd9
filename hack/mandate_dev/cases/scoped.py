"""Plays the Bar examples of hack/demo/scoped on a real control plane: one kind at three scopes, and what the process holds.

usage: hack/scoped_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

Starts a private control plane and the Memcached operator, without a scheduler and kwok, as no Pod needs to run. The last
line is `N passed, N failed`.
"""
from collections.abc import Sequence

from mandate_dev import runner
from mandate_dev.cases import WorldCase, WorldFixture
from mandate_dev.demo import scoped_bar
from mandate_dev.demo.scoped_story import Story
from mandate_dev.demo.scoped_world import SETUP, ScopedWorld
from mandate_dev.report import Report


class ScopedFixture(WorldFixture):
    name = "scoped"

    def make(self, folder: str, report: Report) -> ScopedWorld:
        return ScopedWorld(folder, report)

    def start(self) -> None:
        self.world.prepare()
        self.world.kubectl("apply", "-f", SETUP)
        self.world.start_manager()
        self.world.await_ready()


class Scoped(WorldCase):
    fixture = ScopedFixture

    def test_one_kind_at_three_scopes(self) -> None:
        """Each scope has a watch unless a wider one covers it; a neighbour of a single Secret is nowhere in the process."""
        assert isinstance(self.world, ScopedWorld)
        scoped_bar.play(Story(self.world, self.report))


def main(argv: Sequence[str]) -> int:
    return runner.run("hack/scoped_test", [Scoped], runner.Parser("hack/scoped_test", __doc__).parse_args(argv))
