#!/usr/bin/env bash
# The ways to get help, the width of the text, and no names of C++ types in it.
set -euo pipefail
rbacgen=$PWD/$1
source rbacgen/testing/expect.sh

expect 0 '--help' --help
cp "$dir/out" "$dir/help"
for group in Generate Lint Ask Audit; do grep -qx "$group:" "$dir/help" || fail "no group $group"; done
# A script whose arguments are missing must fail.
expect 2 'no argument'
cmp "$dir/err" "$dir/help"
expect 0 help help
cmp "$dir/out" "$dir/help"
expect 0 version version
cp "$dir/out" "$dir/version"
expect 0 --version --version
cmp "$dir/out" "$dir/version"
expect 2 'help of an unknown command' help chrat
says 'help of an unknown command' err 'unknown command "chrat"; did you mean "chart"?'
expect 2 'an unknown flag' chart --namspace=x rbacgen/testing/expect.sh
says 'an unknown flag' err 'unknown flag --namspace; did you mean --namespace?'

commands=$(sed -nE '/^(Generate|Lint|Ask|Audit):$/,/^$/s/^  ([a-z-]+) .*/\1/p' "$dir/help")
[ "$(wc -w <<<"$commands")" = 16 ] || fail "commands: $commands"
for command in '' $commands; do
  # shellcheck disable=SC2086
  expect 0 "help $command" help $command
  ! LC_ALL=C.UTF-8 grep -nE '^.{101}' "$dir/out" || fail "help $command: a line is too long"
  ! grep -nE '\b(TEXT|ENUM|UINT|INT|FLOAT|NONNEGATIVE|POSITIVE)\b' "$dir/out" || fail "help $command: names a type"
done
expect 0 'chart --help' chart --help
says 'chart --help' out 'one of helm, yaml'
echo PASSED
