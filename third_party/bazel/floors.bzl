"""The floors of the house (docs/architecture.md), lowest first: who may use whom.

A room is visible to the floors above it, and to the tools and tests beside the house.
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
    ["//manager/telemetry:__subpackages__", "//manager/leader:__subpackages__"],
    ["//manager/admission:__subpackages__", "//manager/controller:__subpackages__"],
    ["//manager:__pkg__"],
    ["//explorer:__subpackages__"],
    ["//controllers:__subpackages__"],
    ["//webhooks:__subpackages__"],
    ["//cmd:__subpackages__"],
]

_BESIDE = ["//rbacgen:__subpackages__", "//testing:__subpackages__", "//hack:__subpackages__"]

def above(room):
    """The visibility of `room`, such as "manager/rbac": every floor above its own."""
    for level, floor in enumerate(_FLOORS):
        for label in floor:
            if label.split(":")[0] == "//" + room:
                return [l for f in _FLOORS[level + 1:] for l in f] + _BESIDE
    fail("floors.bzl knows no room " + room)
