// A cache with several components, next to the reference model of it and of the API server.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/cache/testing/model/access_ledger.h"
#include "manager/cache/testing/model/demand_owners.h"
#include "manager/cache/testing/model/expected_streams.h"
#include "manager/cache/testing/model/model_sink.h"
#include "manager/cache/testing/model/object_history.h"
#include "manager/cache/testing/model/observed_client.h"
#include "manager/cache/testing/model/read_grants.h"
#include "manager/cache/testing/model/violations.h"

namespace mandate::model {

// Scopes and objects for any world.
extern const std::vector<WatchScope> kScopes;
extern const std::vector<ObjectKey> kKeys;

// The part that does not depend on the API server. The checks know only this. ScopedWorld is one on
// the double, in virtual time; RealWorld is one on a real kube-apiserver. Loop thread only.
class ModelWorld {
 public:
  struct Component {
    // What the component certainly knew of an object: it must not read anything older.
    struct Known {
      int version = 0;
      int own_write = 0;     // of these the last version
      std::string gone_uid;  // the UID of an object that it knows to be deleted
    };

    std::string name;
    std::unique_ptr<ObservedClient> client;
    CacheView* view = nullptr;
    std::unique_ptr<DemandOwners> owners;
    std::map<ObjectKey, Known> known;
    // By scope: the live demands, and when the last one ended.
    std::map<WatchScope, int> demands;
    std::map<WatchScope, absl::Time> left_at;
    std::set<WatchScope> closed_now;  // the cache knows that it ended
    double probe_tokens = 0;
    absl::Time probes_counted_at;
  };
  // One demand without an owner.
  struct Static {
    Component* component;
    WatchScope scope;
    std::unique_ptr<DemandOwners::Open> open;  // the sink may be null
  };

  virtual ~ModelWorld();

  // Demands.
  Static& Demand(Component& component, const WatchScope& scope, bool with_sink);
  void Release(size_t index);  // of statics()
  void ReleaseAll();

  size_t Die(size_t sides) { return static_cast<size_t>(random_() % sides); }
  absl::Time Now() const { return loop_.clock().TimeNow(); }
  // How much later than in virtual time the cache, or the server, may act.
  absl::Duration lateness() const { return lateness_; }
  // All live demands.
  std::vector<ComponentDemand> Demands() const;
  // Whether a wider stream may serve narrower scopes.
  bool covers() const { return options_.close_covered_watch_after != absl::InfiniteDuration(); }
  // The demanded scopes of the component whose streams and proofs may serve this one.
  std::vector<WatchScope> Serving(const Component& component, const WatchScope& scope) const;
  // Demanded scopes of the component that cover the key.
  std::vector<WatchScope> Covering(const Component& component, const ObjectKey& key) const;
  // Whether a stream of the scope follows the server, under any component.
  bool HasStream(const WatchScope& scope);
  // Whether a list, a watch or a review waits until the server has answered others. A stream that
  // is handed over meanwhile is as one without an answer: it is read until the answer is late.
  bool WaitsForAPlace();
  // The version on the server when the scope's present stream was demanded first.
  int StreamBegan(const WatchScope& scope) const;
  // Whether the component demands the scope, or did so late enough for its watch to be open, if
  // timers are so late.
  bool MayBeOpenFor(const Component& component, const WatchScope& scope,
                    absl::Duration lateness) const;
  double Gauge(const std::string& name, const Labels& labels) {
    return metrics_.Gauge(name, "", labels).Value();
  }

  Loop& loop() { return loop_; }
  Metrics& metrics() { return metrics_; }
  Cache& cache() { return *cache_; }
  const Cache::Options& options() const { return options_; }
  const ObjectHistory& history() const { return history_; }
  const ReadGrants& grants() const { return grants_; }
  AccessLedger& ledger() { return ledger_; }
  Violations& violations() { return violations_; }
  // The scopes that components demand, and the objects that exist at times.
  const std::vector<WatchScope>& scopes() const { return scopes_; }
  const std::vector<ObjectKey>& keys() const { return keys_; }
  std::vector<Component>& components() { return components_; }
  std::vector<std::unique_ptr<Static>>& statics() { return statics_; }
  // The sinks of demands that have ended, until they are found to be destroyed.
  std::vector<std::weak_ptr<ModelSink>>& ended_sinks() { return ended_sinks_; }
  // The reads that sinks and clients make, inside of calls by the cache.
  int64_t inner_reads() const { return inner_reads_; }

 protected:
  // `loop` outlives the world.
  struct Config {
    Loop& loop;
    uint64_t seed;
    std::vector<WatchScope> scopes;
    std::vector<ObjectKey> keys;
    absl::Duration lateness = absl::ZeroDuration();
  };
  explicit ModelWorld(Config config);

  // The newest version on the server that the model knows.
  virtual int ServerVersion() const = 0;
  // With options_. Once, before the components are added.
  void CreateCache();
  // Once. They outlive the world.
  void AddComponents(const std::vector<RestClient*>& inners);
  // The component's view is to know its own write.
  void NoteOwnWrite(Component& writer, const ObjectKey& key, int version);

  std::mt19937_64 random_;
  Metrics metrics_;
  ObjectHistory history_;
  ReadGrants grants_;
  Cache::Options options_;

 private:
  std::unique_ptr<DemandOwners::Open> Open(Component& component, const WatchScope& scope,
                                           bool with_sink, DemandOwners::OnEvent on_event);
  void Close(Component& component, const WatchScope& scope,
             std::unique_ptr<DemandOwners::Open> open);
  void Learn(Component& component, const WatchScope& scope, const ObjectEvent& event);
  void ReadInside(Component& component, const ObjectKey& key);

  Loop& loop_;
  const std::vector<WatchScope> scopes_;
  const std::vector<ObjectKey> keys_;
  const absl::Duration lateness_;
  Violations violations_;
  AccessLedger ledger_;
  std::vector<Component> components_;
  std::unique_ptr<Cache> cache_;
  std::vector<std::unique_ptr<Static>> statics_;
  std::vector<std::weak_ptr<ModelSink>> ended_sinks_;
  std::map<WatchScope, int> began_;
  int64_t inner_reads_ = 0;
};

}  // namespace mandate::model
