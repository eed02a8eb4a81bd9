// The environment of one row: a namespace, ServiceAccounts with tokens, and grants. It also records
// the objects to remove afterwards.
#pragma once

#include <jsoncpp/json/json.h>

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "testing/conformance/http.h"
#include "testing/conformance/row.h"
#include "testing/conformance/target.h"

namespace mandate::conformance {

// Single-threaded.
class Session {
 public:
  // `id` names the namespace and is unique on the server. `target` and `http` outlive this.
  Session(const Target& target, HttpClient& http, std::string id)
      : target_(target), http_(http), id_(std::move(id)) {}

  const std::string& id() const { return id_; }

  absl::Status CreateNamespace();
  // Adds the credential of `as` to the request: admin, nobody, or a ServiceAccount of the
  // namespace, which is created at its first use. A non-empty `token` is used instead.
  absl::Status Authenticate(const std::string& as, const std::string& token, Request& request);
  // Grants the ServiceAccount these rules, in the namespace or everywhere, and waits until they
  // take effect.
  absl::Status Allow(const std::string& account, const Json::Value& rules, bool everywhere);
  // Called for each response to the row: records an object that the request created outside the
  // namespace.
  void Note(const Request& request, const Response& response);
  // Removes the recorded objects. Failures are ignored.
  void CleanUp();
  void RemoveNamespace() { (void)Do("DELETE", "/api/v1/namespaces/" + id_, Json::nullValue); }

 private:
  // Sends a request of the administrator. kFailedPrecondition unless the response is a 2xx.
  absl::StatusOr<Json::Value> Do(const std::string& method, const std::string& target,
                                 const Json::Value& body);
  absl::Status CreateAccount(const std::string& account);
  absl::StatusOr<bool> MayAlready(const std::string& account, const Json::Value& rule,
                                  bool everywhere);

  const Target& target_;
  HttpClient& http_;
  const std::string id_;
  int grants_ = 0;
  std::map<std::string, std::string> tokens_;  // by ServiceAccount
  std::vector<std::string> created_;           // paths, outside the namespace
};

}  // namespace mandate::conformance
