#include "manager/serving/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace mandate {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using testing::HasSubstr;
using Response = http::response<http::string_body>;

// A client that blocks.
class Client {
 public:
  explicit Client(const std::string& address) : socket_(io_) {
    const size_t colon = address.rfind(':');
    std::string host = address.substr(0, colon);
    if (host.front() == '[') host = host.substr(1, host.size() - 2);
    socket_.connect({asio::ip::make_address(host),
                     static_cast<uint16_t>(std::stoi(address.substr(colon + 1)))});
  }
  void Write(const std::string& bytes) { asio::write(socket_, asio::buffer(bytes)); }
  Response Read(bool head = false) {
    http::response_parser<http::string_body> parser;
    parser.skip(head);
    http::read(socket_, buffer_, parser);
    return parser.release();
  }
  Response Get(const std::string& target) {
    Write("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return Read();
  }
  // Blocks until the server closes the connection.
  bool Closed() {
    char byte;
    boost::system::error_code error;
    asio::read(socket_, asio::buffer(&byte, 1), error);
    return error == asio::error::eof || error == asio::error::connection_reset;
  }

 private:
  asio::io_context io_;
  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
};

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

// Whoever can reach the port cannot keep the kubelet's probes out.
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
