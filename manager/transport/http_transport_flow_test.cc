// The amount of data that comes, and answers that are cut short.
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate {
namespace {

// Keeps at most this many bytes and then cancels, like a cache's queue that is never emptied.
class BoundedSink : public CollectingSink {
 public:
  explicit BoundedSink(size_t bound) : bound_(bound) {}
  Flow OnData(std::string_view bytes) override {
    if (data().size() + bytes.size() > bound_) return Flow::kCancel;
    return CollectingSink::OnData(bytes);
  }

 private:
  const size_t bound_;
};

using HttpTransportFlowTest = TransportFixture;

TEST_F(HttpTransportFlowTest, ASlowReaderCancelsAndDelaysNoOther) {
  Start();
  Watch quick = Open(Request("/watch"));
  ASSERT_TRUE(Has(quick, "1"));
  Watch slow;
  slow.sink = std::make_shared<BoundedSink>(1 << 20);
  OpenInto(slow, Request("/watch"));
  ASSERT_TRUE(Has(slow, "1"));

  const std::vector<std::shared_ptr<ServerStream>> streams = TakeKept();
  ASSERT_EQ(streams.size(), 2u);
  for (int i = 0; i < 64; ++i) streams[1]->Send(std::string(1 << 20, 'y'));
  for (int i = 0; i < 100; ++i) streams[0]->Send("z");
  // Requests behind it on the same connection do not wait for the bytes that it does not take.
  EXPECT_TRUE(Eventually([&] { return quick.sink->data().size() == 101; }));
  EXPECT_EQ(EndOf(slow).code(), absl::StatusCode::kCancelled);
  EXPECT_LE(slow.sink->data().size(), size_t{1} << 20);
  // The server learns of it, and stops.
  EXPECT_TRUE(Eventually([&] { return streams[1]->closed(); }));
  EXPECT_FALSE(quick.sink->closed().has_value());
  EXPECT_EQ(server_->stats().accepted, 1u);
}

TEST_F(HttpTransportFlowTest, AReaderThatKeepsUpGetsEverything) {
  Start();
  Watch large = Open(Request("/watch"));
  Watch small = Open(Request("/watch"));
  ASSERT_TRUE(Eventually([&] { return small.sink->data() == "1" && large.sink->data() == "1"; }));
  const std::vector<std::shared_ptr<ServerStream>> streams = TakeKept();
  // It is larger than any window, and never paused.
  for (int i = 0; i < 48; ++i) streams[0]->Send(std::string(1 << 20, 'y'));
  streams[1]->Send("z");
  EXPECT_TRUE(Eventually([&] {
    return large.sink->data().size() + small.sink->data().size() == (size_t{48} << 20) + 3;
  }));
}

// Records the calls of a body's sink, and refuses bytes beyond its bound.
class CollectingBody : public BodySink {
 public:
  explicit CollectingBody(size_t bound) : bound_(bound) {}

  void OnHeaders(const HttpResponse& head) override {
    ++heads;
    EXPECT_EQ(head.content_type, "application/json");
    body.clear();
  }
  absl::Status OnBody(std::string_view bytes) override {
    if (body.size() + bytes.size() > bound_) return absl::OutOfRangeError("enough");
    body += bytes;
    return absl::OkStatus();
  }

  int heads = 0;
  std::string body;

 private:
  const size_t bound_;
};

TEST_F(HttpTransportFlowTest, ABodyGoesToItsSink) {
  StartServer([](std::shared_ptr<ServerStream> stream) {
    const bool refused = stream->request().target == "/refused";
    stream->Respond(refused ? 403 : 200, std::string(size_t{3} << 20, 'y'));
  });
  StartTransport({.max_response_bytes = size_t{4} << 20});
  const auto call = [&](const char* target, const std::shared_ptr<CollectingBody>& sink) {
    HttpRequest request = Request(target);
    request.body_sink = sink;
    return Call(std::move(request));
  };

  const auto all = std::make_shared<CollectingBody>(size_t{3} << 20);
  const auto answer = call("/", all);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->code, 200);
  EXPECT_EQ(answer->body, "");
  EXPECT_EQ(all->heads, 1);
  EXPECT_EQ(all->body, std::string(size_t{3} << 20, 'y'));

  // Its error is the call's.
  const auto some = std::make_shared<CollectingBody>(size_t{1} << 20);
  EXPECT_EQ(call("/", some).status(), absl::OutOfRangeError("enough"));
  EXPECT_LE(some->body.size(), size_t{1} << 20);

  // An answer that is not a success has its body as usual.
  const auto none = std::make_shared<CollectingBody>(0);
  const auto refusal = call("/refused", none);
  ASSERT_TRUE(refusal.ok()) << refusal.status();
  EXPECT_EQ(refusal->body.size(), size_t{3} << 20);
  EXPECT_EQ(none->heads, 0);
}

TEST_F(HttpTransportFlowTest, ABodyBeyondTheTransportsBoundGoesToItsSinkAllTheSame) {
  StartServer([](std::shared_ptr<ServerStream> stream) {
    stream->Respond(200, std::string(size_t{3} << 20, 'y'));
  });
  StartTransport({.max_response_bytes = size_t{1} << 20});
  HttpRequest request = Request("/");
  const auto sink = std::make_shared<CollectingBody>(size_t{3} << 20);
  request.body_sink = sink;
  EXPECT_TRUE(Call(std::move(request)).ok());
  EXPECT_EQ(sink->body.size(), size_t{3} << 20);
  EXPECT_EQ(Call(Request("/")).status().code(), absl::StatusCode::kResourceExhausted);
}

// The way in which a connection ends during an answer, the protocol, and whether the answer has a
// length.
struct Cut {
  bool http2;
  bool with_length;
  bool by_reset;
};

class HttpTransportCutTest : public HttpTransportFlowTest,
                             public ::testing::WithParamInterface<Cut> {};

TEST_P(HttpTransportCutTest, ATruncatedAnswerIsAnError) {
  Start({}, {.http2 = GetParam().http2});
  const char* const target = GetParam().with_length ? "/half" : "/watch";
  const auto end = [this] {
    GetParam().by_reset ? server_->ResetConnections() : server_->CloseConnections();
  };
  Watch watch = Open(Request(target));
  ASSERT_TRUE(Has(watch, "1"));
  end();
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kUnavailable);
  watch.stream.reset();
  TakeKept();
  for (const char* method : {"GET", "POST"}) {
    const auto call = StartCall(Request(target, "t", method));
    ASSERT_TRUE(Eventually([this] { return !TakeKept().empty(); }));
    end();
    EXPECT_EQ(Await(call).status().code(), absl::StatusCode::kUnavailable)
        << method << call->result.status();
  }
}

INSTANTIATE_TEST_SUITE_P(Cuts, HttpTransportCutTest,
                         ::testing::Values(Cut{true, true, true}, Cut{true, true, false},
                                           Cut{true, false, true}, Cut{true, false, false},
                                           Cut{false, true, true}, Cut{false, true, false},
                                           Cut{false, false, true}, Cut{false, false, false}),
                         [](const auto& test) {
                           return StrCat(test.param.http2 ? "Http2" : "Http1",
                                         test.param.with_length ? "Length" : "Open",
                                         test.param.by_reset ? "Reset" : "Fin");
                         });

class HttpTransportHeadTest : public HttpTransportFlowTest,
                              public ::testing::WithParamInterface<bool> {};

TEST_P(HttpTransportHeadTest, AHugeHeadIsAnErrorAndOthersContinue) {
  StartServer(
      [this](std::shared_ptr<ServerStream> stream) {
        HttpHeaders headers = ServerStream::JsonHeaders();
        if (stream->request().target == "/many") {
          for (int i = 0; i < 5000; ++i)
            headers.emplace_back(StrCat("x-", i), std::string(100, 'x'));
        } else if (stream->request().target == "/long") {
          headers.emplace_back("x", std::string(300'000, 'x'));
        }
        stream->Respond(200, "", std::move(headers));
      },
      {.http2 = GetParam()});
  StartTransport();
  for (const char* target : {"/many", "/long"}) {
    ASSERT_TRUE(Call(Request("/")).ok());
    const auto answer = Call(Request(target, "t", "POST"), Within(absl::Seconds(20)));
    EXPECT_THAT(answer.status().code(), ::testing::AnyOf(absl::StatusCode::kResourceExhausted,
                                                         absl::StatusCode::kUnavailable))
        << answer.status();
    EXPECT_TRUE(Call(Request("/")).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Protocols, HttpTransportHeadTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "Http2" : "Http1"; });

}  // namespace
}  // namespace mandate
