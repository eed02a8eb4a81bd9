"""End-to-end checks of mandate-manager on a real control plane, for behaviour that the demo does not show.

usage: hack/e2e/run [NAME…] [-k PATTERN]… [--list] [--junit FILE]

All cases run on one cluster. CASES and SEED in the environment set the number of random cases of webhook_differential,
and their seed; SECONDS the time of thousand_reviews_a_second. The last line is `N passed, N failed`.
"""
from collections.abc import Sequence

from mandate_dev import runner
from mandate_dev.cases.e2e import (base_checks, checks, credential_checks, grant_checks, metrics_checks, scope_checks,
                                   tenant_checks, webhook_attacks, webhook_checks, webhook_differential, webhook_fire, webhook_handlers,
                                   webhook_many)

# The very last case leaves a thousand namespaces.
CASES = [grant_checks.Grants, base_checks.BaseCredential, credential_checks.Credentials, metrics_checks.Metrics,
         scope_checks.Scope, tenant_checks.Tenants, webhook_checks.Webhooks, webhook_attacks.WebhookAttacks,
         webhook_many.ManyInstances,
         webhook_differential.Differential, webhook_fire.WebhooksUnderFire,
         webhook_handlers.Handlers, checks.EndToEnd]


def main(argv: Sequence[str]) -> int:
    return runner.main("hack/e2e/run", __doc__, CASES, argv)
