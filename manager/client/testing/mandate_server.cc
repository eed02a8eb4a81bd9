#include "manager/client/testing/mandate_server.h"

#include <cstdlib>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/printable.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

std::string_view Without() {
  const char* const without = std::getenv("MANDATE_WITHOUT");
  return without == nullptr ? "" : without;
}

HttpResponse Forbidden(std::string_view message) {
  std::string body = R"({"kind":"Status","status":"Failure","reason":"Forbidden","code":403,)"
                     R"("message":)";
  AppendJsonString(message, body);
  return FakeRestClient::Json(403, body + "}");
}

}  // namespace

MandateServer::MandateServer(const rbac::Mandate& mandate)
    : mandate_(mandate, Without()), guard_(mandate_.get(), GuardMode::kEnforce) {}

std::optional<HttpResponse> MandateServer::Deny(const RestRequest& request) const {
  const absl::Status status = guard_.Check(request.method, request.target, request.content_type);
  if (status.ok()) return std::nullopt;
  return Forbidden(AsStd(status.message()));
}

std::optional<HttpResponse> MandateServer::RefuseWithout(std::string_view verb,
                                                         std::string_view group,
                                                         std::string_view resource,
                                                         std::string_view subresource) const {
  if (rbac::PermitsSomewhere(mandate_.get(), verb, group, resource, subresource))
    return std::nullopt;
  return Forbidden(StrCat(mandate_.get().component, " lacks ", verb, " of ", resource, ".", group,
                          subresource.empty() ? "" : "/", subresource));
}

}  // namespace mandate
