// The NamespaceLifecycle admission of a new object.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "testing/apiserver/kinds.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// 404 if the namespace is absent, 403 if it is being deleted; OK for a cluster-scoped object.
absl::Status CheckNamespace(const ObjectReader& objects, const ResourceType& type,
                            std::string_view ns, std::string_view name);

}  // namespace mandate::apiserver
