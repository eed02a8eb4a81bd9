#include "manager/transport/ca_files.h"

#include <stdlib.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

std::string Pem(const std::string& name) {
  return "-----BEGIN CERTIFICATE-----\n" + name + "\n-----END CERTIFICATE-----\n";
}

class CaFilesTest : public ::testing::Test {
 protected:
  void Write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }

  std::shared_ptr<const Endpoint> FromFile(const std::string& pem) {
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->server = "https://a";
    endpoint->ca_pem = pem;
    endpoint->ca_file = path_;
    return endpoint;
  }

  void Advance(absl::Duration by) { clock_.AdvanceTo(clock_.TimeNow() + by); }

  const std::string path_ = std::string(getenv("TEST_TMPDIR")) + "/" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                            ".crt";
  SimulatedClock clock_;
  HttpStats stats_;
  CaFiles files_{clock_, absl::Seconds(10), stats_};
};

TEST_F(CaFilesTest, ReturnsAnEndpointWithoutAFileUnchanged) {
  auto endpoint = std::make_shared<Endpoint>();
  endpoint->ca_pem = Pem("one");
  EXPECT_EQ(files_.Current(endpoint), endpoint);
  EXPECT_EQ(files_.size(), 0u);
}

TEST_F(CaFilesTest, TheSameBytesGiveTheSameEndpoint) {
  Write(Pem("one"));
  const auto endpoint = FromFile(Pem("one"));
  EXPECT_EQ(files_.Current(endpoint), endpoint);
  Advance(absl::Minutes(1));
  EXPECT_EQ(files_.Current(endpoint), endpoint);
  EXPECT_EQ(stats_.ca_rotations, 0u);
}

TEST_F(CaFilesTest, SeesARotatedFileAtTheNextReading) {
  Write(Pem("one"));
  const auto endpoint = FromFile(Pem("one"));
  EXPECT_EQ(files_.Current(endpoint), endpoint);
  Write(Pem("one") + Pem("two"));
  Advance(absl::Seconds(9));
  EXPECT_EQ(files_.Current(endpoint), endpoint);
  Advance(absl::Seconds(1));
  const auto rotated = files_.Current(endpoint);
  EXPECT_EQ(rotated->ca_pem, Pem("one") + Pem("two"));
  EXPECT_EQ(rotated->server, "https://a");
  EXPECT_EQ(files_.Current(endpoint), rotated);
  EXPECT_EQ(stats_.ca_rotations, 1u);
}

TEST_F(CaFilesTest, ReadsTheFileAtTheFirstUse) {
  Write(Pem("two"));
  EXPECT_EQ(files_.Current(FromFile(Pem("one")))->ca_pem, Pem("two"));
}

TEST_F(CaFilesTest, KeepsTheLastGoodContent) {
  Write(Pem("two"));
  const auto endpoint = FromFile(Pem("one"));
  const auto rotated = files_.Current(endpoint);
  const std::string bad[] = {"", "no certificate", "-----BEGIN CERTIFICATE-----\nhalf",
                             Pem("three") + "-----BEGIN CERTIFICATE-----\nhalf",
                             Pem(std::string(2 << 20, 'x'))};
  uint64_t errors = 0;
  for (const std::string& text : bad) {
    Write(text);
    Advance(absl::Seconds(10));
    EXPECT_EQ(files_.Current(endpoint), rotated);
    EXPECT_EQ(stats_.ca_errors, ++errors);
    EXPECT_EQ(files_.Current(endpoint), rotated);
    EXPECT_EQ(stats_.ca_errors, errors) << "read again before its time";
  }
  std::remove(path_.c_str());
  Advance(absl::Seconds(10));
  EXPECT_EQ(files_.Current(endpoint), rotated);
  EXPECT_EQ(stats_.ca_errors, ++errors);
  Write(Pem("three"));
  Advance(absl::Seconds(10));
  EXPECT_EQ(files_.Current(endpoint)->ca_pem, Pem("three"));
}

TEST_F(CaFilesTest, ForgetsUnusedEndpoints) {
  Write(Pem("two"));
  const auto kept = FromFile(Pem("one"));
  files_.Current(kept);
  for (int i = 0; i < 100; ++i) files_.Current(FromFile(i % 2 == 0 ? Pem("one") : Pem("two")));
  EXPECT_LE(files_.size(), 2u);
  EXPECT_EQ(files_.Current(kept)->ca_pem, Pem("two"));
}

}  // namespace
}  // namespace mandate
