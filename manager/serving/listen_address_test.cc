#include "manager/serving/listen_address.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(ParseListenAddressTest, TakesWhatPeopleWrite) {
  const struct {
    std::string text;
    std::string host;
    int port;
    bool loopback;
  } rows[] = {
      {"127.0.0.1:8081", "127.0.0.1", 8081, true}, {"localhost:0", "127.0.0.1", 0, true},
      {"[::1]:65535", "::1", 65535, true},         {":8080", "::", 8080, false},
      {"0.0.0.0:1", "0.0.0.0", 1, false},          {"10.1.2.3:8443", "10.1.2.3", 8443, false},
  };
  for (const auto& row : rows) {
    const auto parsed = ParseListenAddress(row.text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->address().to_string(), row.host);
    EXPECT_EQ(parsed->port(), row.port);
    EXPECT_EQ(parsed->address().is_loopback(), row.loopback);
  }
}

TEST(ParseListenAddressTest, RefusesTheRest) {
  for (const char* text : {"", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "host:80",
                           "127.0.0.1:80x", "[::1]", "1.2.3:80"}) {
    EXPECT_EQ(ParseListenAddress(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace mandate
