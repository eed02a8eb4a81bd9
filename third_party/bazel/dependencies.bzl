"""The repositories that Mandate's targets need, for its own WORKSPACE and for those that use it."""

load(":go_module.bzl", "go_module_files")
load(":kubernetes.bzl", "kubernetes_api")

def _folder_repository_impl(ctx):
    for entry in ctx.path(ctx.attr.marker).dirname.readdir():
        ctx.symlink(entry, entry.basename)

# A folder of Mandate as a repository: local_repository takes no label.
_folder_repository = repository_rule(
    implementation = _folder_repository_impl,
    attrs = {"marker": attr.label(mandatory = True, doc = "A file in the folder.")},
    local = True,
)

def mandate_dependencies():
    """Debian's packages, published Go modules, and two folders of Mandate; no rule fetches an archive."""
    for name in ["rules_cc", "remote_coverage_tools"]:
        _folder_repository(
            name = name,
            marker = "@mandate//third_party/{}:WORKSPACE".format(name),
        )

    # Bazel 4.2 loads these for every build; Debian packages them.
    for name in ["java", "proto"]:
        native.local_repository(
            name = "rules_" + name,
            path = "/usr/share/bazel/rules/" + name,
        )
    kubernetes_api(
        name = "kubernetes",
        version = "v0.36.3",
    )

    # The roles and bindings that an API server makes at its start, as its own test has them: of the
    # version that our tests run, and of the oldest one that the chart supports.
    for name, version in [
        ("kubernetes_policy", "v1.36.3"),
        ("kubernetes_policy_oldest", "v1.30.14"),
    ]:
        go_module_files(
            name = name,
            files = ["plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata/" + file for file in [
                "cluster-role-bindings.yaml",
                "cluster-roles.yaml",
                "controller-role-bindings.yaml",
                "controller-roles.yaml",
                "namespace-role-bindings.yaml",
                "namespace-roles.yaml",
            ]],
            module = "k8s.io/kubernetes",
            version = version,
        )

    # What the API server's discovery answers.
    go_module_files(
        name = "kubernetes_discovery",
        files = [
            "api/discovery/aggregated_v2.json",
            "api/discovery/api__v1.json",
        ],
        module = "k8s.io/kubernetes",
        version = "v1.36.3",
    )
