"""Files of published Go modules, through the Go module client, by name and pinned version."""

# Where the Go client keeps and finds modules. PATH is not here: another Go gives the same files.
GO_ENVIRON = ["GOPROXY", "GOFLAGS", "GOMODCACHE", "HOME"]

# A label of this repository, also for a workspace that loads this file from it.
_GO = Label("//:hack/go")

def go_module_download(ctx, module, version):
    """The folder of the Go client's cache that holds the module; downloads it if need be."""

    # From an empty folder, so that no go.mod of the user's is consulted.
    ctx.file("empty/README", "The working directory of the Go client.\n")
    go = ctx.path(_GO)
    missing = ctx.execute([go, "--plan"]).stdout.strip()
    if missing:
        # Unlike print(), it shows at once.
        ctx.execute(["echo", "installing " + missing], quiet = False)
    result = ctx.execute(
        [go, "mod", "download", "-json", module + "@" + version],
        timeout = 1200,
        working_directory = "empty",
    )
    if result.return_code != 0:
        fail("`hack/go mod download {}@{}` failed:\n{}".format(
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
    ctx.file("json.bzl", "JSON = {}\n".format({
        path: json.decode(ctx.read(path))
        for path in ctx.attr.files
        if path.endswith(".json")
    }))

go_module_files = repository_rule(
    implementation = _go_module_files_impl,
    attrs = {
        "module": attr.string(mandatory = True),
        "version": attr.string(mandatory = True),
        "files": attr.string_list(mandatory = True),
    },
    environ = GO_ENVIRON,
    doc = "Single files of a Go module, such as test fixtures: @name//:path/in/the/module; all: @name//:files. JSON in @name//:json.bzl has the values of the JSON files.",
)
