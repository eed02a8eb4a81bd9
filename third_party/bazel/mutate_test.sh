#!/usr/bin/env bash
# RBACGEN TEST SOURCE…: no permission to write without a test that needs it.
set -euo pipefail
exec "$1" mutate --test "$2" "${@:3}"
