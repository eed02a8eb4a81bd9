#!/usr/bin/env bash
# No permission to write without a test that needs it.
set -euo pipefail
exec rbacgen/rbacgen mutate --test manager/telemetry/access_reviewer_test \
  manager/telemetry/access_reviewer.h
