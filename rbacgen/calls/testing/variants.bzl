"""Builds one program in several ways, to see what each leaves of it."""

def _program_variants_impl(ctx):
    contexts = [dep[CcInfo].compilation_context for dep in ctx.attr.deps]
    headers = depset(transitive = [c.headers for c in contexts])
    includes = ctx.actions.args()
    for flag, folders in [
        ("-I", [c.includes for c in contexts]),
        ("-iquote", [c.quote_includes for c in contexts]),
        ("-isystem", [c.system_includes for c in contexts]),
    ]:
        includes.add_all(depset(transitive = folders), format_each = flag + "%s")
    objects = {}
    for compile in {line.split(" | ")[0]: None for line in ctx.attr.variants.values()}:
        objects[compile] = []
        for src in ctx.files.srcs:
            name = "%s.%d.%s.o" % (ctx.label.name, len(objects), src.basename)
            out = ctx.actions.declare_file(name)
            objects[compile].append(out)
            ctx.actions.run_shell(
                inputs = depset([src], transitive = [headers]),
                outputs = [out],
                command = compile + ' -std=c++20 -fPIE -c "${@:3}" "$1" -o "$2"',
                arguments = [src.path, out.path, includes],
                use_default_shell_env = True,
                mnemonic = "CompileVariant",
            )
    outputs = []
    for name, line in ctx.attr.variants.items():
        compile, link = line.split(" | ")
        out = ctx.actions.declare_file(name)
        outputs.append(out)
        ctx.actions.run_shell(
            inputs = objects[compile],
            outputs = [out],
            # The program never runs, so the functions that it calls may be undefined.
            command = link + ' -pie -Wl,--unresolved-symbols=ignore-all "${@:2}" -o "$1"',
            arguments = [out.path] + [o.path for o in objects[compile]],
            use_default_shell_env = True,
            mnemonic = "LinkVariant",
        )
    return [DefaultInfo(files = depset(outputs), runfiles = ctx.runfiles(files = outputs))]

program_variants = rule(
    implementation = _program_variants_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cc"], mandatory = True),
        "deps": attr.label_list(providers = [CcInfo]),
        "variants": attr.string_dict(mandatory = True),
    },
    doc = "One program for each of `variants`: its name to 'COMPILER FLAGS | LINKER FLAGS'.",
)
