"""Tests that code does not compile, and why."""

def _compile_cases_impl(ctx):
    contexts = [dep[CcInfo].compilation_context for dep in ctx.attr.deps]
    headers = depset(transitive = [c.headers for c in contexts])
    args = ctx.actions.args()
    for flag, folders in [
        ("-I", [c.includes for c in contexts]),
        ("-iquote", [c.quote_includes for c in contexts]),
        ("-isystem", [c.system_includes for c in contexts]),
    ]:
        args.add_all(depset(transitive = folders), format_each = flag + "%s")
    outputs = []
    for case in ctx.attr.cases:
        out = ctx.actions.declare_file(ctx.label.name + "." + case)
        outputs.append(out)
        ctx.actions.run_shell(
            inputs = depset([ctx.file.src], transitive = [headers]),
            outputs = [out],
            # The first line says whether it compiled; the compiler's words follow.
            command = """if text=$(${CC:-gcc} -x c++ -std=c++20 -fsyntax-only -D"$1" "${@:4}" "$2" 2>&1)
then echo compiled; else echo refused; fi >"$3"; printf '%s\\n' "$text" >>"$3\"""",
            arguments = [case, ctx.file.src.path, out.path, args],
            use_default_shell_env = True,
            mnemonic = "CompileCase",
            progress_message = "Compiling case " + case,
        )
    script = ctx.actions.declare_file(ctx.label.name)
    lines = ["#!/usr/bin/env bash", "failed=0", "check() {", """
  verdict=$(head -n 1 "$2")
  if [ "$verdict" != "$3" ]; then
    echo "FAIL $1: expected it to be $3, but it was $verdict:"
    head -n 20 "$2"
    failed=1
    return
  fi
  for text in "${@:4}"; do
    if ! grep -qF -- "$text" "$2"; then
      echo "FAIL $1: the compiler does not say: $text"
      head -n 20 "$2"
      failed=1
      return
    fi
  done
  echo "ok $1 ($3)"
}"""]
    for case, out in zip(ctx.attr.cases, outputs):
        says = ctx.attr.cases[case]
        verdict = "refused" if says else "compiled"
        lines.append(" ".join(["check", case, out.short_path, verdict] +
                              ["'" + s + "'" for s in says]))
    lines.append("exit $failed")
    ctx.actions.write(script, "\n".join(lines) + "\n", is_executable = True)
    return [DefaultInfo(executable = script, runfiles = ctx.runfiles(files = outputs))]

compile_cases_test = rule(
    implementation = _compile_cases_impl,
    test = True,
    attrs = {
        "src": attr.label(allow_single_file = [".cc"], mandatory = True),
        "deps": attr.label_list(providers = [CcInfo]),
        "cases": attr.string_list_dict(mandatory = True),
    },
    doc = """Compiles `src` once for each case, with the case's name defined as a macro.

A case with texts must be refused by the compiler, and each text must be in its message; a case
without must compile: give at least one, or a broken include makes every refusal look right.
""",
)
