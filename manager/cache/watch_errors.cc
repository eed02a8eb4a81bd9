#include "manager/cache/watch_errors.h"

#include <string>

#include "manager/object/api_error.h"

namespace mandate {
namespace {

// No server answered: connection refused, reset, TLS.
bool IsNoConnection(const absl::Status& status) {
  return absl::IsUnavailable(status) && HttpCode(status) == 0;
}

}  // namespace

bool IsTooLargeResourceVersion(const absl::Status& status) {
  const auto api = ApiStatus(status);
  if (!api || (api->reason() != "Timeout" && api->code() != 504)) return false;
  for (const auto& cause : api->details().causes()) {
    if (cause.reason() == "ResourceVersionTooLarge") return true;
  }
  // API servers before 1.18.6 name no cause.
  return api->message().find("Too large resource version") != std::string::npos;
}

bool IsExpired(const absl::Status& status) {
  return IsGone(status) || IsTooLargeResourceVersion(status);
}

bool LacksIdentity(const absl::Status& status) {
  return absl::IsUnauthenticated(status) || absl::IsFailedPrecondition(status);
}

bool IsWorthRepeating(const absl::Status& status) {
  return IsTooManyRequests(status) || IsNoConnection(status) || LacksIdentity(status);
}

bool IsNotAcceptable(const absl::Status& status) { return HttpCode(status) == 406; }

bool IsOurBound(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && HttpCode(status) == 0;
}

}  // namespace mandate
