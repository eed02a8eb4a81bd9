// The authorizer of an API server that grants a component exactly its mandate, for tests of the
// component.
//
//   MandateServer rights(kScopeInstance);
//   client.Handle([&](const RestRequest& request) { if (auto no = rights.Deny(request)) return
//   *no; … });
#pragma once

#include <optional>
#include <string_view>

#include "manager/client/guard.h"
#include "manager/client/rest_client.h"
#include "manager/rbac/mandate.h"
#include "manager/rbac/mandate_without.h"

namespace mandate {

// The environment variable MANDATE_WITHOUT removes one permission (rbac::Permission::ToString):
// `rbacgen mutate` runs tests so, and they must fail. Immutable, thread-safe.
class MandateServer {
 public:
  explicit MandateServer(const rbac::Mandate& mandate);

  // 403 for a request that the mandate does not cover, by the guard's rules; otherwise none.
  std::optional<HttpResponse> Deny(const RestRequest& request) const;

  // The server's check beyond the request's own verb, for a component that has no rights itself:
  // 403 unless the mandate has the verb of the resource ("bind" of ClusterRoles, for a binding).
  std::optional<HttpResponse> RefuseWithout(std::string_view verb, std::string_view group,
                                            std::string_view resource,
                                            std::string_view subresource = "") const;

  const rbac::Mandate& mandate() const { return mandate_.get(); }

 private:
  const rbac::MandateWithout mandate_;
  const Guard guard_;
};

}  // namespace mandate
