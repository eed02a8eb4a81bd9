// Removes from an object what others added to it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "manager/client/object_patch.h"

namespace mandate {

// Fields that an object must not have, regardless of who wrote them. Those that it does not have
// are ignored.
struct FieldsToRemove {
  // Paths of members: {"aggregationRule"}, {"metadata", "labels", "example.com/a"}. Items of lists
  // have no path.
  std::vector<std::vector<std::string>> fields = {};
  std::vector<std::string> finalizers = {};
  std::vector<std::string> owner_uids = {};  // of owner references
};

// The patch that removes these fields from `observed`, if the object has not changed since; nullopt
// if it has none of them. A field that our version of the type lacks is always removed: only the
// server knows whether the object has it. kInvalidArgument for an empty path and for an object
// without a resourceVersion.
absl::StatusOr<std::optional<MergePatch>> RemovalPatch(const google::protobuf::Message& observed,
                                                       const FieldsToRemove& removal);

}  // namespace mandate
