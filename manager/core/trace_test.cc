#include "manager/core/trace.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/cord.h"
#include "manager/core/secret.h"
#include "manager/core/strings.h"
#include "manager/core/testing/recording_tracer.h"
#include "manager/core/testing/simulated_loop.h"

namespace {
std::atomic<int> allocations = 0;
}  // namespace

// Counts allocations of this test program.
void* operator new(size_t size) {
  ++allocations;
  if (void* const memory = malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { free(memory); }
void operator delete(void* memory, size_t) noexcept { free(memory); }

namespace mandate {
namespace {

static_assert(std::is_trivially_copyable_v<TraceContext>);
static_assert(!std::is_copy_constructible_v<Span> && std::is_nothrow_move_constructible_v<Span>);

// A token cannot be an attribute.
template <class Value>
concept Attribute = requires(Span& span, const Value& value) {
  span.SetAttribute("name", value);
};
static_assert(Attribute<std::string> && Attribute<const char*> && Attribute<int>);
static_assert(!Attribute<Secret>);

class TraceTest : public testing::Test {
 protected:
  FinishedSpan Only() const {
    const auto finished = tracer_.finished();
    if (finished.size() == 1) return finished[0];
    ADD_FAILURE() << finished.size() << " spans";
    return {};
  }
  Span Start() { return Span::Root(&tracer_, {.component = "auditor", .name = "reconcile"}); }

  SimulatedClock clock_;
  RecordingTracer tracer_{clock_};
};

SpanId Id(uint8_t last) { return {0, 0, 0, 0, 0, 0, 0, last}; }

TEST_F(TraceTest, ASpanHasItsStartEndAndAccount) {
  Span span = Start();
  EXPECT_TRUE(span.recording());
  clock_.AdvanceTo(clock_.TimeNow() + absl::Milliseconds(1500));
  EXPECT_TRUE(tracer_.finished().empty());
  span.End();
  span.End();
  const FinishedSpan finished = Only();
  EXPECT_EQ(finished.component, "auditor");
  EXPECT_EQ(finished.name, "reconcile");
  EXPECT_EQ(finished.kind, SpanKind::kInternal);
  EXPECT_EQ(finished.trace_id.back(), 1);
  EXPECT_EQ(finished.span_id, Id(1));
  EXPECT_EQ(finished.parent_id, Id(0));
  EXPECT_EQ(finished.start, absl::FromUnixSeconds(1'700'000'000));
  EXPECT_EQ(finished.end - finished.start, absl::Milliseconds(1500));
  EXPECT_EQ(finished.error, absl::StatusCode::kOk);
}

TEST_F(TraceTest, ChildrenAreOfTheSameTrace) {
  Span root = Start();
  {
    const Span child = Span::Child(
        root.context(), {.component = "helper", .name = "GET", .kind = SpanKind::kClient});
    const Span grandchild = Span::Child(child.context(), {.component = "helper", .name = "token"});
  }
  root.End();
  const auto finished = tracer_.finished();
  ASSERT_EQ(finished.size(), 3u);
  EXPECT_EQ(finished[0].span_id, Id(3));
  EXPECT_EQ(finished[0].parent_id, Id(2));
  EXPECT_EQ(finished[1].span_id, Id(2));
  EXPECT_EQ(finished[1].parent_id, Id(1));
  EXPECT_EQ(finished[1].kind, SpanKind::kClient);
  EXPECT_EQ(finished[1].component, "helper");
  for (const FinishedSpan& span : finished) EXPECT_EQ(span.trace_id, finished[2].trace_id);
}

TEST_F(TraceTest, ASpanEndsOnceAndWhenItsOwnerDoes) {
  {
    Span first = Start();
    Span moved = std::move(first);
    EXPECT_FALSE(first.recording());  // NOLINT(bugprone-use-after-move)
    first.End();
    EXPECT_TRUE(tracer_.finished().empty());
    Span other = Start();
    moved = std::move(other);  // ends the first
    EXPECT_EQ(Only().span_id, Id(1));
    Span& same = moved;
    moved = std::move(same);
    EXPECT_EQ(tracer_.finished().size(), 1u);
  }
  EXPECT_EQ(tracer_.finished().size(), 2u);
}

TEST_F(TraceTest, TheEndIsNotBeforeTheStart) {
  clock_.SetWallSkew(absl::Hours(1));
  Span span = Start();
  clock_.SetWallSkew(-absl::Hours(1));
  clock_.AdvanceTo(clock_.TimeNow() + absl::Seconds(1));
  span.End();
  EXPECT_EQ(Only().start, absl::FromUnixSeconds(1'700'003'600));
  EXPECT_EQ(Only().end - Only().start, absl::Seconds(1));
}

TEST_F(TraceTest, AttributesAreBounded) {
  Span span = Start();
  for (int i = 0; i < 20; ++i) span.SetAttribute(StrCat("a", i), i);
  span.SetAttribute("a0", "replaced");
  span.SetAttribute("a99", "one too many");
  span.End();
  span.SetAttribute("a1", "too late");
  const FinishedSpan finished = Only();
  ASSERT_EQ(finished.attributes.size(), 16u);
  EXPECT_EQ(finished.attributes[0].name, "a0");
  EXPECT_EQ(std::get<std::string>(finished.attributes[0].value), "replaced");
  EXPECT_EQ(std::get<int64_t>(finished.attributes[15].value), 15);
  EXPECT_EQ(finished.dropped_attributes, 5u);
}

TEST_F(TraceTest, TextIsCutToValidUtf8) {
  const std::string euro = "\xe2\x82\xac";
  const struct {
    std::string given;
    std::string kept;
  } rows[] = {
      {"", ""},
      {std::string(256, 'x'), std::string(256, 'x')},
      {std::string(257, 'x'), std::string(256, 'x')},
      {std::string(253, 'x') + euro, std::string(253, 'x') + euro},
      {std::string(254, 'x') + euro, std::string(254, 'x')},
      {"a\xff"
       "b",
       "a\xef\xbf\xbd"
       "b"},
      {std::string(300, '\xff'),
       [] {
         std::string all;
         for (int i = 0; i < 85; ++i) all += "\xef\xbf\xbd";
         return all;
       }()},
      {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
  };
  for (const auto& row : rows) {
    RecordingTracer tracer(clock_);
    Span span = Span::Root(&tracer, {.component = row.given, .name = row.given});
    span.SetAttribute(row.given, row.given);
    span.End();
    const FinishedSpan finished = tracer.finished().at(0);
    EXPECT_EQ(std::get<std::string>(finished.attributes.at(0).value), row.kept);
    EXPECT_EQ(finished.attributes[0].name, row.kept);
    EXPECT_EQ(finished.component, row.kept);
    EXPECT_EQ(finished.name, row.kept);
  }
}

TEST_F(TraceTest, AnErrorHasItsCodeAndBoundedText) {
  const struct {
    absl::Status status;
    absl::StatusCode code;
    std::string message;
  } rows[] = {
      {absl::OkStatus(), absl::StatusCode::kOk, ""},
      {absl::NotFoundError("pods \"a\" not found"), absl::StatusCode::kNotFound,
       "pods \"a\" not found"},
      {absl::InternalError(std::string(2000, 'x')), absl::StatusCode::kInternal,
       std::string(1024, 'x')},
      {absl::PermissionDeniedError("denied. Apply this:\napiVersion: v1\nkind: Role"),
       absl::StatusCode::kPermissionDenied, "denied; /readyz?verbose shows the manifest to apply"},
  };
  for (const auto& row : rows) {
    RecordingTracer tracer(clock_);
    Span span = Span::Root(&tracer, {.component = "auditor", .name = "x"});
    absl::Status status = row.status;
    status.SetPayload("type.example/secret", absl::Cord("never in a span"));
    span.SetError(status);
    span.SetError(absl::OkStatus());
    span.End();
    EXPECT_EQ(tracer.finished().at(0).error, row.code);
    EXPECT_EQ(tracer.finished()[0].error_message, row.message);
  }
}

TEST_F(TraceTest, Traceparent) {
  EXPECT_EQ(TraceContext().traceparent(), "");
  // The example of W3C Trace Context, 3.2.2.5.
  TraceContext context{.trace_id = {0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce,
                                    0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36},
                       .span_id = {0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7},
                       .sampled = true,
                       .tracer = &tracer_};
  EXPECT_EQ(context.traceparent(), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  context.sampled = false;
  EXPECT_EQ(context.traceparent(), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");
}

class UnreadClock : public Clock {
 public:
  absl::Time TimeNow() const override { return Fail(); }
  absl::Time WallTimeNow() const override { return Fail(); }

 private:
  static absl::Time Fail() {
    ADD_FAILURE() << "the clock was read";
    return absl::InfinitePast();
  }
};

TEST_F(TraceTest, WithoutSamplingNothingIsAllocatedOrRead) {
  const UnreadClock clock;
  RecordingTracer unsampled(clock, /*sampled=*/false);
  const absl::Status status = absl::InternalError("a message that needs memory of its own");
  for (Tracer* const tracer : {static_cast<Tracer*>(&unsampled), static_cast<Tracer*>(nullptr)}) {
    const int before = allocations;
    Span root = Span::Root(tracer, {.component = "auditor", .name = "reconcile"});
    Span child = Span::Child(root.context(), {.component = "auditor", .name = "GET"});
    for (Span* const span : {&root, &child}) {
      span->SetAttribute("name", "a value that is too long for the string itself");
      span->SetAttribute("number", 1);
      span->SetError(status);
      EXPECT_FALSE(span->recording());
    }
    Span moved = std::move(child);
    // The decision travels on, and no request has the id of a span that is nowhere.
    EXPECT_EQ(moved.context().tracer, tracer);
    EXPECT_EQ(moved.context().span_id, root.context().span_id);
    moved.End();
    root.End();
    EXPECT_EQ(allocations, before);
  }
  EXPECT_TRUE(unsampled.finished().empty());
  // The counter works.
  const int before = allocations;
  { const Span span = Start(); }
  EXPECT_GT(allocations, before);
}

}  // namespace
}  // namespace mandate
