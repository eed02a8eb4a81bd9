// Streams: what a sink sees, and that it sees no more.
#include <functional>
#include <memory>
#include <mutex>
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

constexpr uint32_t kInternalError = 2;  // RFC 9113, 7

class HttpTransportStreamTest : public TransportFixture {
 protected:
  // Opens a stream that has brought "one", and leaves its server's end in server_stream_.
  Watch OpenOne() {
    StartServer([this](std::shared_ptr<ServerStream> stream) {
      {
        const std::lock_guard lock(streams_mutex_);
        server_streams_.push_back(stream);
      }
      stream->Open();
      stream->Send("one");
    });
    StartTransport();
    return OpenAnother();
  }

  Watch OpenAnother() {
    Watch watch = Open(Request("/watch"));
    EXPECT_TRUE(Eventually([&] { return watch.sink->data() == "one"; }));
    return watch;
  }

  std::shared_ptr<ServerStream> server_stream(size_t index = 0) {
    const std::lock_guard lock(streams_mutex_);
    return server_streams_.at(index);
  }

  // Nothing came after OnClosed, and that came once.
  void ExpectClosed(const Watch& watch, absl::StatusCode code) {
    ASSERT_TRUE(Eventually([&] { return watch.sink->closed().has_value(); }));
    EXPECT_EQ(watch.sink->closed()->code(), code) << *watch.sink->closed();
    OnLoop([] {});
    EXPECT_EQ(watch.sink->closed_count(), 1);
    EXPECT_FALSE(watch.sink->called_after_close());
  }

  std::mutex streams_mutex_;
  std::vector<std::shared_ptr<ServerStream>> server_streams_;
};

TEST_F(HttpTransportStreamTest, DeliversDataAsItComes) {
  Watch watch = OpenOne();
  EXPECT_EQ(watch.sink->code(), 200);
  server_stream()->Send("two");
  EXPECT_TRUE(Eventually([&] { return watch.sink->data() == "onetwo"; }));
  EXPECT_FALSE(watch.sink->closed().has_value());
  server_stream()->End();
  ExpectClosed(watch, absl::StatusCode::kOk);
  Close(watch);
}

TEST_F(HttpTransportStreamTest, DeliversAnErrorsBody) {
  StartServer([](std::shared_ptr<ServerStream> stream) { stream->Respond(403, "{forbidden}"); });
  StartTransport();
  Watch watch = Open(Request("/watch"));
  ExpectClosed(watch, absl::StatusCode::kOk);
  EXPECT_EQ(watch.sink->code(), 403);
  EXPECT_EQ(watch.sink->data(), "{forbidden}");
  Close(watch);
}

TEST_F(HttpTransportStreamTest, AResetIsUnavailable) {
  Watch watch = OpenOne();
  server_stream()->Reset(kInternalError);
  ExpectClosed(watch, absl::StatusCode::kUnavailable);
  Close(watch);
}

TEST_F(HttpTransportStreamTest, ALostConnectionIsUnavailable) {
  Watch watch = OpenOne();
  server_->CloseConnections();
  ExpectClosed(watch, absl::StatusCode::kUnavailable);
  Close(watch);
}

TEST_F(HttpTransportStreamTest, DestroyingItCancels) {
  Watch watch = OpenOne();
  OnLoop([&] {
    watch.stream.reset();
    EXPECT_FALSE(watch.sink->closed().has_value());
  });
  ExpectClosed(watch, absl::StatusCode::kCancelled);
  EXPECT_TRUE(Eventually([this] { return server_stream()->closed(); }));
}

TEST_F(HttpTransportStreamTest, TheServerLearnsOfACancellationAtOnceThoughOthersAreQuiet) {
  Watch first = OpenOne();
  Watch second = OpenAnother();
  Watch third = OpenAnother();
  Close(second);
  ExpectClosed(second, absl::StatusCode::kCancelled);
  EXPECT_TRUE(Eventually([this] { return server_stream(1)->closed(); }));
  // Their connection serves on.
  server_stream(0)->Send("two");
  EXPECT_TRUE(Eventually([&] { return first.sink->data() == "onetwo"; }));
  server_stream(2)->Send("three");
  EXPECT_TRUE(Eventually([&] { return third.sink->data() == "onethree"; }));
  Watch fourth = OpenAnother();
  EXPECT_EQ(server_->stats().accepted, 1u);
  Close(first);
  Close(third);
  Close(fourth);
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
  EXPECT_TRUE(Eventually([this] { return server_stream()->closed(); }));
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
  OnLoop([&] { watch.stream = transport_->Open(Request("/watch"), watch.sink); });
  ExpectClosed(watch, absl::StatusCode::kCancelled);
  EXPECT_EQ(watch.sink->data(), "one");
  EXPECT_FALSE(first.sink->closed().has_value());
  Close(watch);
  Close(first);
}

TEST_F(HttpTransportStreamTest, ASinkMayDestroyItsStreamAndOpenAnotherFromItsCallback) {
  Watch first = OpenOne();
  Watch watch, second;
  watch.sink = std::make_shared<ActingSink>([&] {
    watch.stream.reset();
    second.sink = std::make_shared<CollectingSink>();
    second.stream = transport_->Open(Request("/watch"), second.sink);
    return StreamSink::Flow::kContinue;
  });
  OnLoop([&] { watch.stream = transport_->Open(Request("/watch"), watch.sink); });
  ExpectClosed(watch, absl::StatusCode::kCancelled);
  EXPECT_TRUE(Eventually([&] { return second.sink->data() == "one"; }));
  EXPECT_EQ(server_->stats().accepted, 1u);
  Close(second);
  Close(first);
}

TEST_F(HttpTransportStreamTest, DestroyingTheTransportFromACallbackEndsEverythingOnce) {
  Watch first = OpenOne();
  std::shared_ptr<AsyncCall> call = StartCall(Request("/never"));
  Watch watch;
  watch.sink = std::make_shared<ActingSink>([this] {
    transport_.reset();
    return StreamSink::Flow::kContinue;
  });
  OnLoop([&] { watch.stream = transport_->Open(Request("/watch"), watch.sink); });
  ExpectClosed(watch, absl::StatusCode::kCancelled);
  ExpectClosed(first, absl::StatusCode::kCancelled);
  loop_->Await(call->done);
  // The server's answer to it never ends.
  EXPECT_EQ(call->result.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(call->times_done, 1);
  EXPECT_TRUE(Eventually([this] { return server_->stats().connected == 0; }));
  Close(watch);
  Close(first);
}

TEST_F(HttpTransportStreamTest, ADestroyedTransportDeliversNothing) {
  Watch watch = OpenOne();
  std::string seen;
  // More data is under way all the time.
  for (int i = 0; i < 1000; ++i) server_stream()->Send(std::string(1000, 'x'));
  OnLoop([&] {
    transport_.reset();
    seen = watch.sink->data();
  });
  ExpectClosed(watch, absl::StatusCode::kCancelled);
  EXPECT_EQ(watch.sink->data(), seen);
  Close(watch);
}

TEST_F(HttpTransportStreamTest, StreamsMayOutliveLoopAndTransport) {
  Watch watch = OpenOne();
  loop_->Stop();
  transport_.reset();
  watch.stream.reset();
  EXPECT_FALSE(watch.sink->closed().has_value());
}

TEST_F(HttpTransportStreamTest, AStreamWithoutAHeadEnds) {
  StartServer([this](std::shared_ptr<ServerStream> stream) { Keep(std::move(stream)); });
  StartTransport({.time_to_headers = absl::Milliseconds(100)});
  Watch watch = Open(Request("/watch"));
  ExpectClosed(watch, absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(watch.sink->closed()->message()), HasSubstr("/watch"));
  EXPECT_EQ(Stats().active, 0u);
  Close(watch);
}

TEST_F(HttpTransportStreamTest, AnOpenStreamHasNoDeadline) {
  StartServer([](std::shared_ptr<ServerStream> stream) { stream->Open(); });
  StartTransport(
      {.time_to_headers = absl::Milliseconds(50), .max_call_duration = absl::Milliseconds(50)});
  Watch watch = Open(Request("/watch"));
  ASSERT_TRUE(Eventually([&] { return watch.sink->code() == 200; }));
  const absl::Time later = loop_->clock().TimeNow() + absl::Milliseconds(200);
  EXPECT_TRUE(Eventually([&] { return loop_->clock().TimeNow() > later; }));
  EXPECT_FALSE(watch.sink->closed().has_value());
  Close(watch);
}

TEST_F(HttpTransportStreamTest, ABadRequestIsClosedLater) {
  StartServer([](std::shared_ptr<ServerStream> stream) { stream->Open(); });
  StartTransport();
  HttpRequest request = Request("/watch");
  request.target = "watch";
  Watch watch;
  watch.sink = std::make_shared<CollectingSink>();
  OnLoop([&] {
    watch.stream = transport_->Open(std::move(request), watch.sink);
    EXPECT_FALSE(watch.sink->closed().has_value());
  });
  ExpectClosed(watch, absl::StatusCode::kInvalidArgument);
  Close(watch);
}

// Wherever a stream is, destroying it ends it, once and for all.
enum class Stage { kQueue, kConnecting, kHandshake, kMute, kHead, kBody, kClosing };

class HttpTransportStreamStageTest : public HttpTransportStreamTest,
                                     public ::testing::WithParamInterface<Stage> {
 protected:
  // Leaves a stream in the stage.
  Watch Reach() {
    StartServer([this](std::shared_ptr<ServerStream> stream) {
      if (stream->request().target == "/first" || GetParam() != Stage::kHead) {
        stream->Open();
        stream->Send("one");
      }
      Keep(std::move(stream));
      CountUp("served");
    });
    if (GetParam() == Stage::kHandshake) server_->SetAccepting(H2Server::Accepting::kIgnore);
    if (GetParam() == Stage::kMute) server_->SetAccepting(H2Server::Accepting::kMute);
    StartTransport({.streams_per_connection = 2, .max_stream_connections = 1});
    if (GetParam() == Stage::kQueue) {
      first_ = Open(Request("/first"));
      EXPECT_TRUE(Eventually([this] { return first_.sink->data() == "one"; }));
    }
    Watch watch = Open(Request("/watch"));
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
        EXPECT_TRUE(Eventually([this] { return CountOf("served") == 1; }));
        break;
      case Stage::kBody:
        EXPECT_TRUE(Eventually([&] { return watch.sink->data() == "one"; }));
        break;
      case Stage::kClosing:
        EXPECT_TRUE(Eventually([&] { return watch.sink->data() == "one"; }));
        // Its end is under way, and may be there first.
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
  ASSERT_TRUE(Eventually([&] { return watch.sink->closed().has_value(); }));
  if (GetParam() != Stage::kClosing) {
    EXPECT_EQ(watch.sink->closed()->code(), absl::StatusCode::kCancelled);
  }
  const size_t left = first_.stream != nullptr ? 1 : 0;
  EXPECT_TRUE(Eventually([&] { return Stats().active == left && Stats().waiting == 0; }));
  EXPECT_TRUE(Eventually([&] { return server_->stats().open_streams == left; }));
  EXPECT_EQ(watch.sink->closed_count(), 1);
  EXPECT_FALSE(watch.sink->called_after_close());
  OnLoop([this] { first_.stream.reset(); });
}

TEST_P(HttpTransportStreamStageTest, DestroyingTheTransportEndsItOnce) {
  Watch watch = Reach();
  OnLoop([this] { transport_.reset(); });
  ASSERT_TRUE(Eventually([&] { return watch.sink->closed().has_value(); }));
  if (GetParam() != Stage::kClosing) {
    EXPECT_EQ(watch.sink->closed()->code(), absl::StatusCode::kCancelled);
  }
  Close(watch);
  OnLoop([this] { first_.stream.reset(); });
  EXPECT_TRUE(Eventually([this] { return server_->stats().connected == 0; }));
  EXPECT_EQ(watch.sink->closed_count(), 1);
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
