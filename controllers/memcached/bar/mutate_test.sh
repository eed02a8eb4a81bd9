#!/usr/bin/env bash
# No permission to write without a test that needs it.
set -euo pipefail
exec rbacgen/rbacgen mutate --test controllers/memcached/bar/reconciler_test controllers/memcached/bar/reconciler.h
