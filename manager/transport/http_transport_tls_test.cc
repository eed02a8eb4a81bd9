// Trust: certificates that rotate on either side, and servers with a wrong identity.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/test_pki.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kNames = {"IP:127.0.0.1"};

// Closes each connection at its first bytes, like a server that is being killed.
class CutsHandshakes {
 public:
  CutsHandshakes() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    accepts_ = std::jthread([this] {
      int connection;
      while ((connection = accept(listener_, nullptr, nullptr)) >= 0) {
        char hello[4096];
        EXPECT_GE(recv(connection, hello, sizeof(hello), 0), 0);
        close(connection);
      }
    });
  }
  ~CutsHandshakes() {
    shutdown(listener_, SHUT_RDWR);
    accepts_.join();
    close(listener_);
  }
  int port() const { return port_; }

 private:
  const int listener_;
  int port_ = 0;
  std::jthread accepts_;
};

class HttpTransportTlsTest : public TransportFixture {
 protected:
  std::string Ask() { return TransportFixture::Ask(Request("/", "the.token")); }

  Watch OpenOne(const std::string& connection) {
    Watch watch = Open(Request("/watch"));
    EXPECT_TRUE(Has(watch, connection));
    return watch;
  }

  void WriteCa(const std::string& pem) {
    // Projected volumes rotate like this: the whole file at once.
    std::ofstream(ca_file_ + ".new") << pem;
    EXPECT_EQ(rename((ca_file_ + ".new").c_str(), ca_file_.c_str()), 0);
  }

  const std::string ca_file_ = StrCat(getenv("TEST_TMPDIR"), "/ca.crt");
  TestCa next_ca_{"next CA"};
};

TEST_F(HttpTransportTlsTest, UsesARotatedCaForNewConnections) {
  Start({.idle_timeout = absl::Milliseconds(50), .ca_refresh = absl::Milliseconds(1)});
  WriteCa(ca_.certificate_pem());
  ChangeEndpoint([&](Endpoint& endpoint) { endpoint.ca_file = ca_file_; });
  Watch old = OpenOne("1");
  EXPECT_EQ(Ask(), "2");

  // The server's certificate changes first. A client that still trusts only the old CA gets no new
  // connection.
  server_->SetCertificate(next_ca_.IssueServer(kNames));
  ASSERT_TRUE(Eventually([this] { return Stats().connections == 1; }));
  EXPECT_THAT(Ask(), HasSubstr("check that the configured CA is this server's"));

  WriteCa(ca_.certificate_pem() + next_ca_.certificate_pem());
  ASSERT_TRUE(Eventually([this] { return Call(Request("/")).ok(); }));
  EXPECT_EQ(Stats().ca_rotations, 1u);
  const std::string connection = std::to_string(server_->stats().accepted + 1);
  Watch next = OpenOne(connection);
  // The old connection was verified when it was made, and stays.
  for (const auto& stream : TakeKept()) stream->Send("+");
  EXPECT_TRUE(Has(old, "1+"));
  EXPECT_FALSE(old.sink->closed().has_value());

  // The old CA is removed.
  WriteCa(next_ca_.certificate_pem());
  ASSERT_TRUE(Eventually([this] {
    Ask();
    return Stats().ca_rotations == 2;
  }));
  server_->SetCertificate(ca_.IssueServer(kNames));
  ASSERT_TRUE(Eventually([this] { return Stats().connections == 2; }));
  EXPECT_THAT(Ask(), HasSubstr("check that the configured CA"));
  EXPECT_FALSE(next.sink->closed().has_value());
}

TEST_F(HttpTransportTlsTest, AcceptsARenewedServerCertificate) {
  Start();
  Watch old = OpenOne("1");
  EXPECT_EQ(Ask(), "2");
  server_->SetCertificate(ca_.IssueServer(kNames));
  EXPECT_EQ(Ask(), "2");
  server_->CloseConnections();
  EXPECT_EQ(Ask(), "3");
  Watch next = OpenOne("4");
}

TEST_F(HttpTransportTlsTest, RejectsServersWithInvalidCertificates) {
  constexpr long kDay = 24L * 3600;
  struct Row {
    const char* name;
    KeyPair certificate;
    const char* message;
  };
  const Row rows[] = {
      {"expired", ca_.IssueServer(kNames, {.from = -2 * kDay, .until = -kDay}),
       "check the server's certificate"},
      {"not yet valid", ca_.IssueServer(kNames, {.from = kDay, .until = 2 * kDay}),
       "check the server's certificate and this machine's clock"},
      {"of another name", ca_.IssueServer({"DNS:elsewhere"}), "tls-server-name"},
      {"of another address", ca_.IssueServer({"IP:127.0.0.2"}), "tls-server-name"},
      {"of another CA", next_ca_.IssueServer(kNames), "check that the configured CA"},
      {"for clients", ca_.IssueClient("admin"), "not trusted"},
  };
  Start();
  for (const Row& row : rows) {
    server_->SetCertificate(row.certificate);
    const auto answer = Call(Request("/", "the.token"));
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable) << row.name;
    EXPECT_THAT(std::string(answer.status().message()), HasSubstr(row.message)) << row.name;
  }
  EXPECT_EQ(server_->stats().requests, 0u);
  server_->SetCertificate(ca_.IssueServer(kNames));
  EXPECT_TRUE(Call(Request("/")).ok());
}

TEST_F(HttpTransportTlsTest, ACutHandshakeIsNotACertificateError) {
  Start();
  const CutsHandshakes server;
  ChangeEndpoint(
      [&](Endpoint& endpoint) { endpoint.server = StrCat("https://127.0.0.1:", server.port()); });
  const auto answer = Call(Request("/", "the.token"));
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(answer.status().message()), HasSubstr("the TLS handshake failed"));
}

// The dynamic linker gives libcurl the first SSL_read() of the program. If that is OpenSSL's, the
// ends of large responses stay in libcurl's buffer (tls_buffers.h).
TEST(SslReadOfLibcurl, IsOurs) {
  void* const found = dlsym(RTLD_DEFAULT, "SSL_read");
  ASSERT_NE(found, nullptr);
  void* const openssl = dlopen("libssl.so.3", RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(openssl, nullptr);
  EXPECT_NE(found, dlsym(openssl, "SSL_read"));
  dlclose(openssl);
}

}  // namespace
}  // namespace mandate
