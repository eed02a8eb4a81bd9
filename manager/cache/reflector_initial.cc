// A Reflector gets the whole state by a watch that begins with it, or by a list.
#include <utility>

#include "manager/cache/reflector.h"
#include "manager/cache/watch_errors.h"
#include "manager/object/api_error.h"

namespace mandate {

void Reflector::StartPass() {
  last_attempt_ = loop_.clock().TimeNow();
  if (filled_) counts_->relists.Increment();
  options_.watch_list ? StartStreamingList() : StartList();
}

void Reflector::StartStreamingList() {
  if (!MayStart()) return;
  phase_ = Phase::kStreamingList;
  initial_ = std::make_unique<InitialState>(loop_, options_.initial_events_silence, [this] {
    OnStreamingListFailed(
        absl::DeadlineExceededError("the initial events stopped before the final bookmark"));
  });
  const std::string least = version_unavailable_ ? "" : version_;
  store_.BeginRead(/*consistent=*/least.empty());
  OpenWatch({.resource_version = least, .initial_events = true, .timeout = {}});
}

void Reflector::OnInitialEvent(WatchEvent event) {
  NoteProgress();
  if (event.initial_events_end) return OnInitialEventsEnd(std::move(event.resource_version));
  const absl::Status taken = initial_->Take(std::move(event));
  if (!taken.ok()) return OnStreamingListFailed(taken);
  const absl::Status admitted = Admit(initial_->bytes());
  if (!admitted.ok()) OnTooManyBytes(admitted);
}

void Reflector::OnInitialEventsEnd(std::string resource_version) {
  ReflectorTarget::Content content = initial_->Release();
  initial_.reset();
  AwaitEvents();
  bookmarks_seen_ = true;  // the end was one
  phase_ = Phase::kWatching;
  versions_ordered_ = true;
  Replace(std::move(content), std::move(resource_version));
  if (phase_ == Phase::kWatching) SetStatus(DemandState::kSynced, absl::OkStatus());
}

void Reflector::OnStreamingListFailed(const absl::Status& why) {
  StopInPlace();
  log_.Debug(2, "Streaming list failed", {{"error", why}});
  // A list would not help: reads need the right to watch, too.
  if (IsWorthRepeating(why) || absl::IsPermissionDenied(why)) return Fail(why, Next::kPass);
  // One more try, without a resourceVersion. If the server gives the same answer, a list follows.
  if (IsExpired(why) && !std::exchange(version_unavailable_, true)) return Continue(Next::kPass);
  Continue(Next::kList);
}

void Reflector::StartList() {
  StopInPlace();
  if (!MayStart()) return;
  phase_ = Phase::kListing;
  AwaitAnswer("list");
  store_.BeginRead(/*consistent=*/true);
  counts_->lists.Increment();
  pager_ = std::make_unique<ListPager>(
      *client_, spec_,
      ListPager::Options{
          .page_size = options_.page_size,
          .max_pages = options_.max_pages,
          .max_item_bytes = options_.max_item_bytes,
          .max_list_bytes = options_.max_bytes,
          .page_timeout = options_.page_timeout,
          .encoding = encoding_,
          .pack = [this](ObjectPtr object) { return store_.Pack(std::move(object)); },
          .admit =
              [this](size_t bytes) {
                ReturnPlace();
                NoteProgress();
                return Admit(bytes);
              }});
  pager_->Start([this](absl::StatusOr<ListPager::Result> result) { OnList(std::move(result)); });
}

void Reflector::OnList(absl::StatusOr<ListPager::Result> result) {
  pager_.reset();
  if (place_ != nullptr) place_->NoteAnswer();
  response_timer_.Cancel();
  if (!result.ok()) {
    if (IsLocalLimit(result.status())) counts_->overflows.Increment();
    account_.Set(store_.bytes().stored).IgnoreError();  // no more than it had
    Fail(result.status(), Next::kPass);
    return MakeRoom();
  }
  place_.reset();
  Replace(std::move(result->content), std::move(result->resource_version));
  Begin(Next::kWatch);
}

void Reflector::Replace(ReflectorTarget::Content content, std::string resource_version) {
  version_unavailable_ = false;
  streaming_cuts_ = 0;
  version_ = resource_version;
  filled_ = true;
  const ReflectorTarget::Replaced replaced =
      store_.Replace(std::move(content), std::move(resource_version), most_events_);
  counts_->SetStore(store_.size(), store_.bytes());
  account_.Set(store_.bytes().stored).IgnoreError();  // was admitted as it came
  if (replaced.before != nullptr) owner_.OnReplaced(replaced.before);
  if (!replaced.events.empty()) owner_.OnObjects(replaced.events);
  owner_.OnProgress();
  if (replaced.is_restored && !reads_again_) owner_.OnRestored();
  reads_again_ = false;
}

void Reflector::ReadAgain() {
  reads_again_ = true;
  version_unavailable_ = true;
  if (!filled_ || phase_ == Phase::kStreamingList || phase_ == Phase::kListing) return;
  if (phase_ == Phase::kWaiting) {
    next_ = Next::kPass;
    return;
  }
  Stop();
  RestClient* const client = client_;
  SetStatus(DemandState::kStale,
            absl::UnavailableError("the API server has gone back to an earlier resource version, "
                                   "as after its restoration from a backup; the state of now is "
                                   "being read"),
            /*failed=*/true);
  if (client_ == client && phase_ == Phase::kIdle) Begin(Next::kPass);
}

}  // namespace mandate
