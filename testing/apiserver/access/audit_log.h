// The audit log: which requests and stages are written, and when.
#ifndef TESTING_APISERVER_ACCESS_AUDIT_LOG_H_
#define TESTING_APISERVER_ACCESS_AUDIT_LOG_H_

#include <jsoncpp/json/json.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "manager/core/clock.h"
#include "testing/apiserver/exchange.h"

namespace mandate::apiserver {

// Of an audit policy, the first rule that matches decides. A list that is empty matches all.
struct AuditRule {
  bool log = true;  // at level Metadata, or not at all
  std::vector<std::string> users;
  std::vector<std::string> verbs;
  std::vector<std::string> resources;   // names, of any group; no path matches one
  std::vector<std::string> namespaces;  // "" is what has none
};

struct AuditOptions {
  // Takes each event, a line of JSON without its end, on the loop. None: nothing is written.
  std::function<void(std::string line)> sink;
  // No rule matches: nothing is written.
  std::vector<AuditRule> rules = {{}};
  std::set<std::string, std::less<>> omit_stages = {"RequestReceived"};
};

// Loop thread only. Outlives the exchanges that pass through it.
class AuditLog {
 public:
  // Borrows the clock. `new_uid` makes the ids of requests that bring none.
  AuditLog(AuditOptions options, const Clock& clock, std::function<std::string()> new_uid);

  // The outermost filter: gives the request its id, which the answer tells, and writes its end.
  // What other stages leave in the request's notes is written with it.
  void Watch(const std::shared_ptr<Exchange>& exchange);
  // Once it is known who asks.
  void Received(const Exchange& exchange);

 private:
  void Write(const Request& request, std::string_view stage, const Json::Value& status);

  const AuditOptions options_;
  const Clock& clock_;
  const std::function<std::string()> new_uid_;
};

// Whether events of the request are written.
bool IsAudited(const std::vector<AuditRule>& rules, const Request& request);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_AUDIT_LOG_H_
