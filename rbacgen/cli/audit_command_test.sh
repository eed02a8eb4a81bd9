#!/usr/bin/env bash
# Runs rbacgen audit as a user does, on a component whose log, markers and roles differ.
set -euo pipefail
rbacgen=$PWD/$1
source rbacgen/testing/expect.sh
cd "$dir" # patch accepts only relative names

says() { grep -qE -- "$3" "$dir/$2" || { cat "$dir/$2"; fail "$1: does not say: $3"; }; }
hides() { ! grep -qE -- "$3" "$dir/$2" || { cat "$dir/$2"; fail "$1: says: $3"; }; }

agent='mandate-manager/0.1.0 (linux/amd64)'
account=system:serviceaccount:mandate-system:mandate-manager
n=0

# event VERB USER AGENT CREDENTIAL URI CODE [ANNOTATIONS [STAGE]]
event() {
  n=$((n + 1))
  echo "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"level\":\"Metadata\",\"auditID\":\"id-$n\"," \
    "\"stage\":\"${8:-ResponseComplete}\",\"requestURI\":\"$5\",\"verb\":\"$1\",\"user\":{\"username\":\"$2\"," \
    "\"extra\":{\"authentication.kubernetes.io/credential-id\":[\"$4\"]}},\"userAgent\":\"$3\"," \
    "\"responseStatus\":{\"metadata\":{},\"code\":$6}," \
    "\"requestReceivedTimestamp\":\"2026-11-21T03:16:$((10 + n)).005681Z\",\"annotations\":{${7:-}}}"
}
allowed() {
  echo "\"authorization.k8s.io/reason\":\"RBAC: allowed by ClusterRoleBinding \\\"$1\\\" of ClusterRole \\\"r\\\" to $2\""
}

mkdir -p "$dir/src"
cat >"$dir/src/a.h" <<'END'
// +mandate:component:name=a
// +kubebuilder:rbac:groups=core,resources=pods,verbs=list;watch;delete;patch
// +kubebuilder:rbac:groups=apps,resources=deployments;daemonsets,verbs=get
// +mandate:rbac:justify="why",groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=bind
END

own=$(allowed mandate-manager-a "ServiceAccount \\\"mandate-manager-a/mandate-system\\\"")
base() {
  event create $account "$agent" JTI=base /api/v1/namespaces/mandate-system/serviceaccounts/mandate-manager-a/token 201 \
    '"authentication.kubernetes.io/issued-credential-id":"JTI=a"'
  event get $account "$agent" JTI=base /apis/coordination.k8s.io/v1/namespaces/mandate-system/leases/mandate-manager 200
  event update $account "$agent" JTI=base /apis/coordination.k8s.io/v1/namespaces/mandate-system/leases/mandate-manager 200
}
good() {
  base
  event watch $account-a "$agent a" JTI=a '/api/v1/pods?watch=1' 200 "$own" ResponseStarted
  event watch $account-a "$agent a" JTI=a '/api/v1/pods?watch=1' 200 "$own"
  event delete $account-a "$agent a" JTI=a /api/v1/namespaces/n/pods/web 200 "$own"
  event patch $account-a "$agent a" JTI=a /api/v1/namespaces/n/pods/web 200 "$own"
  event get $account-a "$agent a" JTI=a /apis/apps/v1/namespaces/n/deployments/web 200 "$own"
  event get $account-a "$agent a" JTI=a /apis/apps/v1/namespaces/n/daemonsets/web 200 "$own"
}
# The trace finds tokens by the event's objectRef, which the server writes.
objects() { sed 's|"responseStatus"|"objectRef":{"resource":"serviceaccounts","subresource":"token","namespace":"mandate-system","name":"mandate-manager-a"},&|'; }
good | sed '1{h;d}' >"$dir/rest.log"
{ good | sed -n 1p | objects; sed 's|"requestURI":"/apis/coord[^"]*"|&,"objectRef":{"resource":"leases","apiGroup":"coordination.k8s.io","namespace":"mandate-system","name":"mandate-manager"}|' "$dir/rest.log"; } >"$dir/good.log"
"$rbacgen" chart --format=yaml --warn-unjustified src >"$dir/chart.yaml"

{
  cat "$dir/good.log"
  n=50
  event get $account-a "$agent a" JTI=a '/apis/apps/v1/namespaces/n/deployments/x%1B%5B2K%0A' 403
  event get $account-a 'mandate-manager/\u001b[1A\u009b2K' JTI=a '/api/v1/namespaces/n/secrets/x' 403
} >"$dir/escapes.log"
expect 1 'escapes' audit --sources=src --granted="$dir/chart.yaml" "$dir/escapes.log"
plain 'escapes'
expect 1 'escapes, JSON' audit --json --sources=src --granted="$dir/chart.yaml" "$dir/escapes.log"
plain 'escapes, JSON'

expect 0 'no findings' audit --sources=src --granted="$dir/chart.yaml" "$dir/good.log"
says 'no findings' out '; no findings'
says 'no findings' out '^patch leases.* yes +used once, to create the Lease$'
says 'no findings' out '^list pods +a.h:2 +\? +- +yes +served by the shared cache'
says 'no findings' out '^bind clusterroles.* never logged'
says 'no findings' out '^create serviceaccounts/token named mandate-manager-a in mandate-system .* 1 +yes'
cp "$dir/out" "$dir/plain"
gzip -k "$dir/good.log"
expect 0 gzip audit --sources=src --granted="$dir/chart.yaml" "$dir/good.log.gz"
diff "$dir/plain" "$dir/out" || fail 'gzip differs'
{ printf '{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":['; paste -sd, "$dir/good.log"; printf ']}'; } >"$dir/batch.json"
expect 0 'a webhook batch' audit --sources=src --granted="$dir/chart.yaml" - <"$dir/batch.json"
diff "$dir/plain" "$dir/out" || fail 'a webhook batch differs'
# kube-apiserver posts batches like this one, whose items have no kind.
sed 's/"kind":"Event","apiVersion":"audit.k8s.io\/v1",//g' "$dir/batch.json" >"$dir/posted.json"
expect 0 'a webhook batch as it is posted' audit --sources=src --granted="$dir/chart.yaml" "$dir/posted.json"
diff "$dir/plain" "$dir/out" || fail 'a webhook batch as it is posted differs'
"$rbacgen" audit-policy --warn-unjustified src >"$dir/generated-policy.yaml"
expect 0 'the policy that is generated hides nothing' audit --audit-policy="$dir/generated-policy.yaml" --sources=src \
  --granted="$dir/chart.yaml" "$dir/good.log"
expect 0 JSON audit --json --sources=src "$dir/good.log"
says JSON out '"findings":\[\]'
expect 0 'nothing to suggest' audit --suggest --sources=src "$dir/good.log"
[ ! -s "$dir/out" ] || fail "suggests: $(cat "$dir/out")"

n=30 # the function in a pipe counts in its own process
# The component never patches and never reads daemonsets; a delete is denied; a foreign binding allows another request.
{
  grep -v -e '"verb":"patch"' -e '"verb":"delete"' -e daemonsets "$dir/good.log"
  event delete $account-a "$agent a" JTI=a /api/v1/namespaces/n/pods/web 403
  event create $account-a "$agent a" JTI=a /api/v1/namespaces/n/configmaps 201 "$(allowed stranger 'Group \"system:authenticated\"')"
  event list $account-a "$agent a" JTI=a /api/v1/secrets 403
} >"$dir/bad.log"
expect 1 'a bad log' audit --sources=src "$dir/bad.log"
says 'a bad log' out '^FOUND unused-write: a: never used: patch pods'
says 'a bad log' out '^FOUND unused-read: a: never used: get daemonsets.apps'
says 'a bad log' out '^FOUND denied: a: was denied delete pods web in n, 1 time,.* a marker declares it: check whether'
says 'a bad log' out '^FOUND denied: a: was denied list secrets,.* no marker declares it'
says 'a bad log' out '^FOUND undeclared: a: used create configmaps in n,.* ClusterRoleBinding "stranger" to Group "system:authenticated"'
expect 0 'fails on other kinds only' audit --fail-on=identity --sources=src "$dir/bad.log"
expect 0 'fails on nothing' audit --fail-on=none --sources=src "$dir/bad.log"
expect 2 'no such kind' audit --fail-on=nonsense --sources=src "$dir/bad.log"
expect 1 'too short a log' audit --window=24h --sources=src "$dir/bad.log"
hides 'too short a log' out 'FOUND unused'
says 'too short a log' out '^NOTE the log covers [0-9]+ s of the 86400 s'

# A denied request adds nothing; unused permissions are removed.
expect 1 suggestion audit --suggest --sources=src "$dir/bad.log"
says suggestion out '^\+// \+kubebuilder:rbac:groups=core,resources=pods,verbs=list;watch$'
says suggestion out '^\+// \+kubebuilder:rbac:groups=apps,resources=deployments,verbs=get$'
says suggestion out '^\+// \+kubebuilder:rbac:groups=core,resources=configmaps,verbs=create,namespace=n$'
hides suggestion out 'secrets'
patch --quiet -p0 <"$dir/out" || fail 'the suggestion cannot be applied'
expect 1 'after the suggestion' audit --sources=src "$dir/bad.log"
hides 'after the suggestion' out 'FOUND (unused|undeclared)'

# A request that was denied after authorization used its right.
cp src/a.h src.before
cat >src/a.h <<'END'
// +mandate:component:name=a
// +kubebuilder:rbac:groups=core,resources=pods,verbs=create
END
{
  sed -n 1,3p good.log
  event create $account-a "$agent a" JTI=a /api/v1/namespaces/n/pods 403 "\"authorization.k8s.io/decision\":\"allow\",$own"
} >quota.log
expect 0 'a quota is no denial' audit --fail-on=denied,unused-write --sources=src quota.log
expect 1 'a quota' audit --sources=src quota.log
says 'a quota' out '; 1 finding'
says 'a quota' out '^create pods .* 1 '
says 'a quota' out '^FOUND admission-denied: a: was denied create pods in n, 1 time, .*; it was authorized'
mv src.before src/a.h

# The report names excess and missing grants, and the binding that grants.
sed -i '2s/.*/\/\/ +kubebuilder:rbac:groups=core,resources=pods,verbs=list;watch;delete;patch;get/' "$dir/src/a.h"
expect 1 drift audit --sources=src --granted="$dir/chart.yaml" "$dir/good.log"
says drift out '^FOUND not-granted: a: the marker in .* declares the permission to get pods'
says drift out '^FOUND excess-grant: a: ClusterRoleBinding "mandate-manager-a" .*grants the permission to get daemonsets.apps, but no marker declares it'

# A grant to the group of the namespace is a grant to its components.
cat "$dir/chart.yaml" - >"$dir/group.yaml" <<'END'
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: cluster-admin}, rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: x}, roleRef: {kind: ClusterRole, name: cluster-admin}, subjects: [{kind: Group, name: 'system:serviceaccounts:mandate-system'}]}
END
expect 1 'a grant to a group' audit --sources=src --granted="$dir/group.yaml" "$dir/good.log"
says 'a grant to a group' out '^FOUND excess-grant: a: ClusterRoleBinding "x" of ClusterRole "cluster-admin" to Group "system:serviceaccounts:mandate-system" grants the permission to do anything to every resource'

# A grant to all users, by a role that Kubernetes grants to all users.
cat "$dir/chart.yaml" - >"$dir/basic.yaml" <<'END'
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: 'system:basic-user'}, rules: [{apiGroups: [authorization.k8s.io], resources: [selfsubjectaccessreviews], verbs: [create]}, {apiGroups: [''], resources: [secrets], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: 'system:basic-user'}, roleRef: {kind: ClusterRole, name: 'system:basic-user'}, subjects: [{kind: Group, name: 'system:authenticated'}]}
END
expect 1 'a rule more for everybody' audit --fail-on=excess-grant --sources=src --granted="$dir/basic.yaml" "$dir/good.log"
says 'a rule more for everybody' out '^FOUND excess-grant: a: ClusterRoleBinding "system:basic-user" .*grants the permission to get secrets'
hides 'a rule more for everybody' out 'selfsubjectaccessreviews'

# A missing role may grant anything.
cat "$dir/chart.yaml" - >"$dir/gone.yaml" <<'END'
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: y}, roleRef: {kind: ClusterRole, name: gone}, subjects: [{kind: ServiceAccount, name: mandate-manager-a, namespace: mandate-system}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: z}, roleRef: {kind: ClusterRole, name: lost}, subjects: [{kind: User, name: eve}]}
END
sed 's/name: gone}/name: view}/' "$dir/gone.yaml" >"$dir/found.yaml"
expect 2 'a role that is not granted' audit --fail-on=none --sources=src --granted="$dir/gone.yaml" "$dir/good.log"
says 'a role that is not granted' err 'ClusterRoleBinding y of ServiceAccount mandate-system/mandate-manager-a refers to ClusterRole gone, which the input does not have'
hides 'a role that is not granted' err 'lost'
expect 0 'a role of somebody else' audit --fail-on=none --sources=src --granted="$dir/found.yaml" "$dir/good.log"

# A policy that omits requests, and a component without requests.
printf 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- {level: None, verbs: [get]}\n- {level: Metadata}\n' >"$dir/policy.yaml"
expect 1 'a policy that hides' audit --audit-policy="$dir/policy.yaml" --sources=src "$dir/good.log"
says 'a policy that hides' out '^FOUND hidden: a: the audit policy does not log get pods'
expect 1 'a silent component' audit --sources=src <(head -n 3 "$dir/good.log")
says 'a silent component' out '^FOUND hidden: a: base requested tokens for it, but the log has no request from it'

# One component's watch serves another one, whose own requests the log does not have.
mkdir -p two
cp src/a.h two/a.h
printf '// +mandate:component:name=b\n// +kubebuilder:rbac:groups=core,resources=pods;nodes,verbs=list;watch\n' >two/b.h
{
  cat good.log
  event get $account-b "$agent b" JTI=b /version 200 "$(allowed system:public-info-viewer x)"
} >two.log
expect 1 'a shared cache' audit --fail-on=unused-read --sources=two two.log
says 'a shared cache' out '^watch pods +b.h:2 +\? +- +\? +served by the shared cache'
says 'a shared cache' out '^FOUND unused-read: b: never used: watch nodes'
hides 'a shared cache' out '^FOUND unused-read: b: never used: (list|watch) pods'

# A project without a Mandate manager.
mkdir -p "$dir/go"
printf '// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;delete\nfunc x() {}\n' >"$dir/go/web.go"
event get system:serviceaccount:shop:web 'manager/v0' JTI=kubelet /api/v1/namespaces/n/pods/x 200 >"$dir/go.log"
expect 1 'a Go project' audit --sources="$dir/go" --identity=manager=shop/web "$dir/go.log"
says 'a Go project' out '^FOUND unused-write: manager: never used: delete pods \(.*web.go:1\)'
says 'a Go project' out '1 request from the manager in 1 event .*; 1 finding'

# Its role has no events.k8s.io, and its own binding allows its discovery.
cat >"$dir/go.yaml" <<'END'
{apiVersion: v1, kind: ServiceAccount, metadata: {name: web, namespace: shop}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: web}, rules: [{apiGroups: [''], resources: [pods], verbs: [get, delete]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: web}, roleRef: {kind: ClusterRole, name: web}, subjects: [{kind: ServiceAccount, name: web, namespace: shop}]}
END
{
  cat "$dir/go.log"
  event delete system:serviceaccount:shop:web 'manager/v0' JTI=kubelet /api/v1/namespaces/n/pods/x 200
  for path in /api /apis /apis/apps/v1?timeout=32s /openapi/v3 /version; do
    event get system:serviceaccount:shop:web 'manager/v0' JTI=kubelet "$path" 200 "$(allowed shop-discovery x)"
  done
} >"$dir/go-good.log"
expect 0 'a Go project as it should be' audit --sources="$dir/go" --granted="$dir/go.yaml" --identity=manager=shop/web "$dir/go-good.log"
says 'a Go project as it should be' out '; no findings'

{ cat "$dir/good.log"; echo garbage; } >"$dir/damaged.log"
{ cat "$dir/good.log"; head -c 100 "$dir/good.log"; } >"$dir/cut.log"
expect 0 'being written' audit --fail-on=unreadable --sources=src "$dir/cut.log"
says 'being written' err 'cut.log: the last line is incomplete and was skipped'
expect 1 damaged audit --fail-on=unreadable --sources=src "$dir/damaged.log"
says damaged out "^FOUND unreadable: $dir/damaged.log:10: "

expect 2 'no such component' audit --sources="$dir/go" --identity=manger=shop/web "$dir/go.log"
says 'no such component' err 'the sources have no component manger; they have manager'
expect 2 'no such binary' audit --sources=src --compiled="$dir/none" "$dir/good.log"
says 'no such binary' err "^rbacgen: $dir/none: cannot read it"
expect 2 'no such policy' audit --sources=src --audit-policy="$dir/none" "$dir/good.log"
says 'no such policy' err "^rbacgen: $dir/none: cannot read it"
expect 2 'no sources' audit "$dir/good.log"
expect 2 'no log' audit --sources=src "$dir/none"
expect 2 'no policy' audit --audit-policy="$dir/good.log" --sources=src "$dir/good.log"
echo PASSED
