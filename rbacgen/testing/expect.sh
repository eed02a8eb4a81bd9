# Functions that the tests of rbacgen's commands share. Set `rbacgen` to the program, or to an array of it and its
# # first arguments, then source this file.

dir=$(mktemp -d -p "$TEST_TMPDIR")

fail() {
  echo "FAILED: $1"
  exit 1
}

# expect CODE NAME ARGS…: runs rbacgen and checks its exit code; the output is in $dir/out and $dir/err.
expect() {
  local code=0
  "${rbacgen[@]}" "${@:3}" >"$dir/out" 2>"$dir/err" || code=$?
  [ "$code" = "$1" ] || { cat "$dir/out" "$dir/err"; fail "$2: exit code $code, not $1"; }
}

# says NAME out|err TEXT: checks that this output of the last expect contains the text.
says() { grep -qF -- "$3" "$dir/$2" || { cat "$dir/$2"; fail "$1: does not say: $3"; }; }

# plain NAME: checks that the output of the last expect has no control characters but line feeds, and no bidi controls.
plain() {
  ! LC_ALL=C grep -qaP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]' "$dir/out" "$dir/err" ||
    { cat -v "$dir/out" "$dir/err"; fail "$1: has control characters"; }
}
