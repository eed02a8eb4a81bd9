#include "manager/running_component.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/running_component_fixture.h"

namespace mandate {
namespace {

using testing::HasSubstr;

class RunningComponentTest : public RunningComponentFixture {};

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

TEST_F(RunningComponentTest, OnlyControllersThatAskForItWarmUp) {
  server_.Grant("a");
  Run(Options(), {"cold"});
  running_->StartOnEveryReplica();
  Settle();
  EXPECT_EQ(server_.live_watches(), 0u);
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
