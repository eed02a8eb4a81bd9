#include "testing/apiserver/access/forbidden.h"

#include "absl/strings/str_replace.h"
#include "manager/core/strings.h"
#include "manager/rbac/quote.h"

namespace mandate::rbac {
namespace {

std::string What(std::string_view user, const Attributes& request) {
  const std::string who = StrCat("User ", Quote(user), " cannot ", request.verb, " ");
  if (!request.is_resource_request) return StrCat(who, "path ", Quote(request.path));
  const std::string resource = request.subresource.empty()
                                   ? request.resource
                                   : StrCat(request.resource, "/", request.subresource);
  return StrCat(who, "resource ", Quote(resource), " in API group ", Quote(request.api_group),
                request.ns.empty() ? " at the cluster scope"
                                   : StrCat(" in the namespace ", Quote(request.ns)));
}

std::string Subject(const Attributes& request) {
  if (request.resource.empty() && request.api_group.empty()) return "forbidden: ";
  std::string subject = request.resource;
  if (!request.api_group.empty()) StrAppend(&subject, ".", request.api_group);
  if (!request.name.empty()) StrAppend(&subject, " ", Quote(request.name));
  return subject + " is forbidden: ";
}

}  // namespace

std::string ForbiddenMessage(std::string_view user, const Attributes& request,
                             std::string_view reason) {
  // HTML's special characters are escaped only in the middle of the message.
  const std::string what =
      absl::StrReplaceAll(What(user, request), {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
  return StrCat(Subject(request), what, reason.empty() ? "" : ": ", reason);
}

}  // namespace mandate::rbac
