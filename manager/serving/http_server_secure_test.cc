// HttpServer over TLS, and with an access check.
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "manager/serving/http_server.h"

namespace mandate {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

struct Answer {
  unsigned code = 0;  // 0: no TLS, or no answer
  std::string body;
  std::string challenge;
};

tcp::endpoint EndpointOf(const std::string& address) {
  const size_t colon = address.rfind(':');
  return {asio::ip::make_address(address.substr(0, colon)),
          static_cast<uint16_t>(std::stoi(address.substr(colon + 1)))};
}

// `max_version` 0 means the latest version that OpenSSL supports.
Answer Get(const std::string& address, const std::string& headers = "", int max_version = 0) {
  asio::io_context io;
  asio::ssl::context context(asio::ssl::context::tls_client);
  if (max_version != 0) {
    SSL_CTX_set_min_proto_version(context.native_handle(), 0);
    SSL_CTX_set_max_proto_version(context.native_handle(), max_version);
    SSL_CTX_set_security_level(context.native_handle(), 0);
  }
  asio::ssl::stream<tcp::socket> stream(io, context);
  stream.next_layer().connect(EndpointOf(address));
  boost::system::error_code error;
  stream.handshake(asio::ssl::stream_base::client, error);
  if (error) return {};
  asio::write(stream, asio::buffer("GET /metrics?a=b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" +
                                   headers + "\r\n"));
  boost::beast::flat_buffer buffer;
  http::response<http::string_body> response;
  http::read(stream, buffer, response, error);
  if (error) return {};
  // The server ends the TLS stream properly, and does not only close the connection.
  char byte;
  asio::read(stream, asio::buffer(&byte, 1), error);
  EXPECT_EQ(error, asio::error::eof);
  return {response.result_int(), response.body(),
          std::string(response[http::field::www_authenticate])};
}

class SecureServerTest : public testing::Test {
 protected:
  void Start(AccessCheck access_check = {}, absl::Duration request_timeout = absl::Seconds(10)) {
    certificate_ = *ServingCertificate::Create({});
    server_ = *HttpServer::Create({.address = "127.0.0.1:0",
                                   .handlers = {{"/metrics",
                                                 [](const ServedRequest& request) {
                                                   return ServedResponse{
                                                       .body = "a=" + request.query.at("a")};
                                                 }}},
                                   .certificate = certificate_.get(),
                                   .access_check = std::move(access_check),
                                   .request_timeout = request_timeout,
                                   .idle_timeout = absl::Hours(1),
                                   .metrics = &metrics_});
  }

  Metrics metrics_;
  std::unique_ptr<ServingCertificate> certificate_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(SecureServerTest, ServesOverTls) {
  Start();
  for (int i = 0; i < 3; ++i) {
    const Answer answer = Get(server_->address());
    EXPECT_EQ(answer.code, 200u);
    EXPECT_EQ(answer.body, "a=b");
  }
}

TEST_F(SecureServerTest, OldTlsIsRefused) {
  Start();
  EXPECT_EQ(Get(server_->address(), "", TLS1_1_VERSION).code, 0u);
  EXPECT_EQ(Get(server_->address(), "", TLS1_2_VERSION).code, 200u);
}

TEST_F(SecureServerTest, PlainTextIsNotServed) {
  Start();
  asio::io_context io;
  tcp::socket socket(io);
  socket.connect(EndpointOf(server_->address()));
  asio::write(socket, asio::buffer(std::string("GET /metrics?a=b HTTP/1.1\r\nHost: x\r\n\r\n")));
  std::string all;
  boost::system::error_code error;
  asio::read(socket, asio::dynamic_buffer(all), error);
  EXPECT_EQ(all.find("200"), std::string::npos) << all;
  EXPECT_EQ(Get(server_->address()).code, 200u);
}

TEST_F(SecureServerTest, ClosesAConnectionWithoutAHandshake) {
  Start({}, absl::Milliseconds(100));
  asio::io_context io;
  tcp::socket socket(io);
  socket.connect(EndpointOf(server_->address()));
  char byte;
  boost::system::error_code error;
  asio::read(socket, asio::buffer(&byte, 1), error);
  EXPECT_TRUE(error == asio::error::eof || error == asio::error::connection_reset) << error;
}

TEST_F(SecureServerTest, TheJudgeSeesTheTokenAndDecides) {
  std::string seen;
  Start([&](const AccessRequest& request,
            const std::function<void(std::optional<ServedResponse>)>& answer) {
    seen = std::string(request.verb) + " " + std::string(request.path) + " <" +
           std::string(request.bearer) + ">";
    if (request.bearer == "good") return answer(std::nullopt);
    answer(ServedResponse{.code = request.bearer.empty() ? 401 : 403, .body = "no"});
  });
  const struct {
    std::string headers;
    unsigned code;
    std::string bearer;
  } rows[] = {
      {"", 401, ""},
      {"Authorization: Bearer good\r\n", 200, "good"},
      {"authorization: bearer   good\r\n", 200, "good"},
      {"Authorization: Bearer evil\r\n", 403, "evil"},
      {"Authorization: Bearer good evil\r\n", 200, "good"},
      {"Authorization: Bearer\r\n", 401, ""},
      {"Authorization: Basic good\r\n", 401, ""},
      {"Authorization: Bearergood\r\n", 401, ""},
      // The client can send two headers, but only the first one counts.
      {"Authorization: Bearer evil\r\nAuthorization: Bearer good\r\n", 403, "evil"},
  };
  for (const auto& row : rows) {
    const Answer answer = Get(server_->address(), row.headers);
    EXPECT_EQ(answer.code, row.code) << row.headers;
    EXPECT_EQ(seen, "get /metrics <" + row.bearer + ">");
    EXPECT_EQ(answer.body, row.code == 200 ? "a=b" : "no");
    EXPECT_EQ(answer.challenge, row.code == 401 ? "Bearer" : "");
  }
}

TEST_F(SecureServerTest, TheJudgeMayTakeItsTimeAndOthersAreServed) {
  std::promise<std::function<void(std::optional<ServedResponse>)>> slow;
  Start(
      [&](const AccessRequest& request, std::function<void(std::optional<ServedResponse>)> answer) {
        if (request.bearer != "slow") return answer(std::nullopt);
        slow.set_value(std::move(answer));
      });
  auto first = std::async(std::launch::async, [&] {
    return Get(server_->address(), "Authorization: Bearer slow\r\n");
  });
  auto decide = slow.get_future().get();
  EXPECT_EQ(Get(server_->address()).code, 200u);
  decide(std::nullopt);
  EXPECT_EQ(first.get().code, 200u);
}

TEST_F(SecureServerTest, AJudgementMayComeAfterTheEnd) {
  std::promise<std::function<void(std::optional<ServedResponse>)>> slow;
  Start([&](const AccessRequest&, std::function<void(std::optional<ServedResponse>)> answer) {
    slow.set_value(std::move(answer));
  });
  auto first = std::async(std::launch::async, [&] { return Get(server_->address()); });
  auto decide = slow.get_future().get();
  server_.reset();
  EXPECT_EQ(first.get().code, 0u);
  decide(std::nullopt);
}

}  // namespace
}  // namespace mandate
