// The cache of one cluster: what all its components read, each within its own mandate and grants.
//
//   ASSIGN_OR_RETURN(auto cache, Cache::Create({.loop = loop, .metrics = metrics, .seed = seed}));
//   CacheView& view = cache->AddComponent(client, kScopeInstance);
//
// The walk of one demand: the view asks the mandate and refuses what it does not cover; the
// registry finds or opens the SharedWatch of exactly that scope; there the component becomes the
// sponsor, whose Reflector fills the ObjectStore, or a WatchMember that first proves its access
// (AccessProof). A DemandFeed tells the sink; a ReadGrant tells the reads.
#ifndef MANAGER_CACHE_CACHE_H_
#define MANAGER_CACHE_CACHE_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/cache/access_proof.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/component_view.h"
#include "manager/cache/reflector_options.h"
#include "manager/client/rest_client.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/rbac/mandate.h"

namespace mandate {

// AddComponent(), Poke() and CutOff() are thread-safe. Destroy it on the loop, or after the loop
// has stopped; handles may outlive it, threads that use its views may not.
class Cache {
 public:
  struct Options {
    Loop& loop;        // outlives the cache
    Metrics& metrics;  // outlives the cache
    Logger log = {};
    uint64_t seed = 0;  // of jitter

    // How long a proof of access is good: a revocation that nobody hints at is noticed at the
    // latest after this long.
    absl::Duration t_revoke = absl::Minutes(5);
    // How long a watch stays open after its last demand.
    absl::Duration linger = absl::ZeroDuration();
    // After so many failures in a row a shared watch goes on under another component's identity.
    int max_failures = 3;
    // How long a read waits at most for what the component itself has written, and how many of
    // such writes are remembered of each kind; the oldest is forgotten.
    absl::Duration own_write_wait = absl::Seconds(10);
    int max_own_writes = 4096;
    // How many objects a demand that joins, or that missed something, is told of in one turn of the
    // loop.
    int events_per_turn = 256;
    // How many watches a hint that access has changed (Poke) reaches in one turn of the loop.
    int watches_per_turn = 64;
    // What all watches hold together, in encoded forms; while they list again it may be twice that.
    // Each component has an equal share of one half for itself; the other half is for whoever needs
    // more. Beyond it the watch that grows cannot be read (kResourceExhausted).
    size_t max_watch_bytes = size_t{1} << 30;
    ReflectorOptions reflector = {};
    // t_revoke here is overridden by the above.
    AccessProof::Options access = {};
  };

  // kInvalidArgument names the option that makes no sense.
  static absl::StatusOr<std::unique_ptr<Cache>> Create(Options options);
  ~Cache();

  // The view of one component, which lives as long as the cache. `client` outlives the cache, and
  // `mandate` is a constant. Once for each component.
  CacheView& AddComponent(RestClient& client, const rbac::Mandate& mandate);

  // A hint that RBAC has changed for a component (empty: for anyone), or that a kind is served now:
  // access is proved again, and what was refused is asked for again.
  void Poke(std::string_view component = "");
  // The server accepts the component's credential no more: its reads are kUnavailable from the
  // loop's next turn on, until its access is proven anew, which Poke() hastens. Others' watches and
  // reads go on.
  void CutOff(std::string_view component, absl::Status why);

 private:
  class Registry;

  Cache(Options options);

  const Options options_;
  const std::shared_ptr<Registry> registry_;
  Mutex mutex_;
  std::vector<std::unique_ptr<ComponentView>> views_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate

#endif  // MANAGER_CACHE_CACHE_H_
