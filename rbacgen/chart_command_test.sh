#!/usr/bin/env bash
# rbacgen chart, run as a person does: both formats say the same, and mistakes say what to write.
set -euo pipefail
rbacgen=$1 sample=$2
dir=$(mktemp -d -p "$TEST_TMPDIR")

fail() {
  echo "FAILED: $1"
  exit 1
}

# expect CODE NAME ARGS…: runs rbacgen; leaves its output in $dir/out and $dir/err.
expect() {
  local code=0
  "$rbacgen" "${@:3}" >"$dir/out" 2>"$dir/err" || code=$?
  [ "$code" = "$1" ] || { cat "$dir/err"; fail "$2: exit code $code, not $1"; }
}

says() { grep -qF -- "$2" "$dir/err" || { cat "$dir/err"; fail "$1: does not say: $2"; }; }

expect 0 'a chart' chart --out-dir="$dir/chart" "$sample"
[ ! -s "$dir/out" ] || fail 'a chart: printed something'
template=$dir/chart/templates/generated/rbac.yaml
grep -q '^name: mandate$' "$dir/chart/Chart.yaml" || fail 'no Chart.yaml'
grep -q '^createServiceAccounts: false$' "$dir/chart/values.yaml" || fail 'no values.yaml'
grep -q '^  namespace: {{ .Release.Namespace }}$' "$template" || fail 'no templated namespace'
grep -q '^  namespace: kube-system$' "$template" || fail 'the namespace of a marker is lost'
grep -q 'mandate.io/justification:' "$template" || fail 'no justification'

echo 'mine: true' >"$dir/chart/values.yaml"
expect 0 'again' chart --out-dir="$dir/chart" "$sample"
[ "$(cat "$dir/chart/values.yaml")" = 'mine: true' ] || fail 'values.yaml was replaced'

# What Helm would make of the template is the plain format.
for with in '' --create-service-accounts; do
  expect 0 'plain' chart --format=yaml --namespace=ns-1 $with "$sample"
  if [ -n "$with" ]; then filter='/^{{- /d'; else filter='/^{{- if/,/^{{- end/d'; fi
  sed -e "$filter" -e 's/{{ .Release.Namespace }}/ns-1/' -e 's/{{ .Release.Service }}/rbacgen/' \
    "$template" | diff - "$dir/out" || fail "the formats differ ($with)"
done
cp "$dir/out" "$dir/plain"
expect 0 'plain, to a file' chart --format=yaml --namespace=ns-1 --create-service-accounts \
  --out="$dir/new/rbac.yaml" "$sample"
diff "$dir/plain" "$dir/new/rbac.yaml" || fail '--out differs from standard output'

# The order of files does not matter, nor how a component's rules are spread over them.
rule='// +kubebuilder:rbac:groups=g,resources'
printf '%s\n' '// +mandate:component:name=c' "$rule=a,verbs=get" >"$dir/1.cc"
printf '%s\n' '// +mandate:component:name=c' "$rule=b,verbs=get" >"$dir/2.cc"
expect 0 'two files' chart --format=yaml "$dir/1.cc" "$dir/2.cc"
cp "$dir/out" "$dir/forward"
expect 0 'two files, backward' chart --format=yaml "$dir/2.cc" "$dir/1.cc"
diff "$dir/forward" "$dir/out" || fail 'the order of files matters'

printf '%s\n' "$rule=a,verbs=get" '// +mandate:component:name=c' "$rule=a,verbs=*" \
  "$rule=b,verbs=Get" >"$dir/wrong.cc"
expect 1 'mistakes' chart --out-dir="$dir/none" "$dir/wrong.cc"
says mistakes "$dir/wrong.cc:1: error: this rule belongs to no component"
says mistakes "$dir/wrong.cc:3: error: verb \"*\" needs a reason; write it as // +mandate:rbac:justify="
says mistakes "$dir/wrong.cc:4: error: verb \"Get\" has capitals"
says mistakes '3 errors; nothing was written'
[ ! -e "$dir/none" ] || fail 'wrote a chart in spite of mistakes'

printf '%s\n' '// nothing' >"$dir/empty.cc"
expect 1 'no component' chart --format=yaml "$dir/empty.cc"
says 'no component' 'no +mandate:component marker'
expect 2 'no folder for the chart' chart "$sample"
says 'no folder for the chart' '--out-dir=CHART'
expect 2 'an unknown format' chart --format=json "$sample"
expect 2 'no sources' chart --format=yaml
echo PASSED
