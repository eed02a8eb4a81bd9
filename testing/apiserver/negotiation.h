// Which encoding a request's body has, and which its answer shall have.
#ifndef TESTING_APISERVER_NEGOTIATION_H_
#define TESTING_APISERVER_NEGOTIATION_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "manager/object/kind.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// "application/json", "application/vnd.kubernetes.protobuf".
std::string_view MediaType(Encoding encoding);
// Of a watch's frames: ";stream=watch" follows where the server writes it.
std::string_view WatchMediaType(Encoding encoding);

// The first encoding that the Accept header names and that can be written, JSON without a header;
// nullopt: none, a 406. `protobuf`: whether the resource has it, which custom ones do not.
std::optional<Encoding> AcceptedEncoding(const Request& request, bool protobuf = true);

// Whether the Accept header has JSON in it, whatever its parameters; true without a header.
bool TakesJson(const Request& request);

// Of the body, by its content type; JSON without one. The error is a 415 that names what would do.
absl::StatusOr<Encoding> BodyEncoding(const Request& request, bool protobuf = true);

// The 406 of a request that accepts nothing that can be written; of custom resources it has other
// words.
absl::Status NotAcceptable(const Request& request, bool builtin);
// The same of discovery, which has no tables; `routed`: as a part of the server says it that looks
// at media types before it looks at their parameters.
absl::Status NotAcceptableDiscovery(const Request& request, bool routed);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_NEGOTIATION_H_
