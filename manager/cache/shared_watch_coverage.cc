// A SharedWatch whose objects a wider one delivers.
#include <algorithm>
#include <utility>

#include "manager/cache/shared_watch.h"

namespace mandate {

namespace {

// Whether a watch can go on to deliver narrower scopes to this member.
bool IsServed(const WatchMember& member) {
  const AccessProof::State proof = member.proof().state();
  return member.HasDemands() &&
         (proof == AccessProof::State::kProven || proof == AccessProof::State::kExpired);
}

}  // namespace

CoverageState SharedWatch::coverage() const {
  CoverageState state;
  const bool runs = keeper_ == nullptr && reflector_ != nullptr && reflector_->filled();
  for (const auto& member : members_) {
    if (!member->HasDemands()) continue;
    state.demanding.push_back(member->component());
    if (!runs) continue;
    const AccessProof::State proof = member->proof().state();
    if (proof == AccessProof::State::kProven && status().state == DemandState::kSynced) {
      state.ready.push_back(member->component());
    }
    if (IsServed(*member)) state.keeping.push_back(member->component());
  }
  return state;
}

SharedWatch* SharedWatch::PlannedKeeper() const {
  if (config_.close_covered_watch_after == absl::InfiniteDuration()) return nullptr;
  const auto keeper = keeper_ == nullptr ? std::nullopt : std::optional(keeper_->spec());
  std::vector<const void*> demanding = coverage().demanding;
  if (demanding.empty()) {
    // They may demand it again.
    for (const auto& member : members_) demanding.push_back(member->component());
  }
  const auto planned =
      PlanCoverage(config_.spec, demanding, keeper,
                   [this](const DemandSpec& scope) -> std::optional<CoverageState> {
                     const SharedWatch* const wider = config_.find(scope);
                     if (wider == nullptr) return std::nullopt;
                     return wider->coverage();
                   });
  return planned ? config_.find(*planned) : nullptr;
}

void SharedWatch::Replan() {
  if (members_.empty()) return;
  SharedWatch* const wider = PlannedKeeper();
  if (keeper_ != nullptr) {
    if (wider != keeper_) return Unfollow(wider);
    return Follow(*wider);  // a member may be new
  }
  if (wider == nullptr) {
    next_plan_.reset();
  } else if (status().state != DemandState::kSynced) {
    TryFollow(*wider);
  } else {
    FollowLater();
  }
}

void SharedWatch::TryFollow(SharedWatch& wider) {
  stream_->CanFollow(*wider.stream_) ? Follow(wider) : FollowLater();
}

void SharedWatch::FollowLater() {
  if (next_plan_) return;
  next_plan_.emplace(members_.front()->client().loop());
  next_plan_->SetAfter(config_.close_covered_watch_after, [this] {
    next_plan_.reset();
    if (SharedWatch* const wider = PlannedKeeper()) TryFollow(*wider);
  });
}

void SharedWatch::Follow(SharedWatch& wider) {
  if (keeper_ == nullptr) {
    // Those that this watch keeps can follow the wider one, too.
    for (SharedWatch* follower : std::set<SharedWatch*>(followers_)) {
      follower->Detach();
      follower->Follow(wider);
    }
    next_plan_.reset();
    reflector_.reset();
    sponsor_ = nullptr;
    failures_ = unanswered_periods_ = 0;
    periods_allowed_ = 1;
    for (const auto& member : members_) member->SetHadNoResponse(false);
    live_since_ = absl::InfiniteFuture();
    ready_for_.clear();
    keeper_ = &wider;
    wider.followers_.insert(this);
    covered_.Increment();
    const ReflectorTarget::Replaced replaced = stream_->Follow(*wider.stream_);
    if (replaced.before != nullptr) OnReplaced(replaced.before);
    if (!replaced.events.empty()) OnObjects(replaced.events);
  }
  for (const auto& member : members_) {
    const WatchMember* const there = wider.Find(*member->component());
    // One without demands here may have none there, or no access. It is asked when it demands
    // again.
    const bool serves = there != nullptr && IsServed(*there);
    member->UseProof(serves ? &there->proof() : nullptr);
    Update(*member);
  }
}

void SharedWatch::Detach() {
  keeper_->followers_.erase(this);
  keeper_ = nullptr;
  covered_.Decrement();
  stream_->Unfollow();
  for (const auto& member : members_) member->UseProof(nullptr);
}

void SharedWatch::Unfollow(SharedWatch* next) {
  // A member that still has the wider access has this one, too.
  WatchMember* sponsor = members_.front().get();
  for (const auto& member : members_) {
    if (!member->HasDemands()) continue;
    sponsor = member.get();
    if (member->access().state() == AccessProof::State::kProven) break;
  }
  Detach();
  if (next != nullptr && stream_->CanFollow(*next->stream_)) return Follow(*next);
  Sponsor(*sponsor, stream_->store()->resource_version());
  if (next != nullptr) FollowLater();
  for (const auto& member : members_) {
    Update(*member);
    if (member.get() != sponsor_) member->proof().CheckSoon();
  }
}

void SharedWatch::EndFollowers() {
  for (SharedWatch* follower : std::set<SharedWatch*>(followers_)) follower->Unfollow(nullptr);
}

void SharedWatch::AdaptFollowers() {
  for (SharedWatch* follower : std::set<SharedWatch*>(followers_)) follower->Replan();
  std::vector<const void*> ready = coverage().ready;
  std::ranges::sort(ready);
  const bool more = !std::ranges::includes(ready_for_, ready);
  ready_for_ = std::move(ready);
  if (more) config_.on_ready();
}

}  // namespace mandate
