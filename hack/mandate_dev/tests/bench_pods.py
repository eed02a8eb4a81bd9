"""Tests the recording of B14's Pods without a control plane."""
import json
import unittest

from mandate_dev.bench import pod_templates, pods


def field(number: int, value: bytes) -> bytes:
    assert len(value) < 128
    return bytes([number << 3 | 2, len(value)]) + value


def page(items: list[bytes], token: bytes) -> bytes:
    meta = field(2, b"17") + field(3, token) + bytes([4 << 3, 5])
    return pods.MAGIC + field(1, field(1, b"v1") + field(2, b"PodList")) + field(2, field(1, meta) + b"".join(field(2, i) for i in items))


class Page(unittest.TestCase):
    def test_has_the_items_and_the_token_of_the_next_page(self) -> None:
        self.assertEqual(pods.parse_page(page([b"one", b"two"], b"next")), ([b"one", b"two"], "next"))

    def test_is_the_last_one_without_a_token(self) -> None:
        self.assertEqual(pods.parse_page(page([b"one"], b"")), ([b"one"], ""))

    def test_must_have_the_envelope(self) -> None:
        with self.assertRaisesRegex(ValueError, "envelope"):
            pods.parse_page(b'{"kind":"PodList"}')

    def test_must_be_whole(self) -> None:
        with self.assertRaises(ValueError):
            pods.parse_page(page([b"one"], b"")[:-1])


class Templates(unittest.TestCase):
    def test_are_the_same_each_time_and_differ_between_workloads(self) -> None:
        made = [json.dumps(pod_templates.replica_set(i, 3, "node")) for i in range(200)]
        self.assertEqual(made, [json.dumps(pod_templates.replica_set(i, 3, "node")) for i in range(200)])
        self.assertEqual(len(set(made)), 200)

    def test_have_names_that_are_unique_and_short_enough_for_a_label(self) -> None:
        names = {pod_templates.name_of(i) for i in range(2000)}
        self.assertEqual(len(names), 2000)
        self.assertLessEqual(max(map(len, names)), 63)

    def test_have_a_selector_that_matches_the_labels(self) -> None:
        for i in range(50):
            spec = pod_templates.replica_set(i, 3, "node")["spec"]
            labels = spec["template"]["metadata"]["labels"]
            self.assertLessEqual(spec["selector"]["matchLabels"].items(), labels.items())


class Nodes(unittest.TestCase):
    def test_have_networks_of_their_own(self) -> None:
        networks = {pods.node_manifest(i)["spec"]["podCIDR"] for i in range(100)}
        self.assertEqual(len(networks), 100)


class Waves(unittest.TestCase):
    def test_have_all_pods_in_order(self) -> None:
        self.assertEqual(pods.waves(45_000), [pods.Wave(0, 20_000), pods.Wave(20_000, 20_000), pods.Wave(40_000, 5_000)])

    def test_have_workloads_of_their_own(self) -> None:
        self.assertEqual(pods.Wave(0, 20_000).replicas(), {i: 100 for i in range(200)})
        self.assertEqual(pods.Wave(20_000, 250).replicas(), {200: 100, 201: 100, 202: 50})
