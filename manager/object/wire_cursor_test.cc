#include "manager/object/wire_cursor.h"

#include <string>

#include "gtest/gtest.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"

namespace mandate {
namespace {

namespace meta = k8s::io::apimachinery::pkg::apis::meta::v1;

TEST(WireCursorTest, ReadsWhatProtobufWrites) {
  meta::ListMeta message;
  message.set_resourceversion("7");
  message.set_continue_(std::string(300, 'c'));
  message.set_remainingitemcount(-1);
  const std::string bytes = message.SerializeAsString();
  WireCursor wire(bytes);
  ASSERT_TRUE(wire.Next());
  EXPECT_EQ(wire.field(), 2u);
  EXPECT_EQ(wire.bytes(), "7");
  ASSERT_TRUE(wire.Next());
  EXPECT_EQ(wire.bytes(), std::string(300, 'c'));
  ASSERT_TRUE(wire.Next());
  EXPECT_EQ(wire.field(), 4u);
  EXPECT_EQ(static_cast<int64_t>(wire.varint()), -1);
  EXPECT_EQ(wire.bytes(), "");
  EXPECT_FALSE(wire.Next());
  EXPECT_TRUE(wire.status().ok());
}

TEST(WireCursorTest, SkipsFixedFields) {
  WireCursor wire(
      std::string_view("\x09"
                       "12345678"
                       "\x0D"
                       "1234"
                       "\x10\x01",
                       16));
  ASSERT_TRUE(wire.Next());
  ASSERT_TRUE(wire.Next());
  ASSERT_TRUE(wire.Next());
  EXPECT_EQ(wire.varint(), 1u);
  EXPECT_FALSE(wire.Next());
  EXPECT_TRUE(wire.status().ok());
}

TEST(WireCursorTest, EveryTruncationIsAnErrorOrABoundary) {
  meta::ListMeta message;
  message.set_resourceversion("77");
  message.set_remainingitemcount(300);
  const std::string bytes = message.SerializeAsString();
  ASSERT_EQ(bytes.size(), 7u);  // fields end after 4 and after 7 bytes
  for (size_t size = 0; size <= bytes.size(); ++size) {
    WireCursor wire(std::string_view(bytes).substr(0, size));
    while (wire.Next()) {
    }
    EXPECT_EQ(wire.status().ok(), size == 0 || size == 4 || size == 7) << size;
  }
}

TEST(WireCursorTest, RefusesMalformedBytes) {
  for (const std::string& bytes : {
           std::string(1, '\0') + "x",                             // field 0
           std::string("\x0B"),                                    // a group
           std::string("\x0A\xFF\xFF\xFF\xFF\x0F"),                // longer than the rest
           std::string("\x08") + std::string(9, '\xFF') + "\x02",  // more than 64 bits
           std::string(11, '\xFF'),
       }) {
    WireCursor wire(bytes);
    while (wire.Next()) {
    }
    EXPECT_EQ(wire.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_FALSE(wire.Next());
  }
}

TEST(WireCursorTest, ReadsEachLengthOfAVarint) {
  struct {
    std::string bytes;
    uint64_t value;
  } const rows[] = {{std::string(1, '\0'), 0}, {"\x7F", 0x7F},          {"\x80\x01", 0x80},
                    {"\xFF\x01", 0xFF},        {"\x80\x02", 0x100},     {"\xFF\x7F", 0x3FFF},
                    {"\x80\x80\x01", 0x4000},  {"\x81\x80\x01", 0x4001}};
  for (const auto& row : rows) {
    const std::string bytes = row.bytes + "x";
    std::string_view rest = bytes;
    uint64_t value = 1;
    EXPECT_TRUE(ReadWireVarint(rest, &value)) << row.value;
    EXPECT_EQ(value, row.value);
    EXPECT_EQ(rest, "x") << row.value;
  }
  // What follows belongs to somebody else.
  std::string_view nothing = std::string_view("\x01").substr(0, 0);
  uint64_t value = 1;
  EXPECT_FALSE(ReadWireVarint(nothing, &value));
  EXPECT_TRUE(nothing.empty());
}

TEST(WireCursorTest, AppendsWhatProtobufReads) {
  std::string bytes;
  AppendWireBytes(2, "rv", bytes);
  AppendWireBytes(3, std::string(200, 'c'), bytes);
  meta::ListMeta message;
  ASSERT_TRUE(message.ParseFromString(bytes));
  EXPECT_EQ(message.resourceversion(), "rv");
  EXPECT_EQ(message.continue_().size(), 200u);
}

}  // namespace
}  // namespace mandate
