// Checks the keys of objects before they become part of a request's path.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "manager/object/kind.h"

namespace mandate {

// kInvalidArgument if the kind is namespaced and the key has no namespace.
absl::Status CheckNamespace(const KindInfo& kind, const ObjectKey& key);

// The same, and for an empty name, with which the request would be for the whole collection.
absl::Status CheckKey(const KindInfo& kind, const ObjectKey& key);

// kInvalidArgument if the object to update has no resourceVersion.
absl::Status CheckHasVersion(const KindInfo& kind, const ObjectKey& key,
                             std::string_view resource_version);

}  // namespace mandate
