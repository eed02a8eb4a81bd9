"""The image and the release: what they contain, and the chart's Deployment run from the image on a real control plane.

usage: hack/image_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

The last line is `N passed, N failed`. The manager is a fastbuild one: its image has more libraries than a release's, and
is otherwise the same. Its pods run in namespaces that bubblewrap makes, with the network on loopback alone. Works as root
and as another user.
"""
from collections.abc import Sequence

from mandate_dev import runner
from mandate_release import cases
from mandate_release.cases.contents import ContentsTest
from mandate_release.cases.deployment import DeploymentTest
from mandate_release.cases.release import ReleaseTest
from mandate_release.cases.webhook_certificate import WebhookCertificateTest


def main(argv: Sequence[str]) -> int:
    code = 1
    try:
        code = runner.main("hack/image_test", __doc__, (ContentsTest, ReleaseTest, DeploymentTest, WebhookCertificateTest), argv)
    finally:
        if code == 1:
            print(cases.logs())
        cases.stop()
    return code
