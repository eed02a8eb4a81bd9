// How a fake delivers a body to a sink.
#ifndef MANAGER_TRANSPORT_TESTING_DELIVER_BODY_H_
#define MANAGER_TRANSPORT_TESTING_DELIVER_BODY_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "manager/transport/transport.h"

namespace mandate {

// Gives the body of a 2xx response to the sink, in pieces of odd sizes. The sink's error is the
// call's.
inline absl::StatusOr<HttpResponse> DeliverBody(absl::StatusOr<HttpResponse> response,
                                                BodySink* sink) {
  constexpr size_t kPiece = 61;
  if (sink == nullptr || !response.ok() || response->code / 100 != 2) return response;
  const std::string body = std::exchange(response->body, "");
  sink->OnHead(*response);
  for (std::string_view rest = body; !rest.empty();) {
    const std::string_view piece = rest.substr(0, kPiece);
    if (absl::Status status = sink->OnBody(piece); !status.ok()) return status;
    rest.remove_prefix(piece.size());
  }
  return response;
}

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_TESTING_DELIVER_BODY_H_
