#!/usr/bin/env bash
# Runs rbacgen header as a build does: the header that it writes, and no header after a mistake. A separate test,
# # testing/generated_header_test, checks that the header compiles and has what the markers declare.
set -euo pipefail
rbacgen=$1 sample=$2
source rbacgen/testing/expect.sh

constants() { grep -o 'rbac::Mandate k[A-Za-z]*' "$1" | cut -d' ' -f2 | tr '\n' ' '; }

expect 0 'a header' header --out="$dir/m.h" "$sample"
grep -q '^#pragma once$' "$dir/m.h" || fail 'a header: may be included twice'
[ "$(constants "$dir/m.h")" = 'kSampleGranter kSampleReader ' ] || fail 'a header: wrong constants'
expect 0 'with base' header --base=with --out="$dir/w.h" "$sample"
[ "$(constants "$dir/w.h")" = 'kBase kSampleGranter kSampleReader ' ] || fail 'with base'
expect 0 'only base' header --base=only --base-name=mm --namespace=ns --out="$dir/o.h" "$sample"
[ "$(constants "$dir/o.h")" = 'kBase ' ] || fail 'only base'
grep -q '"mm-sample-reader"' "$dir/o.h" || fail 'only base: no token of the component'
grep -q '.ns = "ns"' "$dir/o.h" || fail 'only base: no namespace'

printf '%s\n' '// +mandate:component:name=c' '// +kubebuilder:rbac:groups=g,resources=r,verbs=bind' \
  >"$dir/wrong.cc"
expect 1 'a mistake' header --out="$dir/none.h" "$dir/wrong.cc" "$sample"
grep -qF "$dir/wrong.cc:2: error: verb \"bind\" needs a reason" "$dir/err" || fail 'a mistake: not said'
[ ! -e "$dir/none.h" ] || fail 'a mistake: left a header'
printf '%s\n' '// +mandate:component:name=sample--reader' >"$dir/twin.cc"
expect 1 'one constant for two' header --out="$dir/none.h" "$dir/twin.cc" "$sample"
grep -qF 'would both be kSampleReader' "$dir/err" || fail 'one constant for two: not said'
expect 2 'no --out' header "$sample"
expect 2 'an unknown base' header --base=maybe --out="$dir/none.h" "$sample"
echo PASSED
