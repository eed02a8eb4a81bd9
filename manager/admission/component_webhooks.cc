#include "manager/admission/component_webhooks.h"

#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <utility>

#include "manager/admission/review_answer.h"
#include "manager/admission/review_deadlines.h"
#include "manager/admission/review_queue.h"
#include "manager/admission/webhook_metrics.h"
#include "manager/core/rate_limited_error_log.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr char kText[] = "text/plain; charset=utf-8";

ServedResponse Plain(int code, std::string text) { return {code, kText, std::move(text) + "\n"}; }

prometheus::Counter& Rejected(Metrics& metrics, const std::string& component) {
  return metrics.Counter("mandate_webhook_rejected_requests_total",
                         "Reviews rejected with 429 because too many were in flight",
                         {{"identity", component}});
}

}  // namespace

// Counts the component's reviews and bytes in flight against its bounds.
class ComponentWebhooks::Load {
 public:
  explicit Load(const Options& options)
      : log_("Too many reviews in flight", options.log, options.loop.clock()),
        rejected_(Rejected(options.metrics, options.component)),
        in_flight_gauge_(options.metrics.Gauge("mandate_webhook_in_flight", "Reviews in flight",
                                               {{"identity", options.component}})),
        bytes_gauge_(options.metrics.Gauge("mandate_webhook_bytes_in_flight",
                                           "Bytes of the bodies of reviews in flight",
                                           {{"identity", options.component}})) {}

  // Whether one more fits.
  bool Take(size_t bytes, const WebhookLimits& bounds) {
    if (!Add(bytes, bounds)) {
      rejected_.Increment();
      log_.Note(StrCat("rejected a review of ", bytes, " bytes: the component's limit of ",
                       bounds.max_in_flight, " reviews or ", bounds.max_bytes_in_flight,
                       " bytes in flight is reached"));
      return false;
    }
    return true;
  }
  void Return(size_t bytes) {
    MutexLock lock(mutex_);
    --reviews_;
    bytes_ -= bytes;
    Show();
    if (reviews_ == 0 && idle_ != nullptr) idle_->Set();
  }
  // Sets the latch when no review is in flight.
  void AwaitIdle(std::shared_ptr<Latch> idle) {
    MutexLock lock(mutex_);
    idle_ = std::move(idle);
    if (reviews_ == 0) idle_->Set();
  }
  size_t reviews() const {
    MutexLock lock(mutex_);
    return reviews_;
  }

 private:
  bool Add(size_t bytes, const WebhookLimits& bounds) {
    MutexLock lock(mutex_);
    if (reviews_ >= bounds.max_in_flight || bytes > bounds.max_bytes_in_flight - bytes_) {
      return false;
    }
    ++reviews_;
    bytes_ += bytes;
    Show();
    return true;
  }
  void Show() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    in_flight_gauge_.Set(static_cast<double>(reviews_));
    bytes_gauge_.Set(static_cast<double>(bytes_));
  }

  RateLimitedErrorLog log_;
  prometheus::Counter& rejected_;
  prometheus::Gauge& in_flight_gauge_;
  prometheus::Gauge& bytes_gauge_;
  mutable Mutex mutex_;
  size_t reviews_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<Latch> idle_ ABSL_GUARDED_BY(mutex_);
};

struct ComponentWebhooks::Entry {
  Entry(const Webhook& of, const Options& options)
      : webhook(of),
        metrics(options.metrics, of.path),
        late("A webhook did not respond in time", options.log, options.loop.clock()),
        busy("Too many reviews in flight", options.log, options.loop.clock()) {}

  const Webhook webhook;
  WebhookMetrics metrics;
  RateLimitedErrorLog late;
  RateLimitedErrorLog busy;
};

// One review. A worker and its deadline share it; the first of them answers.
class ComponentWebhooks::Review : public std::enable_shared_from_this<Review> {
 public:
  Review(std::shared_ptr<const Options> options, std::shared_ptr<Entry> entry,
         PostedRequest request, std::function<void(ServedResponse)> answer)
      : options_(std::move(options)),
        entry_(std::move(entry)),
        request_(std::move(request)),
        answer_(std::move(answer)),
        start_(options_->loop.clock().TimeNow()),
        timeout_(Timeout()) {
    entry_->metrics.in_flight.Increment();
  }
  ~Review() { entry_->metrics.in_flight.Decrement(); }

  void Start(const std::shared_ptr<ReviewQueue>& queue,
             const std::shared_ptr<ReviewDeadlines>& deadlines) {
    const uint64_t number = queue->NewReviewId();
    const auto key = deadlines->Add(start_ + timeout_, [weak = weak_from_this(), queue, number] {
      if (const auto late = weak.lock()) late->OnDeadline();
      queue->Cancel(number);
    });
    const auto done = [self = shared_from_this(), deadlines, key](ServedResponse response) {
      self->Answer(std::move(response));
      deadlines->Remove(key);
    };
    queue->Add(number, request_.body.size(), [self = shared_from_this(), done] {
      const auto review = std::make_shared<ParsedReview>(self->Read());
      return ReviewQueue::Handler{.user = review->flow,
                                  .run = [self, review, done] { done(self->Run(*review)); },
                                  .reject = [self, done] { done(self->TooMany()); }};
    });
    // The deadline may have passed before the review was in the queue.
    if (stop_.stop_requested()) queue->Cancel(number);
  }

 private:
  // How long we may take: the API server says in the query how long it waits.
  absl::Duration Timeout() const {
    absl::Duration timeout = options_->bounds.default_timeout;
    const auto asked = request_.query.find("timeout");
    absl::Duration said;
    if (asked != request_.query.end() && absl::ParseDuration(asked->second, &said) &&
        said > absl::ZeroDuration()) {
      timeout = std::min(said, absl::Seconds(30));  // the API server's own maximum
    }
    return timeout - std::min(timeout / 10, absl::Milliseconds(500));
  }

  void OnDeadline() {
    stop_.request_stop();
    const std::string text = StrCat("webhook ", request_.path, " did not respond within ",
                                    AsStd(absl::FormatDuration(timeout_)));
    if (Answer(Plain(504, text))) entry_->late.Note(text);
  }

  ParsedReview Read() {
    ParsedReview read = ReadReviewBody(entry_->webhook, request_.content_type, request_.body,
                                       options_->bounds.max_user_info_bytes);
    std::string().swap(request_.body);  // its memory
    return read;
  }

  ServedResponse Run(const ParsedReview& review) {
    if (stop_.stop_requested()) return Plain(504, "the deadline passed");
    ReviewAnswer answer = review.answer({start_ + timeout_, stop_.get_token()});
    if (!answer.check_error.ok()) {
      return Plain(answer.code, StrCat("webhook ", request_.path, " could not check the object: ",
                                       AsStd(answer.check_error.message())));
    }
    if (answer.exception) {
      entry_->metrics.panics.Increment();
      options_->log.Error("A webhook handler threw an exception",
                          {{"webhook", request_.path}, {"error", *answer.exception}});
    }
    return {200, "application/json", std::move(answer.body)};
  }

  ServedResponse TooMany() {
    Rejected(options_->metrics, options_->component).Increment();
    entry_->busy.Note("rejected a review: one user has too many reviews in flight");
    return Plain(429, StrCat("component ", options_->component,
                             " has too many reviews of this user in flight"));
  }

  // False if there was an answer before.
  bool Answer(ServedResponse response) {
    {
      MutexLock lock(mutex_);
      if (std::exchange(answered_, true)) return false;
    }
    entry_->metrics.Requests(response.code).Increment();
    const absl::Duration took = options_->loop.clock().TimeNow() - start_;
    entry_->metrics.seconds.Observe(absl::ToDoubleSeconds(took));
    answer_(std::move(response));
    return true;
  }

  const std::shared_ptr<const Options> options_;
  const std::shared_ptr<Entry> entry_;
  PostedRequest request_;
  const std::function<void(ServedResponse)> answer_;
  const absl::Time start_;
  const absl::Duration timeout_;
  std::stop_source stop_;
  Mutex mutex_;
  bool answered_ ABSL_GUARDED_BY(mutex_) = false;
};

ComponentWebhooks::ComponentWebhooks(Options options)
    : options_(std::make_shared<const Options>(std::move(options))),
      load_(std::make_shared<Load>(*options_)),
      queue_(std::make_shared<ReviewQueue>(
          options_->workers,
          ReviewQueue::Options{.threads = options_->bounds.threads,
                               .max_reviews = options_->bounds.max_in_flight,
                               .max_bytes = options_->bounds.max_bytes_in_flight})),
      deadlines_(ReviewDeadlines::Create(options_->loop)) {
  for (const Webhook& webhook : options_->webhooks.hooks) {
    entries_.emplace(webhook.path, std::make_shared<Entry>(webhook, *options_));
  }
}

ComponentWebhooks::~ComponentWebhooks() { deadlines_->Close(); }

absl::Status ComponentWebhooks::Ready() const {
  for (const auto& demand : options_->webhooks.demands) {
    const DemandStatus status = demand->status();
    if (status.state != DemandState::kSynced) return status.reason;
  }
  return absl::OkStatus();
}

absl::Status ComponentWebhooks::DemandsSettled() const {
  for (const auto& demand : options_->webhooks.demands) {
    const DemandStatus status = demand->status();
    if (status.state == DemandState::kPending && !status.failed) return status.reason;
  }
  return absl::OkStatus();
}

size_t ComponentWebhooks::in_flight() const { return load_->reviews(); }

absl::Status ComponentWebhooks::Stop(absl::Time deadline) {
  Loop& loop = options_->loop;
  const auto over = std::make_shared<Latch>();
  load_->AwaitIdle(over);
  const auto timer = std::make_shared<std::unique_ptr<Loop::Timer>>();
  loop.Post(
      [&loop, over, timer, deadline] { *timer = loop.RunAt(deadline, [over] { over->Set(); }); });
  loop.Await(*over);
  loop.Post([timer] { timer->reset(); });
  const size_t running = in_flight();
  if (running == 0) return absl::OkStatus();
  return absl::DeadlineExceededError(StrCat(
      "component ", options_->component, ": ", running,
      " webhook handlers were still running at the end of the stop timeout; they must return "
      "when their context's stop is requested"));
}

std::map<std::string, PostRoute> ComponentWebhooks::Routes() {
  std::map<std::string, PostRoute> routes;
  for (const auto& [path, entry] : entries_) {
    routes.emplace(path,
                   PostRoute{.max_body_bytes = options_->bounds.max_body_bytes,
                             .admit = [this, converts = entry->webhook.conversions != nullptr](
                                          size_t bytes) { return Admit(converts, bytes); },
                             .handle =
                                 [this, entry = entry](PostedRequest request,
                                                       std::function<void(ServedResponse)> answer) {
                                   std::make_shared<Review>(options_, entry, std::move(request),
                                                            std::move(answer))
                                       ->Start(queue_, deadlines_);
                                 }});
  }
  return routes;
}

std::variant<std::shared_ptr<void>, ServedResponse> ComponentWebhooks::Admit(bool converts,
                                                                             size_t bytes) {
  // Conversions read nothing from the cache, and its first list may need them.
  if (const absl::Status ready = Ready(); !converts && !ready.ok()) {
    return Plain(
        503, StrCat("component ", options_->component, " is not ready: ", AsStd(ready.message())));
  }
  if (!load_->Take(bytes, options_->bounds)) {
    return Plain(429, StrCat("component ", options_->component, " has too many reviews in flight"));
  }
  return std::shared_ptr<void>(nullptr, [load = load_, bytes](void*) { load->Return(bytes); });
}

}  // namespace mandate
