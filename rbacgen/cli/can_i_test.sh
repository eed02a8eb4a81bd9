#!/usr/bin/env bash
# Runs rbacgen can-i and who-can as a user does: on sources, on manifests, and on a cluster that a fake kubectl
# # represents.
set -euo pipefail
rbacgen=$PWD/$1
source rbacgen/testing/expect.sh
source rbacgen/testing/worlds.sh

expect 0 'yes' can-i --as=a get deployments -n shop --input=old
[ "$(cat out)" = yes ] || fail "yes: $(cat out)"
says yes err 'ClusterRoleBinding "mandate-manager-a"'
expect 1 'no' can-i --as=a delete deployments -n shop --input=old
[ "$(cat out)" = no ] || fail "no: $(cat out)"
expect 0 'by name' can-i --as=a get secrets/cert -n shop --input=old
expect 1 'another name' can-i --as=a get secrets/other -n shop --input=old
expect 1 'another namespace' can-i --as=a get secrets/cert -n bank --input=old
expect 1 'not yet' can-i --as=a get pods -n shop --input=old
says 'not yet' err 'an administrator grants this'
expect 0 'by its account' can-i -q --as=mandate-system/mandate-manager-a get deployments --input=chart.yaml
[ ! -s out ] || fail '-q says something'
expect 0 'of a cluster' can-i --as=a get deployments --input=cluster "${cluster[@]}"
expect 2 'a cluster that cannot be asked' can-i --as=a get deployments --input=cluster --kubectl ./kubectl
says 'a cluster that cannot be asked' err 'kubectl failed; its message is above. Name the cluster with --kubeconfig=FILE'
expect 2 'a user of a cluster' can-i --as=jane get deployments --input=cluster "${cluster[@]}"
says 'a user of a cluster' err 'jane is not a component, a ServiceAccount or a user of the input; write user:jane'
expect 1 'a user of a cluster, spelled out' can-i --as=user:jane get deployments --input=cluster "${cluster[@]}"
expect 2 'a mistyped component' can-i --as=aa get deployments --input=cluster "${cluster[@]}"
says 'a mistyped component' err '(did you mean a?); write user:aa'
expect 2 'a mistyped component with a group' can-i --as=aa --as-group=x delete secrets --input=old
expect 2 'a mistyped group' can-i --as=a --as-group=x delete secrets --input=old
says 'a mistyped group' err 'x is not a group of the input; write group:x'
expect 1 'a group, spelled out' can-i --as=a --as-group=group:x delete secrets --input=old
# Kubernetes' own bindings exist in every cluster.
expect 0 'the scheduler' can-i --as=system:kube-scheduler create pods --subresource=binding --input=old
expect 0 'the controller manager' can-i --as=system:kube-controller-manager create serviceaccounts --subresource=token --input=chart.yaml
expect 1 'what the scheduler may not' can-i --as=system:kube-scheduler delete secrets --input=old
expect 0 'what everybody may' can-i --as=a get /version --input=old
expect 2 'a mistyped scheduler' can-i --as=system:kube-schedular create pods --input=old
expect 2 'a node' can-i --as=system:node:n1 get secrets --input=old
says 'a node' err "the API server's Node authorizer allows it more than RBAC does"
expect 2 'an account that a cluster lacks' can-i --as=n/jane get deployments --input=cluster "${cluster[@]}"
expect 2 'no kubectl' can-i --as=a get deployments --input=cluster --kubectl ./none
says 'no kubectl' err 'cannot run ./none'
expect 2 'no question' can-i --as=a get pods/ --input=old
expect 2 'nobody' can-i get pods --input=old

expect 2 'a role that is not there' who-can get pods --input=bound.yaml
says 'a role that is not there' out unknown
says 'a role that is not there' err 'ClusterRoleBinding g of User ann refers to ClusterRole viewer, which the input does not have'
expect 2 'of somebody' can-i get pods --as=ann --input=bound.yaml
says 'of somebody' out unknown
expect 1 'of somebody else' can-i get pods --as=bob --input=bound.yaml
tail -1 bound.yaml >bob.yaml
expect 0 'perhaps in a namespace' who-can get pods --input=bob.yaml
says 'perhaps in a namespace' out 'no subject in every namespace; perhaps in some: shop; use -A to see why'
expect 2 'in a namespace' who-can -A get pods --input=bob.yaml
says 'in a namespace' out unknown
expect 2 'in their namespace' can-i get pods --as=bob -n shop --input=bound.yaml
expect 2 'and said by the exit code' can-i -q get pods --as=ann --input=bound.yaml
[ ! -s out ] || fail '-q says something'
says 'and said by the exit code' err 'refers to ClusterRole viewer'
expect 2 'a binding more' diff unbound.yaml bound.yaml
expect 0 'the same on both sides' diff bound.yaml bound.yaml
sed 's/{kind: User, name: ann}/&, {kind: User, name: eve}/' bound.yaml >more.yaml
expect 2 'somebody more' diff bound.yaml more.yaml
expect 2 'what it reaches' blast-radius --as=ann bound.yaml
expect 0 'cluster-admin is known' who-can delete secrets --input=admin.yaml
says 'cluster-admin is known' out 'ann      User  everywhere  ClusterRoleBinding g'
expect 1 'and a difference' diff unbound.yaml admin.yaml
sed 's/name: viewer/name: view/' bound.yaml | head -1 >view.yaml
expect 0 'view is known' who-can get pods --input=view.yaml
says 'view is known' out 'ann      User  everywhere  ClusterRoleBinding g'
expect 0 'what it lacks' who-can get secrets --input=view.yaml
says 'what it lacks' out 'no subject'
# The roles of 1.30 differ from those of 1.36.
expect 2 'what view has since' can-i --as=ann get resourceclaims.resource.k8s.io --input=view.yaml
says 'what view has since' out unknown
says 'what view has since' err "the answer depends on Kubernetes' own roles: in 1.36 it is yes, in 1.30 no; ask the cluster"
expect 2 'what the scheduler may since' can-i --as=system:kube-scheduler list volumeattachments.storage.k8s.io --input=old
says 'what the scheduler may since' err 'in 1.36 it is yes, in 1.30 no'
expect 2 'who can since' who-can get resourceclaims.resource.k8s.io --input=view.yaml
says 'who can since' out 'ann      User  everywhere  ClusterRoleBinding g'
says 'who can since' err 'which differ between 1.36 and 1.30'
sed 's/name: viewer/name: "system:controller:expand-controller"/' bound.yaml | head -1 >expander.yaml
expect 2 'what it had' can-i -q --as=ann get secrets --input=expander.yaml
[ ! -s out ] || fail "what it had: -q says something"
expect 2 'who could' who-can get secrets --input=expander.yaml
says 'who could' out 'ann      User  everywhere  ClusterRoleBinding g'
{ cat view.yaml; echo ---; echo '{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: view}, rules: [{apiGroups: [resource.k8s.io], resources: [resourceclaims], verbs: [get]}]}'; } >own-view.yaml
expect 0 'a role of the input' can-i --as=ann get resourceclaims.resource.k8s.io --input=own-view.yaml
expect 1 'a binding to view' diff unbound.yaml view.yaml
says 'a binding to view' out 'pods, pods/log'

expect 0 'rights by name' who-can get secrets -n shop --input=old
says 'rights by name' out 'a        ServiceAccount  shop, named cert  RoleBinding mandate-manager-a'
expect 0 'the tokens of some' who-can create serviceaccounts --subresource=token -n mandate-system --input=old
says 'the tokens of some' out 'mandate-system, named mandate-manager-a'
expect 0 '--namespace is the request'\''s' can-i --as=a get secrets/cert --namespace=shop --input=old
expect 1 'another namespace of the manager' can-i --as=a get secrets/cert -n mandate-system --input=old
expect 0 'the manager'\''s' can-i --as=sys/mandate-manager-a get secrets/cert -n shop --manager-namespace=sys --input=old
expect 2 'no command' whocan get pods
says 'no command' err 'unknown command "whocan"; did you mean "who-can"'
cat >twice.yaml <<'END'
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b}, roleRef: {kind: ClusterRole, name: r}, subjects: [{kind: User, name: ann}]}
END
expect 0 'the last one is used' who-can -A get secrets --input=twice.yaml
says 'the last one is used' out ann
says 'the last one is used' err 'there are two objects with the name ClusterRole r; the last one is used, as with kubectl apply'
says 'the last one is used' err 'objects without a namespace (1) are read as objects in mandate-system'
{
  echo '{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: x},'
  echo 'a: &a [x,x,x,x,x,x,x,x,x],'
  last=a
  for c in b c d e f g h i; do
    echo "$c: &$c [*$last,*$last,*$last,*$last,*$last,*$last,*$last,*$last,*$last],"
    last=$c
  done
  echo 'z: z}'
} >bomb.yaml
expect 2 'aliases of aliases' who-can get pods --input=bomb.yaml
says 'aliases of aliases' err 'its aliases stand for more than 1000000 values'
for who in nobody n/nobody; do
  expect 2 "the unknown $who" can-i get pods --as=$who --input=old
  says "the unknown $who" err "$who is not a component, a ServiceAccount or a user of the input"
done

for resource in deployment Deployment deploy deployment.apps deployments.v1.apps deploy.apps/web; do
  expect 0 "by the name $resource" can-i --as=a get $resource -n shop --input=old
  says "$resource" err 'ClusterRoleBinding "mandate-manager-a"'
done
for quiet in '' -q; do
  # shellcheck disable=SC2086
  expect 2 'a mistyped resource' can-i $quiet --as=a get deploymentz --input=old
  says 'a mistyped resource' err 'did you mean "deployments" in group apps'
  # shellcheck disable=SC2086
  expect 2 'capitals' can-i $quiet --as=a GET deployments --input=old
  says capitals err 'verb "GET" has capital letters'
  # shellcheck disable=SC2086
  expect 2 'a mistyped verb' can-i $quiet --as=a delet secrets --input=old
  says 'a mistyped verb' err 'did you mean "delete"'
  # shellcheck disable=SC2086
  expect 1 'what no request can do' can-i $quiet --as=a delete pods --subresource=exec --input=old
  says 'what no request can do' err 'pods/exec does not support verb "delete"'
  # shellcheck disable=SC2086
  expect 1 'a group that is named' can-i $quiet --as=a get widgets.apps --input=old
done
expect 2 'nobody of a mistyped resource' who-can delete secretz --input=old
says 'nobody of a mistyped resource' out unknown
expect 0 'whoever may do all' who-can delete secretz --input=admin.yaml
says 'whoever may do all' out ann
expect 0 'and may be asked about' can-i --as=ann delete secretz --input=admin.yaml
cat >gadgets.yaml <<'END'
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: g}, rules: [{apiGroups: [g.io], resources: [gadgets, gizmos], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: g}, roleRef: {kind: ClusterRole, name: g}, subjects: [{kind: User, name: ann}]}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gizmos.g.io}, spec: {group: g.io, names: {kind: Gizmo, plural: gizmos, shortNames: [gz]}}}
END
expect 0 "a definition's short name" can-i --as=ann get gz --input=gadgets.yaml
expect 0 "a definition's kind" who-can get Gizmo --input=gadgets.yaml
says "a definition's kind" out ann
expect 2 'a short name that nobody says' can-i --as=ann get gd --input=gadgets.yaml
says 'a short name that nobody says' err 'unknown resource "gd" in the core group of Kubernetes 1.36; write RESOURCE.GROUP for another'
expect 0 "a cluster's short name" can-i --as=ann get gd --input=gadgets.yaml,cluster "${cluster[@]}"
expect 2 'a flag without its value' can-i --as=a get pods --namespace= --input=old
says 'a flag without its value' err '--namespace= has no value'
expect 2 'an empty namespace' chart --format=yaml --namespace '' old
expect 2 'a mistyped command' can-j
says 'a mistyped command' err 'unknown command "can-j"; did you mean "can-i"'
expect 2 'a mistyped flag' can-i --bs=a get pods
says 'a mistyped flag' err 'rbacgen can-i --help'
expect 2 'a mistyped word' can-i --component-from=folder --as=a get pods
says 'a mistyped word' err '--component-from must be marker, dir or file, not "folder"'
expect 0 version --version
says version out 'rbacgen '

expect 0 'who' who-can get secrets/cert -n shop --input=old
says who out 'a        ServiceAccount  shop   RoleBinding mandate-manager-a'
expect 0 'who, anywhere' who-can -A --json get secrets/cert --input=old
says 'who, anywhere' out '"namespace":"shop"'
expect 0 'a subresource taken for a name' who-can create serviceaccounts/token --input=old
says 'a subresource taken for a name' err 'serviceaccounts --subresource=token'
expect 0 'nobody can' who-can get secrets --input=old
[ "$(cat out)" = 'no subject in every namespace; in some: shop; use -A to list the subjects' ] || fail "nobody can: $(cat out)"
expect 0 'nobody can, anywhere' who-can list secrets --input=old
[ "$(cat out)" = 'no subject' ] || fail "nobody can, anywhere: $(cat out)"
expect 0 'nobody but Kubernetes itself' who-can get /metrics --input=old
says 'nobody but Kubernetes itself' err "no subject in the input is allowed to do this; Kubernetes' own bindings allow it to Group system:monitoring"
expect 0 'nobody can in one' who-can get secrets -n bank --input=old
[ "$(cat out)" = 'no subject' ] || fail "nobody can in one: $(cat out)"
expect 0 'nobody can, in JSON' who-can --json get secrets --input=old
[ "$(cat out)" = '[]' ] || fail "nobody can, in JSON: $(cat out)"
says 'nobody can, in JSON' err 'the question is about every namespace; RoleBindings allow it in some: shop; use -A to list the subjects'
expect 0 'somebody, and others in some' who-can get secrets --input=admin.yaml,chart.yaml
says 'somebody, and others in some' out ann
says 'somebody, and others in some' err 'RoleBindings allow it in some: shop; use -A to list the subjects'
expect 1 'no, and yes in some' can-i --as=a get secrets/cert --input=old
says 'no, and yes in some' err 'not in every namespace; only in: shop; use -n to ask about one'
echo PASSED
