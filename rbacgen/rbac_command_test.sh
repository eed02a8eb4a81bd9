#!/usr/bin/env bash
# rbacgen rbac, run as a person does: controller-gen's own fixture byte for byte, the exit codes,
# and what is said on a mistake.
set -euo pipefail
rbacgen=$1 markers=$2 want=$3
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

printf '%s\n' '// +mandate:rbac:granted=external,groups=g,resources=r,verbs=get' >"$dir/ours.cc"
expect 0 'only our own markers' rbac --role-name=x "$dir/ours.cc"
[ ! -s "$dir/out" ] || fail 'printed a role for +mandate:rbac'
says 'only our own markers' '1 +mandate:rbac rule is left out'
says 'only our own markers' 'no +kubebuilder:rbac marker'

printf '%s\n' "// $rule=x,verbs=Get" >"$dir/lint.cc"
expect 0 'lint' rbac --role-name=x "$dir/lint.cc"
says lint "$dir/lint.cc:1: warning: verb \"Get\" has capitals"
grep -q -- '- Get' "$dir/out" || fail 'a warning kept the role back'

printf '%s\n' "// $rule=x" '// +kubebuilder:rback:verbs=get' >"$dir/wrong.cc"
expect 1 'mistakes' rbac --role-name=x "$dir/wrong.cc" "$dir/src"
[ ! -s "$dir/out" ] || fail 'printed a role in spite of mistakes'
says mistakes "$dir/wrong.cc:1: error: +kubebuilder:rbac: missing argument \"verbs\""
says mistakes "$dir/wrong.cc:2: error: unknown marker"
says mistakes '2 errors; nothing was written'

expect 2 'no path' rbac --role-name=x
expect 2 'no role name' rbac "$dir/src"
says 'no role name' '--role-name is required'
expect 2 'a missing path' rbac --role-name=x "$dir/none"
says 'a missing path' "no file or folder $dir/none"
expect 2 'an unknown command' rback
expect 2 'nothing'
expect 0 'help' --help
echo PASSED
