// What goes wrong, by script or by dice: refusals, lost connections and answers, and streams that
// are cut, slow, stalled or without bookmarks.
//
//   faults.Add({.verb = "watch", .times = 1, .fault = {.refuse = ExpiredError("too old")}});
//   faults.Add({.verb = "watch", .probability = 0.1, .fault = {.end_after = 3, .cut = true}});
#ifndef TESTING_APISERVER_FAULTS_H_
#define TESTING_APISERVER_FAULTS_H_

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
  // Instead of serving the request. `refuse` carries the metav1.Status to answer with
  // (testing/apiserver/errors.h): 410, 429 with Retry-After, 5xx.
  std::optional<absl::Status> refuse = {};
  bool ignore = false;  // no answer, ever: half-open
  bool drop = false;    // the connection fails before anything was done
  // It is served, and then the connection fails before the answer.
  bool lose_answer = false;
  // Before it is served.
  absl::Duration delay = absl::ZeroDuration();

  // Of a stream. After so many frames it ends: cleanly, with an ERROR event, or (`cut`) as a broken
  // connection does, a part of the next frame before it.
  std::optional<size_t> end_after = {};
  std::optional<absl::Status> error_event = {};
  bool cut = false;
  // After so many frames nothing more comes, and it stays open.
  std::optional<size_t> stall_after = {};
  // Between a frame and the next: a slow stream.
  absl::Duration frame_delay = absl::ZeroDuration();
  // The share of bookmarks that never come, and how much later than what follows them others do.
  double drop_bookmarks = 0;
  // The share of frames before which comes one that is no event.
  double garbage = 0;
  bool late_bookmarks = false;  // each only when the next frame has been sent
};

struct FaultRule {
  // Which requests: what is set must match.
  std::string verb = {};           // as authorization has it: "list", "watch", "create"
  std::string path_prefix = {};    // "/api/v1/"
  std::string resource = {};       // "configmaps"
  std::string parameter = {};      // that the query has: "continue"
  std::string bearer = {};         // the token
  std::string except_bearer = {};  // the token whose requests it never matches
  size_t skip = 0;                 // so many of them go unharmed first
  size_t times = std::numeric_limits<size_t>::max();
  double probability = 1;
  Fault fault = {};
};

// Loop thread only.
class Faults {
 public:
  // `loop` outlives this.
  Faults(Loop& loop, uint64_t seed) : loop_(loop), random_(seed) {}

  // Of the rules that match a request, the first that strikes does. The id takes it away again.
  uint64_t Add(FaultRule rule);
  void Remove(uint64_t id);
  void Clear() { rules_.clear(); }
  // How often any rule struck.
  size_t struck() const { return struck_; }

  // Serves the exchange by `next`, or not.
  void Meet(std::shared_ptr<Exchange> exchange, const Handler& next);

 private:
  struct Entry {
    uint64_t id;
    FaultRule rule;
  };

  // Null: none.
  const Fault* Choose(const Request& request);

  Loop& loop_;
  std::mt19937_64 random_;
  std::vector<Entry> rules_;
  uint64_t next_id_ = 0;
  size_t struck_ = 0;
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_FAULTS_H_
