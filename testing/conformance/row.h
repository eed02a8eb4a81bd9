// A behaviour of the API server as data: docs/conformance.md has the format.
#pragma once

#include <jsoncpp/json/json.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testing/conformance/variables.h"

namespace mandate::conformance {

enum class Action {
  kRequest,   // one request and its answer
  kWatch,     // opens a stream, under a name
  kEvents,    // expects the stream's next events
  kClose,     // closes a stream
  kAllow,     // grants a ServiceAccount rules in the row's namespace
  kAllowAll,  // grants them in the whole cluster
  kSet,       // sets variables
  kCompact,   // makes the server forget the history up to a resourceVersion
  kRestart,   // restarts etcd
};

// The expected response. Texts and values may contain placeholders (match.h).
struct Expectation {
  // nullopt: any 2xx.
  std::optional<int> code;
  // The reason of the Status. If it is set, the message must match, too.
  std::string reason;
  std::string message;
  std::optional<Json::Value> details;  // of a Status, compared exactly
  std::optional<Json::Value> body;     // decoded from JSON or protobuf
  std::optional<Json::Value> raw;      // the body as text
  std::vector<std::pair<std::string, Json::Value>> headers;
  std::optional<Json::Value> names;  // of a list's items, in order
  std::optional<Json::Value> audit;  // one event, or several in the order of their stages
};

// A value. Its variables are not replaced yet.
struct Step {
  Action action = Action::kRequest;
  int line = 0;         // in its file, counted from 1
  std::string subject;  // the stream or the ServiceAccount

  std::string method;
  std::string target;
  Json::Value body;  // a string is sent unchanged
  bool has_body = false;
  std::vector<std::pair<std::string, std::string>> headers;  // to send
  std::string as = "admin";                                  // admin, nobody, or a ServiceAccount
  std::string token;                                         // used instead of `as` if it is set
  bool eventually = false;                                   // repeated until the response matches
  std::vector<std::string> each;                             // the step runs once for each, as $it
  Expectation expect;
  Json::Value value;  // events, rules, variables
};

struct Row {
  std::string topic;
  std::string name;
  std::string file;
  int line = 0;
  std::set<std::string> needs;  // audit, compaction, restart, uncached, owners, crds
  std::string not_double;       // why the double differs; empty: it does not
  bool alone = false;           // no other row runs at the same time
  Variables let;
  std::vector<Step> steps;
};

}  // namespace mandate::conformance
