#include "manager/cache/reflector.h"

#include <algorithm>
#include <utility>

#include "manager/cache/watch_errors.h"
#include "manager/core/log_reason.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {

Reflector::Reflector(Config config, RestClient& client, ReflectorTarget& store, Owner& owner)
    : spec_(std::move(config.spec)),
      options_(config.options),
      most_events_(config.most_events),
      encoding_(options_.protobuf ? spec_.kind.encoding : Encoding::kJson),
      random_(config.random),
      metrics_(config.metrics),
      log_(config.log.With("watch", spec_.ToString())),
      store_(store),
      owner_(owner),
      client_(&client),
      loop_(client.loop()),
      counts_(std::make_unique<WatchMetrics>(metrics_, spec_, client.component())),
      probes_(config.probes),
      flows_(std::move(config.flows)),
      account_(config.budget, client.component(),
               {.tenants = flows_,
                .evict =
                    [this](const absl::Status& why) {
                      evict_timer_.SetAfter(absl::ZeroDuration(), [this, why] { OnEvicted(why); });
                    }}),
      namespace_is_gone_(std::move(config.namespace_is_gone)),
      closer_(config.closer),
      pool_(StrCat(spec_.kind.plural, ".", spec_.kind.group)),
      status_{DemandState::kPending, absl::UnavailableError("the first list is not complete yet")},
      timer_(loop_),
      evict_timer_(loop_),
      response_timer_(loop_),
      backoff_(options_, random_) {}

Reflector::~Reflector() {
  if (stream_ != nullptr) closer_.Close(std::move(stream_));
  Stop();
}

void Reflector::Start() { Begin(Next::kPass); }

void Reflector::StartFrom(std::string version) {
  version_ = std::move(version);
  filled_ = true;
  status_ = {DemandState::kStale, absl::UnavailableError("the watch is being opened again")};
  counts_->SetStore(store_.size(), store_.bytes());
  account_.Set(store_.bytes().stored).IgnoreError();  // a wider watch held as much
  phase_ = Phase::kWaiting;
  next_ = Next::kWatch;
  probe_ = probes_.Ask(
      client_->component(), flows_(), ProbeBudget::Urgency::kReopen, [this] { GoOn(); }, pool_);
}

void Reflector::SwitchTo(RestClient& client) {
  Stop();
  evict_timer_.Cancel();
  client_ = &client;
  account_.MoveTo(client.component());
  counts_ = std::make_unique<WatchMetrics>(metrics_, spec_, client.component());
  counts_->SetStore(store_.size(), store_.bytes());
  // The common backoff goes on, because in an outage another identity fails, too.
  backoff_.ResetAccess();
  hinted_ = false;
  log_.Info("Watch handed over", {{"component", client.component()}});
}

void Reflector::UseClient(RestClient& client) {
  SwitchTo(client);
  Begin(!filled_ || version_unavailable_ ? Next::kPass : Next::kWatch);
  if (status_.state == DemandState::kSynced) return;
  SetStatus(filled_ ? DemandState::kStale : DemandState::kPending,
            absl::UnavailableError("the watch is being opened under another identity"));
}

void Reflector::Forbid(const absl::Status& why) {
  Stop();
  Fail(why, Next::kPass);
}

void Reflector::OnPurged() {
  filled_ = false;
  version_.clear();
  version_unavailable_ = false;
  counts_->SetStore(store_.size(), store_.bytes());
  account_.Set(0).IgnoreError();  // no more than it had
  evict_timer_.Cancel();
  next_ = Next::kPass;
  // A watch that is being opened would continue a content that is gone.
  if (phase_ != Phase::kOpening) return;
  StopInPlace();
  Continue(Next::kPass);
}

void Reflector::Stop() {
  OnWatchTurn();
  pager_.reset();
  stream_.reset();
  initial_.reset();
  account_.Close();
  account_.Set(store_.bytes().stored).IgnoreError();  // no more than it had
  timer_.Cancel();
  probe_.reset();
  place_.reset();
  response_timer_.Cancel();
  counts_->SetOpen(false);
  phase_ = Phase::kIdle;
}

void Reflector::StartWatch() {
  timer_.Cancel();
  probe_.reset();
  if (!MayStart()) return;
  phase_ = Phase::kOpening;
  OpenWatch({.resource_version = version_, .initial_events = false, .timeout = {}});
}

void Reflector::OpenWatch(const WatchQuery& query) {
  last_attempt_ = loop_.clock().TimeNow();
  AwaitAnswer("watch");
  WatchQuery full = query;
  full.timeout = options_.min_watch_timeout * std::uniform_real_distribution<double>(1, 2)(random_);
  versions_ordered_ = !query.resource_version.empty() && query.resource_version != "0";
  counts_->watches.Increment();
  stream_ = std::make_unique<WatchStream>(
      *client_, WatchRequest(spec_, encoding_, full),
      WatchStream::Options{.max_frame_bytes = options_.max_frame_bytes,
                           .max_queue_bytes = options_.max_queue_bytes,
                           .lifetime = full.timeout + options_.watch_grace,
                           .account = &account_},
      static_cast<WatchStream::Observer&>(*this));
}

void Reflector::OnWatchOpen() {
  ReturnPlace();
  EnterBudget();
  counts_->SetOpen(true);
  backoff_.Granted();
  hinted_ = false;
  if (phase_ == Phase::kOpening) {
    AwaitEvents();
    phase_ = Phase::kWatching;
    SetStatus(DemandState::kSynced, absl::OkStatus());
  } else {
    NoteProgress();
    // The earlier failure is over.
    SetStatus(filled_ ? DemandState::kStale : DemandState::kPending,
              absl::UnavailableError("the initial state is not complete yet"));
  }
  owner_.OnAccess();
}

void Reflector::OnWatchEvent(WatchEvent event) {
  if (event.type == WatchEventType::kUnknown) counts_->undecodable.Increment();
  const bool puts = event.type == WatchEventType::kAdded || event.type == WatchEventType::kModified;
  if (puts) event.object = store_.Pack(std::move(event.object));
  if (event.type == WatchEventType::kDeleted) {
    event.object = store_.Trimmed(std::move(event.object));
  }
  if (phase_ == Phase::kStreamingList) return OnInitialEvent(std::move(event));
  std::vector<ObjectEvent> changes;
  switch (event.type) {
    case WatchEventType::kError:
      return OnWatchError(event.error);
    case WatchEventType::kBookmark:
      bookmarks_seen_ = true;
      break;
    case WatchEventType::kAdded:
    case WatchEventType::kModified:
      changes = store_.Put(std::move(event.object));
      break;
    case WatchEventType::kDeleted:
      changes = store_.Remove(std::move(event.object));
      break;
    case WatchEventType::kUnknown:
      return;
  }
  OnApplied(event.type, std::move(event.resource_version), changes);
}

void Reflector::OnApplied(WatchEventType type, std::string resource_version,
                          const std::vector<ObjectEvent>& changes) {
  ++uncounted_events_;
  // A watch that starts at any version begins with ADDED events in no order. So their versions do
  // not tell the version of the store.
  if (type != WatchEventType::kAdded) versions_ordered_ = true;
  if (versions_ordered_) MoveTo(std::move(resource_version));
  if (!changes.empty()) owner_.OnObjects(changes);
  owner_.OnProgress();
  if (phase_ != Phase::kWatching) return;
  const absl::Status admitted = Admit(store_.bytes().stored);
  if (!admitted.ok()) OnTooManyBytes(admitted);
}

void Reflector::OnWatchTurn() {
  NoteProgress();
  counts_->events.Increment(std::exchange(uncounted_events_, 0));
  counts_->SetStore(store_.size(), store_.bytes());
}

void Reflector::OnWatchEnd(const WatchStream::End& end) {
  using Kind = WatchStream::End::Kind;
  const Phase phase = phase_;
  stream_.reset();
  if (place_ != nullptr) place_->NoteAnswer();
  response_timer_.Cancel();
  counts_->SetOpen(false);
  if (end.kind == Kind::kOverflow) counts_->overflows.Increment();
  if (end.kind == Kind::kInvalid) {
    counts_->undecodable.Increment();
    log_.Error("Watch ended: it received an invalid event", {{"error", end.status}});
  }
  if (phase == Phase::kStreamingList) {
    const bool cut = end.kind == Kind::kClosed && end.events > 0;
    if (!cut) return OnStreamingListFailed(end.status);
    Stop();
    // A proxy may end streams before they are complete. Pages are shorter.
    if (++streaming_cuts_ >= 2) return Begin(Next::kList);
    return Fail(absl::UnavailableError("the watch ended before its initial state was complete"),
                Next::kPass, /*is_answered=*/true);
  }
  switch (end.kind) {
    case Kind::kNeverOpened:
      return Fail(end.status, IsWorthRepeating(end.status) ? Next::kWatch : Next::kPass);
    case Kind::kOverflow:
      log_.Error("Watch ended: it exceeds a limit", {{"error", end.status}});
      Fail(end.status, Next::kPass);
      return MakeRoom();
    case Kind::kInvalid:
      return Fail(absl::UnavailableError(
                      StrCat("the watch received an invalid event: ", end.status.message())),
                  Next::kPass, /*is_answered=*/true);
    case Kind::kClosed:
      backoff_.AfterWatch(end.duration);
      return OnWatchClosed(end);
  }
}

void Reflector::OnWatchClosed(const WatchStream::End& end) {
  const bool is_short = end.duration < options_.min_watch_duration;
  if (is_short && end.events == 0) {
    return Fail(absl::UnavailableError("the watch ended at once, without an event"), Next::kPass,
                /*is_answered=*/true);
  }
  short_watches_ = is_short ? short_watches_ + 1 : 0;
  if (short_watches_ > options_.max_consecutive_short_watches) {
    return Fail(absl::UnavailableError("the watch repeatedly ends within a second"), Next::kWatch,
                /*is_answered=*/true);
  }
  Begin(Next::kWatch);
}

void Reflector::OnWatchError(const absl::Status& error) {
  Stop();
  log_.Debug(2, "Watch ended with an error", {{"error", error}});
  Fail(error, IsTooManyRequests(error) ? Next::kWatch : Next::kPass);
}

void Reflector::Fail(const absl::Status& why, Next next, bool is_answered) {
  if (IsNotAcceptable(why) && std::exchange(encoding_, Encoding::kJson) != Encoding::kJson) {
    return Continue(next);
  }
  DemandState state = filled_ ? DemandState::kStale : DemandState::kPending;
  absl::Duration delay;
  // A denial by our own guard has this code, too.
  const bool forbidden = absl::IsPermissionDenied(why);
  const bool absent = phase_ == Phase::kListing && mandate::IsNotFound(why);
  const absl::Status reason = Explain(spec_.kind, why);
  if (forbidden || absent) {
    state = forbidden ? DemandState::kForbidden : DemandState::kKindAbsent;
    delay = forbidden ? backoff_.WhileForbidden() : backoff_.WhileAbsent();
    if (std::exchange(hinted_, false)) delay = options_.retry_now_interval;
    next = Next::kPass;
  } else {
    delay = backoff_.AfterFailure(why, loop_.clock().TimeNow());
  }
  const bool is_long = IsLong(why);
  waits_for_answer_ = !is_answered && IsNoConnection(why);
  WaitFor(delay, next);
  RestClient* const client = client_;
  SetStatus(state, reason, /*failed=*/true);
  if (client_ == client && phase_ == Phase::kWaiting) {
    owner_.OnFailure({.wait = delay, .is_long = is_long, .is_outage = waits_for_answer_});
  }
}

void Reflector::AwaitAnswer(std::string_view verb) {
  // An eviction that is due is of this attempt, too.
  if (!evict_timer_.IsSet()) account_.Renew();
  awaited_ = verb;
  NoteProgress();
  response_timer_.SetAfter(options_.response_timeout, [this] { OnNoResponse(); });
}

void Reflector::NoteProgress() { last_progress_ = loop_.clock().TimeNow(); }

void Reflector::AwaitEvents() {
  NoteProgress();
  response_timer_.SetAfter(options_.max_watch_silence, [this] { OnQuietWatch(); });
}

void Reflector::OnQuietWatch() {
  const absl::Duration left = last_progress_ + options_.max_watch_silence - loop_.clock().TimeNow();
  if (left > absl::ZeroDuration()) {
    return response_timer_.SetAfter(left, [this] { OnQuietWatch(); });
  }
  Stop();
  // A server that has never sent a bookmark may have had no event to send.
  if (!bookmarks_seen_) return Begin(Next::kWatch);
  RestClient* const client = client_;
  SetStatus(DemandState::kStale,
            absl::UnavailableError(StrCat(client_->component(), "'s watch of ", spec_.ToString(),
                                          " has received no event and no bookmark for ",
                                          absl::FormatDuration(options_.max_watch_silence))),
            /*failed=*/true);
  if (client_ != client || phase_ != Phase::kIdle) return;
  // A new watch may be stuck as well, and would look the same. A pass ends only with its answer.
  Begin(Next::kPass);
  owner_.OnFailure({.wait = options_.response_timeout, .is_long = true, .is_silence = true});
}

void Reflector::OnNoResponse() {
  const absl::Duration left = last_progress_ + options_.response_timeout - loop_.clock().TimeNow();
  const bool is_silent = left <= absl::ZeroDuration();
  response_timer_.SetAfter(is_silent ? options_.response_timeout : left,
                           [this] { OnNoResponse(); });
  if (!is_silent) return;
  RestClient* const client = client_;
  // A 403 or 404 was an answer. It stays until another one comes.
  if (status_.state != DemandState::kForbidden && status_.state != DemandState::kKindAbsent) {
    SetStatus(
        filled_ ? DemandState::kStale : DemandState::kPending,
        absl::UnavailableError(StrCat(
            "the server has sent no data for ", absl::FormatDuration(options_.response_timeout),
            " in response to ", client_->component(), "'s ", awaited_, " of ", spec_.ToString())),
        /*failed=*/true);
  }
  // The request goes on, unless another client takes over.
  if (client_ == client) {
    owner_.OnFailure({.wait = options_.response_timeout, .is_long = true, .is_silence = true});
  }
}

void Reflector::SetStatus(DemandState state, absl::Status reason, bool failed) {
  if (state == status_.state && reason == status_.reason && failed == status_.failed) return;
  // There is one log line per transition, because the reasons of one state may alternate.
  if (state != status_.state) {
    log_.Debug(1, "Watch changed its state",
               {{"state", ToString(state)},
                {"component", client_->component()},
                {"reason", LogReason(reason)}});
  }
  status_ = {state, std::move(reason), failed};
  owner_.OnStatus(status_);
}

void Reflector::MoveTo(std::string resource_version) {
  if (resource_version.empty()) return;
  version_ = resource_version;
  store_.SetResourceVersion(std::move(resource_version));
}

}  // namespace mandate
