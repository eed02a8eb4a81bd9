// Connections of HttpServer that wait, that are idle, or that a client misuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "manager/serving/http_server.h"
#include "manager/serving/testing/blocking_client.h"

namespace mandate {
namespace {

using testing::HasSubstr;
using Client = BlockingClient;

class HttpServerLimitsTest : public testing::Test {
 protected:
  // Serves GET /hello, unless `posts_only`, and POST /work, whose answer is up to the test.
  void Start(HttpServer::Options options = {}, bool posts_only = false) {
    options.address = "127.0.0.1:0";
    options.metrics = &metrics_;
    if (!posts_only) {
      options.handlers = {
          {"/hello", [](const ServedRequest&) { return ServedResponse{.body = "hello\n"}; }}};
    }
    options.posts = {
        {"/full",
         {.admit = [](size_t) -> std::variant<std::shared_ptr<void>, ServedResponse> {
            return ServedResponse{.code = 429, .body = "full"};
          },
          .handle = nullptr}},
        {"/work", {.handle = [this](PostedRequest, std::function<void(ServedResponse)> reply) {
           answer_ = std::move(reply);
           came_.release();
         }}}};
    auto server = HttpServer::Create(std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  // A client whose request waits for the test's answer.
  std::unique_ptr<Client> Work() {
    auto client = std::make_unique<Client>(server_->address());
    client->Write("POST /work HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    came_.acquire();
    return client;
  }
  // Waits as long as the server waits for a request.
  void AwaitRequestTimeout() { EXPECT_TRUE(Client(server_->address()).Closed()); }
  double Connections() {
    return metrics_.Gauge("mandate_http_connections", "", {{"address", "127.0.0.1:0"}}).Value();
  }

  Metrics metrics_;
  std::function<void(ServedResponse)> answer_;
  std::binary_semaphore came_{0};
  std::unique_ptr<HttpServer> server_;
};

// Otherwise a client could put a request of its own into the connection of a proxy.
TEST_F(HttpServerLimitsTest, ABodyThatIsNotReadIsNotTheNextRequest) {
  const std::string hidden = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string sized = "Content-Length: " + std::to_string(hidden.size()) + "\r\n\r\n";
  const struct {
    std::string head;
    bool posts_only;
    const char* code;
  } rows[] = {
      {"GET /work HTTP/1.1\r\nHost: x\r\n" + sized, false, "405"},
      {"GET /work HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", false, "405"},
      {"GET /hello HTTP/1.1\r\nHost: x\r\n" + sized, false, "413"},
      {"GET /hello HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", false, "413"},
      {"POST /full HTTP/1.1\r\nHost: x\r\n" + sized, false, "429"},
      {"POST /nothing HTTP/1.1\r\nHost: x\r\n" + sized, true, "404"},
  };
  for (const auto& row : rows) {
    Start({.idle_timeout = absl::Seconds(1)}, row.posts_only);
    Client client(server_->address());
    client.Write(row.head + hidden);
    const std::string all = client.ReadAll();
    EXPECT_TRUE(all.starts_with(std::string("HTTP/1.1 ") + row.code)) << row.head << all;
    EXPECT_EQ(all.find("HTTP/1.1", 1), std::string::npos) << row.head << all;
  }
}

TEST_F(HttpServerLimitsTest, AnIdleConnectionMayWaitLongerThanARequest) {
  Start({.request_timeout = absl::Milliseconds(500), .idle_timeout = absl::Hours(1)});
  Client client(server_->address());
  EXPECT_EQ(client.Get("/hello").result_int(), 200u);
  AwaitRequestTimeout();
  AwaitRequestTimeout();
  EXPECT_EQ(client.Get("/hello").result_int(), 200u);
}

TEST_F(HttpServerLimitsTest, AClientThatDoesNotReadItsAnswerIsDropped) {
  Start({.request_timeout = absl::Milliseconds(500), .idle_timeout = absl::Seconds(1)});
  const auto client = Work();
  const size_t size = size_t{64} << 20;  // more than the buffers of the connection
  answer_({.body = std::string(size, 'x')});
  AwaitRequestTimeout();
  AwaitRequestTimeout();
  EXPECT_LT(client->ReadAll().size(), size);
}

TEST_F(HttpServerLimitsTest, ANewConnectionDoesNotReplaceOneThatWorks) {
  Start({.max_connections = 2});
  const auto client = Work();
  Client idle(server_->address());
  for (int i = 0; i < 3; ++i) {  // each replaces the idle one
    EXPECT_EQ(Client(server_->address()).Get("/hello").result_int(), 200u);
  }
  EXPECT_TRUE(idle.Closed());
  answer_({.body = "done"});
  EXPECT_EQ(client->Read().body(), "done");
}

TEST_F(HttpServerLimitsTest, AcceptsAgainWhenAConnectionHasWorked) {
  Start({.max_connections = 1});
  const auto client = Work();
  EXPECT_TRUE(Client(server_->address()).Closed());
  answer_({.body = "done"});
  EXPECT_EQ(client->Read().body(), "done");
  EXPECT_EQ(Client(server_->address()).Get("/hello").result_int(), 200u);
}

TEST_F(HttpServerLimitsTest, ASlowJudgeLosesNoConnection) {
  std::function<void(std::optional<ServedResponse>)> decide;
  Start({.access_check =
             [&](const AccessRequest& request,
                 std::function<void(std::optional<ServedResponse>)> answer) {
               if (request.bearer != "slow") return answer(std::nullopt);
               decide = std::move(answer);
               came_.release();
             },
         .max_connections = 2});
  Client client(server_->address());
  client.Write("GET /hello HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer slow\r\n\r\n");
  came_.acquire();
  Client idle(server_->address());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Client(server_->address()).Get("/hello").result_int(), 200u);
  }
  decide(std::nullopt);
  EXPECT_EQ(client.Read().body(), "hello\n");
}

TEST_F(HttpServerLimitsTest, CountsNoConnectionThatHasEnded) {
  Start();
  Client stays(server_->address());
  EXPECT_EQ(stays.Get("/hello").result_int(), 200u);
  Client ends(server_->address());
  ends.Write("GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(ends.ReadAll(), HasSubstr("hello"));
  EXPECT_EQ(stays.Get("/hello").result_int(), 200u);  // after the end of the other one
  EXPECT_EQ(Connections(), 1);
}

}  // namespace
}  // namespace mandate
