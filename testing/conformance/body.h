// Converts the bodies of requests, responses and watch streams between JSON values and bytes.
#pragma once

#include <jsoncpp/json/json.h>

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mandate::conformance {

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

// Encodes as protobuf if that is the `content_type`, and otherwise as JSON. A string is returned
// unchanged. kInvalidArgument if the kind is unknown, or has no such member.
absl::StatusOr<std::string> EncodeBody(const Json::Value& body, std::string_view content_type);

// kInvalidArgument if the bytes are neither JSON nor protobuf of a kind in k8s.io/api.
absl::StatusOr<Json::Value> DecodeBody(std::string_view bytes, std::string_view content_type);

// Removes the first complete event from `buffer` and returns it as {type, object}; nullopt if there
// is no complete event yet.
absl::StatusOr<std::optional<Json::Value>> TakeEvent(std::string& buffer,
                                                     std::string_view content_type);

}  // namespace mandate::conformance
