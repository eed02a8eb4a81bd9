"""A file that Starlark writes."""

def _written_impl(ctx):
    ctx.actions.write(ctx.outputs.out, ctx.attr.content)

written = rule(
    implementation = _written_impl,
    attrs = {
        "content": attr.string(),
        "out": attr.output(),
    },
)
