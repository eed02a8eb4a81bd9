"""Files of published Go modules, through the Go module client, by name and pinned version."""

# Where the Go client keeps and finds modules.
GO_ENVIRON = ["GOPROXY", "GOFLAGS", "GOMODCACHE", "HOME"]

def go_module_download(ctx, module, version):
    """The folder of the Go client's cache that holds the module; downloads it if need be."""

    # From an empty folder, so that no go.mod of the user's is consulted.
    ctx.file("empty/README", "The working directory of the Go client.\n")
    result = ctx.execute(
        ["go", "mod", "download", "-json", module + "@" + version],
        timeout = 600,
        working_directory = "empty",
    )
    if result.return_code != 0:
        fail("`go mod download {}@{}` failed (is Go 1.26 on PATH?):\n{}".format(
            module,
            version,
            result.stdout + result.stderr,
        ))
    for line in result.stdout.splitlines():
        key, _, value = line.strip().partition(": ")
        if key == '"Dir"':
            return value.strip('",')
    fail("`go mod download {}` named no folder".format(module))

def _go_module_files_impl(ctx):
    folder = go_module_download(ctx, ctx.attr.module, ctx.attr.version)
    for path in ctx.attr.files:
        ctx.symlink(folder + "/" + path, path)
    ctx.file("BUILD", """exports_files({files})

filegroup(
    name = "files",
    srcs = {files},
    visibility = ["//visibility:public"],
)
""".format(files = repr(ctx.attr.files)))

go_module_files = repository_rule(
    implementation = _go_module_files_impl,
    attrs = {
        "module": attr.string(mandatory = True),
        "version": attr.string(mandatory = True),
        "files": attr.string_list(mandatory = True),
    },
    environ = GO_ENVIRON,
    doc = "Single files of a Go module, such as test fixtures: @name//:path/in/the/module; all: @name//:files.",
)
