#!/usr/bin/env bash
# Runs rbacgen crd as a user does: the files that it writes, its messages and its exit codes.
set -euo pipefail
rbacgen=("$1" crd) testdata=$2 kubernetes=external/kubernetes
source rbacgen/testing/expect.sh
paths=(--proto-path="$testdata" -I . -I "$kubernetes")
widget=("$testdata/example/v1beta1/widget.proto" "$testdata/example/v1/widget.proto")
golden=$testdata/example.com_widgets.yaml

expect 0 'to standard output' "${paths[@]}" --out=- "${widget[@]}"
diff "$golden" "$dir/out" || fail 'to standard output: differs'
expect 0 'to a file' "${paths[@]}" --out="$dir/new/x.yaml" "${widget[@]}" "${widget[@]}"
diff "$golden" "$dir/new/x.yaml" || fail 'to a file: differs'

expect 0 'to a folder' "${paths[@]}" --out-dir="$dir/crds" "${widget[@]}"
diff "$golden" "$dir/crds/example.com_widgets.yaml" || fail 'to a folder: differs'
grep -qxF "$dir/crds/example.com_widgets.yaml" "$dir/out" || fail 'to a folder: does not name the file'
expect 0 'again' "${paths[@]}" --out-dir="$dir/crds" "${widget[@]}"
[ ! -s "$dir/out" ] || fail 'again: says that it wrote what was there already'

expect 0 'no descriptions' "${paths[@]}" --max-description=0 --out=- "${widget[@]}"
! grep -q 'Widget is what' "$dir/out" || fail 'no descriptions: there is one'
expect 0 'short descriptions' "${paths[@]}" --max-description=20 --out=- "${widget[@]}"
grep -q 'description: Widget is what the...' "$dir/out" || fail 'short descriptions: not cut'

# The namespace of a conversion webhook can come from the command line.
gadget=$testdata/example/v1/gadget.proto
grep -v serviceNamespace "$gadget" >"$dir/gadget.proto"
here=(-I "$dir" -I . -I "$kubernetes")
expect 1 'no namespace' "${here[@]}" --out=- "$dir/gadget.proto"
says 'no namespace' err "$dir/gadget.proto:12: error: Gadget: conversion: the service has no namespace"
expect 0 'a namespace' "${here[@]}" --service-namespace=there --out=- "$dir/gadget.proto"
grep -q '          namespace: there' "$dir/out" || fail 'a namespace: not there'
expect 0 'a template' "${here[@]}" --format=helm --out=- "$dir/gadget.proto"
grep -qF '          namespace: {{ .Release.Namespace | quote }}' "$dir/out" || fail 'a template: no namespace of the release'
expect 0 'a namespace of its own' "${paths[@]}" --service-namespace=there --out=- "$gadget"
grep -q '          namespace: hook-system' "$dir/out" || fail "a namespace of its own: it is another's"

expect 2 'no output' "${paths[@]}" "${widget[@]}"
says 'no output' err 'needs either --out-dir=DIR or --out=FILE'
expect 2 'two outputs' "${paths[@]}" --out=- --out-dir="$dir" "${widget[@]}"
expect 2 'no file' "${paths[@]}" --out=-

expect 2 'a missing file' "${paths[@]}" --out=- "$testdata/none.proto"
says 'a missing file' err "$testdata/none.proto: error: cannot be read"
expect 1 'outside' -I "$testdata" --out=- api/mandate/options.proto
says 'outside' err 'is not below any --proto-path'
mkdir -p "$dir/first/example/v1" && cp "${widget[1]}" "$dir/first/example/v1/"
expect 1 'a shadowed file' -I "$dir/first" "${paths[@]}" --out=- "${widget[1]}"
says 'a shadowed file' err "${widget[1]}: error: an import of example/v1/widget.proto finds $dir/first/"
expect 1 'a missing import' -I "$testdata" --out=- "${widget[1]}"
says 'a missing import' err 'k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto: error: File not found'

# After a mistake, existing files stay.
sed 's/scope: "Namespaced"/scope: "Planet"/' "${widget[0]}" >"$dir/bad.proto"
expect 1 'a mistake' -I "$dir" -I . -I "$kubernetes" --out-dir="$dir/crds" "$dir/bad.proto"
says 'a mistake' err "$dir/bad.proto:10: error: Widget: scope \"Planet\" must be one of Namespaced, Cluster"
diff "$golden" "$dir/crds/example.com_widgets.yaml" || fail 'a mistake: wrote'

expect 0 'nothing to do' -I . -I "$kubernetes" --out=- api/mandate/options.proto
says 'nothing to do' err 'no message with option (mandate.api.resource)'

# A project's namespace is that of its conversions, and the chart knows which of its kinds are cluster-scoped.
rbacgen=("$1" generate)
mkdir "$dir/project"
cp "$dir/gadget.proto" "$dir/project/"
cat >"$dir/project/a.cc" <<'END'
// +mandate:component:name=a,events=none
// +kubebuilder:rbac:groups=example.com,resources=gadgets;widgets,verbs=list
END
cat >"$dir/project/rbacgen.yaml" <<'END'
sources: [a.cc]
namespace: project-system
outputs:
  crd: {dir: crds, files: [gadget.proto]}
  chart: {dir: chart, cluster-scoped: [things.example.org]}
END
expect 0 'a project' --config="$dir/project/rbacgen.yaml" -I "$PWD" -I "$PWD/$kubernetes"
grep -q '          namespace: project-system' "$dir/project/crds/example.com_gadgets.yaml" || fail 'a project: another namespace'
role=$(sed -n '/^  name: mandate-manager-a-cluster-scoped$/,/^---$/p' "$dir/project/chart/templates/generated/a.yaml")
grep -qxF -- '  - gadgets' <<<"$role" || fail 'a project: its cluster-scoped kind is not known'
! grep -q widgets <<<"$role" || fail 'a project: a namespaced kind counts as cluster-scoped'
echo passed
