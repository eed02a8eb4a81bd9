#!/usr/bin/env bash
# Runs rbacgen rbac as a user does: the output for controller-gen's own fixture is equal byte for byte; exit codes and
# # error messages.
set -euo pipefail
rbacgen=$1 markers=$2 want=$3
source rbacgen/testing/expect.sh

expect 0 'the fixture of controller-gen' rbac --role-name=manager-role "$markers"
diff "$want" "$dir/out" || fail 'the fixture of controller-gen: output differs'

mkdir "$dir/src"
rule='+kubebuilder:rbac:groups=apps,resources'
printf '%s\n' 'package a' "// $rule=deployments,verbs=get" >"$dir/src/a.go"
printf '%s\n' "//$rule=daemonsets,verbs=get" >"$dir/src/b.rs"
expect 0 'a folder' rbac --role-name=x "$dir/src/..."
cp "$dir/out" "$dir/folder"
expect 0 'files in another order' rbac --role-name=x "$dir/src/b.rs" "$dir/src/a.go"
diff "$dir/folder" "$dir/out" || fail 'the order of files matters'
grep -q daemonsets "$dir/out" || fail 'b.rs was not read'
expect 0 'to a file' rbac --role-name=x --out="$dir/new/role.yaml" "$dir/src"
diff "$dir/folder" "$dir/new/role.yaml" || fail '--out differs from standard output'

printf '%s\n' "// $rule=a,verbs=get;list" "// $rule=a,resourceNames=x,verbs=get" >"$dir/covered.cc"
expect 0 'what others allow' rbac --role-name=x "$dir/covered.cc"
grep -q resourceNames "$dir/out" || fail 'what others allow: is left out'
expect 0 minimal rbac --minimal --role-name=x "$dir/covered.cc"
grep -q resourceNames "$dir/out" && fail 'minimal: has what others allow'
grep -q -- '- list' "$dir/out" || fail 'minimal: lost a rule'

printf '%s\n' '// +mandate:rbac:granted=external,groups=g,resources=r,verbs=get' >"$dir/ours.cc"
expect 0 'only our own markers' rbac --role-name=x "$dir/ours.cc"
[ ! -s "$dir/out" ] || fail 'printed a role for +mandate:rbac'
says 'only our own markers' err '1 +mandate:rbac rule is omitted'
says 'only our own markers' err 'no +kubebuilder:rbac marker'

printf '%s\n' "// $rule=x,verbs=Get" >"$dir/lint.cc"
expect 0 'lint' rbac --role-name=x "$dir/lint.cc"
says lint err "$dir/lint.cc:1: warning: verb \"Get\" has capital letters"
grep -q -- '- Get' "$dir/out" || fail 'a warning kept the role back'

printf '%s\n' "// $rule=x" '// +kubebuilder:rback:verbs=get' >"$dir/wrong.cc"
expect 1 'mistakes' rbac --role-name=x "$dir/wrong.cc" "$dir/src"
[ ! -s "$dir/out" ] || fail 'printed a role in spite of mistakes'
says mistakes err "$dir/wrong.cc:1: error: +kubebuilder:rbac: missing argument \"verbs\""
says mistakes err "$dir/wrong.cc:2: error: unknown marker"
says mistakes err '2 errors; nothing was written'

# Markers can contain any text; every command that reads them escapes control characters.
printf '%s\n' '// +mandate:component:name=a' "// $rule=pods"$'\e[1A\xc2\x9b2K'",verbs=get" \
  "// +kubebuilder:rbac:"$'\e[2K'"=x" "// +kubebuilder:webhook:"$'\e[2K'"=x" >"$dir/escapes.cc"
for command in 'rbac --role-name=x' webhook 'chart --format=yaml' audit-policy "header --out=$dir/x.h" 'mutate --test=true'; do
  ! "$rbacgen" $command "$dir/escapes.cc" >"$dir/out" 2>"$dir/err" || fail "escapes: $command"
  [ -s "$dir/err" ] || fail "escapes: $command says nothing"
  plain "escapes: $command"
done
printf 'syntax = "proto3";\nmessage A { B\033[1A c = 1; }\n' >"$dir/escapes.proto"
expect 1 'escapes: crd' crd --out=- --proto-path="$dir" escapes.proto
plain 'escapes: crd'

# Components that are named after folders and files.
mkdir -p "$dir/ctl/pod" "$dir/ctl/job" "$dir/more/pod"
printf '%s\n' "// $rule=a,verbs=get" >"$dir/ctl/pod/pod_controller.go"
printf '%s\n' "// $rule=b,verbs=get" '// +mandate:component:name=own' "// $rule=c,verbs=get" \
  >"$dir/ctl/job/Job_reconciler.go"
expect 0 'a folder with others' rbac --role-name=x "$dir/ctl"
says 'a folder with others' err "$dir/ctl is read recursively; the folders below it have 3 markers; controller-gen reads them only"
for path in "$dir/ctl/..." "$dir/ctl/pod" "$dir/ctl/pod/"; do
  expect 0 "the folders $path" rbac --role-name=x "$path"
  ! grep 'is read recursively' "$dir/err" || fail "the folders $path: there is nothing to say"
done
names() { sed -n 's/^  name: //p' "$dir/out" | xargs; }
expect 0 'by folder' rbac --component-from=dir "$dir/ctl"
[ "$(names)" = 'job own pod' ] || fail "by folder: roles $(names)"
expect 0 'by file' rbac --component-from=file --role-name=x "$dir/ctl"
[ "$(names)" = 'x-job x-own x-pod' ] || fail "by file: roles $(names)"
expect 0 'by marker' rbac --component-from=marker --role-name=x "$dir/ctl"
[ "$(names)" = x ] || fail "by marker: roles $(names)"
printf '%s\n' '' "// $rule=d,verbs=get" >"$dir/more/pod/x.go"
expect 1 'two folders of one name' rbac --component-from=dir "$dir/ctl" "$dir/more"
says 'two folders of one name' err "$dir/more/pod/x.go:2: error: component name pod is already used by $dir/ctl/pod;"
printf '%s\n' '// +mandate:component:name=pod' "// $rule=d,verbs=get" >"$dir/more/pod/x.go"
expect 0 'two folders, and a marker that means it' rbac --component-from=dir "$dir/ctl" "$dir/more"
mkdir "$dir/base"
printf '%s\n' "// $rule=a,verbs=get" >"$dir/base/x.go"
expect 1 'a folder that cannot name one' rbac --component-from=dir "$dir/base"
says 'a folder that cannot name one' err "$dir/base/x.go:1: error: the name of its folder, \"base\", is reserved for the manager"
expect 2 'an unknown way' rbac --component-from=moon "$dir/ctl"
says 'an unknown way' err moon

expect 2 'no path' rbac --role-name=x
expect 2 'no role name' rbac "$dir/src"
says 'no role name' err 'rbac needs --role-name=NAME, or --component-from=dir'
expect 2 'a missing path' rbac --role-name=x "$dir/none"
says 'a missing path' err "no such file or folder: $dir/none"
expect 2 'an unknown command' rback
expect 2 'nothing'
expect 0 'help' --help
echo PASSED
