#include "manager/preflight_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/preflight.h"

namespace mandate {
namespace {

constexpr std::string_view kVerbs[] = {"get", "list"};
constexpr std::string_view kGroups[] = {""};
constexpr std::string_view kPods[] = {"pods"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kVerbs, .api_groups = kGroups, .resources = kPods}, .ns = ""}};
constexpr rbac::Mandate kScope = {.component = "scope", .rules = kRules};

// Records the deadline and the stop token of each request.
class WatchedClient : public FakeRestClient {
 public:
  using FakeRestClient::FakeRestClient;
  void Send(const CallContext& context, RestRequest request, Done done) override {
    contexts.push_back(context);
    FakeRestClient::Send(context, std::move(request), std::move(done));
  }
  std::vector<CallContext> contexts;
};

class PreflightLoopTest : public testing::Test {
 protected:
  // As seconds since the start, and whether nothing was missing.
  struct Report {
    int second;
    absl::Status status;
  };

  PreflightLoopTest() {
    client_.Handle([this](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
      if (!server_.ok()) return server_;
      if (request.target.ends_with("/selfsubjectreviews")) {
        return FakeRestClient::Json(201, R"({"status":{"userInfo":{"username":"u"}}})");
      }
      EXPECT_TRUE(request.target.ends_with("/selfsubjectaccessreviews")) << request.target;
      return FakeRestClient::Json(
          201, granted_ ? R"({"status":{"allowed":true}})" : R"({"status":{"allowed":false}})");
    });
  }
  // All running work ends, and no task or timer is left.
  ~PreflightLoopTest() override {
    preflight_.reset();
    loop_.RunFor(absl::Hours(1));
    EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
  }

  int Second() const {
    return static_cast<int>((loop_.clock().TimeNow() - start_) / absl::Seconds(1));
  }
  void Start(Executor& workers) {
    PreflightLoop::Options options;
    options.loop = &loop_;
    options.workers = &workers;
    options.component = "scope";
    options.check = PreflightCheck(client_, {.mandate = mandate_});
    if (retry_.has_value()) options.retry = *retry_;
    options.metrics = &metrics_;
    options.report = [this](absl::Status status) {
      reports_.push_back({Second(), status});
      if (on_report_) on_report_();
    };
    preflight_ = std::make_unique<PreflightLoop>(std::move(options));
    preflight_->Start();
  }
  void At(absl::Duration when, std::function<void()> what) {
    loop_.PostAt(start_ + when, std::move(what));
  }
  std::vector<int> Seconds() const {
    std::vector<int> seconds;
    for (const Report& report : reports_) seconds.push_back(report.second);
    return seconds;
  }

  double Checks(const char* outcome) {
    return metrics_
        .Counter("mandate_preflight_checks_total", "",
                 {{"identity", "scope"}, {"outcome", outcome}})
        .Value();
  }

  Metrics metrics_;
  SimulatedLoop loop_;
  const absl::Time start_ = loop_.clock().TimeNow();
  SimulatedPool pool_{loop_, 1};
  WatchedClient client_{loop_, "scope"};
  const rbac::Mandate* mandate_ = &kScope;
  bool granted_ = true;
  absl::Status server_;
  std::optional<Backoff::Options> retry_;
  std::vector<Report> reports_;
  std::function<void()> on_report_;
  std::unique_ptr<PreflightLoop> preflight_;
};

// The server is far away. One question after the other would take 30 s, the whole time limit.
TEST_F(PreflightLoopTest, ChecksHundredsOfPermissionsInTime) {
  std::vector<std::string> names;
  for (int i = 0; i < 150; ++i) names.push_back("r" + std::to_string(i));
  const std::vector<std::string_view> resources(names.begin(), names.end());
  const rbac::MandateRule rules[] = {
      {.rule = {.verbs = kVerbs, .api_groups = kGroups, .resources = resources}, .ns = ""}};
  const rbac::Mandate mandate = {.component = "scope", .rules = rules};
  mandate_ = &mandate;
  client_.SetDelay([] { return absl::Milliseconds(50); });
  Start(pool_);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Seconds(), std::vector<int>{2});
  EXPECT_EQ(Checks("granted"), 1);
  EXPECT_EQ(client_.Count("selfsubjectaccessreviews"), 300u);
  preflight_.reset();
}

TEST_F(PreflightLoopTest, StopsOnceNothingIsMissing) {
  Start(pool_);
  EXPECT_TRUE(client_.requests().empty()) << "not on the caller's time";
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(client_.requests().size(), 3u);
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0].status, absl::OkStatus());
}

TEST_F(PreflightLoopTest, RetriesUntilEverythingIsGranted) {
  granted_ = false;
  Start(pool_);
  At(absl::Seconds(40), [this] { granted_ = true; });
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(Seconds(), (std::vector<int>{0, 15, 30, 45}));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(absl::IsFailedPrecondition(reports_[i].status)) << reports_[i].status;
    EXPECT_NE(reports_[i].status.message().find("may not get pods, list pods"), std::string::npos)
        << reports_[i].status;
  }
  EXPECT_EQ(reports_[3].status, absl::OkStatus());
}

TEST_F(PreflightLoopTest, RetriesWithoutAnAnswer) {
  server_ = absl::UnavailableError("no connection");
  Start(pool_);
  At(absl::Seconds(20), [this] { server_ = absl::OkStatus(); });
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(Seconds(), (std::vector<int>{0, 15, 30}));
  EXPECT_EQ(reports_[0].status, absl::UnavailableError("no connection"));
  EXPECT_EQ(reports_[2].status, absl::OkStatus());
}

TEST_F(PreflightLoopTest, BacksOffWhileChecksFail) {
  retry_ = {.initial = absl::Seconds(1), .factor = 2, .max = absl::Seconds(5), .jitter = 0};
  server_ = absl::ResourceExhaustedError("too many requests");
  Start(pool_);
  At(absl::Seconds(14), [this] { server_ = absl::OkStatus(); });
  At(absl::Minutes(10), [this] {
    server_ = absl::ResourceExhaustedError("too many requests");
    preflight_->Recheck();
  });
  loop_.RunFor(absl::Minutes(10) + absl::Seconds(4));
  EXPECT_EQ(Seconds(), (std::vector<int>{0, 1, 3, 7, 12, 17, 600, 601, 603}));
  EXPECT_EQ(reports_[4].status, server_);
  EXPECT_EQ(reports_[5].status, absl::OkStatus());
}

TEST_F(PreflightLoopTest, RecheckRunsAnotherCheck) {
  Start(pool_);
  At(absl::Minutes(10), [this] {
    granted_ = false;
    preflight_->Recheck();
    preflight_->Recheck();  // during the check, and while the next is to come
  });
  At(absl::Minutes(10) + absl::Seconds(1), [this] { preflight_->Recheck(); });
  At(absl::Minutes(10) + absl::Seconds(20), [this] { granted_ = true; });
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(Seconds(), (std::vector<int>{0, 600, 615, 630}));
  EXPECT_TRUE(absl::IsFailedPrecondition(reports_[1].status)) << reports_[1].status;
  EXPECT_EQ(reports_[3].status, absl::OkStatus());
  EXPECT_EQ(Checks("granted"), 2);
  EXPECT_EQ(Checks("missing"), 2);
  EXPECT_EQ(Checks("unanswered"), 0);
}

// An admission policy that denies the same write repeatedly does not cause a check each time.
TEST_F(PreflightLoopTest, BacksOffWhenDenialsHaveOtherReasonsThanGrants) {
  Start(pool_);
  for (int second = 1; second < 3600; ++second) {
    At(absl::Seconds(second), [this] { preflight_->Recheck(); });
  }
  loop_.RunFor(absl::Hours(2));
  EXPECT_GE(reports_.size(), 12u);
  EXPECT_LE(reports_.size(), 18u);
  // After a quiet time a denial causes a check again.
  const size_t before = reports_.size();
  preflight_->Recheck();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(reports_.size(), before + 1);
}

TEST_F(PreflightLoopTest, ResetsTheBackoffWhenAGrantIsMissing) {
  Start(pool_);
  for (int second = 1; second < 3600; ++second) {
    At(absl::Seconds(second), [this] { preflight_->Recheck(); });
  }
  At(absl::Seconds(1800), [this] { granted_ = false; });
  At(absl::Seconds(2400), [this] { granted_ = true; });
  loop_.RunFor(absl::Hours(2));
  const std::vector<int> seconds = Seconds();
  EXPECT_GE(std::count_if(seconds.begin(), seconds.end(),
                          [](int second) { return second >= 2400 && second < 2500; }),
            4);
}

TEST_F(PreflightLoopTest, ChecksAtOnceAfterTheFirstDenial) {
  Start(pool_);
  At(absl::Seconds(2), [this] {
    granted_ = false;
    preflight_->Recheck();
  });
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(Seconds(), (std::vector<int>{0, 2}));
}

TEST_F(PreflightLoopTest, RepeatsACheckDuringWhichAGrantWasRemoved) {
  client_.SetDelay([] { return absl::Seconds(1); });  // six for a check
  Start(pool_);
  At(absl::Milliseconds(5500), [this] {  // after the last answer
    granted_ = false;
    preflight_->Recheck();
  });
  loop_.RunFor(absl::Seconds(20));
  ASSERT_EQ(reports_.size(), 2u);
  EXPECT_EQ(reports_[0].status, absl::OkStatus());
  EXPECT_TRUE(absl::IsFailedPrecondition(reports_[1].status)) << reports_[1].status;
}

TEST_F(PreflightLoopTest, ChecksDoNotOverlapAndEachHasItsDeadline) {
  granted_ = false;
  // Six seconds for a request; 12 for a check, whose two reviews are under way together.
  client_.SetDelay([] { return absl::Seconds(3); });
  Start(pool_);
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(Seconds(), (std::vector<int>{12, 39, 66, 93, 120}));
  for (size_t i = 0; i < client_.contexts.size(); ++i) {
    // All of a check's requests share the deadline that its beginning set.
    const absl::Time begin = start_ + absl::Seconds(27 * static_cast<int>(i / 3));
    EXPECT_GE(client_.contexts[i].deadline, begin + absl::Seconds(30)) << i;
    EXPECT_LT(client_.contexts[i].deadline, begin + absl::Seconds(30.1)) << i;
  }
}

TEST_F(PreflightLoopTest, DestructionCancelsTheCheckThatRuns) {
  const struct {
    absl::Duration after;
    size_t requests;
  } rows[] = {{absl::Seconds(1), 1u}, {absl::Seconds(3), 3u}};
  client_.SetDelay([] { return absl::Seconds(1); });
  for (const auto& row : rows) {
    SCOPED_TRACE(row.after);
    client_.contexts.clear();
    client_.ForgetRequests();
    Start(pool_);
    loop_.PostAt(loop_.clock().TimeNow() + row.after, [&] {
      ASSERT_EQ(client_.contexts.size(), row.requests);
      EXPECT_FALSE(client_.contexts.back().stop.stop_requested());
      preflight_.reset();
      for (const auto& context : client_.contexts) EXPECT_TRUE(context.stop.stop_requested());
    });
    loop_.RunFor(absl::Hours(1));
    EXPECT_EQ(client_.requests().size(), row.requests) << "the check ended with what was under way";
    EXPECT_TRUE(reports_.empty());
  }
}

TEST_F(PreflightLoopTest, DestructionBeforeThePoolHasAThreadToSpare) {
  Start(pool_);
  preflight_.reset();
  loop_.RunFor(absl::Hours(1));
  EXPECT_TRUE(client_.requests().empty());
  EXPECT_TRUE(reports_.empty());
}

TEST_F(PreflightLoopTest, DestructionBetweenChecksCancelsTheTimer) {
  granted_ = false;
  Start(pool_);
  loop_.RunFor(absl::Seconds(5));
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_NE(loop_.NextTimer(), absl::InfiniteFuture());
  preflight_.reset();
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
}

// The check has ended, in a thread of the pool, when the loop's thread destroys the preflight.
TEST_F(PreflightLoopTest, NothingIsReportedAfterDestruction) {
  struct EndsAfterEachTask : Executor {
    EndsAfterEachTask(Executor& p, std::function<void()> e) : pool(p), end(std::move(e)) {}
    void Post(Task task) override {
      pool.Post([this, task = std::move(task)]() mutable {
        std::move(task)();
        end();
      });
    }
    Executor& pool;
    const std::function<void()> end;
  } workers(pool_, [this] { preflight_.reset(); });
  for (const bool granted : {true, false}) {
    granted_ = granted;
    client_.ForgetRequests();
    Start(workers);
    loop_.RunFor(absl::Minutes(1));
    EXPECT_EQ(client_.requests().size(), 3u);
    EXPECT_TRUE(reports_.empty());
  }
}

TEST_F(PreflightLoopTest, AReportMayDestroyIt) {
  granted_ = false;
  on_report_ = [this] { preflight_.reset(); };
  Start(pool_);
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(reports_.size(), 1u);
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
}

}  // namespace
}  // namespace mandate
