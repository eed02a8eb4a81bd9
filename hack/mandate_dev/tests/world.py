"""world.json."""
import json
import os
import stat
import tempfile
import unittest
from typing import Any

from mandate_dev import world_file
from mandate_dev.report import Report
from mandate_dev.world import World


class WorldFile(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.world = World(folder.name, Report())
        os.mkdir(self.world.cluster.folder)
        state = {"ports": {"apiserver": 1, "etcd": 2}, "supervisor": {"pid": 10},
                 "components": {"etcd": {"pid": 11}, "kube-apiserver": {"state": "stopped"}}}
        for name, text in (("cluster.json", json.dumps(state)), ("server", "https://127.0.0.1:1\n")):
            with open(self.world.cluster.path(name), "w", encoding="utf-8") as f:
                f.write(text)
        self.path = os.path.join(self.world.folder, world_file.NAME)

    def read(self) -> dict[str, Any]:
        with open(self.path, encoding="utf-8") as f:
            found: dict[str, Any] = json.load(f)
        return found

    def test_what_it_says(self) -> None:
        world_file.write(self.world, 12)
        found = self.read()
        self.assertEqual(found["version"], 1)
        self.assertEqual(found["cluster"]["server"], "https://127.0.0.1:1")
        self.assertEqual(found["cluster"]["pids"], {"supervisor": 10, "etcd": 11, "kube-apiserver": None})
        self.assertEqual(found["cluster"]["ports"], {"apiserver": 1, "etcd": 2})
        self.assertEqual(found["manager"]["pid"], 12)
        self.assertEqual(found["manager"]["readyz"], f"http://127.0.0.1:{self.world.health_port}/readyz")

    def test_every_field_is_documented(self) -> None:
        world_file.write(self.world, None)
        assert world_file.__doc__ is not None
        found = self.read()
        for fields in (found, found["cluster"], found["manager"]):
            for name in fields:
                self.assertRegex(world_file.__doc__, rf"\b{name}\b")

    def test_only_its_owner_reads_it_and_it_is_replaced_as_a_whole(self) -> None:
        world_file.write(self.world, 12)
        with open(self.path, encoding="utf-8") as former:
            world_file.write(self.world, 13)
            self.assertEqual(json.load(former)["manager"]["pid"], 12)
        self.assertEqual(self.read()["manager"]["pid"], 13)
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)
        self.assertEqual([name for name in os.listdir(self.world.folder) if name.endswith(".new")], [])
