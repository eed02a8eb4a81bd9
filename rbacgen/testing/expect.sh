# What tests of rbacgen's commands have in common; to be sourced, with `rbacgen` set to the program, or to an array of it
# and its first arguments.

dir=$(mktemp -d -p "$TEST_TMPDIR")

fail() {
  echo "FAILED: $1"
  exit 1
}

# expect CODE NAME ARGS…: runs rbacgen; leaves its output in $dir/out and $dir/err.
expect() {
  local code=0
  "${rbacgen[@]}" "${@:3}" >"$dir/out" 2>"$dir/err" || code=$?
  [ "$code" = "$1" ] || { cat "$dir/out" "$dir/err"; fail "$2: exit code $code, not $1"; }
}

# says NAME out|err TEXT: what expect left there has the text.
says() { grep -qF -- "$3" "$dir/$2" || { cat "$dir/$2"; fail "$1: does not say: $3"; }; }

# plain NAME: what expect left there has no control character but line feeds, and none that reorders text.
plain() {
  ! LC_ALL=C grep -qaP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]' "$dir/out" "$dir/err" ||
    { cat -v "$dir/out" "$dir/err"; fail "$1: has control characters"; }
}
