// A request and its response as plain values.
#pragma once

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

// The user of a request. Empty until a filter has authenticated the request.
struct User : rbac::UserInfo {
  std::string uid;
  std::map<std::string, std::vector<std::string>> extra;
};

// The names in the client's verified certificate; empty without a certificate.
struct ClientCertificateNames {
  std::string common_name;
  std::vector<std::string> organisations;
};

// Notes that the stages add to a request.
struct Notes {
  std::map<std::string, std::string> annotations;  // for its audit event
  std::vector<std::string> warnings;               // for the response, one Warning header each
};

struct Request {
  // The value of the first header with this lower-case name; nullopt if it is absent.
  std::optional<std::string_view> Header(std::string_view name) const;
  // The first value of a query parameter, decoded; nullopt if it is absent.
  std::optional<std::string> Query(std::string_view name) const;
  // All values of a query parameter, decoded, in the order of the query.
  std::vector<std::string> QueryAll(std::string_view name) const;
  bool HasQuery(std::string_view name) const { return Query(name).has_value(); }

  // Parses a request from its parts on the wire: computes path, query and attributes
  // (manager/rbac's request_info.h). kInvalidArgument as AttributesOf.
  static absl::StatusOr<Request> Parse(std::string method, std::string target, Headers headers,
                                       std::string body);

  std::string method;  // "GET"
  std::string target;  // path and query, encoded
  std::string path;    // decoded
  std::string query;   // the part after the "?", encoded
  Headers headers;
  std::string body;
  ClientCertificateNames certificate;
  std::string source_ip = "127.0.0.1";
  absl::Time received;  // the time of the loop's clock
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
