#include "manager/client/key_check.h"

#include "manager/core/strings.h"

namespace mandate {

absl::Status CheckNamespace(const KindInfo& kind, const ObjectKey& key) {
  if (kind.scope != Scope::kNamespaced || !key.ns.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("a ", kind.kind, " is namespaced, but the object \"",
                                           key.name, "\" has no namespace"));
}

absl::Status CheckKey(const KindInfo& kind, const ObjectKey& key) {
  if (key.name.empty()) {
    return absl::InvalidArgumentError(StrCat("the name of the ", kind.kind, " is empty"));
  }
  return CheckNamespace(kind, key);
}

absl::Status CheckHasVersion(const KindInfo& kind, const ObjectKey& key,
                             std::string_view resource_version) {
  if (!resource_version.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat(kind.kind, " ", key.ToString(),
             " has no resourceVersion, so the update could overwrite other writes; read the "
             "object, change it, and update that"));
}

}  // namespace mandate
