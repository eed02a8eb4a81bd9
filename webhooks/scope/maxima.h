// The maxima of the CRDs' schemas, checked again in the webhook.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace mandate::scope {

// Checks maxItems and maxLength of all fields of `message` (api/mandate/options.proto), and of the
// messages in them. The API server checks them, too. A client that reaches the port of the
// webhooks can send objects that the API server has not seen, and the schema must bound their cost.
// `path` names the message, such as "spec". kInvalidArgument names the first field that is too
// large: "spec.clusterRoles: 4500 items; the limit is 100".
absl::Status CheckMaxima(const google::protobuf::Message& message, std::string_view path);

// Checks a label selector, as JSON: at most 1,000 labels, requirements and values in all, counting
// each member of an object and each item of a list. The schema allows more, but a selector is
// parsed and compared several times in a review. Reads the text once. kInvalidArgument as above,
// and for invalid JSON. Empty: no selector.
absl::Status CheckSelector(std::string_view json, std::string_view path);

}  // namespace mandate::scope
