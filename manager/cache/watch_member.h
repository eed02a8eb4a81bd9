// One component's part in a shared watch: its own proof, and what its demands are told.
#ifndef MANAGER_CACHE_WATCH_MEMBER_H_
#define MANAGER_CACHE_WATCH_MEMBER_H_

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "manager/cache/access_proof.h"
#include "manager/cache/demand_feed.h"
#include "manager/cache/read_grants.h"
#include "manager/cache/wait_set.h"
#include "manager/core/log.h"

namespace mandate {

// What a component brings into every watch that it joins. Borrowed: outlives its memberships.
struct WatchComponent {
  RestClient& client;
  AccessMetrics counts;
  std::shared_ptr<WaitSet> waits;
};

// Its view is what the watch's state and its own proof allow together:
//
//   proof                     watch                    the component sees
//   kRefused                  any                      kForbidden
//   kExpired                  any                      kStale
//   kUnknown, no sponsor      any                      kPending
//   kUnknown, sponsor         any                      the watch's state
//   kProven                   kForbidden (another's)   kStale or kPending: it is handed over
//   kProven                   any other                the watch's state
//
// Loop thread only.
class WatchMember {
 public:
  struct Config {
    WatchComponent& component;
    std::shared_ptr<ReadGrant> grant;
    std::shared_ptr<ObjectStore> store;  // gets the component's indexes
    size_t slice;                        // DemandFeed::Source
    AccessProof::Config proof;
    Logger log;
  };

  explicit WatchMember(Config config);
  // Its reads end.
  ~WatchMember();

  RestClient& client() const { return component_.client; }
  AccessProof& proof() { return proof_; }
  const AccessProof& proof() const { return proof_; }
  const ReadGrant& grant() const { return *grant_; }
  // Runs while the membership outlives its last demand. A new one lets it run out.
  LoopTimer& linger() { return linger_; }
  const WatchComponent* component() const { return &component_; }

  // As the sponsor it has failed, and would wait until then before the next try.
  void RestUntil(absl::Time when) { rests_until_ = when; }
  bool Rests() const { return client().loop().clock().TimeNow() < rests_until_; }
  // As the sponsor it has waited in vain, since all had their turn, or one was answered.
  bool was_silent() const { return was_silent_; }
  void SetSilent(bool silent) { was_silent_ = silent; }

  void Add(std::shared_ptr<DemandFeed> feed);
  void Remove(const DemandFeed& feed);
  void Pause(DemandFeed& feed);
  void Resume(DemandFeed& feed);
  bool HasDemands() const { return !feeds_.empty(); }

  // The watch's state, or the proof, has changed.
  void Update(const DemandStatus& watch, bool is_sponsor, bool filled);
  // The store has changed so; in more places than are delivered; its version has moved.
  void Deliver(const std::vector<ObjectEvent>& events);
  void CatchUp(const DemandFeed::Content& before);
  void Progress() { component_.waits->Evaluate(grant_->spec().kind); }

 private:
  DemandStatus See(const DemandStatus& watch, bool is_sponsor, bool filled) const;
  void SetStatus(DemandStatus status);
  void Log(const DemandStatus& status) const;

  WatchComponent& component_;
  const std::shared_ptr<ReadGrant> grant_;
  const std::shared_ptr<ObjectStore> store_;
  const std::shared_ptr<const DemandFeed::Source> source_;
  const Logger log_;
  AccessProof proof_;
  LoopTimer linger_;
  absl::Time rests_until_ = absl::InfinitePast();
  bool was_silent_ = false;
  DemandStatus status_ = {DemandState::kPending, absl::UnavailableError("not asked yet")};
  std::set<std::pair<absl::StatusCode, bool>> logged_;  // reasons of this state; DemandStatus
  std::vector<std::shared_ptr<DemandFeed>> feeds_;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_WATCH_MEMBER_H_
