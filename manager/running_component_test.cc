#include "manager/running_component.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/testing/cache_fixture.h"
#include "manager/controller/testing/fake_event_recorder.h"
#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/testing/log_capture.h"

namespace mandate {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TokenStatus Token(bool usable, absl::Status last_error) {
  TokenStatus status;
  status.usable = usable;
  status.last_error = std::move(last_error);
  return status;
}

class RunningComponentTest : public CacheFixture {
 protected:
  RunningComponentTest() {
    CacheFixture::Create();
    server_.Serve(a_);
    server_.Put("default/x");
  }
  ~RunningComponentTest() override {
    if (started_) {
      EXPECT_EQ(running_->StopControllers(absl::InfiniteFuture()), absl::OkStatus());
    }
    demand_.reset();
    running_.reset();
    loop_.RunFor(absl::Minutes(10));
  }

  RunningComponent::Options Options() {
    return {.client = a_,
            .events = events_,
            .cache = *cache_,
            .workers = pool_,
            .metrics = metrics_,
            .log = Logger(log_, loop_.clock()),
            .seed = 42};
  }
  // Controllers of these names that watch widgets and call `run` for each request.
  void Run(
      const RunningComponent::Options& options, const std::vector<std::string>& names = {},
      const std::function<void(const CallContext&)>& run = [](const CallContext&) {}) {
    auto running = RunningComponent::Create(
        {.mandate = &kReader,
         .make_controllers = [&](const Component& component) -> absl::StatusOr<Controllers> {
           Controllers controllers;
           for (const std::string& name : names) {
             auto controller =
                 Controller::Create({.name = name,
                                     .controller_context = component.controller_context,
                                     .sources = {{{kWidget, "", ""}, EnqueueObject(), {}}},
                                     .reconciler = std::make_unique<FunctionReconciler>(
                                         [run](const CallContext& context, const Request&) {
                                           run(context);
                                           return Result{};
                                         }),
                                     .controller = controller_options_});
             if (!controller.ok()) return controller.status();
             controllers_.push_back(controller->get());
             controllers.push_back(*std::move(controller));
           }
           return controllers;
         }},
        options);
    ASSERT_TRUE(running.ok()) << running.status();
    running_ = *std::move(running);
  }
  // A component without controllers that demands widgets, and may read them through view_.
  void RunReader() {
    auto running = RunningComponent::Create(
        {.mandate = &kReader,
         .make_controllers = [this](const Component& component) -> absl::StatusOr<Controllers> {
           view_ = &component.cache();
           demand_ = view_->Demand({kWidget, "", ""}, nullptr);
           return Controllers();
         }},
        Options());
    ASSERT_TRUE(running.ok()) << running.status();
    running_ = *std::move(running);
  }
  void Start() {
    running_->StartControllers();
    started_ = true;
    Settle();
  }

  SimulatedPool pool_{loop_, 1};
  FakeEventRecorder events_;
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  ControllerOptions controller_options_;
  std::vector<Controller*> controllers_;
  CacheView* view_ = nullptr;
  std::unique_ptr<DemandHandle> demand_;
  std::unique_ptr<RunningComponent> running_;
  bool started_ = false;
};

TEST_F(RunningComponentTest, MakesItsControllersFromItsOwnParts) {
  bool made = false;
  const auto running = RunningComponent::Create(
      {.mandate = &kReader,
       .make_controllers = [&](const Component& component) -> absl::StatusOr<Controllers> {
         made = true;
         EXPECT_EQ(&component.mandate, &kReader);
         EXPECT_EQ(&component.client, &a_);
         EXPECT_EQ(&component.events, &events_);
         EXPECT_EQ(component.name(), "reader");
         EXPECT_EQ(component.controller_context.component, "reader");
         EXPECT_EQ(&component.controller_context.loop, &loop_);
         EXPECT_EQ(&component.controller_context.pool, &pool_);
         EXPECT_EQ(&component.controller_context.metrics, &metrics_);
         EXPECT_EQ(component.controller_context.seed, 42u);
         EXPECT_NE(component.controller_context.strand, nullptr);  // one for all its controllers
         // Its view asks as this component, within this mandate.
         const auto handle = component.cache().Demand({kWidget, "", ""}, nullptr);
         Settle();
         EXPECT_GT(a_.Count("widgets"), 0u);
         EXPECT_EQ(b_.requests().size(), 0u);
         return Controllers();
       }},
      Options());
  ASSERT_TRUE(made) << running.status();
  EXPECT_EQ((*running)->name(), "reader");
  EXPECT_EQ(&(*running)->client(), &a_);
  EXPECT_EQ(&(*running)->mandate(), &kReader);
}

TEST_F(RunningComponentTest, ReturnsTheErrorOfAController) {
  const auto running = RunningComponent::Create(
      {.mandate = &kReader,
       .make_controllers = [](const Component&) -> absl::StatusOr<Controllers> {
         return absl::InvalidArgumentError("no such kind");
       }},
      Options());
  EXPECT_EQ(running.status(), absl::InvalidArgumentError("no such kind"));
}

TEST_F(RunningComponentTest, CreatingStartsNothing) {
  Run(Options(), {"one", "two"});
  Settle();
  EXPECT_TRUE(a_.requests().empty());
}

TEST_F(RunningComponentTest, NotReadyBeforeItsFirstPreflight) {
  Run(Options());
  running_->OnTokenStatus(Token(true, absl::OkStatus()));
  EXPECT_TRUE(absl::IsUnavailable(running_->Ready()));
  running_->OnPreflight(absl::UnavailableError("cannot ask"));
  EXPECT_EQ(log_->Count("ERROR The permissions could not be checked component=reader"), 1);
  running_->OnPreflight(absl::OkStatus());
  EXPECT_EQ(running_->Ready(), absl::OkStatus());
}

TEST_F(RunningComponentTest, ReadyFollowsTheToken) {
  Run(Options());
  running_->OnPreflight(absl::OkStatus());
  EXPECT_TRUE(absl::IsUnavailable(running_->Ready())) << "no token yet";
  const absl::Status error = absl::NotFoundError("no ServiceAccount");
  const struct {
    const char* name;
    TokenStatus status;
    absl::Status ready;
  } rows[] = {
      {"the first fetch failed", Token(false, error), error},
      {"the next is on its way", Token(false, absl::OkStatus()), error},
      {"it has one", Token(true, absl::OkStatus()), absl::OkStatus()},
      {"it cannot be renewed, and still works", Token(true, error), absl::OkStatus()},
      {"it ran out, and the next is on its way", Token(false, absl::OkStatus()), absl::OkStatus()},
      {"it ran out", Token(false, error), error},
      {"it has one again", Token(true, absl::OkStatus()), absl::OkStatus()},
  };
  for (const auto& row : rows) {
    running_->OnTokenStatus(row.status);
    EXPECT_EQ(running_->Ready(), row.ready) << row.name;
  }
}

TEST_F(RunningComponentTest, EndsReadsWithoutAnAcceptedToken) {
  server_.Grant("a");
  RunReader();
  const auto read = [this] { return view_->GetRaw({}, kWidget, {"default", "x"}).status(); };
  running_->OnTokenStatus(Token(true, absl::OkStatus()));
  Settle();
  EXPECT_EQ(read(), absl::OkStatus());
  const absl::Status rejected = absl::UnauthenticatedError("401");
  const absl::Status off = absl::FailedPreconditionError("Secret ns/a does not exist");
  running_->OnTokenStatus(Token(false, rejected));
  loop_.RunReady();
  EXPECT_EQ(read().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(read().message()), HasSubstr("no credential that the server accepts"));
  running_->OnTokenStatus(Token(false, off));
  running_->OnTokenStatus(Token(false, off));
  running_->OnTokenStatus(Token(true, absl::OkStatus()));
  Settle();
  EXPECT_EQ(read(), absl::OkStatus());
  EXPECT_EQ(log_->Count("has no token that the server accepts component=reader reason="), 2);
}

// A request that failed because there was no token is sent again at once, before its backoff ends.
TEST_F(RunningComponentTest, ProvesAccessAtOnceWithANewToken) {
  server_.Grant("a");
  RunReader();
  Settle();
  server_.faults().refuse_review = 1;
  running_->OnTokenStatus(Token(false, absl::UnauthenticatedError("401")));
  loop_.RunFor(absl::Minutes(10));  // the next review is up to a minute away
  server_.faults().refuse_review = 0;
  const size_t before = a_.Count("selfsubjectaccessreviews");
  loop_.RunReady();
  EXPECT_EQ(a_.Count("selfsubjectaccessreviews"), before);
  running_->OnTokenStatus(Token(true, absl::OkStatus()));
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_GT(a_.Count("selfsubjectaccessreviews"), before);
  EXPECT_TRUE(view_->GetRaw({}, kWidget, {"default", "x"}).ok());
}

// A watch that was denied for want of a grant does not wait for its own backoff.
TEST_F(RunningComponentTest, ProvesAccessAtOnceWhenNothingIsMissing) {
  RunReader();
  running_->OnPreflight(absl::FailedPreconditionError("may not list widgets"));
  loop_.RunFor(absl::Minutes(10));  // the next try is up to a minute away
  server_.Grant("a");
  const size_t before = a_.requests().size();
  loop_.RunReady();
  EXPECT_EQ(a_.requests().size(), before);
  running_->OnPreflight(absl::OkStatus());
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_GT(a_.requests().size(), before);
  EXPECT_TRUE(view_->GetRaw({}, kWidget, {"default", "x"}).ok());
}

TEST_F(RunningComponentTest, NeedsAThreadForEachConcurrentReconciler) {
  Run(Options());
  EXPECT_EQ(running_->concurrency(), 0);
  Run(Options(), {"one", "two", "three"});
  EXPECT_EQ(running_->concurrency(), 3);
}

TEST_F(RunningComponentTest, ReadyNamesTheReasonOfAFailedFirstList) {
  Run(Options(), {"one"});
  running_->OnTokenStatus(Token(true, absl::OkStatus()));
  running_->OnPreflight(absl::OkStatus());
  server_.Grant("a");
  server_.faults().refuse_list = server_.faults().refuse_watch = 1;
  Start();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(std::string(running_->Ready().message()),
              AllOf(HasSubstr("waits for widgets.example.com: "), Not(HasSubstr("no request"))));
}

// A preflight without a token reports only that there is no token.
TEST_F(RunningComponentTest, LogsAMissingServiceAccountOnce) {
  Run(Options());
  const auto missing = absl::NotFoundError("a/b does not exist. Apply it:\napiVersion: v1\n");
  running_->OnTokenStatus(Token(false, absl::OkStatus()));
  running_->OnTokenStatus(Token(false, missing));
  running_->OnPreflight(missing);
  EXPECT_THAT(log_->lines(), ElementsAre(HasSubstr("accepts component=reader reason=\"a/b does not "
                                                   "exist; /readyz?verbose shows the manifest")));
  running_->OnTokenStatus(Token(true, absl::OkStatus()));
  EXPECT_EQ(log_->Count("INFO The component has a token again component=reader"), 1);
}

// Of the controller's log and the cache's together.
TEST_F(RunningComponentTest, LogsAnUnreadableSourceTwice) {
  options_.log = Logger(log_, loop_.clock());
  CacheFixture::Create();
  Run(Options(), {"one"});
  server_.Grant("a");
  server_.SetServed(false);
  Start();
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(log_->Count("INFO Source is not synced yet component=reader controller=one"), 1);
  EXPECT_EQ(log_->Count("ERROR Source is still not synced component=reader controller=one"), 1);
  EXPECT_EQ(log_->Count("widgets"), 2);
}

TEST_F(RunningComponentTest, NeedsNoTokenInModesWithoutTokens) {
  RunningComponent::Options options = Options();
  options.has_token = false;
  Run(options);
  running_->OnPreflight(absl::OkStatus());
  EXPECT_EQ(running_->Ready(), absl::OkStatus());
}

TEST_F(RunningComponentTest, ReadyFollowsThePreflightAndEachChangeIsOneLine) {
  Run(Options());
  running_->OnTokenStatus(Token(true, absl::OkStatus()));
  const absl::Status missing =
      absl::FailedPreconditionError("may not list pods. Apply:\napiVersion: v1\n");
  const absl::Status still = absl::FailedPreconditionError("may not get pods");
  const struct {
    absl::Status found;
    int errors, news;  // lines so far
  } rows[] = {
      {absl::OkStatus(), 0, 0}, {missing, 1, 0}, {missing, 1, 0},          {still, 2, 0},
      {absl::OkStatus(), 2, 1}, {missing, 3, 1}, {absl::OkStatus(), 3, 2}, {absl::OkStatus(), 3, 2},
  };
  for (const auto& row : rows) {
    running_->OnPreflight(row.found);
    EXPECT_EQ(running_->Ready(), row.found);
    EXPECT_EQ(log_->Count("ERROR Permissions are missing component=reader reason=\"may not"),
              row.errors);
    EXPECT_EQ(log_->Count("INFO Every declared permission is granted component=reader"), row.news);
    EXPECT_EQ(log_->lines().size(), static_cast<size_t>(row.errors + row.news));
    EXPECT_EQ(log_->Count("apiVersion"), 0);
  }
}

TEST_F(RunningComponentTest, ReadyReportsTheTokenBeforeThePermissions) {
  Run(Options());
  running_->OnPreflight(absl::UnavailableError("cannot ask"));
  running_->OnTokenStatus(Token(false, absl::NotFoundError("no ServiceAccount")));
  EXPECT_EQ(running_->Ready(), absl::NotFoundError("no ServiceAccount"));
  running_->OnTokenStatus(Token(true, absl::OkStatus()));
  EXPECT_EQ(running_->Ready(), absl::UnavailableError("cannot ask"));
}

TEST_F(RunningComponentTest, StandbyIsReadyAndALeaderOnceItsSourcesAre) {
  Run(Options(), {"one", "two"});
  running_->OnTokenStatus(Token(true, absl::OkStatus()));
  running_->OnPreflight(absl::OkStatus());
  EXPECT_EQ(running_->Ready(), absl::OkStatus());
  Start();  // without the right to watch
  EXPECT_THAT(std::string(running_->Ready().message()), HasSubstr("widgets"));
  server_.Grant("a");
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(running_->Ready(), absl::OkStatus());
}

TEST_F(RunningComponentTest, AWarmStandbyIsReadyOnceItsSourcesAre) {
  controller_options_.warm_up = true;
  int runs = 0;
  Run(Options(), {"warm"}, [&](const CallContext&) { ++runs; });
  running_->OnTokenStatus(Token(true, absl::OkStatus()));
  running_->OnPreflight(absl::OkStatus());
  running_->StartOnEveryReplica();
  started_ = true;
  Settle();  // without the right to watch
  EXPECT_THAT(std::string(running_->Ready().message()), HasSubstr("widgets"));
  server_.Grant("a");
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(running_->Ready(), absl::OkStatus());
  EXPECT_EQ(server_.live_watches(), 1u);
  EXPECT_EQ(runs, 0);
  a_.ForgetRequests();
  Start();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(a_.requests().size(), 0u) << "neither a list nor a watch";
}

TEST_F(RunningComponentTest, OnlyControllersThatAskForItWarmUp) {
  server_.Grant("a");
  Run(Options(), {"cold"});
  running_->StartOnEveryReplica();
  Settle();
  EXPECT_EQ(server_.live_watches(), 0u);
}

TEST_F(RunningComponentTest, ItsOwnConditionCounts) {
  server_.Grant("a");
  absl::Status condition = absl::FailedPreconditionError("the Secret is immutable");
  running_ =
      RunningComponent::Create({.mandate = &kReader, .ready = [&] { return condition; }}, Options())
          .value();
  running_->OnTokenStatus(Token(true, absl::OkStatus()));
  running_->OnPreflight(absl::OkStatus());
  running_->StartControllers();
  EXPECT_EQ(running_->Ready(), condition);
  condition = absl::OkStatus();
  EXPECT_EQ(running_->Ready(), absl::OkStatus());
}

TEST_F(RunningComponentTest, StopStopsEveryControllerAndReturnsTheFirstError) {
  server_.Grant("a");
  Latch stuck;
  absl::Status result;
  bool stopped = false;
  Run(Options(), {"one", "two", "three"}, [&](const CallContext&) { pool_.Await(stuck); });
  running_->OnTokenStatus(Token(true, absl::OkStatus()));
  running_->OnPreflight(absl::OkStatus());
  const absl::Time start = loop_.clock().TimeNow();
  // In tasks, as the stuck reconcilers run within this test's own RunFor.
  loop_.PostAt(start + absl::Seconds(10), [&] {
    EXPECT_EQ(running_->Ready(), absl::OkStatus());
    result = running_->StopControllers(start + absl::Seconds(20));
    EXPECT_EQ(loop_.clock().TimeNow(), start + absl::Seconds(20)) << "one deadline for all";
    stopped = true;
    for (const Controller* controller : controllers_) {
      EXPECT_FALSE(controller->Ready().ok()) << controller->name();
    }
  });
  loop_.PostAt(start + absl::Minutes(1), [&] { stuck.Set(); });
  running_->StartControllers();
  loop_.RunFor(absl::Minutes(2));
  ASSERT_TRUE(stopped);
  EXPECT_TRUE(absl::IsDeadlineExceeded(result)) << result;
  EXPECT_THAT(std::string(result.message()), HasSubstr("controller one of component reader"));
}

TEST_F(RunningComponentTest, RequestStopReachesEveryReconcilerWithoutWaiting) {
  server_.Grant("a");
  Latch stuck;
  std::vector<CallContext> contexts;
  Run(Options(), {"one", "two"}, [&](const CallContext& context) {
    contexts.push_back(context);
    pool_.Await(stuck);
  });
  const absl::Time start = loop_.clock().TimeNow();
  loop_.PostAt(start + absl::Seconds(10), [&] {
    ASSERT_EQ(contexts.size(), 2u);
    for (const CallContext& context : contexts) EXPECT_FALSE(context.stop.stop_requested());
    running_->RequestStop();
    for (const CallContext& context : contexts) EXPECT_TRUE(context.stop.stop_requested());
    EXPECT_EQ(loop_.clock().TimeNow(), start + absl::Seconds(10));
    server_.Put("default/y");
  });
  loop_.PostAt(start + absl::Minutes(1), [&] { stuck.Set(); });
  running_->StartControllers();
  started_ = true;
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(contexts.size(), 2u) << "no more work is taken";
}

}  // namespace
}  // namespace mandate
