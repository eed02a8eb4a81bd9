#include "manager/core/trace.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/escaping.h"
#include "manager/core/log_reason.h"
#include "manager/core/strings.h"
#include "manager/core/utf8.h"

namespace mandate {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

std::string Hex(std::span<const uint8_t> id) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(id.data()), id.size()});
}

// The start of `text`, of at most `most` bytes of valid UTF-8.
std::string Bounded(std::string_view text, size_t most) {
  std::string out;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const std::string_view next = length == 0 ? kReplacement : text.substr(0, length);
    if (out.size() + next.size() > most) break;
    out += next;
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

}  // namespace

struct Span::Recording {
  FinishedSpan span;
  absl::Time started;  // in Clock::TimeNow()'s time
};

void Span::RecordingDeleter::operator()(Recording* recording) const { delete recording; }

std::string TraceContext::traceparent() const {
  if (tracer == nullptr) return "";
  return StrCat("00-", Hex(trace_id), "-", Hex(span_id), sampled ? "-01" : "-00");
}

Span Span::Root(Tracer* tracer, const Start& start) {
  if (tracer == nullptr) return {};
  return {tracer->NewTrace(), SpanId{}, start};
}

Span Span::Child(const TraceContext& parent, const Start& start) {
  TraceContext context = parent;
  if (parent.sampled && parent.tracer != nullptr) context.span_id = parent.tracer->NewSpanId();
  return {context, parent.span_id, start};
}

Span::Span(const TraceContext& context, const SpanId& parent, const Start& start)
    : context_(context) {
  if (!context.sampled || context.tracer == nullptr) return;
  recording_.reset(new Recording);
  recording_->span = {.trace_id = context.trace_id,
                      .span_id = context.span_id,
                      .parent_id = parent,
                      .component = Bounded(start.component, kMaxSpanTextBytes),
                      .name = Bounded(start.name, kMaxSpanTextBytes),
                      .kind = start.kind,
                      .start = context.tracer->clock().WallTimeNow()};
  recording_->started = context.tracer->clock().TimeNow();
}

Span& Span::operator=(Span&& other) noexcept {
  if (this == &other) return *this;
  End();
  context_ = other.context_;
  recording_ = std::move(other.recording_);
  return *this;
}

void Span::SetAttribute(std::string_view name, std::string_view value) {
  if (recording_ != nullptr) Set(name, Bounded(value, kMaxSpanTextBytes));
}

void Span::SetAttribute(std::string_view name, int64_t value) {
  if (recording_ != nullptr) Set(name, value);
}

void Span::Set(std::string_view name, std::variant<std::string, int64_t> value) {
  FinishedSpan& span = recording_->span;
  std::string bounded = Bounded(name, kMaxSpanTextBytes);
  const auto known = std::find_if(
      span.attributes.begin(), span.attributes.end(),
      [&bounded](const SpanAttribute& attribute) { return attribute.name == bounded; });
  if (known != span.attributes.end()) {
    known->value = std::move(value);
  } else if (span.attributes.size() < kMaxSpanAttributes) {
    span.attributes.push_back({std::move(bounded), std::move(value)});
  } else {
    ++span.dropped_attributes;
  }
}

void Span::SetError(const absl::Status& status) {
  if (recording_ == nullptr || status.ok()) return;
  recording_->span.error = status.code();
  recording_->span.error_message = Bounded(LogReason(status), kMaxSpanErrorBytes);
}

void Span::End() {
  if (recording_ == nullptr) return;
  const auto recording = std::move(recording_);
  FinishedSpan& span = recording->span;
  span.end = span.start + (context_.tracer->clock().TimeNow() - recording->started);
  context_.tracer->Export(std::move(span));
}

}  // namespace mandate
