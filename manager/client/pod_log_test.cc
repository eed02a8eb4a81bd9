#include "manager/client/pod_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "manager/client/client.h"
#include "manager/client/testing/client_fixture.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/not_sent.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;

const ObjectKey kKey = {"shop", "a"};

class PodLogTest : public testing::Test {
 protected:
  PodLogTest() {
    rest_.OnWatch([this](const std::shared_ptr<FakeWatch>& watch) {
      if (serve_) serve_(*watch);
    });
  }

  absl::Status Read(const LogOptions& options = {}, const CallContext& context = {}) {
    return ReadPodLog(context, rest_, kKey, options, [this](std::string_view bytes) {
      text_ += bytes;
      return on_bytes_ ? on_bytes_() : absl::OkStatus();
    });
  }
  FakeWatch& stream() { return *rest_.watches().back(); }

  SimulatedLoop loop_;
  FakeRestClient rest_{loop_, "scope"};
  std::function<void(FakeWatch&)> serve_;
  std::string text_;
  std::function<absl::Status()> on_bytes_;
};

TEST_F(PodLogTest, ReadsToTheEnd) {
  serve_ = [](FakeWatch& watch) {
    watch.Open("text/plain");
    watch.Send("one\n");
    watch.Send("two\n");
    watch.Close();
  };
  EXPECT_EQ(Read(), absl::OkStatus());
  EXPECT_EQ(text_, "one\ntwo\n");
  EXPECT_EQ(stream().request().method, "GET");
  EXPECT_EQ(stream().request().target, "/api/v1/namespaces/shop/pods/a/log");
}

TEST_F(PodLogTest, OptionsAreParameters) {
  serve_ = [](FakeWatch& watch) {
    watch.Open();
    watch.Close();
  };
  EXPECT_EQ(Read({.container = "c",
                  .follow = true,
                  .previous = true,
                  .timestamps = true,
                  .tail_lines = 10,
                  .since = absl::Minutes(2),
                  .limit_bytes = 1000}),
            absl::OkStatus());
  EXPECT_EQ(stream().request().target,
            "/api/v1/namespaces/shop/pods/a/log?container=c&follow=true&previous=true"
            "&timestamps=true&tailLines=10&sinceSeconds=120&limitBytes=1000");
}

TEST_F(PodLogTest, WhatCameBeforeAnErrorIsRead) {
  serve_ = [](FakeWatch& watch) {
    watch.Open();
    watch.Send("one\n");
    watch.Close(absl::UnavailableError("reset"));
  };
  EXPECT_EQ(Read().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(text_, "one\n");
  EXPECT_EQ(rest_.requests().size(), 1u) << "a log is not read again: lines would come twice";
}

TEST_F(PodLogTest, ARejectedRequestIsItsError) {
  serve_ = [](FakeWatch& watch) {
    watch.Refuse(400, R"({"kind":"Status","reason":"BadRequest","code":400,
                          "message":"container other is not valid for pod a"})");
  };
  const absl::Status status = Read();
  EXPECT_TRUE(IsBadRequest(status)) << status;
  EXPECT_EQ(status.message(), "container other is not valid for pod a");
  EXPECT_EQ(text_, "");
}

TEST_F(PodLogTest, AnErrorOfTheSinkEndsTheStream) {
  serve_ = [](FakeWatch& watch) {
    watch.Open();
    watch.Send("one\n");
    watch.Send("two\n");
  };
  on_bytes_ = [] { return absl::DataLossError("the disk is full"); };
  EXPECT_EQ(Read({.follow = true}), absl::DataLossError("the disk is full"));
  EXPECT_EQ(text_, "one\n");
  loop_.RunReady();
  EXPECT_TRUE(stream().cancelled());
}

TEST_F(PodLogTest, EndsWithItsContext) {
  serve_ = [](FakeWatch& watch) {
    watch.Open();
    watch.Send("one\n");
  };
  const absl::Time start = loop_.clock().TimeNow();
  EXPECT_EQ(Read({.follow = true}, {.deadline = start + absl::Minutes(20)}).code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(loop_.clock().TimeNow(), start + absl::Minutes(20));
  EXPECT_EQ(text_, "one\n");
  loop_.RunReady();
  EXPECT_TRUE(stream().cancelled());

  std::stop_source source;
  loop_.PostAt(loop_.clock().TimeNow() + absl::Seconds(5), [&] { source.request_stop(); });
  EXPECT_EQ(Read({.follow = true}, {.stop = source.get_token()}).code(),
            absl::StatusCode::kCancelled);
  loop_.RunReady();
  EXPECT_TRUE(stream().cancelled());
  EXPECT_EQ(Read({.follow = true}, {.stop = source.get_token()}).code(),
            absl::StatusCode::kCancelled)
      << "it was stopped before";
}

TEST_F(PodLogTest, ASlowReaderIsBounded) {
  serve_ = [](FakeWatch& watch) {
    watch.Open();
    for (int i = 0; i < 4; ++i) watch.Send(std::string(40, 'a' + i));
  };
  on_bytes_ = [this] {
    loop_.RunReady();
    return absl::OkStatus();
  };
  const absl::Status status = Read({.follow = true, .max_buffered = 100});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("more than 100 bytes wait"));
  EXPECT_EQ(text_, std::string(40, 'a') + std::string(40, 'b') + std::string(40, 'c'))
      << "the bytes within the bound are read";
  loop_.RunReady();
  EXPECT_TRUE(stream().cancelled());
}

TEST_F(PodLogTest, AChunkAboveTheBoundIsAnError) {
  serve_ = [](FakeWatch& watch) {
    watch.Open();
    watch.Send(std::string(101, 'a'));
  };
  EXPECT_EQ(Read({.max_buffered = 100}).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(text_, "");
}

TEST_F(PodLogTest, AStreamThatIsDestroyedEndsIt) {
  // Destroys its sinks without a word, as a loop that stops does.
  struct Stopping : RestClient {
    explicit Stopping(Loop& l) : the_loop(l) {}
    void Send(const CallContext&, RestRequest, Done) override {}
    std::unique_ptr<Stream> Watch(RestRequest, std::shared_ptr<StreamSink>) override {
      return nullptr;
    }
    std::string_view component() const override { return "scope"; }
    Loop& loop() override { return the_loop; }
    Loop& the_loop;
  } rest(loop_);
  EXPECT_EQ(ReadPodLog({}, rest, kKey, {}, [](auto) { return absl::OkStatus(); }),
            absl::CancelledError("the loop has stopped"));
}

TEST_F(PodLogTest, RejectsIncompleteKeysAndTheLoopsThread) {
  const PodLogSink none = [](std::string_view) { return absl::OkStatus(); };
  for (const ObjectKey& key : {ObjectKey{"", "a"}, ObjectKey{"shop", ""}}) {
    EXPECT_EQ(ReadPodLog({}, rest_, key, {}, none).code(), absl::StatusCode::kInvalidArgument);
  }
  absl::Status status;
  loop_.Post([&] { status = Read(); });
  loop_.RunReady();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(WasNotSent(status));
  EXPECT_TRUE(rest_.requests().empty());
}

// With the layers of a real client.
using PodLogClientTest = ClientFixture;

constexpr std::string_view kGet[] = {"get"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kLogs[] = {"pods/log"};
constexpr rbac::MandateRule kLogRules[] = {
    {.rule = {.verbs = kGet, .api_groups = kCore, .resources = kLogs}, .ns = "shop"}};
constexpr rbac::Mandate kLogReader = {.component = "scope", .rules = kLogRules};

template <class C>
concept CanReadLogs = requires(C c, CallContext x, ObjectKey k, PodLogSink s) {
  c.PodLogs(x, k, {}, s);
};
static_assert(CanReadLogs<Client<kLogReader>> && !CanReadLogs<Client<kNothing>>);

TEST_F(PodLogClientTest, TheGuardChecksTheNamespace) {
  options.mandate = &kLogReader;
  auto typed = *Client<kLogReader>::Create(client());
  std::string text;
  const PodLogSink sink = [&](std::string_view bytes) {
    text += bytes;
    return absl::OkStatus();
  };
  const absl::Status denied = typed.PodLogs({}, {"other", "a"}, {}, sink);
  EXPECT_EQ(denied.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(denied.message()), HasSubstr("resources=pods/log"));
  EXPECT_EQ(fake.stream_count(), 0u);

  loop.PostAt(loop.clock().TimeNow() + absl::Seconds(1), [&] {
    ASSERT_EQ(fake.stream_count(), 1u);
    EXPECT_EQ(fake.stream(0).request().token, "scope-1");
    fake.stream(0).Open(200, "text/plain");
    fake.stream(0).Send("one\n");
    fake.stream(0).Close();
  });
  EXPECT_EQ(typed.PodLogs({}, kKey, {}, sink), absl::OkStatus());
  EXPECT_EQ(text, "one\n");
}

}  // namespace
}  // namespace mandate
