// Spans of OpenTelemetry traces, as the code that is traced sees them.
//
//   Span span = Span::Root(tracer, {.component = "scope-instance", .name = "reconcile"});
//   span.SetAttribute("k8s.namespace.name", key.ns);
//   Span child = Span::Child(span.context(), {.component = …, .name = "GET", .kind = …});
//   if (!status.ok()) child.SetError(status);
//
// A token or a key cannot be an attribute: Secret has no conversion to text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/core/clock.h"

namespace mandate {

class Tracer;

// As in W3C Trace Context; all bytes zero: none.
using TraceId = std::array<uint8_t, 16>;
using SpanId = std::array<uint8_t, 8>;

// A place in a trace: the span that new spans are children of. A value, cheap to copy; the default
// is no trace. The tracer outlives it.
struct TraceContext {
  TraceId trace_id = {};
  SpanId span_id = {};
  bool sampled = false;      // spans of this trace are recorded
  Tracer* tracer = nullptr;  // null: no trace

  // The header "traceparent" of W3C Trace Context, version 00; "" if there is no trace.
  std::string traceparent() const;
};

// Who acts: the process itself, or a server that it asks.
enum class SpanKind { kInternal, kClient };

struct SpanAttribute {
  std::string name;
  std::variant<std::string, int64_t> value;
};

// A sampled span that has ended. All text is valid UTF-8 of bounded length.
struct FinishedSpan {
  TraceId trace_id = {};
  SpanId span_id = {};
  SpanId parent_id = {};  // zero: the root of its trace
  std::string component;  // the component that it is accounted to
  std::string name;
  SpanKind kind = SpanKind::kInternal;
  // Of the wall clock. `end` is not before `start`, also if that clock was set meanwhile.
  absl::Time start = {};
  absl::Time end = {};
  std::vector<SpanAttribute> attributes = {};      // names are unique
  uint32_t dropped_attributes = 0;                 // beyond kMaxSpanAttributes
  absl::StatusCode error = absl::StatusCode::kOk;  // kOk: no error was set
  std::string error_message = {};
};

inline constexpr size_t kMaxSpanAttributes = 16;
// Of component and name, and of attributes' names and values. Longer text is cut before the
// character that does not fit.
inline constexpr size_t kMaxSpanTextBytes = 256;
inline constexpr size_t kMaxSpanErrorBytes = 1024;

// Decides which traces are sampled, makes their ids, and takes their spans. Implementations are
// thread-safe, and outlive every span and TraceContext that was made from them.
class Tracer {
 public:
  virtual ~Tracer() = default;

  // The root of a new trace: new ids, the decision whether it is sampled, and this tracer.
  virtual TraceContext NewTrace() = 0;
  virtual SpanId NewSpanId() = 0;
  // Takes a span. Must not block and must not throw.
  virtual void Export(FinishedSpan span) = 0;
  virtual const Clock& clock() const = 0;
};

// A piece of work with a start and an end. It ends when End() is called or when it is destroyed. A
// span that is not sampled, or has no tracer, allocates nothing and reads no clock.
// Single-threaded; different spans of a trace may be on different threads.
class [[nodiscard]] Span {
 public:
  struct Start {
    std::string_view component;
    std::string_view name;
    SpanKind kind = SpanKind::kInternal;
  };

  // No span.
  Span() = default;
  // Starts a trace, which the tracer samples or not. Null: no span.
  static Span Root(Tracer* tracer, const Start& start);
  // A child of `parent`, sampled as its parent is.
  static Span Child(const TraceContext& parent, const Start& start);

  ~Span() { End(); }
  Span(Span&& other) noexcept = default;
  Span& operator=(Span&& other) noexcept;

  // Sets an attribute; a second value replaces the first. Bytes that are not UTF-8 become U+FFFD.
  // Beyond kMaxSpanAttributes names, attributes are counted and dropped.
  void SetAttribute(std::string_view name, std::string_view value);
  void SetAttribute(std::string_view name, int64_t value);
  // The work failed. A status that is OK changes nothing. A manifest at the end of its message is
  // omitted, as in the log.
  void SetError(const absl::Status& status);

  // Ends it now. Later calls, and changes after it, have no effect.
  void End();

  // Whether attributes are kept, so that callers can avoid work that only an attribute needs.
  bool recording() const { return recording_ != nullptr; }
  // For children. Of a span that is not sampled: its parent's, so that requests carry the decision.
  const TraceContext& context() const { return context_; }

 private:
  struct Recording;
  struct RecordingDeleter {
    void operator()(Recording* recording) const;
  };

  Span(const TraceContext& context, const SpanId& parent, const Start& start);
  void Set(std::string_view name, std::variant<std::string, int64_t> value);

  TraceContext context_;
  std::unique_ptr<Recording, RecordingDeleter> recording_;
};

}  // namespace mandate
