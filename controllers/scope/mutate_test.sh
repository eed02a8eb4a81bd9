#!/usr/bin/env bash
# No permission to write without a test that needs it.
set -euo pipefail
exec rbacgen/rbacgen mutate --test controllers/scope/reconcilers_test \
  controllers/scope/instance_reconciler.h controllers/scope/template_reconciler.h
