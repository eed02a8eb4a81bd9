"""Tests that code does not compile, and why."""

_COMPILERS = ["gcc", "clang"]

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
    outputs = {}
    for case, compiler in [(case, compiler) for case in ctx.attr.cases for compiler in _COMPILERS]:
        out = ctx.actions.declare_file("%s.%s.%s" % (ctx.label.name, case, compiler))
        outputs[(case, compiler)] = out
        ctx.actions.run_shell(
            inputs = depset([ctx.file.src], transitive = [headers]),
            outputs = [out],
            # The first line says whether it compiled; the compiler's words follow.
            command = """if text=$("$4" -x c++ -std=c++20 -fsyntax-only -D"$1" "${@:5}" "$2" 2>&1)
then echo compiled; else echo rejected; fi >"$3"; printf '%s\\n' "$text" >>"$3\"""",
            arguments = [case, ctx.file.src.path, out.path, compiler, args],
            use_default_shell_env = True,
            mnemonic = "CompileCase",
            progress_message = "Compiling case %s with %s" % (case, compiler),
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
    for (case, compiler), out in outputs.items():
        says = [
            text[len(compiler) + 2:] if text.startswith(compiler + ": ") else text
            for text in ctx.attr.cases[case]
            if not [c for c in _COMPILERS if c != compiler and text.startswith(c + ": ")]
        ]
        verdict = "rejected" if ctx.attr.cases[case] else "compiled"
        lines.append(" ".join(["check", case + "/" + compiler, out.short_path, verdict] +
                              ["'" + s + "'" for s in says]))
    lines.append("exit $failed")
    ctx.actions.write(script, "\n".join(lines) + "\n", is_executable = True)
    return [DefaultInfo(executable = script, runfiles = ctx.runfiles(files = outputs.values()))]

compile_cases_test = rule(
    implementation = _compile_cases_impl,
    test = True,
    attrs = {
        "src": attr.label(allow_single_file = [".cc"], mandatory = True),
        "deps": attr.label_list(providers = [CcInfo]),
        "cases": attr.string_list_dict(mandatory = True),
    },
    doc = """Compiles `src` once for each case and compiler, with the case's name defined as a macro.

A case with texts must be rejected by the compiler, and each text must be in its message; a text that
begins with "gcc: " or "clang: " in that one's only. A case without texts must compile: give at
least one, or a broken include makes every refusal look right.
""",
)

def _literal(text):
    return '{%d, &"%s"[0]}' % (len(text), text)

def missing_marker(verb, kind, group, resource, subresource = ""):
    """What the compilers say of a typed call that component auditor does not declare."""
    slash = "/" if subresource else ""
    return [
        "MISSING_MARKER<",
        'gcc: {"auditor"}, mandate::FixedString<%d>{"%s"}, mandate::FixedString<%d>{"%s"}' %
        (len(verb) + 1, verb, len(kind) + 1, kind),
        'gcc: {"// +kubebuilder:rbac:groups=%s,resources=%s%s%s,verbs=%s"}' %
        (group, resource, slash, subresource, verb),
        'clang: &"component"[0], %s, &"verb"[0], %s, &"kind"[0], %s' %
        (_literal("auditor"), _literal(verb), _literal(kind)),
        'clang: {28, &"// +kubebuilder:rbac:groups="[0]}, %s, &",resources="[0], %s, &"%s"[0], %s, &",verbs="[0], %s' %
        (_literal(group), _literal(resource), slash, _literal(subresource), _literal(verb)),
    ]
