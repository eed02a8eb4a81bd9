// What goes wrong with the API server, the network and what the components are granted. Each
// trouble lasts for a while.
#ifndef TESTING_SIMULATION_SCOPE_TROUBLES_H_
#define TESTING_SIMULATION_SCOPE_TROUBLES_H_

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
    // Nothing is late: what a component decides, it decides on what is so, give or take a second.
    bool prompt = false;
    // RBAC, tokens and kinds go and return.
    bool access = true;
  };

  // The three outlive this.
  Troubles(Options options, Cluster& cluster, Dice& dice, Tally& tally);

  // One more trouble.
  void Strike();
  // Ends those whose time is over.
  void Pass();
  // Ends all.
  void Heal();

  // What Strike() counts.
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
  // Ends by `end` within `most`.
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

#endif  // TESTING_SIMULATION_SCOPE_TROUBLES_H_
