// Facts from request and response bodies, which an audit log has at the levels Request and
// RequestResponse.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manager/object/json_cursor.h"

namespace mandate::rbacgen {

// The fields of a TokenRequest (authentication.k8s.io/v1) that the trace compares.
struct TokenRequestFacts {
  std::vector<std::string> audiences;
  int64_t expiration_seconds = 0;  // 0 if not set
  std::string bound_kind, bound_name;
};

struct EventBody {
  std::optional<TokenRequestFacts> token_request;
  // For a RoleBinding or ClusterRoleBinding: the UID of the ScopeInstance that it is for, from its
  // controller reference or its label.
  std::string instance_uid;
  std::vector<std::string> uids;  // the UIDs of the ScopeInstances in the response
  bool is_list = false;           // the response is the complete list of them
};

// Whether the trace needs facts from the bodies of these objects.
bool HasFacts(std::string_view group, std::string_view resource, std::string_view subresource);

// Consumes a body of an object for which HasFacts() is true, and adds its facts to `facts`. The
// body may have any shape.
void ReadBody(JsonCursor& json, std::string_view resource, bool is_request, EventBody* facts);

}  // namespace mandate::rbacgen
