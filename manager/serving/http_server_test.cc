#include "manager/serving/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/beast/http.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "manager/serving/testing/blocking_client.h"

namespace mandate {
namespace {

namespace http = boost::beast::http;
using testing::HasSubstr;
using Client = BlockingClient;
using Response = Client::Response;

class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpServer::Options options = {}) {
    options.address = "127.0.0.1:0";
    options.metrics = &metrics_;
    options.handlers = {
        {"/hello", [](const ServedRequest&) { return ServedResponse{.body = "hello\n"}; }},
        {"/tree/",
         [](const ServedRequest& request) {
           return ServedResponse{.body =
                                     std::string(request.path) + "?" +
                                     (request.query.contains("x") ? request.query.at("x") : "")};
         }},
        {"/teapot",
         [](const ServedRequest&) {
           return ServedResponse{.code = 418, .content_type = "text/x-tea", .body = "short"};
         }},
        {"/throws",
         [](const ServedRequest&) -> ServedResponse { throw std::runtime_error("boom"); }},
    };
    auto server = HttpServer::Create(std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  Metrics metrics_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, ServesPaths) {
  Start();
  Client client(server_->address());
  const struct {
    const char* target;
    unsigned code;
    const char* body;
  } rows[] = {
      {"/hello", 200, "hello\n"},
      {"/hello?x=1", 200, "hello\n"},
      {"/tree/a/b?x=%2F", 200, "/tree/a/b?/"},
      {"/tree/?x=1&y&x=2", 200, "/tree/?1,2"},
      {"/tree/", 200, "/tree/?"},
      {"/teapot", 418, "short"},
      {"/throws", 500, "internal error\n"},
      {"/nothing", 404, "not found; known paths:\n/hello\n/teapot\n/throws\n/tree/\n"},
      {"/hello/", 404, "not found; known paths:\n/hello\n/teapot\n/throws\n/tree/\n"},
  };
  for (const auto& row : rows) {  // on one connection
    const Response response = client.Get(row.target);
    EXPECT_EQ(response.result_int(), row.code) << row.target;
    EXPECT_EQ(response.body(), row.body) << row.target;
  }
  EXPECT_EQ(client.Get("/teapot")[http::field::content_type], "text/x-tea");
}

TEST_F(HttpServerTest, HeadAndOtherMethods) {
  Start();
  Client client(server_->address());
  client.Write("HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  const Response head = client.Read(/*head=*/true);
  EXPECT_EQ(head.result_int(), 200u);
  EXPECT_EQ(head[http::field::content_length], "6");
  client.Write("POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  const Response post = client.Read();
  EXPECT_EQ(post.result_int(), 405u);
  EXPECT_EQ(post[http::field::allow], "GET, HEAD");
  EXPECT_EQ(client.Get("/hello").result_int(), 200u);
}

TEST_F(HttpServerTest, ClosesWhenAsked) {
  Start();
  Client client(server_->address());
  client.Write("GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.Read().result_int(), 200u);
  EXPECT_TRUE(client.Closed());
  Client old(server_->address());
  old.Write("GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.Read().result_int(), 200u);
  EXPECT_TRUE(old.Closed());
}

TEST_F(HttpServerTest, RejectsLargeAndInvalidRequests) {
  Start();
  const struct {
    std::string bytes;
    unsigned code;
  } rows[] = {
      {"GET /hello HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n", 431},
      {"GET /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + std::string(1000, 'x'),
       413},
      {"GET /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx", 413},
      {"nonsense\r\n\r\n", 400},
      {"GET /hello HTTP/9.1\r\n\r\n", 400},
  };
  for (const auto& row : rows) {
    Client client(server_->address());
    client.Write(row.bytes);
    EXPECT_EQ(client.Read().result_int(), row.code) << row.bytes.substr(0, 30);
    EXPECT_TRUE(client.Closed());
  }
}

// Answers with the parts of the request.
void Echo(PostedRequest request, std::function<void(ServedResponse)> answer) {
  answer({.body = request.path + " " + request.content_type + " " + request.body});
}

TEST_F(HttpServerTest, PostsBodiesToTheirRoute) {
  Start({.posts = {{"/echo", {.max_body_bytes = 100'000, .handle = Echo}}}});
  Client client(server_->address());
  EXPECT_EQ(client.Post("/echo?timeout=1s", "abc").body(), "/echo text/x abc");
  EXPECT_EQ(client.Post("/echo", "").body(), "/echo text/x ");
  const std::string large(100'000, 'x');
  EXPECT_EQ(client.Post("/echo", large).body(), "/echo text/x " + large);
  client.Write(
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(client.Read().body(), "/echo  abcde");
  const Response get = client.Get("/echo");
  EXPECT_EQ(get.result_int(), 405u);
  EXPECT_EQ(get[http::field::allow], "POST");
  EXPECT_EQ(client.Post("/nothing", "").result_int(), 405u);
  EXPECT_THAT(client.Get("/nothing").body(), HasSubstr("POST /echo\n"));
  EXPECT_EQ(client.Get("/hello").result_int(), 200u);
}

TEST_F(HttpServerTest, RejectsBodiesBeyondTheLimit) {
  Start({.posts = {{"/echo", {.max_body_bytes = 4, .handle = Echo}}}});
  const std::string head = "POST /echo HTTP/1.1\r\nHost: x\r\n";
  for (const std::string& rest :
       {std::string("Content-Length: 5\r\n\r\n"),
        std::string("Content-Length: 99999999999999\r\n\r\n"),
        std::string("Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n")}) {
    Client client(server_->address());
    client.Write(head + rest);
    EXPECT_EQ(client.Read().result_int(), 413u) << rest;
    EXPECT_TRUE(client.Closed());
  }
}

TEST_F(HttpServerTest, HoldsAPermitFromBeforeTheBodyToTheEndOfTheWork) {
  std::vector<size_t> asked;
  auto permit = std::make_shared<int>();
  std::optional<PostedRequest> held;
  std::function<void(ServedResponse)> answer;
  std::binary_semaphore came{0};
  Start({.posts = {
             {"/work",
              {.max_body_bytes = 1000,
               .admit = [&](size_t bytes) -> std::variant<std::shared_ptr<void>, ServedResponse> {
                 asked.push_back(bytes);
                 if (permit.use_count() > 1) return ServedResponse{.code = 429, .body = "full"};
                 return permit;
               },
               .handle =
                   [&](PostedRequest request, std::function<void(ServedResponse)> reply) {
                     held.emplace(std::move(request));
                     answer = std::move(reply);
                     came.release();
                   }}}}});
  auto first = std::make_unique<Client>(server_->address());
  first->Write("POST /work HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
  came.acquire();
  Client second(server_->address());
  second.Write("POST /work HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(second.Read().body(), "full");
  // Another thread answers. The permit is released together with the request.
  answer({.body = "done"});
  EXPECT_EQ(first->Read().body(), "done");
  EXPECT_EQ(permit.use_count(), 2);
  held.reset();
  EXPECT_EQ(permit.use_count(), 1);
  EXPECT_EQ(asked, (std::vector<size_t>{3, 1000}));
  // If a client disconnects within its body, the permit is released.
  first->Write("POST /work HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na");
  Client probe(server_->address());
  first.reset();
  server_.reset();
  EXPECT_EQ(permit.use_count(), 1);
}

TEST_F(HttpServerTest, AnAnswerMayComeAfterTheServer) {
  std::function<void(ServedResponse)> answer;
  std::binary_semaphore came{0};
  Start({.posts = {
             {"/work", {.handle = [&](PostedRequest, std::function<void(ServedResponse)> reply) {
                answer = std::move(reply);
                came.release();
              }}}}});
  Client client(server_->address());
  client.Write("POST /work HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  came.acquire();
  server_.reset();
  EXPECT_TRUE(client.Closed());
  answer({.body = "late"});
}

TEST_F(HttpServerTest, EndsConnectionsWhileItDrains) {
  Start({.posts = {{"/echo", {.handle = Echo}}}});
  Client client(server_->address());
  EXPECT_EQ(client.Post("/echo", "a").body(), "/echo text/x a");
  server_->Drain();
  EXPECT_EQ(client.Post("/echo", "b").body(), "/echo text/x b") << "an open connection is served";
  EXPECT_TRUE(client.Closed());
  Client newcomer(server_->address());
  const Response response = newcomer.Post("/echo", "c");
  EXPECT_EQ(response.body(), "/echo text/x c");
  EXPECT_EQ(response[http::field::connection], "close");
  EXPECT_TRUE(newcomer.Closed());
}

TEST_F(HttpServerTest, ASlowHandlerDoesNotTimeOut) {
  std::function<void(ServedResponse)> answer;
  std::binary_semaphore came{0};
  Start({.posts = {{"/work",
                    {.handle =
                         [&](PostedRequest, std::function<void(ServedResponse)> reply) {
                           answer = std::move(reply);
                           came.release();
                         }}}},
         .max_connections = 2,
         .request_timeout = absl::Milliseconds(50),
         .idle_timeout = absl::Milliseconds(50)});
  Client client(server_->address());
  client.Write("POST /work HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  came.acquire();
  // Other connections open and time out, and no new one replaces the connection whose request
  // waits.
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Client(server_->address()).Closed());
  answer({.body = "done"});
  EXPECT_EQ(client.Read().body(), "done");
}

TEST_F(HttpServerTest, ClosesTheLongestIdleConnectionAtTheLimit) {
  Start({.max_connections = 2});
  Client a(server_->address());
  Client b(server_->address());
  EXPECT_EQ(a.Get("/hello").result_int(), 200u);
  EXPECT_EQ(b.Get("/hello").result_int(), 200u);
  EXPECT_EQ(a.Get("/hello").result_int(), 200u);
  Client c(server_->address());
  EXPECT_TRUE(b.Closed());
  EXPECT_EQ(c.Get("/hello").result_int(), 200u);
  EXPECT_EQ(a.Get("/hello").result_int(), 200u);
  const Labels labels = {{"address", "127.0.0.1:0"}};
  EXPECT_EQ(metrics_.Counter("mandate_http_connections_refused_total", "", labels).Value(), 1);
  EXPECT_EQ(metrics_.Gauge("mandate_http_connections", "", labels).Value(), 2);
}

// A client that can reach the port cannot block the kubelet's probes.
TEST_F(HttpServerTest, ServesProbesWhenAllConnectionsAreHeld) {
  Start();
  std::vector<std::unique_ptr<Client>> held;
  for (int i = 0; i < 200; ++i) {
    held.push_back(std::make_unique<Client>(server_->address()));
    if (i % 3 == 1) held.back()->Write("GET /hel");
    if (i % 3 == 2) {
      EXPECT_EQ(held.back()->Get("/hello").result_int(), 200u);
    }
    Client probe(server_->address());
    EXPECT_EQ(probe.Get("/hello").result_int(), 200u) << i;
  }
}

TEST_F(HttpServerTest, IdleAndSlowClientsAreDropped) {
  Start({.request_timeout = absl::Milliseconds(50), .idle_timeout = absl::Milliseconds(50)});
  Client idle(server_->address());
  EXPECT_TRUE(idle.Closed());
  Client slow(server_->address());
  slow.Write("GET /hel");
  EXPECT_TRUE(slow.Closed());
}

TEST_F(HttpServerTest, TheFirstRequestIsDueAtOnce) {
  Start({.request_timeout = absl::Milliseconds(50), .idle_timeout = absl::Hours(1)});
  Client silent(server_->address());
  EXPECT_TRUE(silent.Closed());
}

TEST_F(HttpServerTest, AnIdleClientMayWaitButNotWithinItsNextRequest) {
  Start({.request_timeout = absl::Seconds(1), .idle_timeout = absl::Hours(1)});
  Client client(server_->address());
  EXPECT_EQ(client.Get("/hello").result_int(), 200u);
  client.Write("GET /hel");
  EXPECT_TRUE(client.Closed());
}

TEST_F(HttpServerTest, StopsWithOpenConnections) {
  Start();
  Client idle(server_->address());
  Client used(server_->address());
  EXPECT_EQ(used.Get("/hello").result_int(), 200u);
  server_.reset();
  EXPECT_TRUE(idle.Closed());
  EXPECT_TRUE(used.Closed());
}

TEST_F(HttpServerTest, ReportsWhyItCannotListen) {
  Start();
  const auto with = [&](const std::string& address) {
    HttpServer::Options options;
    options.address = address;
    options.metrics = &metrics_;
    const auto server = HttpServer::Create(std::move(options));
    return server.ok() ? absl::OkStatus() : server.status();
  };
  EXPECT_TRUE(absl::IsUnavailable(with(server_->address())));
  EXPECT_THAT(std::string(with(server_->address()).message()), HasSubstr("choose another address"));
  for (const char* bad :
       {"", "8080", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999", "host:1:", "example.com:80"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(with(bad))) << bad;
  }
  EXPECT_TRUE(with("localhost:0").ok());
}

}  // namespace
}  // namespace mandate
