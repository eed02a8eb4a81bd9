// A behaviour of the API server as data: docs/conformance.md has the format.
#ifndef TESTING_CONFORMANCE_ROW_H_
#define TESTING_CONFORMANCE_ROW_H_

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
  kEvents,    // what the stream brings next
  kClose,     // ends it
  kAllow,     // grants a ServiceAccount rules in the row's namespace
  kAllowAll,  // …in the whole cluster
  kSet,       // sets variables
  kCompact,   // makes the server forget the history up to a resourceVersion
  kRestart,   // restarts etcd
};

// What must come out of a request. Texts and values hold placeholders: match.h.
struct Expectation {
  // Nothing: any 2xx.
  std::optional<int> code;
  // Of a Status; with a reason, its message must match too.
  std::string reason;
  std::string message;
  std::optional<Json::Value> details;  // of a Status: these and no others
  std::optional<Json::Value> body;     // decoded from JSON or protobuf
  std::optional<Json::Value> raw;      // the body as text
  std::vector<std::pair<std::string, Json::Value>> headers;
  std::optional<Json::Value> names;  // of a list's items, in order
  std::optional<Json::Value> audit;  // one event, or several in the order of their stages
};

// Borrows nothing; variables are not yet replaced.
struct Step {
  Action action = Action::kRequest;
  int line = 0;         // in its file, from 1
  std::string subject;  // the stream or the ServiceAccount

  std::string method;
  std::string target;
  Json::Value body;  // a string is sent as it is
  bool has_body = false;
  std::vector<std::pair<std::string, std::string>> headers;  // to send
  std::string as = "admin";                                  // admin, nobody, or a ServiceAccount
  std::string token;                                         // instead of `as`, when not empty
  bool eventually = false;                                   // repeated until it comes out so
  std::vector<std::string> each;                             // once for each, as $it
  Expectation expect;
  Json::Value value;  // events, rules, variables
};

struct Row {
  std::string topic;
  std::string name;
  std::string file;
  int line = 0;
  std::set<std::string> needs;  // audit, compaction, restart, uncached, crds
  std::string not_double;       // why the double does otherwise; empty: it does not
  bool alone = false;           // no other row runs at the same time
  Variables let;
  std::vector<Step> steps;
};

}  // namespace mandate::conformance

#endif  // TESTING_CONFORMANCE_ROW_H_
