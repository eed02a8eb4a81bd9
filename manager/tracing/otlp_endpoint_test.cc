#include "manager/tracing/otlp_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mandate {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(OtlpEndpointTest, GetsItsPath) {
  const struct {
    const char* endpoint;
    const char* url;
  } rows[] = {
      {"https://collector:4318", "https://collector:4318/v1/traces"},
      {"https://collector.observability.svc/", "https://collector.observability.svc/v1/traces"},
      {"https://collector/v1/traces", "https://collector/v1/traces"},
      {"https://collector/tenant/a/", "https://collector/tenant/a/"},
      {"https://10.0.0.1:4318", "https://10.0.0.1:4318/v1/traces"},
      {"http://localhost:4318", "http://localhost:4318/v1/traces"},
      {"http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"},
      {"http://127.1.2.3:4318/x", "http://127.1.2.3:4318/x"},
      {"http://[::1]:4318", "http://[::1]:4318/v1/traces"},
      {"HTTP://127.0.0.1", "http://127.0.0.1/v1/traces"},
  };
  for (const auto& row : rows) {
    const auto url = OtlpTracesUrl(row.endpoint);
    ASSERT_TRUE(url.ok()) << url.status();
    EXPECT_EQ(*url, row.url) << row.endpoint;
  }
}

TEST(OtlpEndpointTest, RejectsOthers) {
  const struct {
    const char* endpoint;
    const char* why;
  } rows[] = {
      {"", "is not a URL"},
      {"collector:4318", "is not a URL"},
      {"collector", "is not a URL"},
      {"//collector", "is not a URL"},
      {"https://", "is not a URL"},
      {"https://a b", "is not a URL"},
      {"https://collector:99999", "is not a URL"},
      {"grpc://collector:4317", "the scheme \"grpc\""},
      {"file:///etc/passwd", "the scheme \"file\""},
      {"http://collector:4318", "has no TLS"},
      {"http://10.0.0.1", "has no TLS"},
      {"http://[2001:db8::1]", "has no TLS"},
      {"http://localhost.example.com", "has no TLS"},
      {"http://127.0.0.1.example.com", "has no TLS"},
      {"https://user:hunter2@collector", "has a user or a password"},
      {"https://user@collector", "has a user or a password"},
      {"https://collector?api-key=1", "has a query or a fragment"},
      {"https://collector/#here", "has a query or a fragment"},
  };
  for (const auto& row : rows) {
    const auto url = OtlpTracesUrl(row.endpoint);
    EXPECT_EQ(url.status().code(), absl::StatusCode::kInvalidArgument) << row.endpoint;
    const std::string message(url.status().message());
    EXPECT_THAT(message, HasSubstr(row.why)) << row.endpoint;
    EXPECT_THAT(message, HasSubstr("use a URL such as https://collector:4318"));
    EXPECT_THAT(message, Not(HasSubstr("hunter2")));
  }
}

}  // namespace
}  // namespace mandate
