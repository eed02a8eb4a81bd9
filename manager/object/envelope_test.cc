#include "manager/object/envelope.h"

#include <string>

#include "gtest/gtest.h"
#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

TEST(EnvelopeTest, RoundTrips) {
  const std::string raw("\x0A\0x", 3);
  const std::string bytes = WriteEnvelope({.api_version = "apps/v1", .kind = "X", .raw = raw});
  EXPECT_TRUE(HasEnvelope(bytes));
  const auto envelope = ParseEnvelope(bytes);
  ASSERT_TRUE(envelope.ok()) << envelope.status();
  EXPECT_EQ(envelope->api_version, "apps/v1");
  EXPECT_EQ(envelope->kind, "X");
  EXPECT_EQ(envelope->raw, raw);
}

TEST(EnvelopeTest, RefusesWhatIsNone) {
  const std::string bytes = WriteEnvelope({.api_version = "v1", .kind = "X", .raw = "raw"});
  EXPECT_FALSE(HasEnvelope("{}"));
  EXPECT_EQ(ParseEnvelope("{}").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ParseEnvelope("").status().code(), absl::StatusCode::kInvalidArgument);
  // The cut is within the content, before the last two fields, which have two bytes each.
  EXPECT_EQ(ParseEnvelope(bytes.substr(0, bytes.size() - 5)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(EnvelopeTest, RefusesContentThatItCannotRead) {
  std::string gzip = WriteEnvelope({.api_version = "v1", .kind = "X", .raw = "raw"});
  AppendWireBytes(3, "gzip", gzip);
  EXPECT_EQ(ParseEnvelope(gzip).status().code(), absl::StatusCode::kUnimplemented);
  std::string json = WriteEnvelope({.api_version = "v1", .kind = "X", .raw = "{}"});
  AppendWireBytes(4, "application/json", json);
  EXPECT_EQ(ParseEnvelope(json).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace mandate
