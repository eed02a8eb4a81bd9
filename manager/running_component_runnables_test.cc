// A component with work that no request starts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "manager/cache/testing/cache_fixture.h"
#include "manager/controller/testing/fake_event_recorder.h"
#include "manager/core/testing/log_capture.h"
#include "manager/running_component.h"

namespace mandate {
namespace {

using testing::HasSubstr;

class RunnablesTest : public CacheFixture {
 protected:
  RunnablesTest() {
    CacheFixture::Create();
    server_.Serve(a_);
  }
  ~RunnablesTest() override {
    if (running_ == nullptr) return;
    running_->RequestStop();
    EXPECT_EQ(running_->StopControllers(absl::InfiniteFuture()), absl::OkStatus());
  }
  absl::Status Make(Runnables runnables) {
    auto running = RunningComponent::Create(
        {.mandate = &kReader,
         .make_runnables = [&](const Component& component) -> absl::StatusOr<Runnables> {
           EXPECT_EQ(component.name(), "reader");
           return std::move(runnables);
         }},
        {.client = a_,
         .events = events_,
         .cache = *cache_,
         .workers = pool_,
         .metrics = metrics_,
         .log = Logger(log_, loop_.clock()),
         .has_token = false});
    if (!running.ok()) return running.status();
    running_ = *std::move(running);
    running_->OnPreflight(absl::OkStatus());
    return absl::OkStatus();
  }
  Runnable Recorded(const std::string& name, bool needs_leader) {
    return {.name = name, .needs_leader = needs_leader, .run = [this, name](const CallContext&) {
              ran_ += name + " ";
              return result_;
            }};
  }
  std::string Take() {
    Settle();
    return std::exchange(ran_, "");
  }

  SimulatedPool pool_{loop_, 1};
  FakeEventRecorder events_;
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  std::string ran_;
  absl::Status result_;
  std::unique_ptr<RunningComponent> running_;
};

TEST_F(RunnablesTest, RunWhereTheyAreNeeded) {
  ASSERT_EQ(Make({Recorded("everywhere", false), Recorded("leader", true)}), absl::OkStatus());
  EXPECT_EQ(running_->concurrency(), 2) << "a thread for each";
  EXPECT_EQ(Take(), "");
  running_->StartOnEveryReplica();
  EXPECT_EQ(Take(), "everywhere ");
  running_->StartControllers();
  EXPECT_EQ(Take(), "leader ");
}

TEST_F(RunnablesTest, AFailureIsNotReady) {
  result_ = absl::UnavailableError("no route");
  ASSERT_EQ(Make({Recorded("poll", false)}), absl::OkStatus());
  EXPECT_EQ(running_->Ready(), absl::OkStatus());
  running_->StartOnEveryReplica();
  loop_.RunFor(absl::Milliseconds(500));
  EXPECT_THAT(std::string(running_->Ready().message()), HasSubstr("runnable poll"));
  result_ = absl::OkStatus();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(running_->Ready(), absl::OkStatus());
}

TEST_F(RunnablesTest, NamesAreUnique) {
  const absl::Status status = Make({Recorded("poll", false), Recorded("poll", true)});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("component reader has two runnables with the name poll"));
}

}  // namespace
}  // namespace mandate
