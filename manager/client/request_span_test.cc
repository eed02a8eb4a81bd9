#include "manager/client/request_span.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "manager/core/testing/recording_tracer.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

RestRequest Request(std::string method, std::string target) {
  RestRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  return request;
}

std::map<std::string, std::string> Attributes(const FinishedSpan& span) {
  std::map<std::string, std::string> texts;
  for (const SpanAttribute& attribute : span.attributes) {
    const auto* text = std::get_if<std::string>(&attribute.value);
    texts[attribute.name] =
        text != nullptr ? *text : std::to_string(std::get<int64_t>(attribute.value));
  }
  return texts;
}

class RequestSpanTest : public ::testing::Test {
 protected:
  FinishedSpan Finish(const RestRequest& request, absl::StatusOr<HttpResponse> response) {
    RecordingTracer tracer(clock_);
    Span span = RequestSpan(tracer.NewTrace(), "scope", request);
    std::optional<absl::StatusOr<HttpResponse>> got;
    RestClient::Done done = EndingSpan(
        std::move(span), [&](absl::StatusOr<HttpResponse> result) { got = std::move(result); });
    EXPECT_TRUE(tracer.finished().empty());
    std::move(done)(std::move(response));
    EXPECT_TRUE(got.has_value());
    EXPECT_EQ(tracer.finished().size(), 1u);
    return tracer.finished().front();
  }

  static HttpResponse Ok() {
    HttpResponse response;
    response.code = 200;
    return response;
  }

  SimulatedClock clock_;
};

TEST_F(RequestSpanTest, Names) {
  const struct {
    const char* method;
    const char* target;
    const char* name;
    const char* path;
  } rows[] = {
      {"GET", "/api/v1/namespaces/foo/pods/web", "GET pods", "/api/v1/namespaces/foo/pods/web"},
      {"GET", "/api/v1/pods?limit=5&continue=secret", "GET pods", "/api/v1/pods"},
      {"PATCH", "/apis/apps/v1/namespaces/foo/deployments/web/status?fieldManager=x",
       "PATCH deployments/status", "/apis/apps/v1/namespaces/foo/deployments/web/status"},
      {"GET", "/version", "GET", "/version"},
      {"GET", "not a path", "GET", "not a path"},
  };
  for (const auto& row : rows) {
    const FinishedSpan span = Finish(Request(row.method, row.target), Ok());
    EXPECT_EQ(span.name, row.name) << row.target;
    EXPECT_EQ(span.component, "scope");
    EXPECT_EQ(span.kind, SpanKind::kClient);
    const std::map<std::string, std::string> expected = {{"http.request.method", row.method},
                                                         {"url.path", row.path},
                                                         {"http.response.status_code", "200"}};
    EXPECT_EQ(Attributes(span), expected) << row.target;
  }
}

TEST_F(RequestSpanTest, Errors) {
  const RestRequest request = Request("GET", "/api/v1/pods");
  const FinishedSpan answered = Finish(request, StatusFromResponse(404, ""));
  EXPECT_EQ(answered.error, absl::StatusCode::kNotFound);
  const FinishedSpan unreachable = Finish(request, absl::UnavailableError("refused"));
  EXPECT_EQ(unreachable.error, absl::StatusCode::kUnavailable);
  EXPECT_EQ(Attributes(unreachable).count("http.response.status_code"), 0u);
}

TEST_F(RequestSpanTest, WithoutATraceNothingIsWrapped) {
  bool called = false;
  EndingSpan(RequestSpan({}, "scope", Request("GET", "/version")),
             [&](const absl::StatusOr<HttpResponse>&) { called = true; })(HttpResponse{});
  EXPECT_TRUE(called);
}

}  // namespace
}  // namespace mandate
