"""Test cases that need a control plane, or Bazel. They derive from the classes here."""
import os
import shutil
import unittest
from collections.abc import Sequence
from typing import Any, ClassVar

from mandate_dev import paths, runner
from mandate_dev.clusters import Cluster
from mandate_dev.report import Report, StepFailed
from mandate_dev.world import World


class ClusterFixture:
    """A control plane in a temporary folder, where cases may put files of their own, too."""

    flags: ClassVar[tuple[str, ...]] = ()  # of `hack/cluster up`
    given: ClassVar[str | None] = None  # the control plane's folder; None: the temporary folder

    def __init__(self) -> None:
        self.folder = paths.new_folder("cluster-test")
        self.cluster = Cluster(self.given or os.path.join(self.folder, "cluster"))

    def start(self) -> None:
        self.cluster.up(*self.flags)

    def show_logs(self) -> None:
        """`up` prints the reason of its failure."""

    def stop(self, keep_logs: bool) -> None:
        self.cluster.down()
        shutil.rmtree(self.folder, ignore_errors=True)


class ClusterCase(unittest.TestCase):
    """Cases on one control plane that all of a program share."""

    fixture: ClassVar[type[ClusterFixture]] = ClusterFixture
    cluster: ClassVar[Cluster]
    folder: ClassVar[str]

    @classmethod
    def setUpClass(cls) -> None:
        shared = runner.shared(cls.fixture)
        cls.cluster, cls.folder = shared.cluster, shared.folder


def cluster_main(program: str, doc: str, cases: runner.Cases, argv: Sequence[str]) -> int:
    """The whole of a test program that runs ClusterCases, and lets its user choose their folder and port."""
    parser = runner.Parser(program, doc)
    parser.add_argument("--dir")
    parser.add_argument("--port", default="0")
    options = parser.parse_args(argv)
    ClusterFixture.given, ClusterFixture.flags = options.dir, ("--port", options.port)
    return runner.run(program, cases, options)


class WorldFixture:
    """A control plane with a manager on it. It keeps its folder with the logs if a case failed."""

    name = "world"

    def __init__(self) -> None:
        self.world = self.make(paths.new_folder(self.name), Report())

    def make(self, folder: str, report: Report) -> World:
        return World(folder, report)

    def start(self) -> None:
        self.world.start()

    def show_logs(self) -> None:
        self.world.show_logs()

    def stop(self, keep_logs: bool) -> None:
        self.world.stop(keep_logs)
        if keep_logs:
            self.world.report.say(f"\nLogs: {self.world.folder}")


class WorldCase(unittest.TestCase):
    """Cases on one world that all of a program share. Each restores the cluster's state, unless its class states what
    the next case needs."""

    fixture: ClassVar[type[WorldFixture]] = WorldFixture
    world: ClassVar[World]
    report: ClassVar[Report]

    @classmethod
    def setUpClass(cls) -> None:
        cls.world = runner.shared(cls.fixture).world
        cls.report = cls.world.report

    def setUp(self) -> None:
        title = runner.name_of(self)
        self.report.section(f"{title}: {' '.join((self._testMethodDoc or '').split())}".rstrip(": "))
        self.report.current = title

    def step(self, title: str) -> None:
        self.report.step(title)

    def held(self, what: str) -> None:
        self.report.held(what)

    def expect(self, what: str, holds: Any, seen: Any) -> None:
        self.report.expect(what, holds, seen)

    def failed(self, expected: str, seen: Any) -> StepFailed:
        """The exception for the step that runs."""
        return StepFailed(self.report.current, expected, seen)

    def show_logs(self) -> None:
        self.world.show_logs()
