// Patches applied to unstructured JSON, as the API server applies them.
#ifndef TESTING_APISERVER_PATCH_H_
#define TESTING_APISERVER_PATCH_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "manager/object/json.h"

namespace mandate {

struct PatchLimits {
  size_t max_operations = 10'000;             // the API server's own
  size_t max_copied_bytes = size_t{3} << 20;  // by all "copy" operations together, as JSON
  int max_depth = kMaxRecursion;              // of the patched document
};

// RFC 7386: null removes, objects merge, all else replaces.
Json::Value ApplyMergePatch(Json::Value target, const Json::Value& patch);

// RFC 6902, all or nothing. kInvalidArgument when `patch` is no list of operations;
// kFailedPrecondition when an operation cannot be carried out on this document, its number and path
// in the message; kResourceExhausted beyond the limits. Numbers are equal by value, so that a test
// for 1 holds for 1.0.
absl::StatusOr<Json::Value> ApplyJsonPatch(Json::Value document, const Json::Value& patch,
                                           const PatchLimits& limits = {});

}  // namespace mandate

#endif  // TESTING_APISERVER_PATCH_H_
