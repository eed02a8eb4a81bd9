#include "manager/controller/rest_event_recorder.h"

#include <algorithm>
#include <list>
#include <optional>
#include <random>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "manager/controller/event_object.h"
#include "manager/controller/fair_queue.h"
#include "manager/core/backoff.h"
#include "manager/core/mutex.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
// It lives on the loop, except for the inbox.
class RestEventRecorder::Core : public std::enable_shared_from_this<Core> {
 public:
  explicit Core(Options options)
      : options_(std::move(options)),
        reporter_{std::string(options_.client->component()), options_.instance},
        log_(options_.log.With("component", options_.client->component())),
        created_(Total("created")),
        updated_(Total("updated")),
        failed_(Total("failed")),
        dropped_(Total("dropped")),
        random_(options_.seed),
        queue_({.max_in_flight = options_.max_in_flight, .max_slow = options_.max_slow}) {}

  // Any thread.
  void Add(EventContent content);
  void Flush(absl::Time deadline, absl::AnyInvocable<void() &&> done);

  // On the loop, or after it has ended.
  void Close();

 private:
  struct Series {
    EventContent content;
    std::string flow;
    eventsv1::Event event;
    int count = 0;         // observed
    int told = 0;          // of which the server knows
    bool queued = false;   // or being sent
    bool slow = false;     // being sent, for long
    bool hung = false;     // the last try was slow, and failed
    Backoff backoff{{}};   // of its own failures
    int tries = 0;         // that failed, of the present request
    absl::Time last_seen;  // monotonic
    absl::Time last_wall;
    absl::Time next_update;
    std::unique_ptr<Loop::Timer> timer;          // for next_update, or the next try
    std::unique_ptr<Loop::Timer> timeout_timer;  // being sent
  };
  using SeriesList = std::list<Series>;  // the one seen longest ago first

  prometheus::Counter& Total(const char* result) {
    return options_.metrics->Counter(
        "mandate_events_total", "Total number of recorded events, by outcome",
        {{"identity", std::string(options_.client->component())}, {"result", result}});
  }
  Loop& loop() const { return options_.client->loop(); }
  absl::Time Now() const { return loop().clock().TimeNow(); }

  void Drain();
  void Observe(EventContent content);
  void Expire();
  // Whether it has observations that are not yet reported.
  static bool IsBusy(const Series& series) { return series.queued || series.timer != nullptr; }
  void Tell(Series& series);
  void Enqueue(Series& series);
  void EnqueueAt(absl::Time when, Series& series);
  void SendNext();
  bool HasCapacityFor(const Series& series);
  void OnAnswer(Series& series, const absl::Status& status, int count);
  void TryAgain(Series& series, const absl::Status& status);
  void Pause(const absl::Status& status);
  void Fail(Series& series, const absl::Status& status);
  // Events that are not sent yet.
  size_t unsent() const { return queue_.waiting() + queue_.in_flight() + retrying_; }
  void Remove(SeriesList::iterator series);
  void FinishFlushIfEmpty();

  const Options options_;
  const EventReporter reporter_;
  const Logger log_;
  prometheus::Counter& created_;
  prometheus::Counter& updated_;
  prometheus::Counter& failed_;
  prometheus::Counter& dropped_;
  std::mt19937_64 random_;
  std::stop_source stop_;

  bool closed_ = false;
  SeriesList series_;
  absl::flat_hash_map<std::string, SeriesList::iterator> by_key_;
  FairQueue<Series*> queue_;
  size_t retrying_ = 0;  // series that wait for their next try
  Backoff backoff_{{}};  // of the server's failures
  std::unique_ptr<Loop::Timer> pause_timer_, flush_timer_;
  absl::Time pause_end_ = absl::InfinitePast();
  absl::AnyInvocable<void() &&> flushed_;
  absl::flat_hash_map<absl::StatusCode, absl::Time> logged_;  // what failed so, and when

  Mutex mutex_;
  std::vector<EventContent> inbox_ ABSL_GUARDED_BY(mutex_);
};

void RestEventRecorder::Core::Add(EventContent content) {
  bool first;
  {
    MutexLock lock(mutex_);
    if (inbox_.size() >= options_.max_queue) {
      dropped_.Increment();
      return;
    }
    first = inbox_.empty();
    inbox_.push_back(std::move(content));
  }
  if (first) {
    loop().Post([weak = weak_from_this()] {
      if (auto core = weak.lock()) core->Drain();
    });
  }
}

void RestEventRecorder::Core::Drain() {
  std::vector<EventContent> inbox;
  {
    MutexLock lock(mutex_);
    inbox.swap(inbox_);
  }
  if (closed_) return;
  for (EventContent& content : inbox) Observe(std::move(content));
  SendNext();
}

void RestEventRecorder::Core::Observe(EventContent content) {
  Expire();
  std::string key = content.SeriesKey();
  auto it = by_key_.find(key);
  if (it == by_key_.end()) {
    if (series_.size() >= options_.max_series && !IsBusy(series_.front())) {
      Remove(series_.begin());
    }
    Series series;
    series.last_wall = loop().clock().WallTimeNow();
    series.event = EventObject(content, reporter_, series.last_wall);
    series.flow = StrCat(series.event.metadata().namespace_(), "/", content.reason);
    series.content = std::move(content);
    if (!HasCapacityFor(series)) return dropped_.Increment();
    it = by_key_.emplace(std::move(key), series_.insert(series_.end(), std::move(series))).first;
  } else {
    series_.splice(series_.end(), series_, it->second);
  }
  Series& series = *it->second;
  ++series.count;
  series.last_seen = Now();
  series.last_wall = loop().clock().WallTimeNow();
  if (!IsBusy(series)) Tell(series);
}

bool RestEventRecorder::Core::HasCapacityFor(const Series& series) {
  if (series_.size() >= options_.max_series) return false;
  // Events that wait for a retry do not take room from others.
  if (queue_.waiting() + queue_.in_flight() < options_.max_queue) return true;
  const std::optional<Series*> other = queue_.EvictFromLongestFlow(series.flow);
  if (!other.has_value()) return false;
  dropped_.Increment();
  Remove(by_key_.find((*other)->content.SeriesKey())->second);
  return true;
}

// Sends the series as soon as it may be sent.
void RestEventRecorder::Core::Tell(Series& series) {
  if (series.next_update <= Now()) return Enqueue(series);
  EnqueueAt(series.next_update, series);
}

void RestEventRecorder::Core::EnqueueAt(absl::Time when, Series& series) {
  series.timer = loop().RunAt(when, [this, &series] {
    series.timer.reset();
    Enqueue(series);
    SendNext();
  });
}

void RestEventRecorder::Core::Expire() {
  while (!series_.empty() && series_.front().last_seen + options_.series_window < Now() &&
         !IsBusy(series_.front())) {
    Remove(series_.begin());
  }
}

void RestEventRecorder::Core::Remove(SeriesList::iterator series) {
  by_key_.erase(series->content.SeriesKey());
  series_.erase(series);
}

void RestEventRecorder::Core::Enqueue(Series& series) {
  if (series.tries > 0 && !series.queued) --retrying_;
  series.queued = true;
  queue_.Push(series.flow, &series, series.hung);
}

void RestEventRecorder::Core::SendNext() {
  // After failures of the server one request tests whether it works again.
  const size_t most = backoff_.failures() > 0 ? 1 : options_.max_in_flight;
  while (!closed_ && pause_timer_ == nullptr) {
    const auto next = queue_.Next(most);
    if (!next.has_value()) break;
    Series& series = *next->item;
    series.slow = next->slow;
    if (!series.slow) {
      series.timeout_timer = loop().RunAt(Now() + options_.slow_request_after, [this, &series] {
        series.slow = true;
        queue_.MarkSlow(series.flow);
        SendNext();
      });
    }
    const bool create = series.told == 0;
    const int count = create ? 1 : series.count;
    options_.client->Send(
        {Now() + options_.request_timeout, stop_.get_token()},
        create ? EventCreation(series.event)
               : EventRepetition(series.event, count, series.last_wall),
        [weak = weak_from_this(), &series, count](absl::StatusOr<HttpResponse> response) {
          auto core = weak.lock();
          if (core == nullptr || core->closed_) return;
          core->OnAnswer(series, response.status(), count);
        });
  }
  FinishFlushIfEmpty();
}

void RestEventRecorder::Core::OnAnswer(Series& series, const absl::Status& status, int count) {
  series.timeout_timer.reset();
  series.hung = series.slow && !status.ok();
  queue_.Done(series.flow, std::exchange(series.slow, false), status.ok());
  series.queued = false;
  // Events that wait for a retry leave half of the remembered series to others.
  if (IsTransient(status) && series.tries + 1 < options_.max_tries &&
      retrying_ < options_.max_series / 2) {
    TryAgain(series, status);
    return SendNext();
  }
  if (IsServerUnavailable(status)) {
    Pause(status);  // this event fails, and the server is still down
  } else {
    backoff_.Reset();
  }
  series.backoff.Reset();
  series.tries = 0;
  series.hung = false;
  const bool create = series.told == 0;
  // An event with this name exists only if one of our earlier tries reached the server.
  if (status.ok() || (create && IsAlreadyExists(status))) {
    (create ? created_ : updated_).Increment();
    series.told = count;
    // A first repetition is reported at once.
    series.next_update = create ? Now() : Now() + options_.series_period;
    if (series.count > series.told) Tell(series);
  } else if (!create && IsNotFound(status)) {
    // The server keeps events for about an hour, so a new one begins.
    series.told = 0;
    series.event = EventObject(series.content, reporter_, series.last_wall);
    series.count = 1;
    Enqueue(series);
  } else {
    Fail(series, status);
  }
  SendNext();
}

void RestEventRecorder::Core::TryAgain(Series& series, const absl::Status& status) {
  ++series.tries;
  ++retrying_;
  if (IsServerUnavailable(status)) {
    Pause(status);
    return Enqueue(series);
  }
  if (absl::IsInternal(status)) backoff_.Reset();  // the server is there
  const absl::Duration delay =
      std::max(series.backoff.Next(random_), RetryAfter(status).value_or(absl::ZeroDuration()));
  EnqueueAt(Now() + delay, series);
}

void RestEventRecorder::Core::Pause(const absl::Status& status) {
  absl::Duration delay = RetryAfter(status).value_or(absl::ZeroDuration());
  if (pause_timer_ == nullptr) {
    pause_end_ = absl::InfinitePast();
    delay = std::max(backoff_.Next(random_), delay);
  }
  // Several requests were in flight, and a later answer may ask for a longer wait.
  if (Now() + delay <= pause_end_) return;
  pause_end_ = Now() + delay;
  pause_timer_ = loop().RunAt(pause_end_, [this] {
    pause_timer_.reset();
    SendNext();
  });
}

void RestEventRecorder::Core::Fail(Series& series, const absl::Status& status) {
  failed_.Increment();
  // No object can be created in a terminating namespace. That is not a failure.
  absl::Time& logged = logged_.try_emplace(status.code(), absl::InfinitePast()).first->second;
  if (!IsNamespaceTerminating(status) && Now() - logged >= options_.series_window) {
    logged = Now();
    log_.Error(
        absl::IsPermissionDenied(status)
            ? "Cannot record events; the component needs create and patch of events.events.k8s.io"
            : "Cannot record events",
        {{"namespace", series.event.metadata().namespace_()},
         {"name", series.content.regarding.name},
         {"reason", series.content.reason},
         {"error", status}});
  }
  Remove(by_key_.find(series.content.SeriesKey())->second);
}

void RestEventRecorder::Core::Flush(absl::Time deadline, absl::AnyInvocable<void() &&> done) {
  loop().Post([core = shared_from_this(), deadline, done = std::move(done)]() mutable {
    core->Drain();
    // A series with unreported events reports them now.
    for (Series& series : core->series_) {
      if (std::exchange(series.timer, nullptr) != nullptr) core->Enqueue(series);
    }
    if (core->closed_) return std::move(done)();
    core->flushed_ = std::move(done);
    core->SendNext();
    if (!core->flushed_) return;
    core->flush_timer_ = core->loop().RunAt(deadline, [raw = core.get()] {
      if (raw->flushed_) std::exchange(raw->flushed_, nullptr)();
    });
  });
}

void RestEventRecorder::Core::FinishFlushIfEmpty() {
  if (!flushed_ || unsent() > 0) return;
  flush_timer_.reset();
  std::exchange(flushed_, nullptr)();
}

void RestEventRecorder::Core::Close() {
  closed_ = true;
  pause_timer_.reset();
  flush_timer_.reset();
  stop_.request_stop();
  if (flushed_) loop().Post(std::exchange(flushed_, nullptr));
}

absl::StatusOr<std::unique_ptr<RestEventRecorder>> RestEventRecorder::Create(Options options) {
  if (options.client == nullptr || options.metrics == nullptr) {
    return absl::InvalidArgumentError("events: the recorder needs a client and metrics");
  }
  if (options.instance.empty()) {
    return absl::InvalidArgumentError(
        "events: the server rejects events without a reporting instance; set it to the name of the "
        "process");
  }
  return std::unique_ptr<RestEventRecorder>(
      new RestEventRecorder(std::make_shared<Core>(std::move(options))));
}

RestEventRecorder::RestEventRecorder(std::shared_ptr<Core> core) : core_(std::move(core)) {}
RestEventRecorder::~RestEventRecorder() { core_->Close(); }

void RestEventRecorder::Record(const ObjectRef& regarding, EventType type, std::string_view reason,
                               std::string_view action, std::string_view note) {
  core_->Add(TruncateToLimits(
      {regarding, type, std::string(reason), std::string(action), std::string(note)}));
}

void RestEventRecorder::Flush(absl::Time deadline, absl::AnyInvocable<void() &&> done) {
  core_->Flush(deadline, std::move(done));
}

}  // namespace mandate
