#include "manager/tracing/otlp_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/must.h"
#include "manager/object/json.h"
#include "manager/serving/http_server.h"

namespace mandate {
namespace {

using testing::HasSubstr;

// A collector that keeps bodies. It answers, unless it hangs.
class Collector {
 public:
  explicit Collector(bool hangs = false)
      : server_(Must(HttpServer::Create(
            {.address = "127.0.0.1:0",
             .posts = {{"/v1/traces",
                        {.handle =
                             [this, hangs](PostedRequest request,
                                           std::function<void(ServedResponse)> answer) {
                               Serve(std::move(request), std::move(answer), hangs);
                             }}}},
             .metrics = &metrics_}))) {}
  ~Collector() {
    server_ = nullptr;
    for (auto& answer : unanswered_) answer({});
  }

  std::string endpoint() const { return "http://" + server_->address(); }
  // The spans of the only request.
  Json::Value Spans() {
    MutexLock lock(mutex_);
    EXPECT_EQ(bodies_.size(), 1u);
    if (bodies_.size() != 1) return Json::arrayValue;
    return Must(ParseJson(bodies_[0]))["resourceSpans"][0]["scopeSpans"][0]["spans"];
  }
  size_t requests() {
    MutexLock lock(mutex_);
    return bodies_.size();
  }

 private:
  void Serve(PostedRequest request, std::function<void(ServedResponse)> answer, bool hangs) {
    MutexLock lock(mutex_);
    bodies_.push_back(std::move(request.body));
    if (!hangs) return answer({.body = "{}"});
    unanswered_.push_back(std::move(answer));
  }

  Metrics metrics_;
  Mutex mutex_;
  std::vector<std::string> bodies_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::function<void(ServedResponse)>> unanswered_;
  std::unique_ptr<HttpServer> server_;
};

class OtlpExporterTest : public testing::Test {
 protected:
  std::unique_ptr<OtlpExporter> Start(const std::string& endpoint, int32_t rate = 1'000'000) {
    return Must(OtlpExporter::Create({.endpoint = endpoint,
                                      .sampling_rate_per_million = rate,
                                      .resource = {.service_name = "test", .service_version = "1"},
                                      .seed = 7,
                                      .metrics = &metrics_,
                                      .log = Logger(log_, Clock::Real())}));
  }
  static absl::Time In(absl::Duration duration) { return Clock::Real().TimeNow() + duration; }
  double Dropped() {
    return metrics_
        .Counter("mandate_trace_spans_dropped_total", "",
                 {{"identity", "auditor"}, {"reason", "shutdown"}})
        .Value();
  }

  Metrics metrics_;
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
};

TEST_F(OtlpExporterTest, SendsATrace) {
  Collector collector;
  const auto exporter = Start(collector.endpoint());
  Span root = Span::Root(exporter.get(), {.component = "auditor", .name = "reconcile"});
  const std::string traceparent = root.context().traceparent();
  {
    Span child = Span::Child(root.context(),
                             {.component = "auditor", .name = "GET", .kind = SpanKind::kClient});
    child.SetError(absl::NotFoundError("no such pod"));
  }
  root.End();
  exporter->Shutdown(In(absl::Minutes(1)));
  const Json::Value spans = collector.Spans();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0]["name"].asString(), "GET");
  EXPECT_EQ(spans[0]["parentSpanId"], spans[1]["spanId"]);
  EXPECT_EQ(spans[0]["status"]["message"].asString(), "no such pod");
  EXPECT_EQ("00-" + spans[1]["traceId"].asString() + "-" + spans[1]["spanId"].asString() + "-01",
            traceparent);
  EXPECT_EQ(Dropped(), 0);
  // Later spans are dropped.
  { const Span late = Span::Root(exporter.get(), {.component = "auditor", .name = "late"}); }
  EXPECT_EQ(Dropped(), 1);
  EXPECT_TRUE(log_->lines().empty());
}

TEST_F(OtlpExporterTest, SamplesByTheRate) {
  Collector collector;
  const auto exporter = Start(collector.endpoint(), 500'000);
  int sampled = 0;
  for (int i = 0; i < 400; ++i) {
    Span root = Span::Root(exporter.get(), {.component = "auditor", .name = "root"});
    const Span child = Span::Child(root.context(), {.component = "auditor", .name = "child"});
    EXPECT_EQ(child.recording(), root.recording());
    sampled += root.recording();
  }
  EXPECT_NEAR(sampled, 200, 50);
  const auto none = Start(collector.endpoint(), 0);
  EXPECT_FALSE(none->NewTrace().sampled);
}

TEST_F(OtlpExporterTest, IdsAreUniqueAndOfTheSeed) {
  const auto exporter = Start("http://127.0.0.1:1");
  const auto same = Start("http://127.0.0.1:1");
  std::set<TraceId> traces;
  std::set<SpanId> spans;
  for (int i = 0; i < 1000; ++i) {
    const TraceContext root = exporter->NewTrace();
    EXPECT_EQ(root.trace_id, same->NewTrace().trace_id);
    EXPECT_EQ(root.tracer, exporter.get());
    traces.insert(root.trace_id);
    spans.insert(root.span_id);
    spans.insert(exporter->NewSpanId());
    same->NewSpanId();
  }
  EXPECT_EQ(traces.size(), 1000u);
  EXPECT_EQ(spans.size(), 2000u);
  EXPECT_FALSE(traces.contains(TraceId{}));
  EXPECT_FALSE(spans.contains(SpanId{}));
}

TEST_F(OtlpExporterTest, AHangingCollectorDoesNotKeepTheProcess) {
  Collector collector(/*hangs=*/true);
  const auto exporter = Start(collector.endpoint());
  for (int i = 0; i < 3; ++i) {
    const Span span = Span::Root(exporter.get(), {.component = "auditor", .name = "x"});
  }
  exporter->Shutdown(In(absl::Milliseconds(50)));
  EXPECT_EQ(Dropped(), 3);
  EXPECT_LE(collector.requests(), 1u);
}

TEST_F(OtlpExporterTest, ADeadCollectorDoesNotKeepTheProcess) {
  std::string endpoint;
  { endpoint = Collector().endpoint(); }
  const auto exporter = Start(endpoint);
  { const Span span = Span::Root(exporter.get(), {.component = "auditor", .name = "x"}); }
  exporter->Shutdown(In(absl::Hours(1)));
  EXPECT_EQ(Dropped(), 1);
  EXPECT_EQ(log_->Count("Traces cannot be sent"), 1);
}

TEST_F(OtlpExporterTest, DestroyingItDropsWhatWaits) {
  Collector collector;
  auto exporter = Start(collector.endpoint());
  { const Span span = Span::Root(exporter.get(), {.component = "auditor", .name = "x"}); }
  exporter = nullptr;
  EXPECT_EQ(Dropped(), 1);
  EXPECT_EQ(collector.requests(), 0u);
}

TEST_F(OtlpExporterTest, RejectsInvalidOptions) {
  const struct {
    const char* endpoint;
    const char* ca_file;
    int32_t rate;
    const char* why;
  } rows[] = {
      {"http://collector:4318", "", 1, "has no TLS"},
      {"https://collector:4318", "", 1'000'001, "sampling rate"},
      {"https://collector:4318", "/dev/null", 1, "has no certificate"},
  };
  for (const auto& row : rows) {
    const auto exporter = OtlpExporter::Create({.endpoint = row.endpoint,
                                                .ca_file = row.ca_file,
                                                .sampling_rate_per_million = row.rate,
                                                .metrics = &metrics_});
    EXPECT_EQ(exporter.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(exporter.status().message()), HasSubstr(row.why));
  }
}

}  // namespace
}  // namespace mandate
