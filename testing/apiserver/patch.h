// Patches applied to unstructured JSON, as the API server applies them.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "manager/object/json.h"

namespace mandate {

struct PatchLimits {
  size_t max_operations = 10'000;             // the API server's limit
  size_t max_copied_bytes = size_t{3} << 20;  // the sum for all "copy" operations, as JSON
  int max_depth = kMaxRecursion;              // of the patched document
};

// RFC 7386: null removes a member, objects are merged, all other values are replaced.
Json::Value ApplyMergePatch(Json::Value target, const Json::Value& patch);

// RFC 6902, all or nothing. kInvalidArgument if `patch` is not a list of operations;
// kFailedPrecondition with the operation's number and path if an operation does not apply to this
// document; kResourceExhausted beyond the limits. Numbers are compared by value, so that a test for
// 1 passes for 1.0.
absl::StatusOr<Json::Value> ApplyJsonPatch(Json::Value document, const Json::Value& patch,
                                           const PatchLimits& limits = {});

}  // namespace mandate
