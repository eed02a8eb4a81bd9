#include "manager/tracing/batch_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using testing::HasSubstr;

// Answers with what the test has queued, and then with `otherwise`; hangs if that is null.
class FakePoster : public OtlpPoster {
 public:
  using Answer = absl::StatusOr<OtlpAnswer>;

  explicit FakePoster(SimulatedLoop& loop) : loop_(loop) {}

  void Post(std::string_view json, absl::Duration timeout, Done done) override {
    bodies.emplace_back(json);
    times.push_back(loop_.clock().TimeNow());
    std::optional<Answer> answer = otherwise;
    if (!next.empty()) {
      answer = std::move(next.front());
      next.pop_front();
    }
    const absl::Duration after = answer.has_value() ? absl::ZeroDuration() : timeout;
    Answer given = answer.value_or(absl::UnavailableError("no answer from the collector"));
    timer_ = loop_.RunAt(loop_.clock().TimeNow() + after,
                         [done = std::move(done), given = std::move(given)]() mutable {
                           std::move(done)(std::move(given));
                         });
  }
  void Cancel() override { timer_ = nullptr; }

  std::deque<std::optional<Answer>> next;
  std::optional<Answer> otherwise = OtlpAnswer{.code = 200};
  std::vector<std::string> bodies;
  std::vector<absl::Time> times;

 private:
  SimulatedLoop& loop_;
  std::unique_ptr<Loop::Timer> timer_;
};

class BatchExporterTest : public testing::Test {
 protected:
  void Start(BatchExporter::Limits limits = {}) {
    exporter_ =
        std::make_unique<BatchExporter>(BatchExporter::Options{.loop = &loop_,
                                                               .poster = &poster_,
                                                               .metrics = &metrics_,
                                                               .limits = limits,
                                                               .resource = {.service_name = "test"},
                                                               .seed = 1,
                                                               .log = Logger(log_, loop_.clock())});
  }
  void Add(int count, const std::string& component = "auditor") {
    for (int i = 0; i < count; ++i) exporter_->Add({.component = component, .name = "span"});
  }
  double Exported(const std::string& component = "auditor") {
    return metrics_.Counter("mandate_trace_spans_exported_total", "", {{"identity", component}})
        .Value();
  }
  double Dropped(const std::string& reason, const std::string& component = "auditor") {
    return metrics_
        .Counter("mandate_trace_spans_dropped_total", "",
                 {{"identity", component}, {"reason", reason}})
        .Value();
  }
  double Queued(const std::string& component = "auditor") {
    return metrics_.Gauge("mandate_trace_queued_spans", "", {{"identity", component}}).Value();
  }
  static int SpansIn(const std::string& body) {
    int spans = 0;
    for (size_t at = 0; (at = body.find("\"traceId\"", at)) != body.npos; ++at) ++spans;
    return spans;
  }
  // When the posts were, since the first.
  std::vector<absl::Duration> PostedAfter() const {
    std::vector<absl::Duration> all;
    for (const absl::Time time : poster_.times) all.push_back(time - poster_.times[0]);
    return all;
  }

  SimulatedLoop loop_;
  Metrics metrics_;
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  FakePoster poster_{loop_};
  std::unique_ptr<BatchExporter> exporter_;
};

TEST_F(BatchExporterTest, SendsWhatWaitedForTheDelay) {
  Start();
  Add(3);
  loop_.RunFor(absl::Milliseconds(4999));
  EXPECT_TRUE(poster_.bodies.empty());
  EXPECT_EQ(Queued(), 3);
  Add(2);
  loop_.RunFor(absl::Milliseconds(1));
  ASSERT_EQ(poster_.bodies.size(), 1u);
  EXPECT_EQ(SpansIn(poster_.bodies[0]), 5);
  EXPECT_THAT(poster_.bodies[0],
              HasSubstr(R"({"key":"service.name","value":{"stringValue":"test"}})"));
  EXPECT_EQ(Exported(), 5);
  EXPECT_EQ(Queued(), 0);
  // Nothing is sent without spans.
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(poster_.bodies.size(), 1u);
  Add(1);
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(poster_.bodies.size(), 2u);
}

TEST_F(BatchExporterTest, SendsAFullBatchAtOnce) {
  Start({.batch = 4});
  Add(3);
  loop_.RunReady();
  EXPECT_TRUE(poster_.bodies.empty());
  Add(10);
  loop_.RunFor(absl::ZeroDuration());
  ASSERT_EQ(poster_.bodies.size(), 3u);
  for (const std::string& body : poster_.bodies) EXPECT_EQ(SpansIn(body), 4);
  EXPECT_EQ(Queued(), 1);
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(Exported(), 13);
}

TEST_F(BatchExporterTest, AFullComponentDropsOnlyItsOwnSpans) {
  Start({.queue = 10, .batch = 4});
  poster_.otherwise = std::nullopt;  // hangs
  Add(4, "loud");
  loop_.RunFor(absl::ZeroDuration());
  ASSERT_EQ(poster_.bodies.size(), 1u);
  Add(100, "loud");
  Add(10, "quiet");
  EXPECT_EQ(Dropped("queue_full", "loud"), 90);
  EXPECT_EQ(Dropped("queue_full", "quiet"), 0);
  EXPECT_EQ(Queued("loud"), 10);
  EXPECT_EQ(Queued("quiet"), 10);
  poster_.otherwise = OtlpAnswer{.code = 200};
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Exported("loud"), 10);
  EXPECT_EQ(Exported("quiet"), 10);
  EXPECT_EQ(Dropped("timeout", "loud"), 4);
}

TEST_F(BatchExporterTest, TheAnswerDecides) {
  const struct {
    FakePoster::Answer answer;
    bool retried;
    double exported;  // of 1 without a retry
    const char* logged;
  } rows[] = {
      {OtlpAnswer{.code = 200}, false, 1, ""},
      {OtlpAnswer{.code = 202, .body = "{}"}, false, 1, ""},
      {OtlpAnswer{.code = 200, .body = "<html>"}, false, 1, "is not an ExportTraceServiceResponse"},
      {OtlpAnswer{.code = 302, .body = "moved"}, false, 0, "the collector answered 302: moved;"},
      {OtlpAnswer{.code = 400, .body = "bad"}, false, 0, "the collector answered 400: bad;"},
      {OtlpAnswer{.code = 401}, false, 0, "the collector answered 401: ;"},
      {OtlpAnswer{.code = 404}, false, 0, "check that the endpoint is that of OTLP over HTTP"},
      {OtlpAnswer{.code = 413}, false, 0, "the collector answered 413"},
      {OtlpAnswer{.code = 429}, true, 0, "the collector answered 429"},
      {OtlpAnswer{.code = 500}, false, 0, "the collector answered 500"},
      {OtlpAnswer{.code = 502}, true, 0, "the collector answered 502"},
      {OtlpAnswer{.code = 503, .body = std::string(1000, 'x')}, true, 0,
       "the collector answered 503: xxx"},
      {OtlpAnswer{.code = 504}, true, 0, "the collector answered 504"},
      {absl::UnavailableError("connection refused"), true, 0, "connection refused"},
      {absl::OutOfRangeError("too large an answer"), false, 0, "too large an answer"},
  };
  int seen = 0;
  for (const auto& row : rows) {
    SCOPED_TRACE(row.answer.ok() ? std::to_string(row.answer->code)
                                 : row.answer.status().ToString());
    poster_.times.clear();
    log_ = std::make_shared<LogCapture>();
    Start();
    const double exported = Exported();
    const double rejected = Dropped("rejected");
    poster_.next.push_back(row.answer);
    Add(1);
    loop_.RunFor(absl::Seconds(5));
    ASSERT_EQ(poster_.times.size(), 1u);
    EXPECT_EQ(Exported() - exported, row.exported);
    EXPECT_EQ(Dropped("rejected") - rejected, !row.retried && row.exported == 0 ? 1 : 0);
    loop_.RunFor(absl::Minutes(1));
    EXPECT_EQ(poster_.times.size(), row.retried ? 2u : 1u);
    if (row.retried) {
      EXPECT_EQ(Exported() - exported, 1);
    }
    EXPECT_THAT(log_->Last("reason="), HasSubstr(row.logged));
    EXPECT_EQ(log_->lines().size(), *row.logged == 0 ? 0u : 1u);
    for (const std::string& line : log_->lines()) EXPECT_LT(line.size(), 500u);
    ++seen;
  }
  EXPECT_EQ(seen, 15);
  EXPECT_EQ(Dropped("timeout"), 0);
}

TEST_F(BatchExporterTest, RetriesSlowDownUntilTheTimeout) {
  Start({.backoff = {.initial = absl::Seconds(1), .max = absl::Seconds(8)}});
  poster_.otherwise = absl::UnavailableError("connection refused");
  Add(7);
  loop_.RunFor(absl::Seconds(5) + absl::Seconds(30));
  const std::vector<absl::Duration> posted = PostedAfter();
  ASSERT_GE(posted.size(), 4u);
  absl::Duration base = absl::Seconds(1);
  for (size_t i = 1; i < posted.size(); ++i, base = std::min(base * 2, absl::Seconds(8))) {
    EXPECT_GE(posted[i] - posted[i - 1], base) << i;
    EXPECT_LT(posted[i] - posted[i - 1], base * 2) << i;
  }
  EXPECT_LT(posted.back(), absl::Seconds(30));
  EXPECT_EQ(Dropped("timeout"), 7);
  // A line a minute, also for the next batch.
  EXPECT_EQ(log_->Count("Traces cannot be sent"), 1);
  poster_.otherwise = OtlpAnswer{.code = 200};
  Add(1);
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(Exported(), 1);
}

TEST_F(BatchExporterTest, WaitsAsLongAsTheCollectorAsks) {
  Start();
  poster_.next = {OtlpAnswer{.code = 429, .retry_after = absl::Seconds(12)},
                  OtlpAnswer{.code = 503, .retry_after = absl::Seconds(0)}};
  Add(1);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(PostedAfter(), (std::vector<absl::Duration>{absl::ZeroDuration(), absl::Seconds(12),
                                                        absl::Seconds(12)}));
  EXPECT_EQ(Exported(), 1);
}

TEST_F(BatchExporterTest, APauseHoldsTheNextBatchToo) {
  Start({.batch = 2});
  poster_.next = {OtlpAnswer{.code = 503, .retry_after = absl::Minutes(5)}};
  Add(2);
  loop_.RunFor(absl::ZeroDuration());
  EXPECT_EQ(Dropped("timeout"), 2);  // it cannot be sent in time
  Add(3);
  loop_.RunFor(absl::Minutes(5) - absl::Milliseconds(1));
  EXPECT_EQ(poster_.times.size(), 1u);
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_EQ(poster_.times.size(), 2u);
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(Exported(), 3);
}

TEST_F(BatchExporterTest, AHangingCollectorCostsOneTimeoutABatch) {
  Start();
  poster_.next = {std::nullopt};
  Add(5);
  loop_.RunFor(absl::Seconds(5));
  Add(4);  // does not wait
  loop_.RunFor(absl::Seconds(29));
  EXPECT_EQ(poster_.bodies.size(), 1u);
  EXPECT_EQ(Queued(), 4);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Dropped("timeout"), 5);
  EXPECT_EQ(log_->Count("reason=\"no answer from the collector\""), 1);
  EXPECT_EQ(Exported(), 4);
}

TEST_F(BatchExporterTest, PartialSuccessIsCountedAndLogged) {
  Start();
  const struct {
    const char* body;
    double rejected;
    const char* logged;
  } rows[] = {
      {R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}})", 2,
       "it rejected 2 of 3 spans: too old"},
      {R"({"partialSuccess":{"errorMessage":"use gzip"}})", 0,
       "it rejected 0 of 3 spans: use gzip"},
      {R"({"partialSuccess":{"rejectedSpans":"99"}})", 3, "it rejected 3 of 3 spans"},
      {R"({"partialSuccess":{"rejectedSpans":"-5","errorMessage":"x"}})", 0, "rejected 0 of 3"},
      {R"({"partialSuccess":{}})", 0, ""},
  };
  double rejected = 0;
  for (const auto& row : rows) {
    const size_t lines = log_->lines().size();
    poster_.next = {OtlpAnswer{.code = 200, .body = row.body}};
    Add(3);
    loop_.RunFor(absl::Minutes(1));
    rejected += row.rejected;
    EXPECT_EQ(metrics_.Counter("mandate_trace_spans_rejected_in_part_total", "", {}).Value(),
              rejected)
        << row.body;
    EXPECT_EQ(log_->lines().size(), lines + (*row.logged == 0 ? 0 : 1)) << row.body;
    EXPECT_THAT(log_->lines().back(), HasSubstr(row.logged)) << row.body;
  }
  EXPECT_EQ(poster_.bodies.size(), 5u);  // none was sent again
  EXPECT_EQ(Exported(), 15);
}

TEST_F(BatchExporterTest, ShutdownSendsWhatIsThere) {
  Start({.batch = 4});
  poster_.next = {OtlpAnswer{.code = 200}, OtlpAnswer{.code = 400}};
  Add(3);
  Add(7, "helper");
  const absl::Time start = loop_.clock().TimeNow();
  exporter_->Shutdown(start + absl::Seconds(10));
  EXPECT_EQ(loop_.clock().TimeNow(), start);
  EXPECT_EQ(poster_.bodies.size(), 3u);
  EXPECT_EQ(Exported() + Exported("helper"), 6);
  EXPECT_EQ(Dropped("rejected") + Dropped("rejected", "helper"), 4);
  Add(2);
  EXPECT_EQ(Dropped("shutdown"), 2);
  exporter_->Shutdown(start);
  exporter_->Shutdown(absl::InfiniteFuture());
  EXPECT_EQ(poster_.bodies.size(), 3u);
  EXPECT_EQ(log_->Count("Spans were dropped"), 0);
}

TEST_F(BatchExporterTest, ShutdownOfNothingReturnsAtOnce) {
  Start();
  const absl::Time start = loop_.clock().TimeNow();
  exporter_->Shutdown(absl::InfiniteFuture());
  EXPECT_EQ(loop_.clock().TimeNow(), start);
  EXPECT_TRUE(poster_.bodies.empty());
}

TEST_F(BatchExporterTest, ShutdownWaitsForAHangingCollectorUntilItsDeadline) {
  Start({.batch = 2});
  poster_.otherwise = std::nullopt;
  Add(5);
  loop_.RunFor(absl::Seconds(1));  // the first batch is under way
  const absl::Time deadline = loop_.clock().TimeNow() + absl::Seconds(3);
  exporter_->Shutdown(deadline);
  EXPECT_EQ(loop_.clock().TimeNow(), deadline);
  EXPECT_EQ(Dropped("shutdown"), 5);
  EXPECT_EQ(Queued(), 0);
  EXPECT_EQ(log_->Count("Spans were dropped, because the process ends spans=5"), 1);
}

TEST_F(BatchExporterTest, ShutdownDoesNotRetry) {
  Start({.batch = 2});
  poster_.otherwise = absl::UnavailableError("connection refused");
  Add(5);
  const absl::Time start = loop_.clock().TimeNow();
  exporter_->Shutdown(start + absl::Seconds(30));
  EXPECT_EQ(loop_.clock().TimeNow(), start);
  EXPECT_EQ(poster_.bodies.size(), 1u);
  EXPECT_EQ(Dropped("shutdown"), 5);
}

TEST_F(BatchExporterTest, ShutdownSendsABatchThatWaitsForItsRetry) {
  Start();
  poster_.next = {OtlpAnswer{.code = 503, .retry_after = absl::Seconds(20)}};
  Add(1);
  loop_.RunFor(absl::Seconds(6));
  ASSERT_EQ(poster_.bodies.size(), 1u);
  Add(1);
  const absl::Time start = loop_.clock().TimeNow();
  // The pause that the collector asked for is longer than the process lives: the batch has one
  // try, the rest has none.
  exporter_->Shutdown(start + absl::Seconds(10));
  EXPECT_EQ(loop_.clock().TimeNow(), start);
  EXPECT_EQ(Exported(), 1);
  EXPECT_EQ(Dropped("shutdown"), 1);
}

TEST_F(BatchExporterTest, ShutdownInThePastDropsEverything) {
  Start({.batch = 2});
  poster_.otherwise = std::nullopt;
  Add(5);
  loop_.RunFor(absl::Seconds(1));
  const absl::Time start = loop_.clock().TimeNow();
  exporter_->Shutdown(absl::InfinitePast());
  EXPECT_EQ(loop_.clock().TimeNow(), start);
  EXPECT_EQ(Dropped("shutdown"), 5);
}

}  // namespace
}  // namespace mandate
