#include "manager/identity/anonymous.h"

#include <optional>
#include <string>

#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/rbac/quote.h"
#include "manager/rbac/user.h"

namespace mandate {
namespace {

// The start of an API server's authorization message, before its reason
// (testing/apiserver/access/forbidden.h): it has the resource and the name of the request, as the
// details have, and nothing for a URL.
std::string Subject(const ApiStatusProto& status) {
  const auto& details = status.details();
  std::string subject = details.kind();
  if (!details.group().empty()) StrAppend(&subject, ".", details.group());
  if (!details.name().empty()) StrAppend(&subject, " ", rbac::Quote(details.name()));
  return subject.empty() ? "forbidden: " : StrCat(subject, " is forbidden: ");
}

}  // namespace

bool IsAnonymous(const absl::Status& status) {
  const std::optional<ApiStatusProto> proto = ApiStatus(status);
  if (!proto.has_value() || proto->code() != 403) return false;
  // The details could repeat the API server's own prefix.
  if (IsDeniedByWebhook(status)) return false;
  return proto->message().starts_with(
      StrCat(Subject(*proto), "User ", rbac::Quote(rbac::kAnonymousUser), " cannot "));
}

}  // namespace mandate
