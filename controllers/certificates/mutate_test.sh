#!/usr/bin/env bash
# No permission to write without a test that needs it.
set -euo pipefail
exec rbacgen/rbacgen mutate --test controllers/certificates/reconciler_test \
  controllers/certificates/webhook_certificates.h
