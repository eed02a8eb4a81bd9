// What a component's client tells about its requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "manager/client/component_client.h"
#include "manager/client/testing/client_fixture.h"
#include "manager/core/testing/log_capture.h"

namespace mandate {
namespace {

using ComponentLogTest = ClientFixture;

TEST_F(ComponentLogTest, ReportsEachWarningOnce) {
  options.max_warnings_remembered = 2;
  std::vector<std::string> warnings;
  options.on_warning = [&](std::string_view text) { warnings.emplace_back(text); };
  for (const char* text : {"a", "b", "a", "b", "c", "b", "a"}) {
    server = [text](const HttpRequest&) {
      FakeReply reply = FakeReply::Json(200, "");
      reply.result->warnings = {text};
      return reply;
    };
    ASSERT_TRUE(Send(Get()).ok());
  }
  EXPECT_THAT(warnings, testing::ElementsAre("a", "b", "c", "a")) << "a was forgotten for c";
}
TEST_F(ComponentLogTest, NoErrorHasTheTokenOfAList) {
  server = [](const HttpRequest&) { return FakeReply::Json(200, "{}").After(absl::Hours(1)); };
  const RestRequest request = Get("/api/v1/pods?continue=secret");
  EXPECT_EQ(Send(request).status().message(),
            "GET /api/v1/pods?continue=*** as scope: the deadline passed");
  std::stop_source stop;
  std::optional<Result> result;
  client().Send({.stop = stop.get_token()}, request, [&](Result r) { result = std::move(r); });
  stop.request_stop();
  ASSERT_TRUE(loop.RunUntil([&] { return result.has_value(); }));
  EXPECT_EQ(result->status().message(), "cancelled: GET /api/v1/pods?continue=***");
}

TEST_F(ComponentLogTest, NoLineHasTheTokenOfAList) {
  const auto log = std::make_shared<LogCapture>(5);
  options.log = Logger(log, loop.clock());
  server = [](const HttpRequest&) { return FakeReply::Json(200, "{}"); };
  EXPECT_TRUE(Send(Get("/api/v1/pods?limit=5&continue=secret")).ok());
  EXPECT_EQ(log->Count(R"(target="/api/v1/pods?limit=5&continue=***" code=200)"), 1);
  EXPECT_EQ(log->Count("secret"), 0);
}

TEST_F(ComponentLogTest, LogsEachAttemptWithVerbosity5) {
  const auto send = [this](const std::shared_ptr<LogCapture>& log) {
    owned.reset();
    options.log = Logger(log, loop.clock());
    server = [left = 1](const HttpRequest&) mutable {
      return left-- > 0 ? FakeReply::Code(429) : FakeReply::Json(200, "").After(absl::Seconds(2));
    };
    ASSERT_TRUE(Send(Post()).ok());
  };
  const auto log = std::make_shared<LogCapture>(5);
  send(log);
  EXPECT_EQ(log->lines().size(), 2u);
  EXPECT_EQ(log->Count("DEBUG Request method=POST target=/api/v1/namespaces/foo/pods code=429 "
                       "error=\"\" duration=0 retries=0"),
            1);
  EXPECT_EQ(log->Count("DEBUG Request method=POST target=/api/v1/namespaces/foo/pods code=200 "
                       "error=\"\" duration=2s retries=1"),
            1);
  EXPECT_EQ(log->Count("scope-1"), 0);
  const auto quiet = std::make_shared<LogCapture>(4);
  send(quiet);
  EXPECT_TRUE(quiet->lines().empty());
}

}  // namespace
}  // namespace mandate
