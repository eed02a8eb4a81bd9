// A random program on a real API server, and the checks of what the cache does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "manager/cache/testing/model/running_checks.h"
#include "manager/cache/testing/model/state_checks.h"
#include "manager/cache/testing/real/real_server.h"
#include "manager/cache/testing/real/real_world.h"

namespace mandate::model {

// The counts of one run.
struct RealTotals {
  RunningChecks::Totals running;
  StateChecks::Totals state;
  int64_t exact_events = 0;
  int64_t hints = 0;
  int64_t silent = 0;  // changes of RBAC without a hint
  int64_t handovers = 0;
  int64_t purges = 0;
  int64_t restarts = 0;
  int64_t cuts = 0;
  int64_t notified = 0;
  int64_t inner_reads = 0;

  // "reads=100 found=7 …"
  std::string ToString() const;
};

// Plays one program. Its choices depend on the seed alone; the times of the answers do not.
class RealProgram {
 public:
  struct Options {
    uint64_t seed = 1;
    int rounds = 2;
    int steps = 25;
    // What only the control plane's owner can do: "restart" the API server, "cut" the components'
    // connections, or see in the audit log that exactly these watches are open ("streams a=*,foo
    // b=foo/1": a's of the cluster and of a namespace, b's of an object). Returns what is wrong,
    // or "". Null: nobody is asked.
    std::function<std::string(const std::string& what)> owner;
  };
  // `server` outlives the program.
  RealProgram(RealServer& server, Options options);
  ~RealProgram();

  // An error is the server's or the program's own.
  absl::Status Run();
  const RealTotals& totals() const { return totals_; }
  std::vector<std::string> Violations();

 private:
  size_t Die(size_t sides) { return static_cast<size_t>(random_() % sides); }
  const WatchScope& AnyScope() { return world_->scopes()[Die(world_->scopes().size())]; }
  const ObjectKey& AnyKey() { return world_->keys()[Die(world_->keys().size())]; }
  ModelWorld::Component& AnyComponent();
  ObjectLabels AnyLabels();

  absl::Status Step();
  absl::Status StepDemands(size_t die);
  absl::Status Settle();
  absl::Status CheckEvents();
  absl::Status CheckStreams();
  absl::Status CheckRelease();
  void Check();
  void Hint();
  void ReplaceDemands();
  absl::Status AskOwner(const std::string& what);

  RealServer& server_;
  const Options options_;
  std::mt19937_64 random_;
  std::unique_ptr<RealWorld> world_;
  std::unique_ptr<RunningChecks> running_;
  RealTotals totals_;
};

}  // namespace mandate::model
