#include "manager/transport/testing/recorded_request.h"

#include "absl/strings/match.h"
#include "manager/core/strings.h"

namespace mandate {

RecordedRequest::RecordedRequest(absl::Time when, const HttpRequest& request, bool stream)
    : time(when),
      is_stream(stream),
      endpoint(request.endpoint),
      method(request.method),
      target(request.target),
      user_agent(request.user_agent),
      accept(request.accept),
      content_type(request.content_type),
      body(request.body),
      headers(request.headers) {
  const auto* bearer = std::get_if<BearerToken>(&request.credential);
  if (bearer != nullptr && bearer->token != nullptr) token.emplace(bearer->token->Reveal());
}

const std::string* RecordedRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (absl::EqualsIgnoreCase(key, AsAbsl(name))) return &value;
  }
  return nullptr;
}

}  // namespace mandate
