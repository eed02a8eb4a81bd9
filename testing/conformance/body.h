// Bodies of requests, responses and watch streams, as JSON whatever they travel as.
#ifndef TESTING_CONFORMANCE_BODY_H_
#define TESTING_CONFORMANCE_BODY_H_

#include <jsoncpp/json/json.h>

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mandate::conformance {

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

// Protobuf when `content_type` says so, else JSON; a string is sent as it is.
// kInvalidArgument: no such kind, or members that it lacks.
absl::StatusOr<std::string> EncodeBody(const Json::Value& body, std::string_view content_type);

// kInvalidArgument for what is neither JSON nor protobuf of a kind in k8s.io/api.
absl::StatusOr<Json::Value> DecodeBody(std::string_view bytes, std::string_view content_type);

// Takes the first whole event, {type, object}, off `buffer`; nullopt: there is none yet.
absl::StatusOr<std::optional<Json::Value>> TakeEvent(std::string& buffer,
                                                     std::string_view content_type);

}  // namespace mandate::conformance

#endif  // TESTING_CONFORMANCE_BODY_H_
