"""The kinds that every API server serves, as Kubernetes' discovery lists them, for a component that has no kind of its own."""
import ast
import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mandate_dev import bazel
from mandate_dev.component_names import Refused, check_name, names_of
from mandate_dev.paths import ROOT, read

# What a component that labels the objects needs.
VERBS = {"list", "watch", "patch"}


class ExistingKind(NamedTuple):
    group: str  # "" for core
    kind: str
    plural: str
    library: str  # of //manager/object/kinds: apps_v1


def libraries() -> dict[str, str]:
    """Returns those libraries of //manager/object/kinds whose group the double of the API server has, because the component's
    tests run on it. With their groups."""
    found = re.search(r"(?s)^GROUPS = (\{.*?^\})", read("manager/object/kinds/BUILD.bazel"), re.MULTILINE)
    assert found is not None
    files = re.findall(r"api::(\w+)::(\w+)::\w+::descriptor\(\)->file\(\)", read("testing/apiserver/builtin_kinds.cc"))
    served = {f"{package}_{version}" for package, version in files}
    return {library: group for library, group in ast.literal_eval(found[1]).items() if library in served}


def discovery() -> tuple[Any, Any]:
    """Returns Kubernetes' discovery of the core group and of the other groups, which is fetched if it is missing."""
    subprocess.run(["hack/bazel", "fetch", "@kubernetes_discovery//:all"], cwd=ROOT, check=True, text=True, capture_output=True)
    folder = os.path.join(bazel.info()["output_base"], "external", "kubernetes_discovery", "api", "discovery")
    documents = []
    for name in ("api__v1.json", "aggregated_v2.json"):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            documents.append(json.load(f))
    return documents[0], documents[1]


def kinds(core: Any, groups: Any, libraries: Mapping[str, str]) -> Iterator[ExistingKind]:
    """Yields the kinds of the libraries whose objects can be listed, watched and patched; a group's preferred version first."""
    for resource in core["resources"]:
        if "/" not in resource["name"] and VERBS <= set(resource["verbs"]):
            yield ExistingKind("", resource["kind"], resource["name"], "core_v1")
    for group in groups["items"]:
        name = group["metadata"]["name"]
        for version in group["versions"]:
            for library in (library for library, of in libraries.items() if of == name and library.endswith(f"_{version['version']}")):
                for resource in version["resources"]:
                    if VERBS <= set(resource["verbs"]):
                        yield ExistingKind(name, resource["responseKind"]["kind"], resource["resource"], library)


def find(kind: str, group: str) -> ExistingKind:
    """Rejects a kind that no API server serves, or whose objects cannot be labelled."""
    known = list(kinds(*discovery(), libraries()))
    of_group = [one for one in known if one.group == ("" if group == "core" else group)]
    if not of_group:
        names = sorted({one.group or "core" for one in known})
        raise Refused(f'GROUP "{group}" is not one of Kubernetes\' own whose kinds are in manager/object/kinds; with '
                      f'RESOURCE=false there are {", ".join(names)}')
    for one in of_group:
        if one.kind == kind:
            return one
    names = sorted({one.kind for one in of_group})
    raise Refused(f'KIND "{kind}" is not one of group {group} that can be listed, watched and patched; there are {", ".join(names)}')


def words_of(name: str, kind: str, group: str) -> dict[str, str]:
    """Returns the values of the templates' @WORDS@ for a component of an existing kind."""
    check_name(name)
    found = find(kind, group)
    words = names_of(name)
    return {**words, "KIND": kind, "GROUP": found.group, "RBACGROUP": found.group or "core", "PLURAL": found.plural,
            "CAMEL": words["CONSTANT"].removeprefix("k"), "KINDTYPE": f"{found.library.replace('_', '')}::{kind}",
            "KINDHEADER": f"manager/object/kinds/{found.library}.h", "KINDTARGET": f"//manager/object/kinds:{found.library}"}
