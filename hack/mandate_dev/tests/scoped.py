"""The parts of hack/demo/scoped that need no cluster."""
import os
import re
import tempfile
import unittest

from mandate_dev.controlplane import pods
from mandate_dev.demo import scoped_bar
from mandate_dev.demo.scoped_story import DENIED, needs
from mandate_dev.demo.scoped_world import ACCOUNT, BAR_ACCOUNT, NAMESPACE, SETUP, ScopedWorld, binding, memcached, name_in
from mandate_dev.report import Report


class Scoped(unittest.TestCase):
    def test_the_bindings_fit_the_roles_of_the_setup(self) -> None:
        with open(SETUP, encoding="utf-8") as f:
            setup = f.read()
        roles = re.findall(r"^kind: ClusterRole\nmetadata:\n  name: (\S+)$", setup, re.MULTILINE)
        granted = re.findall(r"^  kind: ClusterRole\n  name: (\S+)$", setup, re.MULTILINE)
        granted.append(binding("denied")["roleRef"]["name"])
        self.assertEqual(sorted(roles), sorted(granted))
        self.assertEqual(sorted(set(re.findall(r"^- kind: ServiceAccount\n  name: (\S+)\n  namespace: (\S+)$", setup, re.MULTILINE))),
                         [(BAR_ACCOUNT, NAMESPACE), (ACCOUNT, NAMESPACE)])
        self.assertEqual(binding("denied")["subjects"], [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}])

    def test_names(self) -> None:
        self.assertEqual(memcached("denied", 1)["metadata"], {"name": "memcached-sample-denied", "namespace": "denied"})
        self.assertIn(f'"{name_in("denied")}" is forbidden', DENIED)
        self.assertEqual(needs("a"), ["deployments in namespace a", "pods in namespace a"])

    def test_a_binding_without_a_namespace_is_for_the_cluster(self) -> None:
        self.assertEqual(scoped_bar.bound("r")["kind"], "ClusterRoleBinding")
        self.assertNotIn("namespace", scoped_bar.bound("r")["metadata"])
        self.assertEqual(scoped_bar.bound("r", "a")["kind"], "RoleBinding")
        self.assertEqual(scoped_bar.bound("r", "a")["metadata"], {"name": "r", "namespace": "a"})

    def test_the_world_runs_the_operator(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            world = ScopedWorld(folder, Report())
            self.assertEqual(world.manager_program, os.path.join(folder, "memcached-operator"))
            world.stop(keep_logs=True)  # also if nothing was started

    def test_the_programs_are_kept_by_version_and_recipe(self) -> None:
        self.assertRegex(os.path.basename(pods.target()), r"^pods-v1\.\d+\.\d+-kwok-v\d+\.\d+\.\d+-\w+-[0-9a-f]{12}$")
        self.assertTrue(os.path.exists(pods.STAGES))
