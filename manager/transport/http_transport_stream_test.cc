// Streams: the calls that a sink gets, and that it gets none afterwards.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;

class HttpTransportStreamTest : public TransportFixture {
 protected:
  // Opens a stream on the only connection for streams; Kept() has the server's end.
  Watch OpenOne() {
    Start();
    return OpenAnother();
  }

  Watch OpenAnother() {
    Watch watch = Open(Request("/watch"));
    EXPECT_TRUE(Has(watch, "1"));
    return watch;
  }
};

TEST_F(HttpTransportStreamTest, DeliversDataAsItComes) {
  Watch watch = OpenOne();
  EXPECT_EQ(watch.sink->code(), 200);
  Kept(0)->Send("two");
  EXPECT_TRUE(Has(watch, "1two"));
  EXPECT_FALSE(watch.sink->closed().has_value());
  Kept(0)->End();
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kOk);
}

// libcurl's buffer lives as long as the stream, which may be silent from now on.
TEST_F(HttpTransportStreamTest, WhatWasDeliveredDoesNotStayInTheBuffer) {
  const Watch watch = OpenOne();
  const std::string secret(8000, 's');
  Kept(0)->Send(secret);
  ASSERT_TRUE(Has(watch, "1" + secret));
  OnLoop([&] {
    const std::string_view last = watch.sink->last_bytes();
    EXPECT_GT(last.size(), 0u);
    EXPECT_EQ(std::string(last), std::string(last.size(), '\0'));
  });
}

TEST_F(HttpTransportStreamTest, DeliversAnErrorsBody) {
  StartServer([](std::shared_ptr<ServerStream> stream) { stream->Respond(403, "{forbidden}"); });
  StartTransport();
  Watch watch = Open(Request("/watch"));
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kOk);
  EXPECT_EQ(watch.sink->code(), 403);
  EXPECT_EQ(watch.sink->data(), "{forbidden}");
}

TEST_F(HttpTransportStreamTest, AResetIsUnavailable) {
  Watch watch = OpenOne();
  Kept(0)->Reset(kInternalError);
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kUnavailable);
}

TEST_F(HttpTransportStreamTest, ALostConnectionIsUnavailable) {
  Watch watch = OpenOne();
  server_->CloseConnections();
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kUnavailable);
}

TEST_F(HttpTransportStreamTest, DestroyingItCancels) {
  Watch watch = OpenOne();
  OnLoop([&] {
    watch.stream.reset();
    EXPECT_FALSE(watch.sink->closed().has_value());
  });
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(Eventually([this] { return Kept(0)->closed(); }));
}

TEST_F(HttpTransportStreamTest, TheServerLearnsOfACancellationAtOnceThoughOthersAreQuiet) {
  Watch first = OpenOne();
  Watch second = OpenAnother();
  Watch third = OpenAnother();
  second.stream.reset();
  EXPECT_EQ(EndOf(second).code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(Eventually([this] { return Kept(1)->closed(); }));
  // Their connection still serves requests.
  Kept(0)->Send("two");
  EXPECT_TRUE(Has(first, "1two"));
  Kept(2)->Send("three");
  EXPECT_TRUE(Has(third, "1three"));
  Watch fourth = OpenAnother();
  EXPECT_EQ(server_->stats().accepted, 1u);
}

TEST_F(HttpTransportStreamTest, ADestroyedSinkGetsNothing) {
  Watch watch = OpenOne();
  OnLoop([&] {
    const std::weak_ptr<CollectingSink> weak = watch.sink;
    watch.sink.reset();
    EXPECT_FALSE(weak.expired());  // the open stream keeps it
    watch.stream.reset();
    EXPECT_TRUE(weak.expired());
  });
  EXPECT_TRUE(Eventually([this] { return Kept(0)->closed(); }));
}

// Does something to its stream when data comes.
class ActingSink : public CollectingSink {
 public:
  explicit ActingSink(std::function<Flow()> act) : act_(std::move(act)) {}
  Flow OnData(std::string_view bytes) override {
    CollectingSink::OnData(bytes);
    return act_();
  }

 private:
  const std::function<Flow()> act_;
};

TEST_F(HttpTransportStreamTest, ASinkMayCancelFromItsCallback) {
  Watch first = OpenOne();
  Watch watch;
  watch.sink = std::make_shared<ActingSink>([] { return StreamSink::Flow::kCancel; });
  OpenInto(watch, Request("/watch"));
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(watch.sink->data(), "1");
  EXPECT_FALSE(first.sink->closed().has_value());
}

TEST_F(HttpTransportStreamTest, ASinkMayDestroyItsStreamAndOpenAnotherFromItsCallback) {
  Watch first = OpenOne();
  Watch watch, second;
  watch.sink = std::make_shared<ActingSink>([&] {
    watch.stream.reset();
    OpenInto(second, Request("/watch"));
    return StreamSink::Flow::kContinue;
  });
  OpenInto(watch, Request("/watch"));
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(Has(second, "1"));
  EXPECT_EQ(server_->stats().accepted, 1u);
}

TEST_F(HttpTransportStreamTest, DestroyingTheTransportFromACallbackEndsEverythingOnce) {
  Watch first = OpenOne();
  std::shared_ptr<AsyncCall> call = StartCall(Request("/half"));
  Watch watch;
  watch.sink = std::make_shared<ActingSink>([this] {
    transport_.reset();
    return StreamSink::Flow::kContinue;
  });
  OpenInto(watch, Request("/watch"));
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(EndOf(first).code(), absl::StatusCode::kCancelled);
  // The server's answer to it never ends.
  EXPECT_EQ(Await(call).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(call->times_done, 1);
  EXPECT_TRUE(Eventually([this] { return server_->stats().connected == 0; }));
}

TEST_F(HttpTransportStreamTest, ADestroyedTransportDeliversNothing) {
  Watch watch = OpenOne();
  std::string seen;
  // More data is under way all the time.
  for (int i = 0; i < 1000; ++i) Kept(0)->Send(std::string(1000, 'x'));
  OnLoop([&] {
    transport_.reset();
    seen = watch.sink->data();
  });
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(watch.sink->data(), seen);
}

TEST_F(HttpTransportStreamTest, StreamsMayOutliveLoopAndTransport) {
  Watch watch = OpenOne();
  loop_->Stop();
  transport_.reset();
  delete watch.stream.release();
  EXPECT_FALSE(watch.sink->closed().has_value());
}

TEST_F(HttpTransportStreamTest, AStreamWithoutAHeadEnds) {
  Start({.time_to_headers = absl::Milliseconds(100)});
  Watch watch = Open(Request("/hold"));
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(EndOf(watch).message()), HasSubstr("/hold"));
  EXPECT_EQ(Stats().active, 0u);
}

TEST_F(HttpTransportStreamTest, AnOpenStreamHasNoDeadline) {
  Start({.time_to_headers = absl::Milliseconds(50), .max_call_duration = absl::Milliseconds(50)});
  Watch watch = Open(Request("/watch"));
  ASSERT_TRUE(Eventually([&] { return watch.sink->code() == 200; }));
  WaitFor(absl::Milliseconds(200));
  EXPECT_FALSE(watch.sink->closed().has_value());
}

TEST_F(HttpTransportStreamTest, ABadRequestIsClosedLater) {
  Start();
  Watch watch;
  OnLoop([&] {
    OpenInto(watch, Request("watch"));
    EXPECT_FALSE(watch.sink->closed().has_value());
  });
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kInvalidArgument);
}

// Destroying a stream ends it for good, at every stage.
enum class Stage { kQueue, kConnecting, kHandshake, kMute, kHead, kBody, kClosing };

class HttpTransportStreamStageTest : public HttpTransportStreamTest,
                                     public ::testing::WithParamInterface<Stage> {
 protected:
  // Brings a stream to the stage.
  Watch Reach() {
    Start({.streams_per_connection = 2, .max_stream_connections = 1});
    if (GetParam() == Stage::kHandshake) server_->SetAccepting(H2Server::Accepting::kIgnore);
    if (GetParam() == Stage::kMute) server_->SetAccepting(H2Server::Accepting::kMute);
    if (GetParam() == Stage::kQueue) {
      first_ = Open(Request("/watch/first"));
      EXPECT_TRUE(Has(first_, "1"));
    }
    Watch watch = Open(Request(GetParam() == Stage::kHead ? "/hold" : "/watch"));
    switch (GetParam()) {
      case Stage::kQueue:
        EXPECT_EQ(Stats().waiting, 1u);
        break;
      case Stage::kConnecting:
        break;
      case Stage::kHandshake:
      case Stage::kMute:
        EXPECT_TRUE(Eventually([this] { return server_->stats().accepted == 1; }));
        break;
      case Stage::kHead:
        EXPECT_TRUE(Eventually([this] { return CountOf("GET /hold") == 1; }));
        break;
      case Stage::kBody:
        EXPECT_TRUE(Has(watch, "1"));
        break;
      case Stage::kClosing:
        EXPECT_TRUE(Has(watch, "1"));
        // Its end is on the way, and may arrive first.
        for (const auto& stream : TakeKept()) stream->End();
        break;
    }
    return watch;
  }

  Watch first_;
};

TEST_P(HttpTransportStreamStageTest, DestroyingItEndsItOnce) {
  Watch watch = Reach();
  OnLoop([&] {
    const int before = watch.sink->closed_count();
    watch.stream.reset();
    EXPECT_EQ(watch.sink->closed_count(), before);
  });
  const absl::StatusCode end = EndOf(watch).code();
  EXPECT_TRUE(end == absl::StatusCode::kCancelled ||
              (end == absl::StatusCode::kOk && GetParam() == Stage::kClosing));
  const size_t left = first_.stream != nullptr ? 1 : 0;
  EXPECT_TRUE(Eventually([&] { return Stats().active == left && Stats().waiting == 0; }));
  EXPECT_TRUE(Eventually([&] { return server_->stats().open_streams == left; }));
  EXPECT_EQ(EndOf(watch).code(), end);
}

TEST_P(HttpTransportStreamStageTest, DestroyingTheTransportEndsItOnce) {
  Watch watch = Reach();
  OnLoop([this] { transport_.reset(); });
  const absl::StatusCode end = EndOf(watch).code();
  EXPECT_TRUE(end == absl::StatusCode::kCancelled ||
              (end == absl::StatusCode::kOk && GetParam() == Stage::kClosing));
  watch.stream.reset();
  first_.stream.reset();
  EXPECT_TRUE(Eventually([this] { return server_->stats().connected == 0; }));
  EXPECT_EQ(EndOf(watch).code(), end);
}

std::string StageName(const ::testing::TestParamInfo<Stage>& test) {
  constexpr const char* kNames[] = {"Queue", "Connecting", "Handshake", "Silence",
                                    "Head",  "Body",       "Closing"};
  return kNames[static_cast<int>(test.param)];
}

INSTANTIATE_TEST_SUITE_P(Stages, HttpTransportStreamStageTest,
                         ::testing::Values(Stage::kQueue, Stage::kConnecting, Stage::kHandshake,
                                           Stage::kMute, Stage::kHead, Stage::kBody,
                                           Stage::kClosing),
                         StageName);

}  // namespace
}  // namespace mandate
