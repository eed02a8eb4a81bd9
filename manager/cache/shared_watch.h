// A reflector and its store, shared by the components that have proved their access.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string_view>
#include <vector>

#include "manager/cache/coverage.h"
#include "manager/cache/kind_store.h"
#include "manager/cache/reflector.h"
#include "manager/cache/watch_member.h"
#include "manager/cache/watch_snapshot.h"

namespace mandate {

// The first component to join is the sponsor: the watch runs under its identity, and its success is
// its proof. When the sponsor leaves, or loses its access or its identity, a member that has proved
// its access becomes sponsor, and the watch goes on from where it is.
//
// While a wider watch delivers the same objects to the same components (coverage.h), this one sends
// no requests: the wider one keeps its store, and the members' proofs for the wider scope count. It
// begins with the next wider watch that is synced, or, if it is synced itself, after a while. It
// ends at once. Then the members' access is unknown, and the watch goes on from the version that
// the wider one had reached: no change is lost, and none comes twice.
//
// Loop thread only.
class SharedWatch : private Reflector::Owner, private KindStore::Listener {
 public:
  struct Config {
    DemandSpec spec;
    KindStore& store;  // of the kind; outlives the watch
    ReflectorOptions reflector;
    AccessProof::Options access;
    std::mt19937_64& random;
    Metrics& metrics;
    WatchBudget& budget;  // outlives the watch
    ProbeBudget& probes;  // outlives the watch
    WatchCloser& closer;  // outlives the watch
    Logger log;
    // The most events that a demand is delivered in one turn of the loop.
    size_t max_events_per_loop_turn;
    // How long a membership is kept after its last demand.
    absl::Duration close_unused_watch_after;
    // How long a synced watch stays open while a wider one delivers the same objects.
    absl::Duration close_covered_watch_after;
    // Returns the watch of a scope, or null if the scope has none.
    std::function<SharedWatch*(const DemandSpec&)> find;
    // Reflector::Config; null for a kind without namespaces.
    std::function<bool(std::string_view component)> namespace_is_gone;
    // Gets the key of each object that is added or deleted after the watch was synced, also of
    // those that it missed while it was down; may be null.
    std::function<void(const ObjectKey&)> on_change;
    // This watch can now keep narrower ones: their Replan() should be called soon.
    std::function<void()> on_ready;
    // There was no answer to a request of this watch.
    std::function<void()> on_outage;
    // The server has accepted this watch.
    std::function<void()> on_answer;
    // The server has gone back to an earlier version: ReadAgain() of the other watches should be
    // called soon.
    std::function<void()> on_restored;
    // After so many failures in a row another member tries: limits and quotas are those of one
    // identity. After a long failure (Reflector::Failure) it tries at once.
    int max_sponsor_failures;
    // Called when the last member has left. Must not destroy the watch inside the call.
    std::function<void()> on_empty;
  };

  explicit SharedWatch(Config config);
  ~SharedWatch() override;

  // `component` outlives its membership; `scope` is its entry for the watch's scope.
  void Join(WatchComponent& component, std::shared_ptr<ReadableScope> scope,
            std::shared_ptr<DemandFeed> feed);
  // Changes a demand that has joined, and has not left.
  void Change(const WatchComponent& component, DemandFeed& feed, const DemandChange& change);
  bool empty() const { return members_.empty(); }

  // The access of this component (empty: of all) may have changed before `until`, or the kind may
  // be served now. What was proven later stays proven.
  void RecheckAccess(std::string_view component, absl::Time until = absl::InfiniteFuture());
  // The server no longer accepts this component's credential.
  void OnCredentialLost(std::string_view component, const absl::Status& why);

  // Its namespace was created or deleted.
  void OnNamespace();
  // Whether the object exists, if this component may know it.
  std::optional<bool> Exists(std::string_view component, const ObjectKey& key) const;

  // The server has answered another watch after an outage.
  void OnOutageEnd();
  // The server has gone back to an earlier version.
  void ReadAgain();
  // The state of wider watches may have changed.
  void Replan();

  const DemandSpec& spec() const { return config_.spec; }
  // Adds an entry for this member (empty: for each).
  void AddSnapshots(std::string_view component, std::vector<WatchSnapshot>& snapshots) const;

 private:
  // Of this watch, or of another one that covers the same objects.
  void OnObjects(const std::vector<ObjectEvent>& events) override;
  void OnReplaced(const DemandFeed::Content& before) override;
  void OnProgress() override;
  void OnAccess() override;
  void OnStatus(const DemandStatus& status) override;
  void OnFailure(const Reflector::Failure& failure) override;
  void OnEvicted() override;
  void OnRestored() override { config_.on_restored(); }

  bool ReportsChanges() const;
  // Ends the membership, unless it has demands again.
  void Retire(WatchMember& member);
  WatchMember* Find(const WatchComponent& component);
  // Its demands have these flows, too: its waiting probes also take the turns of these flows.
  void AddFlows(WatchMember& member, const ProbeBudget::Flows& flows);
  // Replaces the sponsor, if it must be replaced and a member can replace it.
  void Rebalance();
  bool SponsorCannotWatch() const;
  // The sponsor's watch works: earlier failures are forgotten.
  void OnHealth();
  // The server sends the sponsor nothing. Members take turns; if none gets a response, the server
  // may be slow for all, and each waits longer.
  void OnNoResponse();
  // A member other than the sponsor that has proved its access, preferably one that neither rests
  // nor was silent; null: none.
  WatchMember* Successor() const;
  // The same for a sponsor that leaves. If no member has proved its access, the watch itself shows
  // who has it: one whose access is unknown comes before a denied one. Null: no other member.
  WatchMember* Heir() const;
  // The sponsor stays a member, and proves its own access from now on.
  void StepDownFor(WatchMember& successor);
  void HandOverTo(WatchMember& member);
  void OnProofChanged(WatchMember& member);
  // When no member may read the objects any more, they leave the memory.
  void PurgeIfDenied();
  void Purge();
  void Update(WatchMember& member);

  // shared_watch_coverage.cc
  CoverageState coverage() const;
  SharedWatch* PlannedKeeper() const;
  // Begins, changes and ends being kept by a wider watch. If `wider` is behind, the first tries
  // again later.
  void TryFollow(SharedWatch& wider);
  void FollowLater();
  void Follow(SharedWatch& wider);
  void Unfollow(SharedWatch* next);  // null: by its own watch
  // Takes a store that has been kept back, without a watch of its own.
  void Detach();
  // The state or the members of this watch have changed: adapts the watches that it keeps.
  void AdaptFollowers();
  // Before the store goes: also those without demands.
  void EndFollowers();

  // Starts the watch under this member's identity.
  void Sponsor(WatchMember& member, const std::string& version);
  // Of the watch that delivers the objects.
  const DemandStatus& status() const {
    return keeper_ == nullptr ? reflector_->status() : keeper_->status();
  }
  bool filled() const { return keeper_ == nullptr ? reflector_->filled() : keeper_->filled(); }

  const Config config_;
  std::unique_ptr<KindStore::Stream> stream_;  // while there is a member
  prometheus::Counter& handovers_;
  prometheus::Counter& purges_;
  prometheus::Gauge& covered_;
  std::vector<std::unique_ptr<WatchMember>> members_;
  WatchMember* sponsor_ = nullptr;
  absl::Time hinted_at_ = absl::InfinitePast();  // the last hint about the sponsor
  int failures_ = 0;                             // of the sponsor, in a row
  int unanswered_periods_ = 0;                   // of the sponsor, in periods of response_timeout
  int periods_allowed_ = 1;                      // how many of these each sponsor has
  absl::Time live_since_ = absl::InfiniteFuture();
  std::unique_ptr<Reflector> reflector_;  // while there is a member, and no keeper

  SharedWatch* keeper_ = nullptr;       // the wider watch that keeps this one's store
  std::set<SharedWatch*> followers_;    // the narrower ones that this one keeps; then no keeper
  std::vector<const void*> ready_for_;  // CoverageState::ready, as on_ready knows it
  std::optional<LoopTimer> next_plan_;
};

}  // namespace mandate
