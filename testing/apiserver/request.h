// A request as the stages of the double see it, and the answer to it. Plain values.
#ifndef TESTING_APISERVER_REQUEST_H_
#define TESTING_APISERVER_REQUEST_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/rbac/rule.h"
#include "manager/rbac/user.h"

namespace mandate::apiserver {

using Headers = std::vector<std::pair<std::string, std::string>>;  // names in lower case

// Who asks. Empty until a filter has authenticated the request.
struct User : rbac::UserInfo {
  std::string uid;
  std::map<std::string, std::vector<std::string>> extra;
};

// Of the verified certificate that a client showed; none: empty.
struct ClientCertificateNames {
  std::string common_name;
  std::vector<std::string> organisations;
};

// What stages leave behind on the way of a request.
struct Notes {
  std::map<std::string, std::string> annotations;  // of its audit event
  std::vector<std::string> warnings;               // of its answer, a Warning header each
};

struct Request {
  // The value of the first header of this lower-case name; nullopt: there is none.
  std::optional<std::string_view> Header(std::string_view name) const;
  // The first value of a query parameter, decoded; nullopt: there is none.
  std::optional<std::string> Query(std::string_view name) const;
  // All of them, in their order.
  std::vector<std::string> QueryAll(std::string_view name) const;
  bool HasQuery(std::string_view name) const { return Query(name).has_value(); }

  // From what stands on the wire: path, query and attributes are computed (manager/rbac's
  // request_info.h). kInvalidArgument as AttributesOf.
  static absl::StatusOr<Request> Parse(std::string method, std::string target, Headers headers,
                                       std::string body);

  std::string method;  // "GET"
  std::string target;  // path and query, as on the wire
  std::string path;    // decoded
  std::string query;   // what follows the "?", not decoded
  Headers headers;
  std::string body;
  ClientCertificateNames certificate;
  std::string source_ip = "127.0.0.1";
  absl::Time received;  // by the loop's clock
  rbac::Attributes attributes;
  User user;
  // Shared by all copies of the request; never null.
  std::shared_ptr<Notes> notes = std::make_shared<Notes>();
};

struct Response {
  int code = 200;
  Headers headers;
  std::string body;
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_REQUEST_H_
