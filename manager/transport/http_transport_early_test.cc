// Answers that come with the end of their stream or of the connection. The client gets the server's
// answer, and does not repeat a request that may have been served.
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

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* kStatus = R"({"kind":"Status"})";

class HttpTransportEarlyTest : public TransportFixture {
 protected:
  void Start(ServerSession::EarlyAnswer answer) {
    TearDown();
    StartServer([](std::shared_ptr<ServerStream> stream) { stream->Respond(200, "late"); });
    server_->AnswerEarly(std::move(answer));
    StartTransport();
  }

  HttpRequest Write(const char* method, size_t size) {
    HttpRequest request = Request("/", "t", method);
    request.content_type = "application/json";
    request.body = std::string(size, 'x');
    return request;
  }
};

TEST_F(HttpTransportEarlyTest, DeliversAnAnswerThatComesBeforeTheWholeBody) {
  // RFC 9113, 8.1: a server may answer early, and ask the client not to send the rest. Go's server
  // does so if a handler returns without reading the body.
  Start({.code = 413, .body = "too large"});
  for (const char* method : {"POST", "PUT", "PATCH"}) {
    const auto answer = Call(Write(method, 8 << 20), Within(absl::Seconds(20)));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->code, 413);
    // libcurl may lose the whole body, but never a part of it.
    EXPECT_THAT(answer->body, AnyOf("", "too large"));
  }
  EXPECT_EQ(server_->stats().requests, 0u);
}

// An API server's 401 to a POST comes before the body is read: GOAWAY, the head, the body and
// RST_STREAM. Its buffers and the machine's load decide how many TLS records these four take.
TEST_F(HttpTransportEarlyTest, DeliversA401CutAnywhere) {
  Start({.code = 401, .body = kStatus, .at_once = true});
  const int whole = 100;  // bytes; more than the four frames have
  int asked = 0;
  for (int record = 1; record <= whole; ++record) {
    server_->SetRecordSize(static_cast<size_t>(record));
    for (const char* method : {"POST", "PUT", "PATCH"}) {
      const auto answer = Call(Write(method, 1000), Within(absl::Seconds(20)));
      ++asked;
      ASSERT_TRUE(answer.ok()) << answer.status() << " " << method << ", in records of " << record;
      EXPECT_EQ(answer->code, 401);
      EXPECT_THAT(answer->body, AnyOf("", kStatus));
    }
  }
  EXPECT_EQ(server_->stats().early_answers, static_cast<size_t>(asked));
}

TEST_F(HttpTransportEarlyTest, DeliversAnErrorToARequestOfAnySize) {
  for (const int code : {401, 403, 429, 500}) {
    for (const bool at_once : {false, true}) {
      Start({.code = code, .body = kStatus, .at_once = at_once});
      int asked = 0;
      for (const size_t size : {1, 1000, 100'000, 2'000'000}) {
        for (const char* method : {"POST", "PUT", "PATCH"}) {
          const auto answer = Call(Write(method, size), Within(absl::Seconds(20)));
          ++asked;
          ASSERT_TRUE(answer.ok()) << answer.status() << " " << code << ", " << size << " bytes";
          EXPECT_EQ(answer->code, code);
          EXPECT_THAT(answer->body, AnyOf("", kStatus));
        }
      }
      EXPECT_EQ(server_->stats().early_answers, static_cast<size_t>(asked)) << code;
    }
  }
}

TEST_F(HttpTransportEarlyTest, ALostSuccessIsNotRequestedAgain) {
  // The server may end the stream of a request that it has served. Then the answer is lost with the
  // stream.
  Start({.code = 201, .body = kStatus, .at_once = true});
  for (int i = 1; i <= 10; ++i) {
    const auto answer = Call(Write("POST", 1000), Within(absl::Seconds(20)));
    if (answer.ok()) {
      EXPECT_EQ(answer->code, 201);
      EXPECT_EQ(answer->body, kStatus);
    } else {
      EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable) << answer.status();
      EXPECT_THAT(std::string(answer.status().message()), HasSubstr("201"));
    }
    EXPECT_EQ(server_->stats().early_answers, static_cast<size_t>(i));
  }
}

TEST_F(HttpTransportEarlyTest, AResetWriteIsNotRepeatedWhileAnothersAnswerIsLarge) {
  // Go's server sends INTERNAL_ERROR if a handler panicked, which may have written before. Because
  // of the large answer libcurl repeatedly stops reading the connection in the middle.
  constexpr int kWrites = 8;
  StartServer([this](std::shared_ptr<ServerStream> stream) {
    CountUp(stream->request().method + " " + stream->request().target);
    if (stream->request().target == "/") return stream->Respond(200, "");
    Keep(std::move(stream));
  });
  StartTransport();
  for (int round = 0; round < 40; ++round) {
    ASSERT_TRUE(Call(Request("/")).ok());
    const auto list = StartCall(Request(StrCat("/list", round)));
    std::vector<HttpRequest> requests;
    for (int i = 0; i < kWrites; ++i) {
      requests.push_back(Request(StrCat("/write", round, "-", i), "t", "POST"));
    }
    const auto writes = StartCalls(std::move(requests));
    std::vector<std::shared_ptr<ServerStream>> kept;
    ASSERT_TRUE(Eventually([&] {
      for (auto& stream : TakeKept()) kept.push_back(std::move(stream));
      return kept.size() == kWrites + 1;
    }));
    for (const auto& stream : kept) {
      if (stream->request().method == "GET") stream->Respond(200, std::string(1 << 20, 'x'));
    }
    for (const auto& stream : kept) {
      if (stream->request().method == "POST") stream->Reset(kInternalError);
    }
    EXPECT_TRUE(Await(list).ok()) << list->result.status();
    for (int i = 0; i < kWrites; ++i) {
      EXPECT_EQ(Await(writes[i]).status().code(), absl::StatusCode::kUnavailable)
          << writes[i]->result.status();
      ASSERT_EQ(CountOf(StrCat("POST /write", round, "-", i)), 1) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace mandate
