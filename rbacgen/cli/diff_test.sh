#!/usr/bin/env bash
# Runs rbacgen diff and blast-radius as a user does: on sources, on manifests, and on a cluster that a fake kubectl
# # represents.
set -euo pipefail
rbacgen=$PWD/$1
source rbacgen/testing/expect.sh
source rbacgen/testing/worlds.sh

expect 0 'the same' diff old cluster "${cluster[@]}"
[ ! -s out ] || fail "the same: $(cat out)"
expect 1 'a difference' diff old new
says 'a difference' out '  + may create deployments.apps: runs as any ServiceAccount there (critical)'
says 'a difference' out '  - may no longer list deployments.apps'
expect 1 'gained' diff --fail-on=gained old new
mkdir less && sed 's/get;list/get/' old/a.go >less/a.go
expect 0 'lost alone' diff --fail-on=gained old less
expect 1 JSON diff --json old less
says JSON out '"lost":[{"apiGroups":["apps"],"resources":["deployments"],"verbs":["list"]}]'
expect 0 'a folder of manifests' diff old manifests:chart.yaml
expect 2 'no such input' diff old none
expect 2 'no such manifest' diff old none.yaml
says 'no such manifest' err 'none.yaml: cannot read it'
mkdir nothing
expect 2 'no markers' diff old nothing
says 'no markers' err 'marker in nothing'
"$rbacgen" rbac --role-name=x new 2>/dev/null >role.yaml
printf 'apiVersion: v1\nkind: Pod\n' >pod.yaml
: >empty.yaml
echo '{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, namespace: n}}' >account.yaml
for command in 'can-i --as=n/a get pods --input=' 'who-can get pods --input=' 'diff new ' 'blast-radius --as=n/a '; do
  # shellcheck disable=SC2086
  for input in pod.yaml empty.yaml role.yaml account.yaml; do
    expect 2 "nothing to ask of: $command$input" $command$input
    ! grep -qE 'no subject|^no$' out || fail "nothing to ask of: $command$input: $(cat out)"
  done
done
says 'an account alone' err 'account.yaml has no ClusterRoleBinding and no RoleBinding, so the holders of its roles are unknown'
says 'an account alone' err '>bindings.json, then account.yaml,bindings.json'
expect 2 'an empty part of an input' who-can get pods --input=chart.yaml,empty.yaml
says 'an empty part of an input' err 'empty.yaml has no role, no binding and no ServiceAccount'
expect 2 'one input' diff old
says 'one input' err 'rbacgen: diff needs OLD and NEW'
expect 2 'manifests of something else' diff old pod.yaml
says 'manifests of something else' err 'pod.yaml has no role, no binding and no ServiceAccount'
# `jq .items` prints an array.
{ printf '['; head -1 admin.yaml; printf ']'; } >array.json
expect 0 'an array' who-can delete secrets --input=array.json
says 'an array' out 'ann      User  everywhere  ClusterRoleBinding g'
expect 1 'a difference of an array' diff unbound.yaml array.json
printf '{{- if .x }}\na: b\n' >helm.yaml
expect 2 'a template' diff old helm.yaml
says 'a template' err 'helm template'
mkdir several
for name in d b e a c f; do cp helm.yaml several/$name.yaml; done
expect 2 'several mistakes' diff old manifests:several
says 'several mistakes' err several/a.yaml

expect 0 'reach' blast-radius old
says reach out 'create serviceaccounts/token named mandate-manager-a in mandate-system'
says reach out '  get secrets named cert in shop: reads credentials'
expect 0 'a flag for lists takes one argument' blast-radius --as a old
expect 2 'no reach' blast-radius nothing old
expect 2 'a stranger' blast-radius --as=jane old
says 'a stranger' err 'jane is not a component, a ServiceAccount or a user of the input; write user:jane'
expect 0 'a stranger, spelled out' blast-radius --as=user:jane old
says 'a stranger, spelled out' out 'do nothing beyond the permissions of every user'
expect 2 'a mistyped account' blast-radius --as=mandate-system/mandate-manager-aa old
expect 2 'one mistyped, one not' blast-radius --as=a --as=aa old
sed 's/mandate-manager/shop/g' chart.yaml >shop.yaml
expect 2 'no base' blast-radius shop.yaml
says 'no base' err 'shop.yaml has no base, ServiceAccount mandate-system/mandate-manager; set the start: --as=NAMESPACE/NAME'
expect 0 'another base' blast-radius --base-name=shop shop.yaml
expect 1 'more reach' blast-radius old new
says 'more reach' out 'ServiceAccounts of kube-system, because a may create and get deployments.apps'
says 'more reach' out '  + reaches everything, because kube-system/clusterrole-aggregation-controller'
says 'more reach' out '  + may do anything to every resource'
expect 0 'no more reach' blast-radius old less
expect 0 'of manifests' blast-radius --json chart.yaml
says 'of manifests' out '"everything":false'
says 'of manifests' out '"namespace":"shop","resourceNames":["cert"],"resources":["secrets"],"severity":"critical","verbs":["get"]'
sed 's/verbs=get;list/&,namespace=shop/' old/a.go >old-shop.go
sed 's/verbs=get;create/&,namespace=shop/' new/a.go >new-shop.go
expect 1 'more reach, JSON' blast-radius --json old-shop.go new-shop.go
says 'more reach, JSON' out '"gained":[{"apiGroups":["apps"],"consequences":["runs as any ServiceAccount there"],"namespace":"shop","resources":["deployments"],"severity":"critical","verbs":["create"]}]'
says 'more reach, JSON' out '"lost":[{"apiGroups":["apps"],"namespace":"shop","resources":["deployments"],"verbs":["list"]}]'
expect 2 'no such reach' blast-radius old none

# Several files, like the templates of a chart: a role in one aggregates a role in another.
mkdir parts
cat >parts/a.yaml <<'END'
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: whole}, aggregationRule: {clusterRoleSelectors: [{matchLabels: {part: 'true'}}]}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {kind: ClusterRole, name: whole}, subjects: [{kind: ServiceAccount, name: web, namespace: shop}]}
END
cat >parts/b.yaml <<'END'
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: some, labels: {part: 'true'}}, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}
END
expect 0 'aggregated from another file' can-i -q --as=shop/web get pods --input=manifests:parts
expect 0 'aggregated from another input' can-i -q --as=shop/web get pods --input=parts/b.yaml --input=parts/a.yaml
expect 0 'several inputs in a word' can-i -q --as=shop/web get pods --input=old,parts/b.yaml,,parts/a.yaml,chart.yaml,

# If two inputs have the same object, the last one counts.
sed 's/- get/- delete/' chart.yaml >override.yaml
for order in '0 old,override.yaml' '2 override.yaml,old' '0 chart.yaml,old,override.yaml' '2 override.yaml,chart.yaml'; do
  # The Role in shop allows a to read its Secret.
  expect 0 "in the order of $order" who-can --json delete secrets/cert -n shop --input="${order#* }"
  says "in the order of $order" err 'there are two objects with the name Role shop/mandate-manager-a; the last one is used'
  [ "$(grep -c mandate-manager-a out)" = $((1 - ${order%% *} / 2)) ] || fail "in the order of $order: $(cat out)"
done

# A project without a chart of Mandate: --identity maps components to ServiceAccounts.
cat >shipped.yaml <<'END'
{apiVersion: v1, kind: ServiceAccount, metadata: {name: web, namespace: shop}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: web}, rules: [{apiGroups: [apps], resources: [deployments], verbs: [get, list, delete]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: web}, roleRef: {kind: ClusterRole, name: web}, subjects: [{kind: ServiceAccount, name: web, namespace: shop}]}
END
expect 1 'shipped and marked' diff --identity=a=shop/web old shipped.yaml
says 'shipped and marked' out '  + may delete deployments.apps'
! grep -q base out || fail "shipped and marked: base is not theirs: $(cat out)"
expect 0 'asked by component' can-i --as=a delete deployments --input=shipped.yaml --identity=a=shop/web
expect 0 'who, by component' who-can delete deployments --input=shipped.yaml --identity=a=shop/web
says 'who, by component' out 'a        ServiceAccount  everywhere  ClusterRoleBinding web'
expect 2 'no such component' diff --identity=b=shop/web old shipped.yaml
says 'no such component' err '--identity=b=shop/web: the sources have no component b; they have a'
expect 1 'no such account' diff --identity=a=shop/wbe old shipped.yaml
says 'no such account' err 'shipped.yaml has no ServiceAccount shop/wbe (--identity=a=shop/wbe)'
expect 2 'no identity' diff --identity=a old shipped.yaml
says 'no identity' err 'write COMPONENT=NAMESPACE/NAME'

# The rights that a change adds to any subject.
cat chart.yaml - >eve.yaml <<'END'
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: eve}, roleRef: {kind: ClusterRole, name: admin}, subjects: [{kind: User, name: eve}]}
END
expect 1 'a right of nobody we know' diff chart.yaml eve.yaml
says 'a right of nobody we know' out 'user eve'
expect 1 'a reach of nobody we know' blast-radius chart.yaml eve.yaml
says 'a reach of nobody we know' out '  + may do anything to every resource'
expect 1 'somebody new' blast-radius --as=eve chart.yaml eve.yaml
expect 0 'somebody gone' blast-radius --as=eve eve.yaml chart.yaml
says 'somebody gone' out '- no longer reaches eve'
expect 2 'somebody of neither' blast-radius --as=evee chart.yaml eve.yaml
expect 0 'and of base, alone' blast-radius --as=base chart.yaml eve.yaml
says 'and of base, alone' out 'nothing is added or removed'

# A grant to all users is reported.
cat chart.yaml - >everybody.yaml <<'END'
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: r}, roleRef: {kind: ClusterRole, name: r}, subjects: [{kind: Group, name: 'system:authenticated'}]}
END
expect 1 'a reach of everybody' blast-radius chart.yaml everybody.yaml
says 'a reach of everybody' out 'group system:authenticated'
says 'a reach of everybody' out '  + may get secrets: reads credentials'
expect 1 'and so of base' blast-radius --as=base chart.yaml everybody.yaml
says 'and so of base' out '+ may get secrets: reads credentials'

# The first external rule, and a grant to the group of the namespace.
mkdir none-later && grep -v external old/a.go >none-later/a.go
expect 1 'the first external rule' diff none-later old
says 'the first external rule' out '  + may, after an administrator grants it, get pods'
cat chart.yaml - >group.yaml <<'END'
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: cluster-admin}, rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: x}, roleRef: {kind: ClusterRole, name: cluster-admin}, subjects: [{kind: Group, name: 'system:serviceaccounts:mandate-system'}]}
END
expect 1 'a grant to a group' diff old group.yaml
says 'a grant to a group' out '  + may do anything to every resource'

# Names from manifests must not move the cursor, erase lines or forge them.
cat chart.yaml - >escapes.yaml <<'END'
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: "r\e[2K"}, rules: [{apiGroups: [''], resources: [pods, "x\e[1A"], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: "b\u202e"}, roleRef: {kind: ClusterRole, name: "r\e[2K"}, subjects: [{kind: User, name: "eve\e[1A\e[2K\nrbacgen: "}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: "g\x9b1A"}, roleRef: {kind: ClusterRole, name: "gone\e[2K"}, subjects: [{kind: User, name: "eve\e[1A\e[2K\nrbacgen: "}]}
END
{ cat escapes.yaml; echo ---; tail -n 5 escapes.yaml; } >escapes-twice.yaml
eve=$'eve\e[1A\e[2K\nrbacgen: '
expect 2 'diff, of escapes' diff chart.yaml escapes.yaml
plain 'diff, of escapes'
says 'diff, of escapes' out 'user eve\x1b[1A\x1b[2K\x0arbacgen: '
says 'diff, of escapes' out 'x\x1b[1A'
says 'diff, of escapes' err 'ClusterRole gone\x1b[2K, which the input does not have'
expect 2 'two of escapes' who-can get pods --input=escapes-twice.yaml
plain 'two of escapes'
says 'two of escapes' err 'there are two objects with the name ClusterRole r\x1b[2K;'
says 'two of escapes' out 'ClusterRoleBinding b\u202e'
expect 0 'can-i, of escapes' can-i --as="$eve" get pods --input=escapes.yaml
plain 'can-i, of escapes'
expect 2 'can-i not, of escapes' can-i --as="$eve" get secrets --input=escapes.yaml
plain 'can-i not, of escapes'
expect 2 'reach, of escapes' blast-radius --as="$eve" escapes.yaml
plain 'reach, of escapes'
expect 2 'more reach, of escapes' blast-radius chart.yaml escapes.yaml
plain 'more reach, of escapes'
says 'more reach, of escapes' out 'user eve\x1b[1A'
expect 2 'JSON, of escapes' diff --json chart.yaml escapes.yaml
plain 'JSON, of escapes'
expect 2 'more reach in JSON, of escapes' blast-radius --json chart.yaml escapes.yaml
plain 'more reach in JSON, of escapes'
expect 2 'who in JSON, of escapes' who-can --json get pods --input=escapes.yaml
plain 'who in JSON, of escapes'
says 'who in JSON, of escapes' out '"binding":"b\u202e"'
printf '{apiVersion: v1, kind: ServiceAccount, metadata: {name: "a\\e[1A", name: b}' >wrong.yaml
expect 2 'a mistake, of escapes' diff chart.yaml wrong.yaml
plain 'a mistake, of escapes'

# The answer must not be "no subject" if kubectl creates the binding or cannot read the file.
admin='apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding'
rest='metadata: {name: b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{kind: User, name: ann}]'
other="{$admin, metadata: {name: other}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}, subjects: [{kind: User, name: bob}]}"
printf '%s\n---\napiVersion: v1\nkind: ConfigMap\nitems: [{%s, %s}]\n' "$other" "$admin" "$rest" >items.yaml
printf '%s\n---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBindingList, items: [{%s}]}\n' "$other" "$rest" >typed.yaml
printf '%s\n---\n\xef\xbb\xbf{%s, %s}\n' "$other" "$admin" "$rest" >mark.yaml
printf '%s\n---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: !!binary Q2x1c3RlclJvbGVCaW5kaW5n, %s}\n' "$other" "$rest" >base64.yaml
for input in items typed mark base64; do
  expect 0 "$input" who-can get secrets --input=$input.yaml
  says "$input" out ann
done
printf '%s\n---\nxx\n' "$other" >garbage.yaml
printf '%s\n---\n,\n' "$other" >comma.yaml
for input in garbage comma; do
  (ulimit -v 4000000; expect 2 "$input" who-can get secrets --input=$input.yaml)
  says "$input" err "$input.yaml: line 3: "
done
echo PASSED
