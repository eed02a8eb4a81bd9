"""Unit tests of the package itself, without a cluster.

usage: hack/package_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

The last line is `N passed, N failed`.
"""
from collections.abc import Sequence

from mandate_dev import runner
from mandate_dev.tests import (arm64, audit_log, bazel, bench, bench_pods, bench_scoped, docs, junit, paths, processes, reference,
                               report, scoped, scoped_model, suite, volumes, webhook_random, webhooks, world)
from mandate_dev.tests import run as run_tests
from mandate_dev.tests import runner as runner_tests

CASES = [paths.Paths, report.Reports, junit.JUnit, runner_tests.Running, runner_tests.Choosing, runner_tests.Sharing, bazel.Events,
         bench.Before, bench.Verdict, bench_pods.Page, bench_pods.Templates, bench_pods.Nodes, bench_pods.Waves, bench_scoped.Goals,
         suite.Suite, docs.Docs, processes.Processes, world.WorldFile, webhook_random.WebhookRandom,
         webhooks.Install, run_tests.Flags, audit_log.AuditLog, scoped.Scoped, volumes.Volumes,
         scoped_model.Watches, scoped_model.Protocol, scoped_model.Cut, reference.Reference, arm64.Arm64]


def main(argv: Sequence[str]) -> int:
    return runner.main("hack/package_test", __doc__, CASES, argv)
