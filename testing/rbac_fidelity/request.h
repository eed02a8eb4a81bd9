// Requests of the comparison, over the client of the conformance rows.
#pragma once

#include <string>
#include <utility>

#include "manager/rbac/user.h"
#include "testing/conformance/http.h"

namespace mandate::fidelity {

using conformance::HttpClient;
using conformance::Request;
using conformance::Response;

// A request without a body and with the administrator's certificate.
inline Request NewRequest(std::string method, std::string target, std::string accept) {
  return {.method = std::move(method),
          .target = std::move(target),
          .headers = {{"Accept", std::move(accept)}},
          .certificate = true,
          .http1 = true};
}

// Makes the request impersonate the user.
inline void Impersonate(const rbac::UserInfo& user, Request& request) {
  request.headers.emplace_back("Impersonate-User", user.name);
  for (const std::string& group : user.groups) {
    request.headers.emplace_back("Impersonate-Group", group);
  }
}

}  // namespace mandate::fidelity
