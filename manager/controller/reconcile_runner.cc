#include "manager/controller/reconcile_runner.h"

#include <exception>
#include <functional>
#include <utility>

#include "absl/strings/str_format.h"
#include "manager/core/log_reason.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

constexpr int kSuccessVerbosity = 4;

}  // namespace

ReconcileRunner::ReconcileRunner(Options options)
    : options_(std::move(options)), random_(options_.seed) {}

ReconcileRunner::Batch::Batch(ReconcileRunner& runner, std::stop_token stop)
    : runner_(runner),
      metrics_(*runner.options_.metrics),
      context_{absl::InfiniteFuture(), std::move(stop)} {
  metrics_.active.Increment();
}

ReconcileRunner::Batch::~Batch() {
  if (quick_ > 0) metrics_.ObserveQuick(quick_, quick_seconds_);
  if (successes_ > 0) metrics_.success.Increment(successes_);
  metrics_.active.Decrement();
}

void ReconcileRunner::Batch::Observe(absl::Duration took) {
  const double seconds = absl::ToDoubleSeconds(took);
  if (seconds > ControllerMetrics::kQuick) return metrics_.seconds.Observe(seconds);
  ++quick_;
  quick_seconds_ += seconds;
}

Outcome ReconcileRunner::Batch::Run(const Request& request, absl::Time& now) {
  const absl::Time start = now;
  context_.deadline = start + runner_.options_.timeout;
  const Log log(runner_, request);
  context_.work_log = &log;
  Span span = runner_.StartSpan(request, log);
  context_.trace = span.context();
  const absl::StatusOr<Result> result = runner_.Contained(context_, request);
  context_.work_log = nullptr;
  context_.trace = {};
  span.SetError(result.status());
  span.End();
  const absl::Time end = now = runner_.options_.clock->TimeNow();
  Observe(end - start);

  if (result.ok()) {
    runner_.LogSuccess(request, end - start, log);
    if (result->requeue_after > absl::ZeroDuration()) {
      metrics_.requeue_after.Increment();
      return {Outcome::Next::kRequeueAfter, result->requeue_after, result->priority};
    }
    ++successes_;
    return {};
  }
  // A reconciliation that was cancelled by the stop is not a failure.
  if (context_.stop.stop_requested() && absl::IsCancelled(result.status())) return {};

  metrics_.error.Increment();
  metrics_.errors.Increment();
  if (end >= context_.deadline) metrics_.timeouts.Increment();
  runner_.LogError(request, result.status(), end - start, log);
  if (IsTerminal(result.status())) {
    metrics_.terminal_errors.Increment();
    return {};
  }
  // The server knows better than our backoff when it can take requests again.
  return {Outcome::Next::kRetry, RetryAfter(result.status()).value_or(absl::ZeroDuration())};
}

Span ReconcileRunner::StartSpan(const Request& request, const Log& log) {
  Span span = Span::Root(options_.tracer, {.component = options_.component, .name = "reconcile"});
  if (!span.recording()) return span;
  // The names that the log's lines have.
  span.SetAttribute("controller", options_.controller);
  span.SetAttribute("namespace", request.key.ns);
  span.SetAttribute("name", request.key.name);
  span.SetAttribute("reconcileID", log.Id());
  return span;
}

absl::StatusOr<Result> ReconcileRunner::Contained(const CallContext& context,
                                                  const Request& request) {
  std::string what = "an exception of unknown type";
  try {
    return options_.reconciler->Reconcile(context, request);
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
  }
  options_.metrics->panics.Increment();
  return absl::InternalError(AsAbsl(StrCat(
      "the reconciler threw: ", what, ". This is a bug in the controller; it will be retried")));
}

std::string ReconcileRunner::NewId() {
  uint64_t high, low;
  {
    MutexLock lock(mutex_);
    high = random_();
    low = random_();
  }
  // RFC 9562, version 4.
  high = (high & ~uint64_t{0xf000}) | 0x4000;
  low = (low & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62);
  return absl::StrFormat("%08x-%04x-%04x-%04x-%012x", high >> 32, (high >> 16) & 0xffff,
                         high & 0xffff, low >> 48, low & 0xffffffffffff);
}

Logger ReconcileRunner::Log::logger() const {
  MutexLock lock(mutex_);
  if (!logger_.has_value()) {
    logger_ = runner_.options_.log.With("namespace", request_.key.ns)
                  .With("name", request_.key.name)
                  .With("reconcileID", IdLocked());
  }
  return *logger_;
}

std::string ReconcileRunner::Log::Id() const {
  MutexLock lock(mutex_);
  return IdLocked();
}

std::string ReconcileRunner::Log::IdLocked() const {
  if (id_.empty()) id_ = runner_.NewId();
  return id_;
}

void ReconcileRunner::LogError(const Request& request, const absl::Status& status,
                               absl::Duration took, const Log& log) {
  // The text omits the payloads. absl::Status prints several payloads in varying order, and a
  // Retry-After differs each time.
  const size_t hash =
      std::hash<std::string>()(status.ToString(absl::StatusToStringMode::kWithNoExtraData));
  bool news;
  {
    MutexLock lock(mutex_);
    if (failing_.size() >= kMaxFailing) failing_.clear();
    auto [it, inserted] = failing_.try_emplace(request, hash);
    news = inserted || it->second != hash;
    it->second = hash;
    any_failing_ = true;
  }
  if (!news && !options_.log.IsDebug(1)) return;
  const Logger::Fields fields = {
      {"error", LogReason(status)}, {"terminal", IsTerminal(status)}, {"duration", took}};
  if (news) {
    log.logger().Error("Reconciler error", fields);
  } else {
    log.logger().Debug(1, "Reconciler error again", fields);
  }
}

void ReconcileRunner::LogSuccess(const Request& request, absl::Duration took, const Log& log) {
  bool news = false;
  if (any_failing_) {
    MutexLock lock(mutex_);
    news = failing_.erase(request) > 0;
    any_failing_ = !failing_.empty();
  }
  if (!news && !options_.log.IsDebug(kSuccessVerbosity)) return;
  if (news) {
    log.logger().Info("Reconciled after errors", {{"duration", took}});
  } else {
    log.logger().Debug(kSuccessVerbosity, "Reconciled", {{"duration", took}});
  }
}

}  // namespace mandate
