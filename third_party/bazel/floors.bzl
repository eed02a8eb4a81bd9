"""The floors of the source tree (docs/architecture.md), lowest first.

A room is visible to the floors above it, and to the tools and tests next to them.
"""

_FLOORS = [
    ["//api:__subpackages__"],
    ["//manager/core:__subpackages__"],
    ["//manager/object:__subpackages__"],
    ["//manager/rbac:__subpackages__"],
    ["//manager/transport:__subpackages__"],
    ["//manager/kubeconfig:__subpackages__"],
    ["//manager/identity:__subpackages__"],
    ["//manager/client:__subpackages__"],
    ["//manager/cache:__subpackages__"],
    ["//manager/serving:__subpackages__"],
    [
        "//manager/telemetry:__subpackages__",
        "//manager/tracing:__subpackages__",
        "//manager/leader:__subpackages__",
    ],
    ["//manager/admission:__subpackages__", "//manager/controller:__subpackages__"],
    ["//manager:__pkg__"],
    ["//explorer:__subpackages__"],
    ["//controllers:__subpackages__"],
    ["//webhooks:__subpackages__"],
    ["//cmd/program:__pkg__"],
    ["//cmd:__subpackages__"],
]

_BESIDE = ["//:__pkg__", "//rbacgen:__subpackages__", "//testing:__subpackages__", "//hack:__subpackages__"]

# The floors of the tool, lowest first. Its binary, its tests in rbacgen/testing and the fuzz tests use all.
_RBACGEN_FLOORS = [
    ["//rbacgen/yaml:__subpackages__"],
    ["//rbacgen/markers:__subpackages__"],
    ["//rbacgen/lint:__subpackages__"],
    ["//rbacgen/world:__subpackages__", "//rbacgen/calls:__subpackages__"],
    ["//rbacgen/emit:__pkg__"],
    ["//rbacgen/emit/chart:__subpackages__", "//rbacgen/emit/crd:__subpackages__"],
    ["//rbacgen/emit/webhook:__subpackages__"],
    ["//rbacgen/report:__subpackages__"],
    ["//rbacgen/ask:__subpackages__", "//rbacgen/audit:__subpackages__", "//rbacgen/mutate:__subpackages__"],
    ["//rbacgen/cli:__subpackages__"],
    ["//rbacgen:__pkg__"],
]

_BESIDE_RBACGEN = ["//rbacgen/testing:__subpackages__", "//testing/fuzz:__pkg__"]

def _above(label, floors):
    for level, floor in enumerate(floors):
        for room in floor:
            if room.split(":")[0] == label:
                return [l for f in floors[level + 1:] for l in f]
    fail("floors.bzl knows no room " + label)

def above(room):
    """The visibility of `room`, such as "manager/rbac": every floor above its own.

    A repository that uses Mandate as a library may use every room.
    """
    user = [] if native.repository_name() == "@" else ["@//:__subpackages__"]
    if room.startswith("rbacgen"):
        own = ["//" + room + "/testing:__subpackages__"]
        return _above("//" + room, _RBACGEN_FLOORS) + own + _BESIDE_RBACGEN + user
    return _above("//" + room, _FLOORS) + _BESIDE + user
