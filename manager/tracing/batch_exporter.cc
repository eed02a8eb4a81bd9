#include "manager/tracing/batch_exporter.h"

#include <algorithm>
#include <utility>

#include "manager/core/strings.h"

namespace mandate {
namespace {

// Of the collector's text in a message.
constexpr size_t kMaxQuotedBytes = 256;

std::string_view Quoted(std::string_view text) { return text.substr(0, kMaxQuotedBytes); }

// "Retryable Response Codes" of the specification. All other codes are final.
bool MayRetry(int code) { return code == 429 || code == 502 || code == 503 || code == 504; }

}  // namespace

BatchExporter::BatchExporter(Options options)
    : options_(std::move(options)),
      loop_(*options_.loop),
      metrics_(*options_.metrics),
      errors_("Traces cannot be sent", options_.log, loop_.clock()),
      partial_("The collector did not accept all spans", options_.log, loop_.clock()),
      queue_(options_.limits.queue),
      random_(options_.seed),
      backoff_(options_.limits.backoff) {}

void BatchExporter::Add(FinishedSpan span) {
  const std::string component = span.component;
  MutexLock lock(mutex_);
  if (shut_) return metrics_.CountDropped(component, SpanDrop::kShutdown);
  if (!queue_.Add(std::move(span))) return metrics_.CountDropped(component, SpanDrop::kQueueFull);
  metrics_.SetQueued(component, queue_.size(component));
  const bool changes_plan = queue_.size() == 1 || queue_.size() == options_.limits.batch;
  if (!changes_plan || notified_) return;
  notified_ = true;
  loop_.Post(weak_.Bind([this] {
    if (batch_.empty()) Schedule();
  }));
}

void BatchExporter::Shutdown(absl::Time deadline) {
  {
    MutexLock lock(mutex_);
    shut_ = true;
  }
  loop_.Post(weak_.Bind([this, deadline] { Close(deadline); }));
  loop_.Await(closed_);
}

void BatchExporter::Close(absl::Time deadline) {
  if (closed_.IsSet() || (closing_ && deadline >= close_at_)) return;
  close_at_ = deadline;
  if (deadline != absl::InfiniteFuture()) {
    close_timer_ = loop_.RunAt(deadline, [this] { DropAll(); });
  }
  if (std::exchange(closing_, true)) return;
  if (batch_.empty()) {
    Schedule();
  } else if (timer_ != nullptr) {  // the batch waits for its retry
    timer_ = nullptr;
    Post();
  }
}

void BatchExporter::Schedule() {
  size_t queued;
  {
    MutexLock lock(mutex_);
    notified_ = false;
    queued = queue_.size();
  }
  timer_ = nullptr;
  body_ = std::string();
  if (queued == 0) {
    queue_due_ = absl::InfiniteFuture();
    if (closing_) DropAll();
    return;
  }
  const absl::Time now = loop_.clock().TimeNow();
  queue_due_ = std::min(queue_due_, now + options_.limits.delay);
  const bool at_once = closing_ || queued >= options_.limits.batch;
  const absl::Time when = std::max(at_once ? now : queue_due_, not_before_);
  if (when >= close_at_) return DropAll();
  if (when <= now) return StartBatch();
  timer_ = loop_.RunAt(when, [this] { StartBatch(); });
}

void BatchExporter::StartBatch() {
  timer_ = nullptr;
  {
    MutexLock lock(mutex_);
    batch_ = queue_.TakeBatch(options_.limits.batch);
    for (const FinishedSpan& span : batch_) {
      metrics_.SetQueued(span.component, queue_.size(span.component));
    }
  }
  const absl::Time now = loop_.clock().TimeNow();
  queue_due_ = now + options_.limits.delay;
  batch_deadline_ = now + options_.limits.export_timeout;
  backoff_.Reset();
  body_ = OtlpTraceRequest(options_.resource, batch_);
  Post();
}

void BatchExporter::Post() {
  timer_ = nullptr;
  posted_at_ = loop_.clock().TimeNow();
  const absl::Duration timeout =
      std::max<absl::Duration>(batch_deadline_ - posted_at_, absl::Milliseconds(1));
  options_.poster->Post(body_, timeout, weak_.Bind([this](absl::StatusOr<OtlpAnswer> answer) {
    OnAnswer(std::move(answer));
  }));
}

void BatchExporter::OnAnswer(absl::StatusOr<OtlpAnswer> answer) {
  const bool accepted = answer.ok() && answer->code / 100 == 2;
  metrics_.NoteRequest(loop_.clock().TimeNow() - posted_at_, accepted);
  if (accepted) {
    OnAccepted(*answer);
  } else if (!answer.ok() && absl::IsUnavailable(answer.status())) {
    return Retry(AsStd(answer.status().message()), std::nullopt);
  } else if (answer.ok() && MayRetry(answer->code)) {
    return Retry(StrCat("the collector answered ", answer->code, ": ", Quoted(answer->body)),
                 answer->retry_after);
  } else if (answer.ok()) {
    errors_.Note(StrCat("the collector answered ", answer->code, ": ", Quoted(answer->body),
                        "; check that the endpoint is that of OTLP over HTTP"));
    DropBatch(SpanDrop::kRejected);
  } else {
    errors_.Note(AsStd(answer.status().message()));
    DropBatch(SpanDrop::kRejected);
  }
  Schedule();
}

void BatchExporter::OnAccepted(const OtlpAnswer& answer) {
  for (const FinishedSpan& span : batch_) metrics_.CountExported(span.component);
  const auto spans = static_cast<int64_t>(batch_.size());
  batch_.clear();
  const auto partial = ParseOtlpTraceResponse(answer.body);
  if (!partial.ok()) {
    return partial_.Note(StrCat("its answer is not an ExportTraceServiceResponse: ",
                                AsStd(partial.status().message())));
  }
  const int64_t rejected = std::clamp<int64_t>(partial->rejected_spans, 0, spans);
  metrics_.CountRejectedInPart(static_cast<double>(rejected));
  if (rejected == 0 && partial->error_message.empty()) return;
  partial_.Note(
      StrCat("it rejected ", rejected, " of ", spans, " spans: ", Quoted(partial->error_message)));
}

void BatchExporter::Retry(std::string_view why, std::optional<absl::Duration> retry_after) {
  errors_.Note(why);
  // The end of the process is not the time for retries.
  if (closing_) return DropAll();
  const absl::Time now = loop_.clock().TimeNow();
  const absl::Time when = now + (retry_after.has_value() ? *retry_after : backoff_.Next(random_));
  if (retry_after.has_value()) not_before_ = when;
  if (when < batch_deadline_) {
    timer_ = loop_.RunAt(when, [this] { Post(); });
    return;
  }
  DropBatch(SpanDrop::kTimeout);
  Schedule();
}

void BatchExporter::DropBatch(SpanDrop reason) {
  for (const FinishedSpan& span : std::exchange(batch_, {})) {
    metrics_.CountDropped(span.component, reason);
  }
}

void BatchExporter::DropAll() {
  options_.poster->Cancel();
  timer_ = nullptr;
  close_timer_ = nullptr;
  size_t dropped = 0;
  do {
    dropped += batch_.size();
    DropBatch(SpanDrop::kShutdown);
    MutexLock lock(mutex_);
    batch_ = queue_.TakeBatch(queue_.size());
    for (const FinishedSpan& span : batch_) metrics_.SetQueued(span.component, 0);
  } while (!batch_.empty());
  if (dropped > 0) {
    options_.log.Error("Spans were dropped, because the process ends", {{"spans", dropped}});
  }
  closed_.Set();
}

}  // namespace mandate
