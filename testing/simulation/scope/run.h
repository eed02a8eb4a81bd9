// One run of the product: a cluster, users, strangers, troubles, and a process that is killed and
// started again. At times all troubles end, and the cluster is compared with the model.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "manager/core/testing/simulated_loop.h"
#include "testing/simulation/scope/aggregator.h"
#include "testing/simulation/scope/author.h"
#include "testing/simulation/scope/checker.h"
#include "testing/simulation/scope/cluster.h"
#include "testing/simulation/scope/dice.h"
#include "testing/simulation/scope/guardian.h"
#include "testing/simulation/scope/hold.h"
#include "testing/simulation/scope/process.h"
#include "testing/simulation/scope/strangers.h"
#include "testing/simulation/scope/tally.h"
#include "testing/simulation/scope/troubles.h"

namespace mandate::simulation {

// Single-threaded.
class Run {
 public:
  struct Options {
    uint64_t seed = 1;
    int steps = 30;
    Author::Options author;
    bool prompt = false;  // nothing is late
    bool strangers = true;
    bool troubles = true;
  };
  // Each seed gives different options: prompt or late, with or without strangers, small or large.
  static Options OptionsOf(uint64_t seed);

  Run(const Options& options, Tally& tally);
  ~Run();

  void Go();
  // The violations, as sentences; empty if there are none.
  const std::vector<std::string>& wrong() const { return wrong_; }

  // The keys of the tally, none of which may be zero over many runs.
  static std::vector<std::string> Kinds();

 private:
  void Step();
  void Spawn();
  void Kill();
  // The process will die within its next writes.
  void Endanger();
  // A process dies while it revokes a grant, which is declared again before the deletion arrives.
  void DelayDeletion();
  // Ends all troubles, and lets all open requests arrive.
  void Calm();
  void Check();
  // Makes some edits, each alone in a quiet cluster: no other event, restart or second list brings
  // the object to a reconciler that does not watch its kind.
  void EditInCalm();
  // The process starts without permission to read a kind, and an instance is narrowed: its grants
  // outside the new scope are revoked meanwhile.
  void NarrowWhileBlind();
  void Compare();
  // Checks that nothing is written in the desired state.
  void CheckSilence(absl::Duration span);

  const Options options_;
  Tally& tally_;
  Dice dice_;
  SimulatedLoop loop_;
  Cluster cluster_;
  Aggregator aggregator_;
  Guardian guardian_;
  Author author_;
  Held held_;
  Strangers strangers_;
  Troubles troubles_;
  Checker checker_;
  std::unique_ptr<Process> process_;
  std::vector<std::unique_ptr<Process>> dead_;
  std::vector<std::string> wrong_;
};

}  // namespace mandate::simulation
