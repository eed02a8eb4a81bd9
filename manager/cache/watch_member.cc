#include "manager/cache/watch_member.h"

#include <algorithm>
#include <utility>

#include "manager/core/log_reason.h"
#include "manager/core/strings.h"

namespace mandate {

WatchMember::WatchMember(Config config)
    : component_(config.component),
      scope_(std::move(config.scope)),
      slice_(config.slice),
      log_(config.log.With("component", config.component.client.component())),
      proof_(std::move(config.proof), config.component.client),
      linger_(config.component.client.loop()) {
  since_ = client().loop().clock().TimeNow();
  UseStore(std::move(config.store));
}

void WatchMember::UseStore(std::shared_ptr<ObjectStore> store) {
  store_ = std::move(store);
  frozen_ = nullptr;
  source_ = std::make_shared<const DemandFeed::Source>(
      DemandFeed::Source{.loop = component_.client.loop(),
                         .store = store_,
                         .slice = slice_,
                         .slices = component_.counts.slices});
  for (const auto& index : scope_->indexes()) store_->AddIndex(index);
  scope_->Set(status_, nullptr);
}

WatchMember::~WatchMember() {
  scope_->Set({DemandState::kPending, absl::UnavailableError("the watch has been closed")},
              nullptr);
  for (const auto& index : scope_->indexes()) store_->RemoveIndex(*index);
  // Reads that wait for own writes will not see them here.
  Progress();
}

void WatchMember::UseProof(const AccessProof* wider) {
  wider_proof_ = wider;
  proof_.Reset();
}

void WatchMember::Add(std::shared_ptr<DemandFeed> feed) {
  feeds_.push_back(feed);
  component_.counts.demands.Increment();
  // Later demands get what the others have got so far.
  if (status_.state == DemandState::kSynced) {
    feed->Attach(source_, status_);
  } else {
    feed->SetStatus(status_);
  }
}

void WatchMember::Remove(const DemandFeed& feed) {
  const size_t removed = std::erase_if(feeds_, [&](const auto& f) { return f.get() == &feed; });
  component_.counts.demands.Decrement(static_cast<double>(removed));
}

std::set<std::string> WatchMember::Flows() const {
  std::set<std::string> flows;
  for (const auto& feed : feeds_) flows.merge(feed->Flows());
  return flows;
}

void WatchMember::Pause(DemandFeed& feed) {
  feed.Pause(feed.attached() ? store_->Snapshot() : nullptr);
}

void WatchMember::Resume(DemandFeed& feed) {
  feed.Resume();
  if (status_.state == DemandState::kSynced) feed.Attach(source_, status_);
}

std::shared_ptr<const ObjectStore> WatchMember::Readable(bool filled) {
  const bool was_readable =
      std::exchange(is_readable_, filled && access().state() == AccessProof::State::kProven);
  if (access().state() != AccessProof::State::kExpired) {
    frozen_ = nullptr;
    return access().state() == AccessProof::State::kProven ? store_ : nullptr;
  }
  // Without a proof it learns nothing more, not even what the watch brings first.
  if (!was_readable) return frozen_;
  ObjectStore::Content content;
  content.objects = *store_->Snapshot();
  for (const ObjectSlot& slot : content.objects) content.bytes.Add(*slot.object);
  const auto frozen = std::make_shared<ObjectStore>();
  frozen->Replace(std::move(content), store_->resource_version(), /*most_events=*/0);
  for (const auto& index : scope_->indexes()) frozen->AddIndex(index);
  return frozen_ = frozen;
}

DemandStatus WatchMember::See(const DemandStatus& watch, bool is_sponsor, bool filled) const {
  switch (access().state()) {
    case AccessProof::State::kDenied:
      return {DemandState::kForbidden, WhyDenied(), /*failed=*/true};
    case AccessProof::State::kExpired:
      return {filled ? DemandState::kStale : DemandState::kPending, access().reason(),
              /*failed=*/true};
    case AccessProof::State::kUnknown:
      // The sponsor's proof makes it synced, in the same moment.
      if (!is_sponsor || watch.state == DemandState::kSynced) {
        return {DemandState::kPending, access().reason(), access().failing()};
      }
      // Objects from before, for which there is no proof.
      if (watch.state == DemandState::kStale) {
        return {DemandState::kPending, watch.reason, watch.failed};
      }
      return watch;
    case AccessProof::State::kProven:
      break;
  }
  if (watch.state != DemandState::kForbidden) return watch;
  return {filled ? DemandState::kStale : DemandState::kPending,
          absl::UnavailableError(StrCat("the watch of ", scope_->spec().ToString(),
                                        " is being handed over to ", client().component()))};
}

absl::Status WatchMember::WhyDenied() const {
  const absl::Status& why = access().reason();
  if (!proof_.NamespaceIsGone()) return why;
  return absl::Status(why.code(), StrCat("namespace ", scope_->spec().ns, " does not exist, and ",
                                         AsStd(why.message())));
}

void WatchMember::Update(const DemandStatus& watch, bool is_sponsor, bool filled) {
  DemandStatus status = See(watch, is_sponsor, filled);
  const bool proven = access().state() == AccessProof::State::kProven;
  // Reads first: from now on they return only what the proof covers.
  scope_->Set(status, Readable(filled));
  const bool denied = access().state() == AccessProof::State::kDenied;
  DemandFeed::Content held;
  for (const auto& feed : feeds_) {
    if (proven) break;
    if (feed->attached() && held == nullptr) held = store_->Snapshot();
    denied ? feed->Purge(held) : feed->Detach(held);
  }
  SetStatus(std::move(status));
  Progress();
}

void WatchMember::SetStatus(DemandStatus status) {
  if (status.state != status_.state) {
    logged_.clear();
    since_ = client().loop().clock().TimeNow();
  }
  // Reasons may alternate at each retry: each kind of reason is logged once while a state lasts.
  const bool is_new = logged_.insert({status.reason.code(), status.failed}).second;
  if (is_new && !status.EqualsIgnoringText(status_)) Log(status);
  status_ = status;
  // A sink may add nothing here and now: demands are made by tasks of the loop.
  for (const auto& feed : feeds_) {
    if (status.state == DemandState::kSynced) {
      feed->Attach(source_, status);
    } else {
      feed->SetStatus(status);
    }
  }
}

// A sink logs the state itself; a second line is not needed.
void WatchMember::Log(const DemandStatus& status) const {
  const Logger::Fields fields = {{"state", ToString(status.state)},
                                 {"reason", LogReason(status.reason)}};
  const bool told =
      std::any_of(feeds_.begin(), feeds_.end(), [](const auto& feed) { return feed->has_sink(); });
  constexpr char kMessage[] = "Demand changed its state";
  told ? log_.Debug(1, kMessage, fields) : log_.Info(kMessage, fields);
}

void WatchMember::Purge() {
  DemandFeed::Content held;
  for (const auto& feed : feeds_) {
    if (feed->attached() && held == nullptr) held = store_->Snapshot();
    feed->Purge(held);
  }
}

void WatchMember::Deliver(const std::vector<ObjectEvent>& events) {
  for (const auto& feed : feeds_) feed->Deliver(events);
}

void WatchMember::CatchUp(const DemandFeed::Content& before) {
  for (const auto& feed : feeds_) feed->CatchUp(before);
}

}  // namespace mandate
