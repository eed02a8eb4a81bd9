"""Plays the Bar examples of hack/demo/scoped on a real control plane, and restores etcd from a backup.

The examples are one kind at three scopes, and what the process holds.

usage: hack/scoped_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

Starts a private control plane and the Memcached operator, without a scheduler and kwok, as no Pod needs to run. The last
line is `N passed, N failed`.
"""
import os
import shutil
from collections.abc import Callable, Sequence

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

    def test_restored_from_a_backup(self) -> None:
        """etcd goes back to an earlier state: what was written since is not read any more, and what was deleted since is."""
        assert isinstance(self.world, ScopedWorld)
        story, cluster = Story(self.world, self.report), self.world.cluster
        backup = cluster.path("etcd-backup")
        story.act("a Bar for two Secrets", lambda: scoped_bar.apply(
            story, *scoped_bar.some("kept-bar", "first", "second"), scoped_bar.role("kept-secrets", scoped_bar.READ),
            scoped_bar.bound("kept-secrets", "kept-bar"),
            scoped_bar.bar("kept", {"secretsInNamespace": {"namespace": "kept-bar"}})))
        scoped_bar.reads_are(story, "kept", ("Synced", 2))
        story.act("a backup of etcd", lambda: self._while_stopped(lambda: shutil.copytree(cluster.path("etcd"), backup)))
        story.act("one Secret is deleted, and two are new", lambda: scoped_bar.apply(
            story, *scoped_bar.some("kept-bar", "third", "fourth")))
        self.world.kubectl("delete", "secret", "first", "-n", "kept-bar")
        scoped_bar.reads_are(story, "kept", ("Synced", 3))

        def restore() -> None:
            shutil.rmtree(cluster.path("etcd"))
            os.rename(backup, cluster.path("etcd"))
        story.act("etcd is restored from the backup", lambda: self._while_stopped(restore))
        scoped_bar.reads_are(story, "kept", ("Synced", 2))
        story.act("a large Bar comes", lambda: scoped_bar.apply(story, scoped_bar.bar("largest", {}, filler=100_000)))
        scoped_bar.forgets(story, "no Secret that does not exist", ("kept-bar", "third"), ("kept-bar", "fourth"))
        scoped_bar.holds_only(story, [("kept-bar", "first"), ("kept-bar", "second")], ("kept-bar", "third"))

    def _while_stopped(self, action: Callable[[], object]) -> None:
        """Does something while neither etcd nor the API server runs."""
        for component in ("apiserver", "etcd"):
            self.world.cluster.stop(component)
        action()
        for component in ("etcd", "apiserver"):
            self.world.cluster.start(component)


def main(argv: Sequence[str]) -> int:
    return runner.run("hack/scoped_test", [Scoped], runner.Parser("hack/scoped_test", __doc__).parse_args(argv))
