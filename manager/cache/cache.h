// The cache of one cluster: what all its components read, each within its own mandate and grants.
//
//   ASSIGN_OR_RETURN(auto cache, Cache::Create({.loop = loop, .metrics = metrics, .seed = seed}));
//   CacheView& view = cache->AddComponent(client, kScopeInstance);
//
// The way of one demand: the view rejects it if the mandate does not cover it. The registry finds
// or opens the SharedWatch of exactly that scope. There the component becomes the sponsor, whose
// Reflector fills the scope's store in the KindStore, or a WatchMember that first proves its access
// (AccessProof). A DemandFeed delivers the events to the sink; a ReadableScope answers the reads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/cache/access_proof.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/component_view.h"
#include "manager/cache/probe_budget.h"
#include "manager/cache/reflector_options.h"
#include "manager/cache/watch_closer.h"
#include "manager/cache/watch_snapshot.h"
#include "manager/client/rest_client.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/object/object_packer.h"
#include "manager/rbac/mandate.h"

namespace mandate {

// AddComponent(), RecheckAccess(), ReadAgain() and OnCredentialLost() are thread-safe. Destroy it
// on the loop, or after the loop has stopped; handles may outlive it, threads that use its views
// may not.
class Cache {
 public:
  struct Options {
    Loop& loop;        // outlives the cache
    Metrics& metrics;  // outlives the cache
    Logger log = {};
    uint64_t seed = 0;  // of jitter

    // How long a proof of access is valid: a revocation without a hint is noticed after this time
    // at the latest.
    absl::Duration proof_lifetime = absl::Minutes(5);
    // How long a watch stays open after its last demand.
    absl::Duration close_unused_watch_after = absl::ZeroDuration();
    // How long a watch stays open while one of a wider scope delivers the same objects to the
    // same components. Then the wider one serves both scopes, until it is closed or denied.
    // InfiniteDuration(): each scope always has a watch of its own.
    absl::Duration close_covered_watch_after = absl::Seconds(30);
    // After this many consecutive failures a shared watch continues under another component's
    // identity.
    int max_sponsor_failures = 3;
    // The longest wait of a read for the component's own writes, and how many such writes of each
    // kind are remembered; the oldest is forgotten first.
    absl::Duration own_write_wait = absl::Seconds(10);
    int max_own_writes = 4096;
    // Of how many closed scopes a watch that is behind them remembers the version; the one with the
    // oldest version is forgotten first (closed_scopes.h).
    int max_closed_scopes = 256;
    // How many events a demand that joins, or that missed events, gets in one turn of the loop.
    int max_events_per_loop_turn = 256;
    // How many watches a RecheckAccess() reaches in one turn of the loop.
    int max_watches_per_loop_turn = 64;
    // Objects that are compressed anew in one turn, after parts of lost ones were dropped.
    int max_repacked_per_loop_turn = 32;
    // The limit of the memory of all watches and their stored objects; while they list again it may
    // be twice that. One half is divided equally among the components; the other half is for any of
    // them. A watch that exceeds its limit cannot be read (kResourceExhausted).
    size_t max_watch_bytes = size_t{1} << 30;
    // What an open watch takes of it besides its objects; most of this are buffers.
    size_t bytes_per_watch = size_t{40} << 10;
    // How many watches a component may have open. If it opens one more, one ends that the owners
    // in one namespace demand: the namespace with most of them (watch_budget.h).
    size_t max_watches = 10'000;
    // The most that one typed list returns: in bytes as the server sent them, and, above 1 MiB of
    // these, in bytes of memory; a larger one is kResourceExhausted. The objects are held
    // compressed, their decoded copies are not.
    size_t max_list_bytes = size_t{1} << 30;
    // How often a component asks whether denied access has come back, for all its scopes together;
    // `hints`: the same after a hint; `rechecks`: how often hints make it ask whether its access
    // has gone; `reopens`: how many watches it opens because a wider one has ended.
    ProbeBudget::Options probes = {.per_second = 5, .burst = 20};
    // How fast watches that are no longer needed are closed: an API server whose watches all end at
    // once needs much memory. Closing ones deliver nothing.
    WatchCloser::Options closes = {};
    // How objects are compressed. Secrets are not.
    ObjectPacker::Options packing = {};
    // Changes each object before it is stored, but neither its key nor its UID and version, for all
    // components: WithoutManagedFields() (object/managed_fields.h) makes objects smaller. Runs on
    // the loop.
    std::function<std::shared_ptr<const RawObject>(const KindInfo&,
                                                   std::shared_ptr<const RawObject>)>
        transform = nullptr;
    ReflectorOptions reflector = {};
    // proof_lifetime and needs_list here are overridden by the above.
    AccessProof::Options access = {};
  };

  // kInvalidArgument names the invalid option.
  static absl::StatusOr<std::unique_ptr<Cache>> Create(Options options);
  ~Cache();

  // Creates the view of one component, once for each; it lives as long as the cache. `client`
  // outlives the cache, and `mandate` is a constant.
  CacheView& AddComponent(RestClient& client, const rbac::Mandate& mandate);

  // A hint that RBAC has changed for a component (empty: for all) in a namespace (empty:
  // everywhere) before `until`, or that a kind is now served: the cache proves again the access
  // that was not proven since, and repeats denied requests, as the budgets of probes allow.
  void RecheckAccess(std::string_view component = "", std::string_view ns = "",
                     absl::Time until = absl::InfiniteFuture());
  // The server has gone back to an earlier resource version, as after its restoration from a
  // backup. A watch notices it itself, for its API group, only if it reads the whole state while
  // the server's version is still lower than before.
  void ReadAgain();
  struct Watches {
    std::vector<WatchSnapshot> entries;  // by kind and scope, the widest first
    size_t scopes = 0;                   // how many are watched, or covered by a watch
    bool complete = true;                // whether all of them are among the entries
  };
  // The state of all watches, or of those of the scopes that come first until there are `most`
  // entries; of one component, or (empty) of all. On the loop; the time is that of copying the
  // entries.
  Watches Snapshot(size_t most, std::string_view component = "") const;

  // Ends all demands, closes all watches, no faster than Options::closes, and calls `done` once.
  // The watches that are still open at `deadline` are closed then. No read finds anything from now
  // on. On the loop. The destructor does not wait.
  void Close(absl::Time deadline, std::function<void()> done);

  // The server no longer accepts the component's credential: from the loop's next turn on its reads
  // are kUnavailable, until its access is proved again, which RecheckAccess() hastens. The watches
  // and reads of other components continue.
  void OnCredentialLost(std::string_view component, absl::Status why);

 private:
  class Registry;

  static absl::Status Check(const Options& options);

  Cache(Options options);

  const Options options_;
  const std::shared_ptr<Registry> registry_;
  Mutex mutex_;
  std::vector<std::unique_ptr<ComponentView>> views_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate
