#include "manager/transport/active_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "manager/core/not_sent.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using testing::HasSubstr;

class Sink : public StreamSink {
 public:
  Flow OnOpen(const HttpResponse& head) override {
    code = head.code;
    return flow;
  }
  Flow OnData(std::string_view bytes) override {
    data.append(bytes);
    return flow;
  }
  void OnClosed(absl::Status status) override {
    ++closed;
    end = std::move(status);
  }

  Flow flow = Flow::kContinue;
  int code = 0;
  std::string data;
  int closed = 0;
  absl::Status end;
};

class ActiveStreamTest : public testing::Test {
 protected:
  ActiveStreamTest() {
    active_ = std::make_shared<ActiveStream>(
        loop_, HttpRequest(endpoint_, EndpointCertificate(), "GET", "/api/v1/pods"), sink_);
    active_->SetOnDrop([this] { ++dropped_; });
    stream_ = active_->Bind(absl::Seconds(30));
  }
  static HttpResponse Head(int code = 200) {
    HttpResponse head;
    head.code = code;
    return head;
  }

  SimulatedLoop loop_;
  std::shared_ptr<const Endpoint> endpoint_ = std::make_shared<const Endpoint>();
  std::shared_ptr<Sink> sink_ = std::make_shared<Sink>();
  int dropped_ = 0;
  std::shared_ptr<ActiveStream> active_;
  std::unique_ptr<Stream> stream_;
};

TEST_F(ActiveStreamTest, DeliversHeadDataAndEnd) {
  EXPECT_TRUE(active_->OnHeaders(Head(201)));
  EXPECT_TRUE(active_->OnBody("one "));
  EXPECT_TRUE(active_->OnBody("two"));
  EXPECT_EQ(sink_->code, 201);
  EXPECT_EQ(sink_->data, "one two");
  EXPECT_EQ(sink_->closed, 0);
  active_->End(absl::OkStatus());
  EXPECT_EQ(sink_->closed, 1);
  EXPECT_EQ(dropped_, 0);
  EXPECT_FALSE(active_->OnBody("more"));
  EXPECT_EQ(sink_->data, "one two");
}

TEST_F(ActiveStreamTest, EndsWithoutAHeadInTime) {
  loop_.RunFor(absl::Seconds(29));
  EXPECT_EQ(sink_->closed, 0);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(sink_->closed, 1);
  EXPECT_EQ(dropped_, 1);
  EXPECT_TRUE(absl::IsUnavailable(sink_->end));
  EXPECT_TRUE(WasNotSent(sink_->end));
  EXPECT_THAT(std::string(sink_->end.message()), HasSubstr("no connection was free for"));
}

TEST_F(ActiveStreamTest, TheErrorSaysThatTheServerDidNotAnswer) {
  active_->NoteSent();
  loop_.RunFor(absl::Seconds(30));
  EXPECT_FALSE(WasNotSent(sink_->end));
  EXPECT_THAT(std::string(sink_->end.message()),
              HasSubstr("no response headers for /api/v1/pods within"));
}

TEST_F(ActiveStreamTest, MayBeSilentAfterTheHead) {
  EXPECT_TRUE(active_->OnHeaders(Head()));
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
}

TEST_F(ActiveStreamTest, LeavesNoTimer) {
  active_->End(absl::UnavailableError("lost"));
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
  EXPECT_EQ(sink_->closed, 1);
}

TEST_F(ActiveStreamTest, EndsWhenItsSinkCancels) {
  sink_->flow = StreamSink::Flow::kCancel;
  EXPECT_FALSE(active_->OnHeaders(Head()));
  EXPECT_TRUE(absl::IsCancelled(active_->reason()));
}

TEST_F(ActiveStreamTest, EndsWhenItsSinkCancelsLater) {
  EXPECT_TRUE(active_->OnHeaders(Head()));
  sink_->flow = StreamSink::Flow::kCancel;
  EXPECT_FALSE(active_->OnBody("x"));
  EXPECT_TRUE(absl::IsCancelled(active_->reason()));
}

TEST_F(ActiveStreamTest, DestroyingTheStreamDropsItAndTheSinkGetsItsEnd) {
  stream_.reset();
  EXPECT_EQ(dropped_, 1);
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
  EXPECT_EQ(sink_->closed, 0) << "never inside the destructor";
  EXPECT_FALSE(active_->OnHeaders(Head()));
  loop_.RunReady();
  EXPECT_EQ(sink_->closed, 1);
  EXPECT_TRUE(absl::IsCancelled(sink_->end));
  EXPECT_TRUE(WasNotSent(sink_->end));
  EXPECT_EQ(sink_->code, 0);
}

TEST_F(ActiveStreamTest, DestroyingTheStreamAfterItsEndDoesNothing) {
  active_->End(absl::OkStatus());
  stream_.reset();
  loop_.RunReady();
  EXPECT_EQ(sink_->closed, 1);
  EXPECT_EQ(dropped_, 0);
}

TEST_F(ActiveStreamTest, SilencedItDeliversNothing) {
  active_->SilenceIfStream();
  EXPECT_FALSE(active_->OnHeaders(Head()));
  EXPECT_FALSE(active_->OnBody("x"));
  EXPECT_EQ(sink_->code, 0);
  EXPECT_EQ(sink_->data, "");
}

}  // namespace
}  // namespace mandate
