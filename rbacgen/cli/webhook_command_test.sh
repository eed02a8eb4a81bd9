#!/usr/bin/env bash
# Runs rbacgen webhook as a user does: its output is equal byte for byte to that of controller-gen v0.23
# # (rbacgen/webhook/controller_gen_test makes the expected file); exit codes.
set -euo pipefail
rbacgen=("$1" webhook) markers=$2 want=$3
source rbacgen/testing/expect.sh

expect 0 'as controller-gen' "$markers"
diff "$want" "$dir/out" || fail 'as controller-gen: output differs'
[ ! -s "$dir/err" ] || { cat "$dir/err"; fail 'as controller-gen: says something'; }
expect 0 'to a file' --out="$dir/new/manifests.yaml" "$markers"
diff "$want" "$dir/new/manifests.yaml" || fail 'to a file: output differs'

expect 0 'a service' --service-name=mine --service-namespace=here "$markers"
grep -q 'name: mine' "$dir/out" && grep -q 'namespace: here' "$dir/out" || fail 'a service: not there'
grep -q 'namespace: hook-system' "$dir/out" || fail "a service: took a marker's own"
! grep -q 'name: webhook-service' "$dir/out" || fail 'a service: the default is still there'

mkdir "$dir/src"
echo 'package a' >"$dir/src/a.go"
expect 0 'no webhooks' "$dir/src/..."
says 'no webhooks' err 'no +kubebuilder:webhook marker'
[ ! -s "$dir/out" ] || fail 'no webhooks: printed one'

grep -h '^// +kubebuilder:webhook:url' "$markers" >"$dir/src/b.go"
cp "$dir/src/b.go" "$dir/src/c.go"
expect 0 'a name twice' "$dir/src"
says 'a name twice' err "$dir/src/c.go:1: warning: the name \"a.validate.example.com\" is also used at $dir/src/b.go:1:"
[ "$(grep -c 'name: a.validate' "$dir/out")" = 2 ] || fail 'a name twice: not both are there'

mkdir -p "$dir/below/inner"
cp "$dir/src/b.go" "$dir/below/inner/"
expect 0 'a folder with others' "$dir/below"
says 'a folder with others' err "$dir/below is read recursively; the folders below it have 1 marker; controller-gen reads them only"
for path in "$dir/below/..." "$dir/below/inner"; do
  expect 0 "the folder $path" "$path"
  ! grep 'is read recursively' "$dir/err" || fail "the folder $path: there is nothing to say"
done

sed 's/sideEffects=none/sideEffects=Some/' "$dir/src/b.go" >"$dir/src/d.go"
expect 1 'a mistake' "$dir/src"
says 'a mistake' err "$dir/src/d.go:1: error: +kubebuilder:webhook: sideEffects \"Some\": it must be None"
[ ! -s "$dir/out" ] || fail 'a mistake: printed all the same'

# In a chart, webhooks are enabled with their component, by the value of its marker, and use the release's namespace.
chart() { "$rbacgen" chart "$@" >"$dir/out" 2>"$dir/err"; }
mkdir "$dir/ours"
{
  echo '// +mandate:component:name=gate,value=webhooks.enabled'
  grep -h 'name=pod.validate' "$markers"
} >"$dir/ours/gate.cc"
printf '// +mandate:component:name=c\n// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n' >"$dir/ours/c.cc"
chart --format=yaml --namespace=here "$dir/ours" || { cat "$dir/err"; fail 'plain manifests'; }
! grep -q WebhookConfiguration "$dir/out" || fail 'plain manifests: a webhook that nothing serves'
says 'plain manifests' err '1 webhook is omitted, because without a manager that serves them the API server would deny writes; add --with=webhooks.enabled'
for with in '*' webhooks.enabled; do
  chart --format=yaml --namespace=here --with="$with" "$dir/ours" || { cat "$dir/err"; fail "with $with"; }
  grep -q 'name: mandate-manager-gate-validating' "$dir/out" || fail "with $with: no configuration"
  [ ! -s "$dir/err" ] || { cat "$dir/err"; fail "with $with: is not silent"; }
done
# Another value enables the webhooks of its component.
mkdir "$dir/valued"
cp "$dir/ours/c.cc" "$dir/valued"
sed 's/value=webhooks.enabled/value=gate.enabled/' "$dir/ours/gate.cc" >"$dir/valued/gate.cc"
for with in gate.enabled '*'; do
  chart --format=yaml --with="$with" "$dir/valued" || { cat "$dir/err"; fail "a value, $with"; }
  grep -q 'name: mandate-manager-gate-validating' "$dir/out" || fail "a value, $with: no configuration"
done
chart --format=yaml "$dir/valued" || { cat "$dir/err"; fail 'a value'; }
! grep -q 'name: mandate-manager-gate' "$dir/out" || fail 'a value: it is included'
! chart --format=yaml --with=webhooks.enabled "$dir/valued" || fail 'a value of no component'
says 'a value of no component' err '--with: no component has value=webhooks.enabled in its marker'
# Without a value, the configurations would be installed while nothing serves them.
mkdir "$dir/bare"
sed 's/,value=webhooks.enabled//' "$dir/ours/gate.cc" >"$dir/bare/gate.cc"
cp "$dir/ours/c.cc" "$dir/bare"
for how in --format=yaml '--format=yaml --with=*' --out-dir="$dir/bare-chart"; do
  # shellcheck disable=SC2086
  ! chart $how "$dir/bare" || fail "no value, $how: exits with 0"
  says "no value, $how" err "$dir/bare/gate.cc:1: error: component gate has the webhook pod.validate"
  says "no value, $how" err "$dir/bare/gate.cc:2"
  says "no value, $how" err 'value=webhooks.enabled'
  [ ! -s "$dir/out" ] || fail "no value, $how: prints manifests"
done
[ ! -e "$dir/bare-chart/templates" ] || fail 'no value: writes a chart'
printf 'sources: [.]\noutputs:\n  chart: {dir: chart}\n' >"$dir/bare/rbacgen.yaml"
for command in check generate; do
  ! "$rbacgen" $command --config="$dir/bare/rbacgen.yaml" >"$dir/out" 2>&1 || fail "no value, $command: exits with 0"
  says "no value, $command" out 'gate.cc:1: error: component gate has the webhook pod.validate'
done
[ ! -e "$dir/bare/chart" ] || fail 'no value, generate: writes a chart'
# controller-gen's output is not a chart.
"$rbacgen" webhook "$dir/bare" >"$dir/out" 2>"$dir/err" || { cat "$dir/err"; fail 'no value, webhook'; }
chart --out-dir="$dir/chart" "$dir/ours" || { cat "$dir/err"; fail 'a Helm chart'; }
grep -A2 'service:' "$dir/chart/templates/generated/gate.yaml" | grep -q 'namespace: {{' ||
  fail 'a Helm chart: its namespace is not the release'"'"'s'
grep -h 'name=pod.validate' "$markers" | sed 's/=pod.validate/=other.validate/' >"$dir/ours/stray.cc"
! chart --format=yaml "$dir/ours" || fail 'a stray webhook'
says 'a stray webhook' err "$dir/ours/stray.cc:1: error: this webhook has no component"

# A Go project keeps its existing configuration.
mkdir "$dir/go" && cp "$dir/ours/stray.cc" "$dir/go/gate_webhook.go"
printf '// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get\n' >"$dir/go/gate_controller.go"
for from in dir file; do
  chart --format=yaml --component-from=$from "$dir/go" || { cat "$dir/err"; fail "webhooks of a $from"; }
  says "webhooks of a $from" err '1 webhook is skipped, without a +mandate:component marker above; `rbacgen webhook` prints them'
  ! grep -q ValidatingWebhookConfiguration "$dir/out" || fail "webhooks of a $from: in the chart"
done

expect 2 'no path'
expect 2 'a missing path' "$dir/none"
echo PASSED
