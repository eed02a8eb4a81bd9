// When a component is ready, and what its log says when it is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/running_component_fixture.h"

namespace mandate {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class RunningComponentReadyTest : public RunningComponentFixture {};

TEST_F(RunningComponentReadyTest, NotReadyBeforeItsFirstPreflight) {
  Run(Options());
  running_->OnTokenStatus(Token(true, absl::OkStatus()));
  EXPECT_TRUE(absl::IsUnavailable(running_->Ready()));
  running_->OnPreflight(absl::UnavailableError("cannot ask"));
  EXPECT_EQ(log_->Count("ERROR The permissions could not be checked component=reader"), 1);
  running_->OnPreflight(absl::OkStatus());
  EXPECT_EQ(running_->Ready(), absl::OkStatus());
}

TEST_F(RunningComponentReadyTest, ReadyFollowsTheToken) {
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

TEST_F(RunningComponentReadyTest, ReadyNamesTheReasonOfAFailedFirstList) {
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
TEST_F(RunningComponentReadyTest, LogsAMissingServiceAccountOnce) {
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
TEST_F(RunningComponentReadyTest, LogsAnUnreadableSourceTwice) {
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

TEST_F(RunningComponentReadyTest, NeedsNoTokenInModesWithoutTokens) {
  RunningComponent::Options options = Options();
  options.has_token = false;
  Run(options);
  running_->OnPreflight(absl::OkStatus());
  EXPECT_EQ(running_->Ready(), absl::OkStatus());
}

TEST_F(RunningComponentReadyTest, ReadyFollowsThePreflightAndEachChangeIsOneLine) {
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

TEST_F(RunningComponentReadyTest, ReadyReportsTheTokenBeforeThePermissions) {
  Run(Options());
  running_->OnPreflight(absl::UnavailableError("cannot ask"));
  running_->OnTokenStatus(Token(false, absl::NotFoundError("no ServiceAccount")));
  EXPECT_EQ(running_->Ready(), absl::NotFoundError("no ServiceAccount"));
  running_->OnTokenStatus(Token(true, absl::OkStatus()));
  EXPECT_EQ(running_->Ready(), absl::UnavailableError("cannot ask"));
}

TEST_F(RunningComponentReadyTest, StandbyIsReadyAndALeaderOnceItsSourcesAre) {
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

TEST_F(RunningComponentReadyTest, AWarmStandbyIsReadyOnceItsSourcesAre) {
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

TEST_F(RunningComponentReadyTest, ItsOwnConditionCounts) {
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

}  // namespace
}  // namespace mandate
