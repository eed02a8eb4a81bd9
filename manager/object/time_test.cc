#include "manager/object/time.h"

#include <string>

#include "gtest/gtest.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"

namespace mandate {
namespace {

namespace meta = k8s::io::apimachinery::pkg::apis::meta::v1;

constexpr int64_t kSeconds = 1136214245;  // 2006-01-02T15:04:05Z

TEST(TimeTest, Formats) {
  const absl::Time time = absl::FromUnixMicros(kSeconds * 1000000 + 42) + absl::Nanoseconds(999);
  EXPECT_EQ(FormatTimestamp(time), "2006-01-02T15:04:05Z");
  EXPECT_EQ(FormatMicroTimestamp(time), "2006-01-02T15:04:05.000042Z");
  EXPECT_EQ(FormatMicroTimestamp(absl::FromUnixSeconds(kSeconds)), "2006-01-02T15:04:05.000000Z");
}

TEST(TimeTest, Parses) {
  const absl::Time time = absl::FromUnixSeconds(kSeconds);
  EXPECT_EQ(*ParseTimestamp("2006-01-02T15:04:05Z"), time);
  EXPECT_EQ(*ParseTimestamp("2006-01-02T17:34:05+02:30"), time);
  EXPECT_EQ(*ParseTimestamp("2006-01-02T10:04:05-05:00"), time);
  EXPECT_EQ(*ParseTimestamp("2006-01-02T15:04:05.25Z"), time + absl::Milliseconds(250));
  EXPECT_EQ(*ParseTimestamp("2006-01-02T15:04:05.1234567899Z"),
            time + absl::Nanoseconds(123456789));
  EXPECT_EQ(*ParseTimestamp("1969-12-31T23:59:59.5Z"), absl::UnixEpoch() - absl::Milliseconds(500));
  EXPECT_TRUE(ParseTimestamp("2024-02-29T00:00:00Z").ok());
  EXPECT_EQ(FormatTimestamp(*ParseTimestamp("9999-12-31T23:59:59.9Z")), "9999-12-31T23:59:59Z");
  EXPECT_EQ(FormatTimestamp(*ParseTimestamp("0000-01-01T00:00:00Z")), "0000-01-01T00:00:00Z");
  EXPECT_EQ(*ParseMicroTimestamp("2006-01-02T15:04:05.000001Z"), time + absl::Microseconds(1));
}

TEST(TimeTest, Refuses) {
  for (const char* text : {"",
                           "2006-01-02",
                           "2006-01-02T15:04:05",
                           "2006-01-02t15:04:05z",
                           "2006-01-02 15:04:05Z",
                           "2006-13-02T15:04:05Z",
                           "2006-02-29T15:04:05Z",
                           "2006-01-02T24:00:00Z",
                           "2006-01-02T15:60:05Z",
                           "2006-01-02T15:04:60Z",
                           "2006-01-02T15:04:05.Z",
                           "2006-01-02T15:04:05,5Z",
                           "2006-01-02T15:04:05+0200",
                           "2006-01-02T15:04:05+24:00",
                           "2006-01-02T15:04:05Z ",
                           " 2006-01-02T15:04:05Z",
                           "6-1-2T15:4:5Z",
                           "2006-01-02T15:04:05ZZ",
                           "+006-01-02T15:04:05Z",
                           "9999-12-31T23:59:59-00:01",
                           "0000-01-01T00:00:00+00:01"}) {
    EXPECT_EQ(ParseTimestamp(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  // The server rejects a Lease's renewTime without its six digits, and so do we.
  for (const char* text :
       {"2006-01-02T15:04:05Z", "2006-01-02T15:04:05.00000Z", "2006-01-02T15:04:05.0000000Z"}) {
    EXPECT_FALSE(ParseMicroTimestamp(text).ok()) << text;
  }
}

TEST(TimeTest, GoesIntoMessagesAndOut) {
  meta::MicroTime micro;
  EXPECT_EQ(GetTime(micro), absl::InfinitePast());
  const absl::Time before_epoch = absl::UnixEpoch() - absl::Milliseconds(500);
  SetTime(before_epoch, &micro);
  EXPECT_EQ(micro.seconds(), -1);
  EXPECT_EQ(micro.nanos(), 500000000);
  EXPECT_EQ(GetTime(micro), before_epoch);
  meta::Time time;
  SetTime(absl::UnixEpoch(), &time);  // the epoch is a time, not an absent one
  EXPECT_EQ(GetTime(time), absl::UnixEpoch());
}

}  // namespace
}  // namespace mandate
