#!/usr/bin/env bash
# The exit codes of every command (rbacgen/cli/exit_codes.h): 0 done, yes, the same; 1 no, different, found; 2 unknown.
set -euo pipefail
rbacgen=$PWD/$1 options=$PWD/$2
source rbacgen/testing/expect.sh
cd "$dir"

cat >good.cc <<'END'
// +mandate:component:name=a
// +kubebuilder:rbac:groups=core,resources=pods,verbs=list;delete
END
sed 's/list;delete/list/' good.cc >less.cc
echo '// +kubebuilder:rbac:groups=core,resources=pods,vrbs=list' >wrong.cc
echo '// +kubebuilder:webhook:path=/x,mutating=maybe' >wrong-hook.cc
echo 'kind: [' >wrong.yaml
echo 'message {' >wrong.proto
touch a-file
head -c 20 /dev/urandom | gzip >whole.gz
head -c 12 whole.gz >cut.gz
agent='mandate-manager/0.1.0 (linux/amd64)'
account=system:serviceaccount:mandate-system:mandate-manager
event() {
  echo "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"level\":\"Metadata\",\"auditID\":\"$1\",\"stage\":\"ResponseComplete\"," \
    "\"requestURI\":\"$2\",\"verb\":\"$3\",\"user\":{\"username\":\"$4\",\"extra\":{\"authentication.kubernetes.io/credential-id\":[\"JTI=$5\"]}}," \
    "\"userAgent\":\"$6\",\"responseStatus\":{\"code\":200},\"requestReceivedTimestamp\":\"2026-11-21T03:16:05.005681Z\"}"
}
event 1 /apis get $account base "$agent" >good.log
event 2 /api/v1/pods list "$account-a" a "$agent a" >bad.log

# CODE ARGS…
while read -r code command; do
  # shellcheck disable=SC2086
  expect "$code" "$command" $command
done <<END
0 rbac --role-name=r good.cc
1 rbac --role-name=r wrong.cc
2 rbac --role-name=r none.cc
2 rbac good.cc
2 rbac --role-name=r --out=a-file/role.yaml good.cc
0 webhook good.cc
1 webhook wrong-hook.cc
2 webhook none.cc
0 header --out=h.h good.cc
1 header --out=h.h wrong.cc
2 header --out=a-file/h.h good.cc
0 chart --format=yaml good.cc
1 chart --format=yaml wrong.cc
2 chart good.cc
2 chart --out-dir=a-file/chart good.cc
0 audit-policy good.cc
1 audit-policy wrong.cc
2 audit-policy none.cc
0 crd -I . -I $(dirname "$(dirname "$(dirname "$options")")") --out=- $options
1 crd --out=- wrong.proto
2 crd --out=- none.proto
2 crd none.proto
0 trace --check good.log
1 trace --check bad.log
2 trace --check none.log
2 trace cut.gz
0 audit --fail-on=denied --sources=good.cc good.log
1 audit --sources=good.cc bad.log
2 audit --sources=wrong.cc good.log
2 audit --sources=good.cc cut.gz
0 diff good.cc good.cc
1 diff good.cc less.cc
2 diff good.cc none.cc
2 diff good.cc wrong.cc
2 diff good.cc wrong.yaml
0 can-i --as=a list pods --input=good.cc
1 can-i --as=a get secrets --input=good.cc
2 can-i --as=nobody get secrets --input=good.cc
2 can-i --as=a list pods --input=wrong.cc
0 who-can list pods --input=good.cc
2 who-can list pods --input=wrong.yaml
2 who-can list pods --input=wrong.cc
0 blast-radius good.cc
0 blast-radius good.cc good.cc
2 blast-radius good.cc none.cc
2 blast-radius wrong.cc
2 mutate --test=true wrong.cc
2 mutate --test=./none good.cc
2 mutate good.cc
2 rback
END
expect 0 'mutate finds a test that needs it' mutate --test 'test -z "$MANDATE_WITHOUT"' good.cc
expect 1 'mutate finds none' mutate --test true good.cc
# If the output cannot be written, the exit code is neither 0 nor 1.
code=0
"$rbacgen" who-can list pods --input=good.cc >/dev/full 2>err || code=$?
[ $code = 2 ] || fail "a full disk: exit code $code"
"$rbacgen" --help | grep -q '^ *2  unknown' || fail '--help has no table of exit codes'

# Inputs that never end or are too long, and an output that cannot be written: an error, with the path and the reason.
truncate -s 1T huge.cc
cp huge.cc huge.yaml
mkdir protos
mkfifo pipe.cc pipe.yaml protos/pipe.proto
cp --sparse=always huge.cc protos/huge.proto
for input in /dev/zero pipe.cc huge.cc; do
  expect 2 "rbac of $input" rbac --role-name=r "$input"
  says "rbac of $input" err "$input: error: cannot read it: it "
  expect 2 "who-can in $input" who-can list pods --input="$input"
  expect 2 "webhook of $input" webhook "$input"
  expect 2 "header of $input" header --out=h.h "$input"
done
for input in manifests:/dev/zero pipe.yaml huge.yaml; do
  expect 2 "diff of $input" diff good.cc "$input"
  says "diff of $input" err "${input#manifests:}: cannot read it: it "
done
for input in /dev/zero pipe.cc; do
  expect 2 "trace of $input" trace "$input"
  says "trace of $input" err "cannot open $input: it is a "
done
for input in protos/pipe.proto protos/huge.proto; do
  expect 2 "crd of $input" crd -I protos --out=- "$input"
  says "crd of $input" err "$input: error: cannot read it: it "
done
printf 'import "pipe.proto";\n' >protos/importer.proto
expect 2 'a FIFO is imported' crd -I protos --out=- protos/importer.proto
says 'a FIFO is imported' err 'it is a FIFO'
expect 2 'an endless standard input' who-can list pods --input=- </dev/zero
says 'an endless standard input' err 'cannot read standard input: it has more than 268435456 bytes'
expect 2 'a full device' rbac --role-name=r --out=/dev/full good.cc
says 'a full device' err 'rbacgen: cannot write /dev/full: No space left on device'
expect 2 'a FIFO as output' rbac --role-name=r --out=pipe.cc good.cc
says 'a FIFO as output' err 'cannot write pipe.cc: it is a FIFO'
# Descriptors of the shell are read and written.
expect 0 'a pipe of the shell' rbac --role-name=r <(cat good.cc)
expect 0 'a pipe with manifests' who-can list pods --input=good.cc,manifests:<("$rbacgen" chart --format=yaml good.cc)
expect 0 'standard output by its name' rbac --role-name=r --out=/dev/stdout good.cc
says 'standard output by its name' out 'kind: ClusterRole'
[ "$("$rbacgen" rbac --role-name=r --out=/dev/stdout good.cc | grep -c 'kind: ClusterRole')" = 1 ] || fail 'a pipe as output'
expect 0 'an empty input' rbac --role-name=r /dev/null

# Missing folders are made, as controller-gen does, and reported.
expect 0 'a new folder' rbac --role-name=r --out=new/deep/role.yaml good.cc
says 'a new folder' err 'rbacgen: created the folder new/deep'
expect 0 'a folder that is there' rbac --role-name=r --out=new/deep/role.yaml good.cc
[ ! -s err ] || fail "a folder that is there: says $(cat err)"
expect 0 'a new chart' chart --out-dir=charts/x good.cc
says 'a new chart' err 'rbacgen: created the folder charts/x'
expect 0 'a chart that is there' chart --out-dir=charts/x good.cc
[ ! -s err ] || fail "a chart that is there: says $(cat err)"
expect 2 'a file in the way' rbac --role-name=r --out=a-file/x/role.yaml good.cc
says 'a file in the way' err 'rbacgen: cannot create the folder a-file/x: '

# No command replaces a source.
mkdir sources
cp good.cc sources/
echo '// +kubebuilder:webhook:path=/v,mutating=false,failurePolicy=fail,sideEffects=None,groups="",resources=pods,verbs=create,versions=v1,name=pods.example.com,admissionReviewVersions=v1' >sources/hook.cc
while read -r command; do
  # shellcheck disable=SC2086
  expect 2 "$command" $command
  says "$command" err 'is a source, which rbacgen would overwrite; use another file'
done <<END
rbac --role-name=r --out=sources/good.cc sources
webhook --out=./sources/good.cc sources/good.cc sources/hook.cc
header --out=sources/good.cc sources/good.cc
chart --format=yaml --out=sources/good.cc sources/good.cc
audit-policy --out=sources/good.cc sources
END
cmp good.cc sources/good.cc || fail 'a source was replaced'
for _ in 1 2; do expect 0 'a header among the sources' header --out=sources/good.h sources; done
echo PASSED
