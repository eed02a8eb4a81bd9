#include "manager/transport/curl_error.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(CurlError, OkIsOk) { EXPECT_TRUE(StatusOfCurl(CURLE_OK, "https://a", "").ok()); }

TEST(CurlError, NoErrorIsOk) {
  for (int code = 1; code < CURL_LAST; ++code) {
    EXPECT_FALSE(StatusOfCurl(static_cast<CURLcode>(code), "https://a", "").ok()) << code;
  }
}

struct Row {
  CURLcode code;
  absl::StatusCode expected;
  const char* detail;
  const char* text;
};

TEST(CurlError, Table) {
  const Row rows[] = {
      {CURLE_COULDNT_CONNECT, absl::StatusCode::kUnavailable, "Connection refused",
       "the API server is running"},
      {CURLE_PEER_FAILED_VERIFICATION, absl::StatusCode::kUnavailable,
       "SSL certificate problem: unable to get local issuer certificate",
       "check that the configured CA is this server's"},
      {CURLE_PEER_FAILED_VERIFICATION, absl::StatusCode::kUnavailable,
       "SSL: no alternative certificate subject name matches target host name '127.0.0.1'",
       "tls-server-name"},
      {CURLE_PEER_FAILED_VERIFICATION, absl::StatusCode::kUnavailable,
       "SSL certificate problem: certificate has expired", "check the server's certificate"},
      {CURLE_PEER_FAILED_VERIFICATION, absl::StatusCode::kUnavailable,
       "SSL certificate problem: certificate is not yet valid", "this machine's clock"},
      {CURLE_SSL_CONNECT_ERROR, absl::StatusCode::kUnavailable,
       "OpenSSL/3.0.19: error:06880006:asn1 encoding routines::EVP lib",
       "check that the configured CA is this server's"},
      {CURLE_SSL_CONNECT_ERROR, absl::StatusCode::kUnavailable,
       "OpenSSL/3.0.19: error:0200008A:rsa routines::invalid padding",
       "its certificate is not trusted"},
      {CURLE_SSL_CONNECT_ERROR, absl::StatusCode::kUnavailable,
       "OpenSSL/3.0.19: error:0A000126:SSL routines::unexpected eof while reading",
       "the TLS handshake failed"},
      {CURLE_SSL_CONNECT_ERROR, absl::StatusCode::kUnavailable,
       "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to 127.0.0.1:1 ",
       "the TLS handshake failed"},
      {CURLE_RECV_ERROR, absl::StatusCode::kUnavailable, "CONNECT tunnel failed, response 403",
       "check that the proxy allows connections"},
      {CURLE_COULDNT_RESOLVE_PROXY, absl::StatusCode::kUnavailable, "", "HTTPS_PROXY"},
      {CURLE_SSL_CERTPROBLEM, absl::StatusCode::kInvalidArgument, "no key", "kubeconfig"},
      {CURLE_RECV_ERROR, absl::StatusCode::kUnavailable, "", "connection was lost"},
      {CURLE_HTTP2_STREAM, absl::StatusCode::kUnavailable, "INTERNAL_ERROR", "INTERNAL_ERROR"},
      {CURLE_OUT_OF_MEMORY, absl::StatusCode::kResourceExhausted, "", "memory"},
  };
  for (const Row& row : rows) {
    const absl::Status status = StatusOfCurl(row.code, "https://10.0.0.1", row.detail);
    EXPECT_EQ(status.code(), row.expected) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("https://10.0.0.1: "), HasSubstr(row.text), HasSubstr(row.detail)));
  }
}

TEST(CurlError, KnowsBrokenConnections) {
  EXPECT_TRUE(IsConnectionError(CURLE_RECV_ERROR));
  EXPECT_TRUE(IsConnectionError(CURLE_GOT_NOTHING));
  EXPECT_TRUE(IsConnectionError(CURLE_OPERATION_TIMEDOUT));
  EXPECT_FALSE(IsConnectionError(CURLE_OK));
  EXPECT_FALSE(IsConnectionError(CURLE_WRITE_ERROR));
  EXPECT_FALSE(IsConnectionError(CURLE_PEER_FAILED_VERIFICATION));
}

}  // namespace
}  // namespace mandate
