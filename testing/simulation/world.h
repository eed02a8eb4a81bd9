// A whole system in virtual time: components with their identities, tokens, clients and caches, on
// the double of the API server. Each seed is one schedule.
//
//   World world({.seed = seed, .components = 3});
//   world.Grant(0);
//   auto demand = world.view(0).Demand({kConfigMaps, "", ""}, sink);
//   world.Put({"a", "x"});
//   world.loop().RunFor(absl::Minutes(1));
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "manager/cache/cache.h"
#include "manager/client/component_client.h"
#include "manager/core/metrics.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/identity/identity_registry.h"
#include "manager/rbac/mandate.h"
#include "testing/apiserver/sim_server.h"

namespace mandate {

// A built-in kind; it needs no generated code, because nothing here decodes it.
inline constexpr KindInfo kConfigMaps = {.group = "",
                                         .version = "v1",
                                         .kind = "ConfigMap",
                                         .plural = "configmaps",
                                         .scope = Scope::kNamespaced,
                                         .encoding = Encoding::kProtobuf};

// Single-threaded.
class World {
 public:
  struct Options {
    uint64_t seed = 1;
    int components = 3;  // "c0", "c1", …
    // The lifetime that the server gives to tokens; a real server gives at least ten minutes.
    absl::Duration token_life = absl::Minutes(10);
    absl::Duration proof_lifetime = absl::Minutes(5);
  };

  explicit World(Options options);
  ~World();

  SimulatedLoop& loop() { return loop_; }
  apiserver::SimServer& server() { return *server_; }
  apiserver::Store& store() { return server_->core().store(); }
  IdentityRegistry& identities() { return *identities_; }
  Cache& cache() { return *cache_; }
  CacheView& view(int component) { return *views_[static_cast<size_t>(component)]; }
  Metrics& metrics() { return metrics_; }

  // "c0" for 0.
  const std::string& name(int component) const { return names_[static_cast<size_t>(component)]; }
  // "mandate-manager-c0"
  std::string account(int component) const;

  // Lets the component list and watch ConfigMaps; `ns` empty: in all namespaces.
  void Grant(int component, const std::string& ns = "");
  void Revoke(int component, const std::string& ns = "");
  // Creates or replaces the ServiceAccount: tokens of the old one become invalid.
  void PutAccount(const std::string& name);

  // Adds or changes a ConfigMap; the namespaces are "a" and "b".
  void Put(const ObjectKey& key);
  void Delete(const ObjectKey& key);

  // Every change of a ConfigMap since the beginning, including those that the server has compacted.
  const std::vector<apiserver::Change>& history() const { return history_; }

  // The lines of the audit log since the last call.
  std::vector<std::string> TakeAudit() { return std::exchange(audit_, {}); }

 private:
  void PutBinding(int component, const std::string& ns, bool there);

  SimulatedLoop loop_;
  Metrics metrics_;
  std::vector<std::string> audit_;
  std::vector<apiserver::Change> history_;
  uint64_t serial_ = 0;
  // Mandates refer to these names.
  std::deque<std::string> names_;
  std::deque<rbac::Mandate> mandates_;
  std::unique_ptr<apiserver::SimServer> server_;
  std::unique_ptr<IdentityRegistry> identities_;
  std::vector<std::unique_ptr<ComponentClient>> clients_;
  std::unique_ptr<Cache> cache_;
  std::vector<CacheView*> views_;
};

}  // namespace mandate
