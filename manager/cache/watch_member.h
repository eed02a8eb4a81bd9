// The membership of one component in a shared watch: its own proof, and its demands.
#pragma once

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "manager/cache/access_proof.h"
#include "manager/cache/demand_feed.h"
#include "manager/cache/readable_scopes.h"
#include "manager/cache/wait_set.h"
#include "manager/core/log.h"

namespace mandate {

// The part of a component that all its memberships share. It outlives them.
struct WatchComponent {
  RestClient& client;
  AccessMetrics counts;
  std::shared_ptr<WaitSet> waits;
};

// The state that the component sees follows from the watch's state and the proof that counts:
//
//   proof                     watch                    the component sees
//   kDenied                  any                      kForbidden
//   kExpired                  filled; not              kStale; kPending
//   kUnknown, no sponsor      any                      kPending
//   kUnknown, sponsor         kStale                   kPending
//   kUnknown, sponsor         any other                the watch's state
//   kProven                   kForbidden (another's)   kStale or kPending: it is handed over
//   kProven                   any other                the watch's state
//
// Only with a proof does the component read the store, which other components may keep filled. The
// last known objects are those of the last moment with a proof.
//
// Loop thread only.
class WatchMember {
 public:
  struct Config {
    WatchComponent& component;
    std::shared_ptr<ReadableScope> scope;
    std::shared_ptr<ObjectStore> store;  // gets the component's indexes
    size_t slice;                        // DemandFeed::Source
    AccessProof::Config proof;
    Logger log;
  };

  explicit WatchMember(Config config);
  // Ends its reads.
  ~WatchMember();

  RestClient& client() const { return component_.client; }
  AccessProof& proof() { return proof_; }
  const AccessProof& proof() const { return proof_; }

  // From now on the component's proof for a wider scope counts for this one, and its own rests.
  // Null: its own counts again, and is unknown. `proof` outlives this, or the next call.
  void UseProof(const AccessProof* wider);
  bool HasOwnProof() const { return wider_proof_ == nullptr; }
  // The proof that counts.
  const AccessProof& access() const { return HasOwnProof() ? proof_ : *wider_proof_; }
  const ReadableScope& scope() const { return *scope_; }
  // Runs while the membership outlives its last demand. After a new demand it ends without effect.
  LoopTimer& linger() { return linger_; }
  const WatchComponent* component() const { return &component_; }

  // It has failed as the sponsor, and waits until then before the next try.
  void BackOffUntil(absl::Time when) { backoff_until_ = when; }
  bool IsBackingOff() const { return client().loop().clock().TimeNow() < backoff_until_; }
  // Whether it got no response as the sponsor. Reset when all members have been the sponsor, or
  // when one of them got a response.
  bool had_no_response() const { return had_no_response_; }
  void SetHadNoResponse(bool value) { had_no_response_ = value; }

  void Add(std::shared_ptr<DemandFeed> feed);
  void Remove(const DemandFeed& feed);
  void Pause(DemandFeed& feed);
  void Resume(DemandFeed& feed);
  bool HasDemands() const { return !feeds_.empty(); }
  // DemandSink::Flows() of all its demands.
  std::set<std::string> Flows() const;
  // What the component sees, and since when.
  const DemandStatus& status() const { return status_; }
  absl::Time since() const { return since_; }

  // To be called when the watch's state or the proof has changed.
  void Update(const DemandStatus& watch, bool is_sponsor, bool filled);
  // The objects will leave the memory: tells the demands. UseStore() follows.
  void Purge();
  // Another, empty store replaces the present one.
  void UseStore(std::shared_ptr<ObjectStore> store);
  // The store has changed; has changed in too many places to deliver each; its version has changed.
  void Deliver(const std::vector<ObjectEvent>& events);
  void CatchUp(const DemandFeed::Content& before);
  void Progress() { component_.waits->Evaluate(scope_->spec().kind); }

 private:
  // What the component may read now, or was last allowed to read; null: nothing.
  std::shared_ptr<const ObjectStore> Readable(bool filled);
  DemandStatus See(const DemandStatus& watch, bool is_sponsor, bool filled) const;
  absl::Status WhyDenied() const;
  void SetStatus(DemandStatus status);
  void Log(const DemandStatus& status) const;

  WatchComponent& component_;
  const std::shared_ptr<ReadableScope> scope_;
  const size_t slice_;
  std::shared_ptr<ObjectStore> store_;
  std::shared_ptr<const ObjectStore>
      frozen_;                // kExpired: what `store_` had at the end of the proof
  bool is_readable_ = false;  // filled and proven, at the last Update()
  std::shared_ptr<const DemandFeed::Source> source_;
  const Logger log_;
  AccessProof proof_;
  const AccessProof* wider_proof_ = nullptr;
  LoopTimer linger_;
  absl::Time backoff_until_ = absl::InfinitePast();
  bool had_no_response_ = false;
  DemandStatus status_ = {DemandState::kPending, absl::UnavailableError("no request was sent yet")};
  absl::Time since_;
  std::set<std::pair<absl::StatusCode, bool>> logged_;  // reasons of this state; DemandStatus
  std::vector<std::shared_ptr<DemandFeed>> feeds_;
};

}  // namespace mandate
