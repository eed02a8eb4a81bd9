// The test needs a process of its own, because libcurl reads the environment once in a process.
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate {
namespace {

using HttpTransportKeyLogTest = TransportFixture;

TEST_F(HttpTransportKeyLogTest, IgnoresSslKeyLogFile) {
  const std::string file = testing::TempDir() + "/keys";
  ASSERT_EQ(setenv("SSLKEYLOGFILE", file.c_str(), /*overwrite=*/1), 0);
  Start();
  ASSERT_TRUE(Call(Request("/")).ok());
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace mandate
