// Troubles of the API server, the network and the components' permissions. Each lasts for a while.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "testing/apiserver/faults.h"
#include "testing/simulation/scope/cluster.h"
#include "testing/simulation/scope/dice.h"
#include "testing/simulation/scope/tally.h"

namespace mandate::simulation {

// Single-threaded.
class Troubles {
 public:
  struct Options {
    // Nothing is late: components decide on data that is at most a second old.
    bool prompt = false;
    // Permissions, tokens and kinds are removed and restored.
    bool access = true;
  };

  // `cluster`, `dice` and `tally` outlive this.
  Troubles(Options options, Cluster& cluster, Dice& dice, Tally& tally);

  // Begins one more trouble.
  void Strike();
  // Ends the troubles that have lasted long enough.
  void Pass();
  // Ends all troubles.
  void Heal();

  // The keys under which Strike() counts.
  static std::vector<std::string> Kinds();

 private:
  struct Kind;
  struct Lasting {
    absl::Time until;
    std::function<void()> end;
  };

  static const std::vector<Kind>& AllKinds();
  std::string Written();
  const rbac::Mandate& SomeComponent();
  void AddFault(std::string verb, std::string resource, apiserver::Fault fault);
  // Schedules the end of a trouble: calls `end` within `most`.
  void Last(absl::Duration most, std::function<void()> end);

  void StallWatch();
  void SlowWatch();
  void DelayWrite();
  void Restart();
  void Compact();
  void RevokeVerb();
  void RevokeAll();
  void RejectTokens();
  void RemoveKind();

  const Options options_;
  Cluster& cluster_;
  Dice& dice_;
  Tally& tally_;
  std::vector<Lasting> lasting_;
};

}  // namespace mandate::simulation
