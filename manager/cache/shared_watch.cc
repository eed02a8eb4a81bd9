#include "manager/cache/shared_watch.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "manager/cache/watch_errors.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

// `why` is the error of a list or a watch. The guard's has a next step of its own.
absl::Status WatchDenied(const RestClient& client, const DemandSpec& spec,
                         const absl::Status& why) {
  if (HttpCode(why) == 403) {
    return AccessDenied(client.component(), "list and watch", spec.ToString(),
                        AsStd(why.message()));
  }
  return absl::PermissionDeniedError(StrCat(client.component(), " may not list and watch ",
                                            spec.ToString(), ": ", AsStd(why.message())));
}

}  // namespace

SharedWatch::SharedWatch(Config config)
    : config_(std::move(config)),
      handovers_(config_.metrics.Counter("mandate_cache_handovers_total",
                                         "Watches that were handed over to another identity",
                                         {{"kind", ResourceName(config_.spec.kind)}})),
      purges_(config_.metrics.Counter(
          "mandate_cache_purges_total",
          "Times that all objects of a scope left the memory, because no component may read them",
          {{"kind", ResourceName(config_.spec.kind)}})),
      covered_(config_.metrics.Gauge(
          "mandate_cache_covered_scopes",
          "Demanded scopes that need no watch, because a wider one delivers their objects",
          {{"kind", ResourceName(config_.spec.kind)}})) {}

SharedWatch::~SharedWatch() {
  for (SharedWatch* follower : std::set<SharedWatch*>(followers_)) follower->Detach();
  if (keeper_ != nullptr) Detach();
}

WatchMember* SharedWatch::Find(const WatchComponent& component) {
  for (const auto& member : members_) {
    if (member->component() == &component) return member.get();
  }
  return nullptr;
}

void SharedWatch::Join(WatchComponent& component, std::shared_ptr<ReadableScope> scope,
                       std::shared_ptr<DemandFeed> feed) {
  WatchMember* member = Find(component);
  if (member != nullptr) {
    const ProbeBudget::Flows flows = feed->Flows();
    member->Add(std::move(feed));
    AddFlows(*member, flows);
    // A member without demands cannot be the sponsor; now it can.
    Rebalance();
    AdaptFollowers();
    return Replan();
  }
  if (stream_ == nullptr) {
    stream_ = config_.store.Open(config_.spec, *this, config_.max_events_per_loop_turn);
  }
  // The proof's callback does not outlive the member or the watch.
  auto slot = std::make_shared<WatchMember*>(nullptr);
  members_.push_back(std::make_unique<WatchMember>(WatchMember::Config{
      .component = component,
      .scope = std::move(scope),
      .store = stream_->store(),
      .slice = config_.max_events_per_loop_turn,
      .proof = {.spec = config_.spec,
                .version = [this] { return stream_->store()->resource_version(); },
                .options = config_.access,
                .random = config_.random,
                .counts = component.counts,
                .probes = config_.probes,
                .flows = [slot] { return (*slot)->Flows(); },
                .namespace_is_gone = config_.namespace_is_gone,
                .on_change = [this, slot] { OnProofChanged(**slot); }},
      .log = config_.log.With("watch", config_.spec.ToString())}));
  member = *slot = members_.back().get();
  member->Add(std::move(feed));
  if (keeper_ != nullptr) return Replan();
  if (reflector_ != nullptr) {
    Update(*member);
    member->proof().CheckSoon();
    return Replan();
  }
  SharedWatch* const wider = PlannedKeeper();
  if (wider != nullptr && stream_->CanFollow(*wider->stream_)) return Follow(*wider);
  Sponsor(*member, "");
  Update(*member);
}

void SharedWatch::Sponsor(WatchMember& member, const std::string& version) {
  sponsor_ = &member;
  reflector_ = std::make_unique<Reflector>(
      Reflector::Config{.spec = config_.spec,
                        .options = config_.reflector,
                        .random = config_.random,
                        .metrics = config_.metrics,
                        .budget = config_.budget,
                        .probes = config_.probes,
                        .flows = [this] { return sponsor_->Flows(); },
                        .namespace_is_gone = config_.namespace_is_gone,
                        .closer = config_.closer,
                        .log = config_.log,
                        .most_events = config_.max_events_per_loop_turn},
      member.client(), *stream_, static_cast<Reflector::Owner&>(*this));
  version.empty() ? reflector_->Start() : reflector_->StartFrom(version);
}

void SharedWatch::AddFlows(WatchMember& member, const ProbeBudget::Flows& flows) {
  member.proof().AddFlows(flows);
  if (&member == sponsor_ && reflector_ != nullptr) reflector_->AddFlows(flows);
}

void SharedWatch::Change(const WatchComponent& component, DemandFeed& feed,
                         const DemandChange& change) {
  // A member stays at least until its last demand has left.
  WatchMember& member = *Find(component);
  if (change.call == DemandChange::kPause) return member.Pause(feed);
  if (change.call == DemandChange::kResume) return member.Resume(feed);
  if (change.call == DemandChange::kAddFlow) return AddFlows(member, {change.flow});
  member.Remove(feed);
  if (member.HasDemands()) return;
  AdaptFollowers();
  Replan();
  if (config_.close_unused_watch_after <= absl::ZeroDuration()) return Retire(member);
  member.linger().SetAfter(config_.close_unused_watch_after, [this, &member] { Retire(member); });
}

void SharedWatch::Retire(WatchMember& member) {
  // If the component has new demands of this scope, they join soon.
  if (member.HasDemands() || member.scope().demands() > 0) return;
  if (members_.size() == 1) EndFollowers();
  if (keeper_ != nullptr && members_.size() == 1) {
    Detach();
    stream_.reset();
  }
  if (&member == sponsor_) {
    WatchMember* const successor = Heir();
    if (successor == nullptr) {
      reflector_.reset();
      stream_.reset();
      sponsor_ = nullptr;
    } else {
      HandOverTo(*successor);
    }
  }
  std::erase_if(members_, [&](const auto& m) { return m.get() == &member; });
  PurgeIfDenied();
  members_.empty() ? config_.on_empty() : Replan();
}

std::optional<bool> SharedWatch::Exists(std::string_view component, const ObjectKey& key) const {
  if (stream_ == nullptr || status().state != DemandState::kSynced) return std::nullopt;
  for (const auto& member : members_) {
    if (member->client().component() != component || !member->HasDemands()) continue;
    if (member->access().state() != AccessProof::State::kProven) break;
    return stream_->store()->Get(key.ns, key.name) != nullptr;
  }
  return std::nullopt;
}

void SharedWatch::OnObjects(const std::vector<ObjectEvent>& events) {
  for (const auto& member : members_) member->Deliver(events);
  if (!ReportsChanges()) return;
  for (const ObjectEvent& event : events) {
    if (event.type != ObjectEvent::Type::kUpdate) config_.on_change(event.object->Key());
  }
}

// The first content is no change, nor is the one after a loss of access, when the store is empty.
bool SharedWatch::ReportsChanges() const {
  const DemandState state = status().state;
  return config_.on_change != nullptr &&
         (state == DemandState::kSynced || state == DemandState::kStale);
}

void SharedWatch::OnReplaced(const DemandFeed::Content& before) {
  for (const auto& member : members_) member->CatchUp(before);
  if (!ReportsChanges()) return;
  const DemandFeed::Content now = stream_->store()->Snapshot();
  std::vector<ObjectSlot> changed;
  std::ranges::set_symmetric_difference(*before, *now, std::back_inserter(changed), ObjectLess());
  for (const ObjectSlot& slot : changed) config_.on_change(slot.object->Key());
}

void SharedWatch::OnProgress() {
  if (reflector_->status().state == DemandState::kSynced) OnHealth();
  for (const auto& member : members_) member->Progress();
}

void SharedWatch::OnHealth() {
  failures_ = 0;
  unanswered_periods_ = 0;
  periods_allowed_ = 1;
  for (const auto& member : members_) member->SetHadNoResponse(false);
}

void SharedWatch::OnNoResponse() {
  sponsor_->SetHadNoResponse(true);
  if (++unanswered_periods_ < periods_allowed_) return;
  WatchMember* successor = Successor();
  if (successor == nullptr || successor->IsBackingOff()) return;
  if (!successor->had_no_response()) return StepDownFor(*successor);
  // All members have been tried. The present request is the oldest, so it gets the longer time
  // first.
  const auto longest =
      static_cast<int>(config_.reflector.max_response_timeout / config_.reflector.response_timeout);
  periods_allowed_ = std::max(1, std::min(periods_allowed_ * 4, longest));
  for (const auto& member : members_) member->SetHadNoResponse(member.get() == sponsor_);
}

void SharedWatch::OnFailure(const Reflector::Failure& failure) {
  if (failure.is_outage) config_.on_outage();
  if (failure.is_silence) return OnNoResponse();
  // A kind that is absent is absent for all members.
  if (reflector_->status().state == DemandState::kKindAbsent) return;
  ++failures_;
  sponsor_->BackOffUntil(sponsor_->client().loop().clock().TimeNow() + failure.wait);
  // Another member need not wait for the rest of this member's backoff.
  const bool waits_long = failure.wait > config_.reflector.response_timeout;
  if (failures_ < config_.max_sponsor_failures && !failure.is_long && !waits_long) return;
  // A member that the server has asked to wait does not try again before that time.
  WatchMember* successor = Successor();
  if (successor == nullptr || successor->IsBackingOff()) return;
  if (reflector_->FitsIn(successor->client())) StepDownFor(*successor);
}

void SharedWatch::OnStatus(const DemandStatus& status) {
  const absl::Time now = sponsor_->client().loop().clock().TimeNow();
  if (status.state == DemandState::kSynced) {
    live_since_ = now;
  } else {
    // A watch of objects that seldom change brings no events although it works.
    if (now - live_since_ >= config_.reflector.response_timeout) OnHealth();
    live_since_ = absl::InfiniteFuture();
  }
  // If the sponsor's own review was denied before, its reason stays.
  if (status.state == DemandState::kForbidden &&
      sponsor_->proof().state() != AccessProof::State::kDenied) {
    sponsor_->proof().NoteDenied(WatchDenied(sponsor_->client(), config_.spec, status.reason));
  }
  Rebalance();
  for (const auto& member : members_) Update(*member);
  AdaptFollowers();
  PurgeIfDenied();
}

void SharedWatch::OnEvicted() { Purge(); }

void SharedWatch::OnOutageEnd() {
  if (reflector_ != nullptr) reflector_->OnOutageEnd();
}

void SharedWatch::ReadAgain() {
  if (reflector_ != nullptr) reflector_->ReadAgain();
}

void SharedWatch::Purge() {
  EndFollowers();
  for (const auto& member : members_) member->Purge();
  stream_->Purge();
  reflector_->OnPurged();
  for (const auto& member : members_) member->UseStore(stream_->store());
}

bool SharedWatch::SponsorCannotWatch() const {
  return sponsor_->proof().state() == AccessProof::State::kDenied ||
         LacksIdentity(reflector_->status().reason);
}

WatchMember* SharedWatch::Successor() const {
  WatchMember* best = nullptr;
  const auto rank = [](const WatchMember& m) {
    return std::pair(m.IsBackingOff(), m.had_no_response());
  };
  for (const auto& member : members_) {
    if (member.get() == sponsor_ || !member->HasDemands()) continue;
    if (member->proof().state() != AccessProof::State::kProven) continue;
    if (best == nullptr || rank(*member) < rank(*best)) best = member.get();
  }
  return best;
}

WatchMember* SharedWatch::Heir() const {
  if (WatchMember* const successor = Successor()) return successor;
  WatchMember* best = nullptr;
  const auto rank = [](const WatchMember& m) {
    return std::pair(m.proof().state() == AccessProof::State::kDenied, !m.HasDemands());
  };
  for (const auto& member : members_) {
    if (member.get() == sponsor_) continue;
    if (best == nullptr || rank(*member) < rank(*best)) best = member.get();
  }
  return best;
}

void SharedWatch::Rebalance() {
  if (sponsor_ == nullptr || !SponsorCannotWatch()) return;
  WatchMember* successor = Successor();
  if (successor != nullptr) StepDownFor(*successor);
}

void SharedWatch::StepDownFor(WatchMember& successor) {
  WatchMember& before = *sponsor_;
  HandOverTo(successor);
  // The watch was its proof; from now on it proves its access by reviews.
  if (before.proof().state() == AccessProof::State::kDenied) {
    before.proof().RetryLater();
  } else {
    before.proof().CheckSoon();
  }
}

void SharedWatch::HandOverTo(WatchMember& member) {
  sponsor_ = &member;
  failures_ = 0;
  unanswered_periods_ = 0;
  handovers_.Increment();
  if (member.proof().state() != AccessProof::State::kDenied) {
    return reflector_->UseClient(member.client());
  }
  // From now on the watch tries again, and not the proof.
  const absl::Status why = member.proof().reason();
  member.proof().NoteDenied(why);
  reflector_->UseDeniedClient(member.client(), why);
}

void SharedWatch::Update(WatchMember& member) {
  member.Update(status(), &member == sponsor_, filled());
}

}  // namespace mandate
