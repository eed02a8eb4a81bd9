// Moves the fields that a component once wrote by create, update or patch to its server-side apply.
//
// Apply removes a field only if the component's own entry of operation "Apply" in
// metadata.managedFields has it. To the server, an entry of operation "Update" of the same name is
// another manager and keeps the field. client-go: k8s.io/client-go/util/csaupgrade.
#pragma once

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "manager/client/object_patch.h"

namespace mandate {

// The patch that merges the Update entries of `manager` (of the object, not of its subresources)
// into its Apply entry; nullopt if `read`, which came from the server, has no Update entry. The
// patch is conditional on the resourceVersion of `read`. Entries whose apiVersion differs from the
// Apply entry's are dropped, as csaupgrade drops them: their fields then have no owner.
// kInvalidArgument for invalid field sets.
absl::StatusOr<std::optional<JsonPatch>> TakeoverPatch(const google::protobuf::Message& read,
                                                       std::string_view manager);

}  // namespace mandate
