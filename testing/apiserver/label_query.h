// Parses the labelSelector of a query with the API server's grammar and error messages
// (apimachinery, pkg/labels).
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "manager/object/selector.h"

namespace mandate::apiserver {

// 400 for an invalid selector.
absl::StatusOr<LabelSelector> ParseLabelQuery(std::string_view text);

}  // namespace mandate::apiserver
