#!/usr/bin/env bash
# rbacgen mutate with tests that need some of the permissions.
set -euo pipefail
failed=0
sources=rbacgen/testing/sample_component.cc
# run WANTED_EXIT WANTED_TEXT ARG…
run() {
  local code=0 wanted=$1 text=$2 output
  shift 2
  output=$(rbacgen/rbacgen mutate "$@" "$sources" 2>&1) || code=$?
  if [[ $code != "$wanted" || $output != *"$text"* ]]; then
    printf 'FAIL mutate %s: exit %s, wanted %s and %s:\n%s\n' "$*" "$code" "$wanted" "$text" "$output"
    failed=1
  fi
}
needs() { printf 'test "$MANDATE_WITHOUT" != "%s"' "$1"; }
status=$(needs 'sample-reader patch deployments/status.apps')
bind=$(needs 'sample-granter bind clusterroles.rbac.authorization.k8s.io')
run 0 'a test fails' --test "$status" --test "$bind"
run 1 '1 of 2 permissions are unproven' --test "$status"
run 1 'no test fails' --test "$status"
run 0 'sample-reader' --test "$status" --component sample-reader
run 1 'permissions are unproven' --test "$status" --component sample-reader --reads
run 2 'the tests fail although no permission was removed' --test false
run 2 'cannot run' --test ./no-such-test
run 2 'takes longer than 1 s' --test 'tail -f /dev/null' --timeout 1
run 2 'ignored SIGTERM' --test 'trap "" TERM; while :; do read -r -t 9 <>/dev/fd/0; done' --timeout 1
run 2 'cannot run' --test /etc/passwd
run 0 'a test fails' --test '[ -z "$MANDATE_WITHOUT" ] || kill -SEGV $$' --component sample-reader
run 2 '--component=sample-readr: no source has this component' --test "$status" --component sample-readr
run 2 '--test is required'
exit $failed
