#!/usr/bin/env bash
# Runs rbacgen chart as a user does: both formats have the same objects, and errors tell the user what to write.
set -euo pipefail
rbacgen=$1 sample=$2
source rbacgen/testing/expect.sh

expect 0 'a chart' chart --out-dir="$dir/chart" "$sample"
[ ! -s "$dir/out" ] || fail 'a chart: printed something'
generated=$dir/chart/templates/generated
grep -q '^name: mandate$' "$dir/chart/Chart.yaml" || fail 'no Chart.yaml'
for file in values.yaml values.schema.json templates/deployment.yaml templates/NOTES.txt; do
  [ -s "$dir/chart/$file" ] || fail "a new chart has no $file"
done
[ "$(cd "$generated" && echo *)" = '_helpers.tpl base.yaml sample-granter.yaml sample-reader.yaml' ] ||
  fail 'other files'
grep -q '^  namespace: {{ .Release.Namespace | quote }}$' "$generated/base.yaml" || fail 'no templated namespace'
grep -q '^  namespace: kube-system$' "$generated/sample-reader.yaml" || fail 'the namespace of a marker is lost'
grep -q 'mandate.io/justification:' "$generated/sample-granter.yaml" || fail 'no justification'

# In an existing chart, the user's files stay, and the files of removed components are deleted.
echo 'mine: true' >"$dir/chart/values.yaml"
rm "$dir/chart/templates/deployment.yaml"
cp "$generated/base.yaml" "$generated/gone.yaml"
echo 'mine: true' >"$generated/mine.yaml"
expect 0 'again' chart --out-dir="$dir/chart" "$sample"
[ "$(cat "$dir/chart/values.yaml")" = 'mine: true' ] || fail 'values.yaml was replaced'
[ ! -e "$dir/chart/templates/deployment.yaml" ] || fail 'the deployment came back'
[ ! -e "$generated/gone.yaml" ] || fail 'the file of a component that is gone stayed'
says 'again' err "$generated/mine.yaml was not written by rbacgen and is not removed; the chart installs it"
[ "$(cat "$generated/mine.yaml")" = 'mine: true' ] || fail 'a foreign file is gone'
# Links are not followed.
mkdir "$dir/others"
cp "$generated/base.yaml" "$dir/others/gone.yaml"
rm -r "$generated"
ln -s ../../others "$generated"
ln -s chart "$dir/link"
for folder in chart link; do
  expect 2 "$folder" chart --out-dir="$dir/$folder" "$sample"
  says "$folder" err ' is below the symbolic link '
done
[ "$(ls "$dir/others")" = gone.yaml ] || fail "others' files changed"
rm "$generated" "$dir/link"

expect 0 'plain' chart --format=yaml --namespace=ns-1 --create-service-accounts "$sample"
grep -q '^  namespace: ns-1$' "$dir/out" || fail 'no namespace'
grep -q '^# For the namespace ns-1 only' "$dir/out" || fail 'no word about a second namespace'
grep -q '{{' "$dir/out" && fail 'a template in plain manifests'
cp "$dir/out" "$dir/plain"
expect 0 'plain, to a file' chart --format=yaml --namespace=ns-1 --create-service-accounts \
  --out="$dir/new/rbac.yaml" "$sample"
diff "$dir/plain" "$dir/new/rbac.yaml" || fail '--out differs from standard output'

printf '%s\n' '// +mandate:component:name=c,events=none' \
  '// +kubebuilder:rbac:groups=core,resources=pods,verbs=list' \
  '// +kubebuilder:rbac:groups=example.com,resources=gadgets,verbs=list' >"$dir/namespaces.cc"
expect 0 'some namespaces' chart --format=yaml --watch-namespaces=shop,bank "$dir/namespaces.cc"
grep -q '^kind: ClusterRoleBinding$' "$dir/out" && fail 'some namespaces: a binding in the cluster'
grep -q '^  namespace: bank$' "$dir/out" || fail 'some namespaces: no binding in the second'
expect 0 'a kind without namespaces' chart --format=yaml --watch-namespaces=shop \
  --cluster-scoped=gadgets.example.com "$dir/namespaces.cc"
grep -q '^  name: mandate-manager-c-cluster-scoped$' "$dir/out" || fail 'a kind without namespaces: no role for it'
expect 2 'no namespace to watch' chart --format=yaml --watch-namespaces=A_b "$dir/namespaces.cc"
says 'no namespace to watch' err '--watch-namespaces: '

printf '%s\n' '// +mandate:component:name=c' \
  '// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=update' >"$dir/unjustified.cc"
expect 1 'no reason' chart --format=yaml "$dir/unjustified.cc"
says 'no reason' err 'unjustified.cc:2: error: update on deployments (runs as any ServiceAccount there) needs a reason'
expect 0 'no reason yet' chart --format=yaml --warn-unjustified "$dir/unjustified.cc"
says 'no reason yet' err 'unjustified.cc:2: warning: update on deployments'

printf '%s\n' '// +mandate:component:name=c' '// +mandate:justify:reason="It scales."' \
  '// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=update' \
  '// +mandate:fence:groups=apps,resources=deployments,verbs=update,label=l' >"$dir/fenced.cc"
expect 0 'fences' chart --format=yaml "$dir/fenced.cc"
grep -q '^kind: ValidatingAdmissionPolicy$' "$dir/out" || fail 'no fence'
says 'a reason' out 'update of deployments: It scales.'
expect 0 'without fences' chart --format=yaml --no-fences "$dir/fenced.cc"
grep -q '^kind: ValidatingAdmissionPolicy' "$dir/out" && fail '--no-fences: a fence'

expect 2 'no namespace' chart --format=yaml --namespace=A_b "$sample"
says 'no namespace' err '--namespace: '
expect 2 'no name of an account' chart --format=yaml --base-name=A_b "$sample"
expect 2 'a name too long for a label' chart --format=yaml --base-name="$(printf 'b%.0s' {1..64})" "$sample"
says 'a name too long for a label' err 'longer than 63 characters'
expect 2 'no name of a chart' chart --format=yaml --part-of=A_b "$sample"
expect 2 'nor here' audit-policy --namespace=a.b "$sample"
expect 0 'an audit policy' audit-policy --namespace=ns-1 "$sample"
for line in 'kind: Policy' '  - system:serviceaccount:ns-1:mandate-manager-sample-reader'; do
  grep -qxF -- "$line" "$dir/out" || fail "an audit policy: no line $line"
done
cp "$dir/out" "$dir/policy"
expect 0 'an audit policy, to a file' audit-policy --namespace=ns-1 --out="$dir/policy.yaml" "$sample"
[ ! -s "$dir/out" ] || fail 'an audit policy, to a file: printed something'
diff "$dir/policy" "$dir/policy.yaml" || fail 'an audit policy: --out differs from standard output'

# The result does not depend on the order of the files, or on which file has which rules of a component.
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
says mistakes err "$dir/wrong.cc:1: error: this rule has no component"
says mistakes err "$dir/wrong.cc:3: error: verb \"*\" needs a reason; write above it: // +mandate:justify:reason="
says mistakes err "$dir/wrong.cc:4: error: verb \"Get\" has capital letters"
says mistakes err '3 errors; nothing was written'
[ ! -e "$dir/none" ] || fail 'wrote a chart in spite of mistakes'

printf '%s\n' '// nothing' >"$dir/empty.cc"
expect 1 'no component' chart --format=yaml "$dir/empty.cc"
says 'no component' err 'no +mandate:component marker'
expect 2 'no folder for the chart' chart "$sample"
says 'no folder for the chart' err '--out-dir=CHART'
expect 1 'a controller that is none' chart --format=yaml --controllers=x "$sample"
says 'a controller that is none' err '--controllers: "x" is not one of sample-granter, sample-reader'
expect 2 'an unknown mode' chart --format=yaml --identity-mode=root "$sample"
expect 2 'an unknown format' chart --format=json "$sample"
expect 2 'no sources' chart --format=yaml
expect 0 'a flag for lists takes one argument' chart --format=yaml --controllers sample-reader "$sample"
echo PASSED
