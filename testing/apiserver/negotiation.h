// The encodings of a request's body and of its response.
#pragma once

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "manager/object/kind.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// "application/json", "application/vnd.kubernetes.protobuf".
std::string_view MediaType(Encoding encoding);
// The content type of a watch's frames, with ";stream=watch" if the server writes this.
std::string_view WatchMediaType(Encoding encoding);

// The first encoding in the Accept header that the server can write; JSON without a header; nullopt
// if it can write none of them (406). `protobuf`: whether the resource supports it; custom ones do
// not.
std::optional<Encoding> AcceptedEncoding(const Request& request, bool protobuf = true);

// The same for PartialObjectMetadata and its list, which every kind has in both encodings; nullopt
// if the Accept header does not begin with them. 406: a list is requested as one, or the reverse.
absl::StatusOr<std::optional<Encoding>> AcceptedMetadata(const Request& request);

// Whether the Accept header has JSON, with any parameters; true without a header.
bool TakesJson(const Request& request);

// The body's encoding by its content type; JSON without one. The error is a 415 with the supported
// types.
absl::StatusOr<Encoding> BodyEncoding(const Request& request, bool protobuf = true);

// The 406 for an Accept header without a supported type. The message for custom resources differs.
absl::Status NotAcceptable(const Request& request, bool builtin);
// The 406 of discovery, which has no tables. `routed`: the message of the part of the server that
// checks media types before their parameters.
absl::Status NotAcceptableDiscovery(const Request& request, bool routed);

}  // namespace mandate::apiserver
