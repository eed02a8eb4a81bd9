#include "manager/cache/watch_errors.h"

#include <string>

#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

// A 429 because a CustomResourceDefinition is new, or was created again.
bool IsInitializing(const absl::Status& status) {
  return IsTooManyRequests(status) &&
         status.message().find("storage is (re)initializing") != absl::string_view::npos;
}

}  // namespace

bool IsTooLargeResourceVersion(const absl::Status& status) {
  const auto api = ApiStatus(status);
  if (!api || (api->reason() != "Timeout" && api->code() != 504)) return false;
  for (const auto& cause : api->details().causes()) {
    if (cause.reason() == "ResourceVersionTooLarge") return true;
  }
  // API servers before 1.18.6 do not name a cause.
  return api->message().find("Too large resource version") != std::string::npos;
}

bool IsExpired(const absl::Status& status) {
  return IsGone(status) || IsTooLargeResourceVersion(status);
}

bool IsNoConnection(const absl::Status& status) {
  return absl::IsUnavailable(status) && HttpCode(status) == 0;
}

bool LacksIdentity(const absl::Status& status) {
  return absl::IsUnauthenticated(status) || absl::IsFailedPrecondition(status);
}

bool IsWorthRepeating(const absl::Status& status) {
  return IsTooManyRequests(status) || IsNoConnection(status) || LacksIdentity(status);
}

bool IsNotAcceptable(const absl::Status& status) { return HttpCode(status) == 406; }

bool IsLocalLimit(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && HttpCode(status) == 0;
}

absl::Status Explain(const KindInfo& kind, const absl::Status& error) {
  std::string text = StrCat(kind.plural, " of ", kind.ApiVersion());
  if (mandate::IsNotFound(error)) {
    text = StrCat("the API server does not serve ", text,
                  kind.encoding == Encoding::kJson ? "; apply its CustomResourceDefinition" : "");
  } else if (IsInitializing(error)) {
    text = StrCat("the API server does not serve ", text,
                  " yet: its CustomResourceDefinition was created just now; retrying soon");
  } else {
    return error;
  }
  absl::Status explained(error.code(),
                         StrCat(text, ". The API server says: ", AsStd(error.message())));
  error.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    explained.SetPayload(url, payload);
  });
  return explained;
}

absl::Status AccessDenied(std::string_view component, std::string_view verb, std::string_view scope,
                          std::string_view why) {
  return absl::PermissionDeniedError(
      StrCat(component, " may not ", verb, " ", scope, why.empty() ? "" : StrCat(" (", why, ")"),
             ": grant it list and watch; a new grant is noticed without a restart"));
}

}  // namespace mandate
