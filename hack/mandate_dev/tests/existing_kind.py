"""Tests which of Kubernetes' kinds a component can have."""
import unittest
from typing import Any
from unittest import mock

from mandate_dev import existing_kind
from mandate_dev.component_names import Refused

ALL = ["create", "get", "list", "patch", "watch"]


def core_resource(kind: str, name: str, verbs: list[str]) -> dict[str, Any]:
    return {"kind": kind, "name": name, "verbs": verbs}


def resource(kind: str, name: str, verbs: list[str]) -> dict[str, Any]:
    return {"responseKind": {"kind": kind}, "resource": name, "verbs": verbs}


CORE = {"resources": [core_resource("Pod", "pods", ALL), core_resource("Pod", "pods/status", ["get", "patch"]),
                      core_resource("Binding", "bindings", ["create"])]}
GROUPS = {"items": [
    {"metadata": {"name": "apps"}, "versions": [{"version": "v1", "resources": [resource("Deployment", "deployments", ALL)]}]},
    {"metadata": {"name": "autoscaling"}, "versions": [
        {"version": "v2", "resources": [resource("HorizontalPodAutoscaler", "horizontalpodautoscalers", ALL)]},
        {"version": "v1", "resources": [resource("HorizontalPodAutoscaler", "horizontalpodautoscalers", ALL)]}]},
    {"metadata": {"name": "internal.apiserver.k8s.io"}, "versions": [
        {"version": "v1alpha1", "resources": [resource("StorageVersion", "storageversions", ALL)]}]}]}
LIBRARIES = {"apps_v1": "apps", "autoscaling_v1": "autoscaling", "autoscaling_v2": "autoscaling", "core_v1": ""}


class Find(unittest.TestCase):
    def setUp(self) -> None:
        for name, value in (("discovery", (CORE, GROUPS)), ("libraries", LIBRARIES)):
            patch = mock.patch.object(existing_kind, name, return_value=value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_a_kind_has_the_library_of_its_groups_preferred_version(self) -> None:
        for kind, group, library in (("Pod", "core", "core_v1"), ("Pod", "", "core_v1"), ("Deployment", "apps", "apps_v1"),
                                     ("HorizontalPodAutoscaler", "autoscaling", "autoscaling_v2")):
            with self.subTest(kind=kind, group=group):
                self.assertEqual(existing_kind.find(kind, group).library, library)

    def test_others_are_rejected_with_what_there_is(self) -> None:
        for kind, group, why in (("Pods", "core", 'KIND "Pods".*there are Pod$'), ("Binding", "core", "there are Pod$"),
                                 ("Pod", "apps", "there are Deployment$"),
                                 ("Backup", "mandate.io", 'GROUP "mandate.io".*there are apps, autoscaling, core$'),
                                 ("StorageVersion", "internal.apiserver.k8s.io", "GROUP")):
            with self.subTest(kind=kind, group=group), self.assertRaisesRegex(Refused, why):
                existing_kind.find(kind, group)

    def test_words_of_core_name_it_in_markers_alone(self) -> None:
        words = existing_kind.words_of("pod-names", "Pod", "core")
        self.assertEqual((words["GROUP"], words["RBACGROUP"], words["PLURAL"], words["KINDTYPE"], words["CAMEL"]),
                         ("", "core", "pods", "corev1::Pod", "PodNames"))
        with self.assertRaisesRegex(Refused, "NAME must be"):
            existing_kind.words_of("Pod-names", "Pod", "core")


class Libraries(unittest.TestCase):
    def test_they_are_those_that_the_double_serves(self) -> None:
        found = existing_kind.libraries()
        for library, group in (("core_v1", ""), ("apps_v1", "apps"), ("rbac_v1", "rbac.authorization.k8s.io"),
                               ("admissionregistration_v1", "admissionregistration.k8s.io"), ("autoscaling_v2", "autoscaling"),
                               ("flowcontrol_v1", "flowcontrol.apiserver.k8s.io"), ("storage_v1", "storage.k8s.io")):
            self.assertEqual(found.get(library), group)
        self.assertNotIn("autoscaling_v1", found)
