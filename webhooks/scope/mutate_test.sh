#!/usr/bin/env bash
# No permission to write without a test that needs it.
set -euo pipefail
exec rbacgen/rbacgen mutate --test webhooks/scope/scope_webhooks_test webhooks/scope/scope_webhooks.h
