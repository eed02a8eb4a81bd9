// Scripted and random faults: errors, lost connections and responses, and streams that are cut,
// slow, stalled or without bookmarks.
//
//   faults.Add({.verb = "watch", .times = 1, .fault = {.refuse = ExpiredError("too old")}});
//   faults.Add({.verb = "watch", .probability = 0.1, .fault = {.end_after = 3, .cut = true}});
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "testing/apiserver/exchange.h"

namespace mandate::apiserver {

struct Fault {
  // Faults that prevent the request from being served. `refuse` is the error to respond with
  // (testing/apiserver/errors.h): 410, 429 with Retry-After, 5xx.
  std::optional<absl::Status> refuse = {};
  bool ignore = false;  // there is no response: a half-open connection
  bool drop = false;    // the connection fails before the request is served
  // The request is served, and then the connection fails before the response.
  bool lose_answer = false;
  // The request is served after this delay.
  absl::Duration delay = absl::ZeroDuration();

  // Faults of a stream. After this number of frames it ends: cleanly, with an ERROR event, or
  // (`cut`) like a broken connection, after a part of the next frame.
  std::optional<size_t> end_after = {};
  std::optional<absl::Status> error_event = {};
  bool cut = false;
  // After this number of frames no more are sent, and the stream stays open.
  std::optional<size_t> stall_after = {};
  // The delay between a frame and the next one.
  absl::Duration frame_delay = absl::ZeroDuration();
  // The share of bookmarks that are dropped.
  double drop_bookmarks = 0;
  // The share of frames that follow an invalid frame.
  double garbage = 0;
  bool late_bookmarks = false;  // each bookmark is sent after the next frame
};

struct FaultRule {
  // The requests that the rule matches: each non-empty field must match.
  std::string verb = {};           // of the authorizer: "list", "watch", "create"
  std::string path_prefix = {};    // "/api/v1/"
  std::string resource = {};       // "configmaps"
  std::string parameter = {};      // a parameter of the query: "continue"
  std::string bearer = {};         // the token
  std::string except_bearer = {};  // requests with this token never match
  size_t skip = 0;                 // the number of matching requests that get no fault first
  size_t times = std::numeric_limits<size_t>::max();
  double probability = 1;
  Fault fault = {};
};

// Loop thread only.
class Faults {
 public:
  // `loop` outlives this.
  Faults(Loop& loop, uint64_t seed) : loop_(loop), random_(seed) {}

  // The first rule that matches a request and whose probability applies is used. Returns the id for
  // Remove().
  uint64_t Add(FaultRule rule);
  void Remove(uint64_t id);
  void Clear() { rules_.clear(); }
  // The number of requests that a fault was applied to.
  size_t struck() const { return struck_; }

  // Applies a fault to the exchange, and calls `next` unless the fault prevents it.
  void Meet(std::shared_ptr<Exchange> exchange, const Handler& next);

 private:
  struct Entry {
    uint64_t id;
    FaultRule rule;
  };

  // Null if no rule applies.
  const Fault* Choose(const Request& request);

  Loop& loop_;
  std::mt19937_64 random_;
  std::vector<Entry> rules_;
  uint64_t next_id_ = 0;
  size_t struck_ = 0;
};

}  // namespace mandate::apiserver
