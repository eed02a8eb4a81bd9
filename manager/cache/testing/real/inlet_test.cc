#include "manager/cache/testing/real/inlet.h"

#include <gtest/gtest.h>

#include <string>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate::model {
namespace {

class Noted : public StreamSink, public BodySink {
 public:
  Flow OnOpen(const HttpResponse&) override { return Note("open"); }
  Flow OnData(std::string_view bytes) override { return Note(bytes); }
  void OnClosed(absl::Status status) override { Note(StrCat("closed:", status.message())); }
  void OnHeaders(const HttpResponse& head) override { Note(StrCat(head.code)); }
  absl::Status OnBody(std::string_view bytes) override {
    Note(bytes);
    return body_error;
  }
  std::string Take() { return std::exchange(text_, ""); }

  Flow answer = Flow::kContinue;
  absl::Status body_error;

 private:
  Flow Note(std::string_view what) {
    StrAppend(&text_, text_.empty() ? "" : " ", what);
    return answer;
  }
  std::string text_;
};

class HeldClientTest : public testing::Test {
 protected:
  std::unique_ptr<Stream> Watch() {
    auto stream = client_.Watch({.method = "GET", .target = "/x", .body = ""}, noted_);
    loop_.RunReady();
    watch_ = inner_.watches().back();
    return stream;
  }
  void Run() { loop_.RunReady(); }

  SimulatedLoop loop_;
  FakeRestClient inner_{loop_, "a"};
  std::shared_ptr<Inlet> inlet_ = std::make_shared<Inlet>();
  HeldClient client_{inner_, inlet_};
  std::shared_ptr<Noted> noted_ = std::make_shared<Noted>();
  std::shared_ptr<FakeWatch> watch_;
};

TEST_F(HeldClientTest, PassesWhatArrivesOnlyWhileNothingIsHeld) {
  int news = 0;
  inlet_->OnNews([&] { ++news; });
  const auto stream = Watch();
  watch_->Open();
  Run();
  EXPECT_EQ(noted_->Take(), "open");
  inlet_->Hold();
  watch_->Send("1");
  watch_->Send("2");
  watch_->Close(absl::UnavailableError("reset"));
  Run();
  EXPECT_EQ(noted_->Take(), "");
  EXPECT_EQ(news, 1);
  inlet_->Release();
  EXPECT_EQ(noted_->Take(), "1 2 closed:reset");
  EXPECT_EQ(news, 4);
}

TEST_F(HeldClientTest, ADestroyedStreamPassesNothing) {
  auto stream = Watch();
  watch_->Open();
  inlet_->Hold();
  Run();
  stream.reset();
  EXPECT_TRUE(watch_->cancelled());
  inlet_->Release();
  Run();
  EXPECT_EQ(noted_->Take(), "");
}

TEST_F(HeldClientTest, ASinkCancelsWhenItGetsWhatWasHeld) {
  const auto stream = Watch();
  inlet_->Hold();
  watch_->Open();
  watch_->Send("1");
  Run();
  noted_->answer = StreamSink::Flow::kCancel;
  inlet_->Release();
  Run();
  EXPECT_TRUE(watch_->cancelled());
  EXPECT_EQ(noted_->Take(), "open closed:cancelled");
}

TEST_F(HeldClientTest, HoldsAnswersAndTheirBodies) {
  inner_.Handle([](const RestRequest&) { return FakeRestClient::Json(200, "body"); });
  std::string answer;
  const auto send = [&] {
    client_.Send({}, {.method = "GET", .target = "/x", .body = "", .body_sink = noted_},
                 [&](const absl::StatusOr<HttpResponse>& response) {
                   answer = response.ok() ? "ok" : std::string(response.status().message());
                 });
    Run();
  };
  inlet_->Hold();
  send();
  EXPECT_EQ(noted_->Take(), "");
  EXPECT_EQ(answer, "");
  inlet_->Release();
  EXPECT_EQ(noted_->Take(), "200 body");
  EXPECT_EQ(answer, "ok");
  // The sink's error is the call's.
  inlet_->Hold();
  noted_->body_error = absl::InternalError("too long");
  send();
  inlet_->Release();
  EXPECT_EQ(answer, "too long");
}

TEST_F(HeldClientTest, ACallThatIsCancelledWhileItsAnswerIsHeldIsCancelled) {
  inner_.Handle([](const RestRequest&) { return FakeRestClient::Json(200, "body"); });
  std::stop_source stop;
  std::string answer;
  inlet_->Hold();
  client_.Send({.deadline = absl::InfiniteFuture(), .stop = stop.get_token()},
               {.method = "GET", .target = "/x", .body = ""},
               [&](const absl::StatusOr<HttpResponse>& response) {
                 answer = std::string(response.status().message());
               });
  Run();
  stop.request_stop();
  inlet_->Release();
  EXPECT_EQ(answer, "cancelled");
}

TEST_F(HeldClientTest, AClosedInletPassesNothing) {
  const auto stream = Watch();
  inlet_->Hold();
  watch_->Open();
  Run();
  inlet_->Close();
  inlet_->Release();
  watch_->Send("1");
  Run();
  EXPECT_EQ(noted_->Take(), "");
}

}  // namespace
}  // namespace mandate::model
