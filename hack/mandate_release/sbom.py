"""The image's bill of materials, as an SPDX 2.3 document."""
import json
import re
import uuid
from typing import Any

from mandate_release.closure import Package


def _identifier(*parts: str) -> str:
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(parts))


def _debian(package: Package) -> dict[str, Any]:
    licences = package.licences()
    named = ", ".join(licences) if licences else "(not in machine-readable form)"
    purl = (f"pkg:deb/debian/{package.name}@{package.version}?arch={package.architecture}&distro=debian-12"
            f"&upstream={package.source}")
    return {
        "SPDXID": _identifier("deb", package.name), "name": package.name, "versionInfo": package.version,
        "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        **({"homepage": package.homepage} if package.homepage else {}),
        # Debian's short names are not all SPDX identifiers.
        "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
        "licenseComments": f"/usr/share/doc/{package.name}/copyright names: {named}",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": purl.replace("+", "%2B")}]}


def _module(name: str, version: str) -> dict[str, Any]:
    return {
        "SPDXID": _identifier("go", name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:golang/{name}@{version}"}]}


def document(name: str, version: str, created: str, shared: list[Package], static: list[Package],
             modules: dict[str, str]) -> bytes:
    """The bill of the program `name`.

    shared: packages whose files are in the image. static: packages with code that is in the program itself. modules: Go
    modules of published API definitions, from which code of the program is generated, and their versions.
    """
    program = {
        "SPDXID": _identifier("program"), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
        "copyrightText": "Copyright the Mandate authors", "primaryPackagePurpose": "APPLICATION"}
    parts = {"DYNAMIC_LINK": [_debian(package) for package in shared],
             "STATIC_LINK": [_debian(package) for package in static],
             "GENERATED_FROM": [_module(*module) for module in sorted(modules.items())]}
    packages = {part["SPDXID"]: part for group in parts.values() for part in group}
    body: dict[str, Any] = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{name}-{version}",
        "creationInfo": {"created": created, "creators": ["Tool: hack/image"]},
        "packages": [program, *packages.values()],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": program["SPDXID"]},
            *({"spdxElementId": program["SPDXID"], "relationshipType": kind, "relatedSpdxElement": part["SPDXID"]}
              for kind, group in parts.items() for part in group)]}
    # Each document has a name of its own, and the same document the same name.
    body["documentNamespace"] = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(body, sort_keys=True)).urn
    return (json.dumps(body, indent=1, sort_keys=True) + "\n").encode()
