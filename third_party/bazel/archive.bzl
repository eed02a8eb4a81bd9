"""A static library for other build systems: the objects of C++ targets and of all that they depend on."""

# Of Debian's binutils, as Bazel's own toolchain here.
_AR = "/usr/bin/ar"

def _objects(info):
    """The objects of a CcInfo and its dependencies. Those that our own programs link: position independent where all are."""
    return [
        object
        for input in info.linking_context.linker_inputs.to_list()
        for library in input.libraries
        for object in (library.objects or library.pic_objects)
    ]

def _link_flags(info):
    return [flag for input in info.linking_context.linker_inputs.to_list() for flag in input.user_link_flags]

def _included_as(file):
    """manager/core/strings.h; of another repository k8s.io/api/core/v1/generated.pb.h."""
    path = file.short_path
    return "/".join(path.split("/")[2:]) if path.startswith("../") else path

def _cc_archive_impl(ctx):
    info = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    without = cc_common.merge_cc_infos(cc_infos = [target[CcInfo] for target in ctx.attr.without])
    other_objects = {object: True for object in _objects(without)}
    other_flags = {flag: True for flag in _link_flags(without)}
    objects = [object for object in _objects(info) if object not in other_objects]

    # Quick append: several folders may have an object of the same name, and all of them stay.
    arguments = ctx.actions.args()
    arguments.add("qcsD", ctx.outputs.archive)
    arguments.add_all(objects)
    arguments.set_param_file_format("multiline")
    arguments.use_param_file("@%s", use_always = True)
    ctx.actions.run(
        outputs = [ctx.outputs.archive],
        inputs = objects,
        executable = _AR,
        arguments = [arguments],
        mnemonic = "CcArchive",
        progress_message = "Collecting %d objects in %s" % (len(objects), ctx.outputs.archive.short_path),
    )

    # What gcc has precompiled is for this build alone.
    precompiled = {file: True for target in ctx.attr._precompiled for file in target.files.to_list()}
    headers = [header for header in info.compilation_context.headers.to_list() if header not in precompiled]
    ctx.actions.write(ctx.outputs.description, json.encode({
        "headers": {_included_as(header): header.path for header in headers},
        "roots": [
            _included_as(header)
            for dep in ctx.attr.deps
            for header in dep[CcInfo].compilation_context.direct_headers
        ],
        "protos": {_included_as(file): file.path for file in ctx.files.protos},
        "defines": info.compilation_context.defines.to_list(),
        "link": {flag: True for flag in _link_flags(info) if flag not in other_flags}.keys(),
    }))
    outputs = [ctx.outputs.archive, ctx.outputs.description]
    return [DefaultInfo(files = depset(outputs + headers + ctx.files.protos))]

_cc_archive = rule(
    implementation = _cc_archive_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo], mandatory = True),
        "without": attr.label_list(providers = [CcInfo]),
        "protos": attr.label_list(allow_files = [".proto"]),
        "archive": attr.output(mandatory = True),
        "description": attr.output(mandatory = True),
        "_precompiled": attr.label_list(default = ["@mandate//third_party:precompiled"]),
    },
)

def cc_archive(name, deps, without = [], protos = [], **kwargs):
    """lib`name`.a, and `name`.json about it. The target builds all headers and .proto files, too.

    The JSON object has: "headers" and "protos", from the name in an include to the path of the file; "roots", the names
    of the headers of `deps` themselves; "defines"; and "link", the flags for the libraries of the system.

    Args:
      name: the library.
      deps: C++ targets.
      without: targets whose objects and flags another archive has.
      protos: the .proto files that belong to `deps`.
      **kwargs: testonly, tags, visibility.
    """
    _cc_archive(
        name = name,
        deps = deps,
        without = without,
        protos = protos,
        archive = "lib{}.a".format(name),
        description = name + ".json",
        **kwargs
    )
