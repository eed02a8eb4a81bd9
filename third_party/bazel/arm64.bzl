"""The toolchain that compiles for arm64 on amd64: Debian's cross compiler, and a folder with arm64's packages."""

_BUILD = """\
load("@bazel_tools//tools/cpp:unix_cc_toolchain_config.bzl", "cc_toolchain_config")

package(default_visibility = ["//visibility:public"])

filegroup(name = "empty")

cc_toolchain_suite(
    name = "suite",
    toolchains = {{
        "aarch64": ":toolchain",
        "aarch64|gcc": ":toolchain",
    }},
)

cc_toolchain(
    name = "toolchain",
    all_files = ":empty",
    compiler_files = ":empty",
    dwp_files = ":empty",
    linker_files = ":empty",
    objcopy_files = ":empty",
    strip_files = ":empty",
    supports_param_files = 1,
    toolchain_config = ":config",
    toolchain_identifier = "arm64",
)

cc_toolchain_config(
    name = "config",
    abi_libc_version = "glibc",
    abi_version = "gcc",
    builtin_sysroot = "{sysroot}",
    compiler = "gcc",
    cpu = "aarch64",
    cxx_builtin_include_directories = [
        "{sysroot}/usr/include",
        "/usr/aarch64-linux-gnu/include",
        "/usr/lib/gcc-cross/aarch64-linux-gnu",
    ],
    compile_flags = ["-fno-omit-frame-pointer", "-fstack-protector"],
    cxx_flags = ["-std=c++20"],
    host_system_name = "x86_64-linux-gnu",
    link_flags = ["-Wl,-z,relro,-z,now"],
    link_libs = ["-lstdc++", "-lm"],
    target_libc = "glibc",
    target_system_name = "aarch64-linux-gnu",
    # There is no llvm-cov; the rule wants a path.
    tool_paths = {{
        tool: "/usr/bin/aarch64-linux-gnu-" + tool
        for tool in ["ar", "cpp", "dwp", "gcc", "gcov", "ld", "llvm-cov", "nm", "objcopy", "objdump", "strip"]
    }},
    toolchain_identifier = "arm64",
    unfiltered_compile_flags = [
        "-fno-canonical-system-headers",
        "-Wno-builtin-macro-redefined",
        "-D__DATE__=\\"redacted\\"",
        "-D__TIMESTAMP__=\\"redacted\\"",
        "-D__TIME__=\\"redacted\\"",
    ],
)
"""

def _arm64_toolchain_impl(ctx):
    sysroot = ctx.os.environ.get("MANDATE_ARM64_SYSROOT", "")
    if not sysroot:
        fail("MANDATE_ARM64_SYSROOT is not set: build for arm64 by hack/arm64, which sets it")
    ctx.file("BUILD.bazel", _BUILD.format(sysroot = sysroot))

# MANDATE_ARM64_SYSROOT is a folder with the unpacked packages that the build needs.
arm64_toolchain = repository_rule(
    implementation = _arm64_toolchain_impl,
    environ = ["MANDATE_ARM64_SYSROOT"],
)
