"""The image with the administrator's own certificate of the webhooks, which the chart mounts from a Secret."""
import copy
import os
import subprocess
import unittest
from typing import Any

from mandate_release import cases
from mandate_release.deployment import NAME, NAMESPACE, Deployment, eventually
from mandate_release.pod import Pod

SECRET, VOLUME = "own-certificate", "webhook-certificate"


class WebhookCertificateTest(unittest.TestCase):
    """The last cases of the Deployment: the webhooks' configurations stay, and no Service has endpoints here."""

    one: Deployment
    pod: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        cls.one = cases.shared_deployment()
        cls.one.await_ready()
        cluster = cls.one.cluster
        assert cluster is not None
        key, certificate = (os.path.join(cases.folder(), name) for name in ("tls.key", "tls.crt"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=own", "-addext", f"subjectAltName=DNS:{NAME}-webhook.{NAMESPACE}.svc", "-keyout", key,
                        "-out", certificate], check=True, capture_output=True)
        cluster.kubectl("create", "secret", "tls", SECRET, "-n", NAMESPACE, f"--cert={certificate}", f"--key={key}")
        cluster.helm("upgrade", "mandate", cases.chart(), "--namespace", NAMESPACE, "--reuse-values", "--set",
                     f"webhooks.enabled=true,webhooks.certificateSecret={SECRET}")

        def look() -> tuple[bool, Any]:
            assert cluster is not None
            pods = [pod for pod in cluster.get("pods", "-n", NAMESPACE)["items"]
                    if any(volume["name"] == VOLUME for volume in pod["spec"]["volumes"])]
            return bool(pods), pods
        cls.pod = eventually("the Deployment makes a pod with the Secret", look)[0]

    def changed(self, fs_group: int | None, mode: int) -> dict[str, Any]:
        pod = copy.deepcopy(self.pod)
        security = pod["spec"]["securityContext"]
        del security["fsGroup"]
        if fs_group is not None:
            security["fsGroup"] = fs_group
        next(volume for volume in pod["spec"]["volumes"] if volume["name"] == VOLUME)["secret"]["defaultMode"] = mode
        return pod

    def start(self, pod: dict[str, Any]) -> Pod:
        run = self.one.start_pod(pod)
        self.addCleanup(run.kill)
        return run

    def test_the_pod_of_the_chart_serves_the_certificate(self) -> None:
        pod = self.start(self.pod)
        eventually("the pod is ready", lambda: pod.probe("readinessProbe"))
        self.assertEqual(pod.get(pod.port("webhooks"), "/", "HTTPS")[0], 404)

    def test_a_pod_reads_the_certificate_by_its_group_or_as_all_users(self) -> None:
        # A kubelet lets the group of the pod read the files, whatever their mode is.
        for name, fs_group, mode in (("the mode does not name the group", 65532, 0o400), ("another group", 2000, 0o440),
                                     ("no group, and all users may read", None, 0o444)):
            with self.subTest(name):
                pod = self.start(self.changed(fs_group, mode))
                eventually("the pod is ready", lambda: pod.probe("readinessProbe"))

    def test_a_pod_without_a_group_cannot_read_the_certificate(self) -> None:
        pod = self.start(self.changed(None, 0o440))
        eventually("it ends", lambda: (not pod.runs(), pod.tail()))
        self.assertRegex(pod.tail(), "/run/mandate/webhook-certificate/tls.crt.*Permission denied")
