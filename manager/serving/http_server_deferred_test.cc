// Handlers that answer later.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <utility>

#include "manager/serving/http_server.h"
#include "manager/serving/testing/blocking_client.h"

namespace mandate {
namespace {

using Client = BlockingClient;

class DeferredTest : public testing::Test {
 protected:
  DeferredTest() {
    HttpServer::Options options{.address = "127.0.0.1:0",
                                .request_timeout = absl::Milliseconds(50),
                                .idle_timeout = absl::Hours(1),
                                .metrics = &metrics_};
    options.handlers["/tree/"] = [](const ServedRequest& request) {
      return ServedResponse{.body = std::string(request.path)};
    };
    options.deferred["/tree/slow"] = [this](const ServedRequest& request,
                                            std::function<void(ServedResponse)> reply) {
      accept_ = request.accept;
      answer_ = std::move(reply);
      came_.release();
    };
    options.deferred["/now"] = [](const ServedRequest& request,
                                  std::function<void(ServedResponse)> reply) {
      const auto x = request.query.find("x");
      reply({.body = x == request.query.end() ? "" : x->second});
    };
    auto server = HttpServer::Create(std::move(options));
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  Metrics metrics_;
  std::string accept_;
  std::function<void(ServedResponse)> answer_;
  std::binary_semaphore came_{0};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(DeferredTest, OthersAreServedMeanwhile) {
  Client client(server_->address());
  client.Write("GET /tree/slow HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\n\r\n");
  came_.acquire();
  EXPECT_EQ(accept_, "application/json");
  Client other(server_->address());
  EXPECT_EQ(other.Get("/tree/other").body(), "/tree/other");
  // It may be silent for as long as a request may take, and the deferred one waits for longer.
  Client silent(server_->address());
  EXPECT_TRUE(silent.Closed());
  answer_({.code = 202, .body = "done"});
  const Client::Response response = client.Read();
  EXPECT_EQ(response.result_int(), 202u);
  EXPECT_EQ(response.body(), "done");
  client.Write("GET /now?x=1 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.Read().body(), "1") << "the connection serves the next request";
}

TEST_F(DeferredTest, OnlyTheExactPathAndReadsAreServed) {
  Client client(server_->address());
  EXPECT_EQ(client.Get("/now").result_int(), 200u);
  EXPECT_EQ(client.Get("/now/").result_int(), 404u);
  EXPECT_EQ(client.Get("/other").body(), "not found; known paths:\n/tree/\n/now\n/tree/slow\n");
  client.Write("HEAD /now?x=12 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.Read(/*head=*/true)["Content-Length"], "2");
  EXPECT_EQ(client.Post("/now", "").result_int(), 405u);
}

TEST_F(DeferredTest, AnAnswerMayComeAfterTheServer) {
  Client client(server_->address());
  client.Write("GET /tree/slow HTTP/1.1\r\nHost: x\r\n\r\n");
  came_.acquire();
  server_.reset();
  EXPECT_TRUE(client.Closed());
  answer_({.body = "late"});
}

}  // namespace
}  // namespace mandate
