// The subresource "scale" (autoscaling/v1), by which kinds as different as Deployment and a custom
// resource are scaled in the same way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "manager/object/kind.h"

namespace mandate {

struct Scale {
  std::string uid = {};  // of the scaled object
  // Of the scaled object: the precondition of an update.
  std::string resource_version = {};
  int32_t replicas = 0;           // desired
  int32_t observed_replicas = 0;  // in the status
  std::string selector = {};      // of the pods, in the syntax of a query; "" if the kind has none
};

// The body of an update of `key`, as JSON.
std::string ScaleBody(const ObjectKey& key, const Scale& scale);

// kInvalidArgument if `json` is not a Scale. Omitted numbers are 0.
absl::StatusOr<Scale> ParseScale(std::string_view json);

}  // namespace mandate
