// The API server's rules for names and labels (apimachinery's validation; RFC 1123).
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace mandate {

// Each returns OK, or kInvalidArgument with the value and what is wrong with it.

// A namespace's or Service's name: lower case letters, digits, '-'; at most 63.
absl::Status CheckDnsLabel(std::string_view value);
// A ServiceAccount's, Secret's or CRD's name: DNS labels joined by '.', at most 253.
absl::Status CheckDnsSubdomain(std::string_view value);
// Checks the name of an RBAC object: any text that can be one segment of a path.
absl::Status CheckPathSegment(std::string_view value);
// The key of a label or annotation: "name" or "subdomain/name".
absl::Status CheckLabelKey(std::string_view value);
// The value of a label: may be empty; at most 63.
absl::Status CheckLabelValue(std::string_view value);

}  // namespace mandate
