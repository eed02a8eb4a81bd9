#include "cmd/program/tracing_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mandate {
namespace {

using testing::HasSubstr;

TEST(TracingFlagsTest, AreParsed) {
  CLI::App app;
  Tracing tracing;
  DeclareTracing(app, tracing);
  app.parse(
      "--tracing-endpoint=https://collector:4318 --tracing-ca-file=/ca.pem "
      "--tracing-sampling-rate-per-million=100");
  EXPECT_EQ(tracing.endpoint, "https://collector:4318");
  EXPECT_EQ(tracing.ca_file, "/ca.pem");
  EXPECT_EQ(tracing.sampling_rate_per_million, 100);
  EXPECT_TRUE(CheckTracing(tracing).ok());
}

TEST(TracingFlagsTest, TheDefaultIsNoTraces) {
  const Tracing tracing;
  EXPECT_EQ(tracing.endpoint, "");
  EXPECT_EQ(tracing.sampling_rate_per_million, 1'000'000) << "once there is an endpoint";
  EXPECT_TRUE(CheckTracing(tracing).ok());
}

TEST(TracingFlagsTest, ErrorsNameTheFlag) {
  const struct {
    Tracing tracing;
    const char* flag;
  } rows[] = {
      {{.endpoint = "http://collector.example:4318"}, "--tracing-endpoint: "},
      {{.endpoint = "collector"}, "--tracing-endpoint: "},
      {{.ca_file = "/ca.pem"}, "--tracing-ca-file: "},
      {{.endpoint = "https://c", .sampling_rate_per_million = 1'000'001},
       "--tracing-sampling-rate-per-million: "},
      {{.sampling_rate_per_million = -1}, "--tracing-sampling-rate-per-million: "},
  };
  for (const auto& row : rows) {
    const absl::Status status = CheckTracing(row.tracing);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << row.flag;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.flag));
  }
}

}  // namespace
}  // namespace mandate
