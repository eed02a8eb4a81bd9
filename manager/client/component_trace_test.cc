// The spans of a component's requests: from the work that they are part of to the token that they
// need.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manager/client/component_client.h"
#include "manager/client/testing/client_fixture.h"
#include "manager/core/testing/recording_tracer.h"

namespace mandate {
namespace {

class ComponentTraceTest : public ClientFixture {
 protected:
  Result SendIn(const TraceContext& trace, RestRequest request) {
    std::optional<Result> result;
    CallContext context = In(absl::Seconds(20));
    context.trace = trace;
    client().Send(context, std::move(request), [&](Result r) { result = std::move(r); });
    EXPECT_TRUE(loop.RunUntil([&] { return result.has_value(); }));
    return *std::move(result);
  }
  // Header traceparent of the last request to a target with this end; "none".
  std::string Parent(std::string_view end) const {
    std::string parent = "not sent";
    for (const RecordedRequest& request : fake.requests()) {
      if (!request.target.ends_with(end)) continue;
      const std::string* const header = request.Header("traceparent");
      parent = header == nullptr ? "none" : *header;
    }
    return parent;
  }
};

// The header of a request within this span.
std::string ParentOf(const FinishedSpan& span, Tracer& tracer) {
  return TraceContext{span.trace_id, span.span_id, /*sampled=*/true, &tracer}.traceparent();
}

TEST_F(ComponentTraceTest, ARequestThatWaitsForATokenHasTheTokensSpansInIt) {
  RecordingTracer tracer(loop.clock());
  const TraceContext root = tracer.NewTrace();
  ASSERT_TRUE(SendIn(root, Get()).ok());
  const std::vector<FinishedSpan> spans = tracer.finished();
  ASSERT_EQ(spans.size(), 3u);
  const FinishedSpan &fetch = spans[0], &wait = spans[1], &request = spans[2];
  EXPECT_EQ(request.name, "GET pods");
  EXPECT_EQ(request.component, "scope");
  EXPECT_EQ(request.parent_id, root.span_id);
  EXPECT_EQ(wait.name, "wait for a token");
  EXPECT_EQ(wait.component, "scope");
  EXPECT_EQ(wait.parent_id, request.span_id);
  EXPECT_EQ(fetch.name, "POST");
  EXPECT_EQ(fetch.component, "base");
  EXPECT_EQ(fetch.parent_id, wait.span_id);
  for (const FinishedSpan& span : spans) EXPECT_EQ(span.trace_id, root.trace_id) << span.name;
  EXPECT_EQ(Parent("/pods/web"), ParentOf(request, tracer));
  EXPECT_EQ(Parent("/token"), ParentOf(fetch, tracer));
}

TEST_F(ComponentTraceTest, WithATokenThereIsNothingToWaitFor) {
  ASSERT_TRUE(Send(Get()).ok());
  EXPECT_EQ(Parent("/pods/web"), "none") << "not traced";
  RecordingTracer tracer(loop.clock());
  ASSERT_TRUE(SendIn(tracer.NewTrace(), Get()).ok());
  EXPECT_EQ(tracer.finished().size(), 1u);
}

// The API server, which has a sampler of its own, follows the decision.
TEST_F(ComponentTraceTest, AnUnsampledTraceIsSentAndNotRecorded) {
  RecordingTracer tracer(loop.clock(), /*sampled=*/false);
  ASSERT_TRUE(SendIn(tracer.NewTrace(), Get()).ok());
  EXPECT_TRUE(tracer.finished().empty());
  EXPECT_TRUE(Parent("/pods/web").ends_with("-00")) << Parent("/pods/web");
}

TEST_F(ComponentTraceTest, SaysThatNoTokenCame) {
  RecordingTracer tracer(loop.clock());
  mint_error = FakeReply::Code(503);
  EXPECT_FALSE(SendIn(tracer.NewTrace(), Get()).ok());
  loop.RunReady();
  // The fetch is tried again, but no longer for this request alone.
  std::map<std::string, absl::StatusCode> errors;
  for (const FinishedSpan& span : tracer.finished()) errors[span.name] = span.error;
  const std::map<std::string, absl::StatusCode> expected = {
      {"POST", absl::StatusCode::kUnavailable},
      {"wait for a token", absl::StatusCode::kDeadlineExceeded},
      {"GET pods", absl::StatusCode::kDeadlineExceeded}};
  EXPECT_EQ(errors, expected);
  EXPECT_EQ(tracer.finished().size(), 3u);
}

}  // namespace
}  // namespace mandate
