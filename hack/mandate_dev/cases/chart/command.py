"""Tests the Helm chart on a real control plane: it is rendered, installed, upgraded and removed, the manager runs with
it, and its fences hold.

usage: hack/chart_test [--helm3] [NAME…] [-k PATTERN]… [--list] [--junit FILE]

helm is built once from its Go module, at the version pinned in hack/helm: its version 4, or with --helm3 its version 3.
The manager runs outside the cluster, with base's token and the permissions that the chart grants. The cases run in this
order on one cluster. The last line is `N passed, N failed`.
"""
from collections.abc import Sequence

from mandate_dev import runner
from mandate_dev.cases.chart import fences, hunt, life, renamed, rendered, theft, upgrades, webhook_fence
from mandate_dev.cases.chart.chart_world import ChartWorld

CASES = [rendered.Rendered, life.Works, fences.Fences, webhook_fence.WebhookFence, renamed.Renamed, hunt.Hunt, upgrades.Upgrades,
         life.External, theft.Theft, life.Goes]


def main(argv: Sequence[str]) -> int:
    parser = runner.Parser("hack/chart_test", __doc__)
    parser.add_argument("--helm3", action="store_true")
    options = parser.parse_args(argv)
    ChartWorld.helm_version = ("v3",) if options.helm3 else ()
    return runner.run("hack/chart_test", CASES, options)
