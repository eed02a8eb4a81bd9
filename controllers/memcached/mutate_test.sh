#!/usr/bin/env bash
# No permission without a test that needs it.
set -euo pipefail
exec rbacgen/rbacgen mutate --test controllers/memcached/reconciler_test controllers/memcached/reconciler.h
