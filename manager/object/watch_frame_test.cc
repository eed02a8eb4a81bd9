#include "manager/object/watch_frame.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/envelope.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace meta = k8s::io::apimachinery::pkg::apis::meta::v1;

// The event in both encodings.
std::string Frame(std::string_view type, const google::protobuf::Message& object,
                  const KindInfo& kind, Encoding encoding) {
  const std::string body = *EncodeObject(object, kind, encoding);
  if (encoding == Encoding::kJson) {
    return StrCat(R"({"type":")", type, R"(","object":)", body, "}");
  }
  meta::WatchEvent event;
  event.set_type(std::string(type));
  event.mutable_object()->set_raw(body);
  return event.SerializeAsString();
}

class WatchEventTest : public testing::TestWithParam<Encoding> {};
INSTANTIATE_TEST_SUITE_P(Both, WatchEventTest,
                         testing::Values(Encoding::kJson, Encoding::kProtobuf),
                         [](const auto& info) {
                           return info.param == Encoding::kJson ? "Json" : "Protobuf";
                         });

TEST_P(WatchEventTest, CarriesAnObject) {
  rbacv1::Role role;
  role.mutable_metadata()->set_name("r");
  role.mutable_metadata()->set_resourceversion("5");
  const std::pair<const char*, WatchEventType> kTypes[] = {{"ADDED", WatchEventType::kAdded},
                                                           {"MODIFIED", WatchEventType::kModified},
                                                           {"DELETED", WatchEventType::kDeleted}};
  for (const auto& [text, type] : kTypes) {
    const auto event =
        ParseWatchEvent(Frame(text, role, KindOf<rbacv1::Role>::value, GetParam()), GetParam());
    ASSERT_TRUE(event.ok()) << event.status();
    EXPECT_EQ(event->type, type);
    EXPECT_EQ(event->resource_version, "5");
    EXPECT_FALSE(event->initial_events_end);
    ASSERT_NE(event->object, nullptr);
    EXPECT_EQ(event->object->Decode<rbacv1::Role>()->metadata().name(), "r");
  }
}

TEST_P(WatchEventTest, BookmarksHaveNoName) {
  rbacv1::Role role;
  role.mutable_metadata()->set_resourceversion("77");
  auto event =
      ParseWatchEvent(Frame("BOOKMARK", role, KindOf<rbacv1::Role>::value, GetParam()), GetParam());
  ASSERT_TRUE(event.ok()) << event.status();
  EXPECT_EQ(event->type, WatchEventType::kBookmark);
  EXPECT_EQ(event->resource_version, "77");
  EXPECT_EQ(event->object, nullptr);
  EXPECT_FALSE(event->initial_events_end);
  (*role.mutable_metadata()->mutable_annotations())["k8s.io/initial-events-end"] = "true";
  event =
      ParseWatchEvent(Frame("BOOKMARK", role, KindOf<rbacv1::Role>::value, GetParam()), GetParam());
  ASSERT_TRUE(event.ok()) << event.status();
  EXPECT_TRUE(event->initial_events_end);
  // Only the value "true" marks the end of the initial events (KEP-3157).
  for (const char* other : {"false", "True", ""}) {
    (*role.mutable_metadata()->mutable_annotations())["k8s.io/initial-events-end"] = other;
    event = ParseWatchEvent(Frame("BOOKMARK", role, KindOf<rbacv1::Role>::value, GetParam()),
                            GetParam());
    ASSERT_TRUE(event.ok()) << event.status();
    EXPECT_FALSE(event->initial_events_end) << other;
  }
  role.mutable_metadata()->clear_resourceversion();
  EXPECT_FALSE(
      ParseWatchEvent(Frame("BOOKMARK", role, KindOf<rbacv1::Role>::value, GetParam()), GetParam())
          .ok());
}

TEST_P(WatchEventTest, ErrorsAreTheServersStatus) {
  meta::Status status;
  status.set_status("Failure");
  status.set_code(410);
  status.set_reason("Expired");
  status.set_message("too old resource version");
  constexpr KindInfo kStatus = {.group = "", .version = "v1", .kind = "Status", .plural = ""};
  const auto event = ParseWatchEvent(Frame("ERROR", status, kStatus, GetParam()), GetParam());
  ASSERT_TRUE(event.ok()) << event.status();
  EXPECT_EQ(event->type, WatchEventType::kError);
  EXPECT_TRUE(IsGone(event->error)) << event->error;
}

TEST_P(WatchEventTest, RefusesWhatIsNoEvent) {
  rbacv1::Role role;
  role.mutable_metadata()->set_resourceversion("1");
  const KindInfo kind = KindOf<rbacv1::Role>::value;
  for (const std::string& frame :
       {std::string("x"), std::string(), Frame("", role, kind, GetParam()),
        Frame("ADDED", role, kind, GetParam())}) {  // without a name
    EXPECT_EQ(ParseWatchEvent(frame, GetParam()).status().code(),
              absl::StatusCode::kInvalidArgument)
        << frame;
  }
}

TEST_P(WatchEventTest, AnEventOfAnUnknownTypeIsReported) {
  const auto event = ParseWatchEvent(
      Frame("RENAMED", rbacv1::Role(), KindOf<rbacv1::Role>::value, GetParam()), GetParam());
  ASSERT_TRUE(event.ok()) << event.status();
  EXPECT_EQ(event->type, WatchEventType::kUnknown);
  EXPECT_EQ(event->object, nullptr);
}

TEST(WatchEventTest, AnErrorOfAnyShapeIsAnError) {
  const auto event = ParseWatchEvent(R"({"type":"ERROR","object":["?"]})", Encoding::kJson);
  ASSERT_TRUE(event.ok()) << event.status();
  EXPECT_THAT(std::string(event->error.message()), HasSubstr(R"(["?"])"));
}

// All frames that come out if `stream` is fed in pieces of `piece` bytes.
std::vector<std::string> Split(Encoding encoding, std::string_view stream, size_t piece) {
  FrameSplitter splitter(encoding);
  std::vector<std::string> frames;
  for (; !stream.empty(); stream.remove_prefix(std::min(piece, stream.size()))) {
    splitter.Feed(stream.substr(0, piece));
    for (;;) {
      const auto frame = splitter.Next();
      EXPECT_TRUE(frame.ok()) << frame.status();
      if (!frame.ok() || !frame->has_value()) break;
      frames.emplace_back(**frame);
    }
  }
  return frames;
}

TEST(FrameSplitterTest, CutsAtEveryPlace) {
  const std::string json = "{\"a\":1}\n\n \r\n{\"b\":\"x\\n\"}\r\n{}\n";
  const std::string protobuf(
      "\0\0\0\x03"
      "abc"
      "\0\0\0\0"
      "\0\0\0\x01"
      "d",
      16);
  for (size_t piece = 1; piece <= json.size(); ++piece) {
    EXPECT_THAT(Split(Encoding::kJson, json, piece),
                ElementsAre("{\"a\":1}", "{\"b\":\"x\\n\"}\r", "{}"));
  }
  for (size_t piece = 1; piece <= protobuf.size(); ++piece) {
    EXPECT_THAT(Split(Encoding::kProtobuf, protobuf, piece), ElementsAre("abc", "d"));
  }
}

// Otherwise a frame of megabytes, which comes in thousands of chunks, would take minutes.
TEST(FrameSplitterTest, SearchesEachByteOnce) {
  FrameSplitter splitter(Encoding::kJson);
  const std::string line = StrCat("{\"a\":\"", std::string(10'000, 'x'), "\"}\n");
  for (int lines = 1; lines <= 3; ++lines) {
    for (size_t i = 0; i < line.size(); i += 10) {
      splitter.Feed(std::string_view(line).substr(i, 10));
      for (;;) {
        const auto frame = splitter.Next();
        ASSERT_TRUE(frame.ok()) << frame.status();
        if (!frame->has_value()) break;
      }
    }
    EXPECT_EQ(splitter.searched_bytes(), lines * line.size());
  }
}

TEST(FrameSplitterTest, BoundsAFrame) {
  FrameSplitter json(Encoding::kJson, 4);
  json.Feed("1234\n12345");
  EXPECT_EQ(**json.Next(), "1234");
  EXPECT_EQ(json.Next().status().code(), absl::StatusCode::kResourceExhausted);
  json.Feed("\n{}\n");
  EXPECT_EQ(json.Next().status().code(), absl::StatusCode::kResourceExhausted);

  FrameSplitter protobuf(Encoding::kProtobuf, 4);
  protobuf.Feed(std::string_view("\xFF\xFF\xFF\xFF", 4));
  EXPECT_EQ(protobuf.Next().status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(FrameSplitterTest, ALineOfBlanksIsBoundedToo) {
  FrameSplitter json(Encoding::kJson, 4);
  json.Feed("     ");
  EXPECT_EQ(json.Next().status().code(), absl::StatusCode::kResourceExhausted);
}

// It had a large Secret, perhaps.
TEST(FrameSplitterTest, ALargeBufferIsFreedAfterTheFrame) {
  for (const size_t size : {size_t{600'000}, size_t{300'000}}) {
    FrameSplitter splitter(Encoding::kJson);
    splitter.Feed(std::string(size, 'x') + "\n");
    const auto frame = splitter.Next();
    ASSERT_TRUE(frame.ok() && frame->has_value());
    EXPECT_EQ((*frame)->size(), size);
    EXPECT_GE(splitter.buffer_bytes(), size);
    EXPECT_FALSE((*splitter.Next()).has_value());
    EXPECT_LT(splitter.buffer_bytes(), 1000u);
    splitter.Feed("small\n");
    EXPECT_EQ(**splitter.Next(), "small");
  }
}

// A quiet watch keeps its buffer. What was moved to the front of it was at the end, too.
TEST(FrameSplitterTest, AKeptBufferHasNoBytesOfFrames) {
  FrameSplitter splitter(Encoding::kJson);
  splitter.Feed(std::string(1000, 'x') + "\n");
  ASSERT_TRUE((*splitter.Next()).has_value());
  ASSERT_FALSE((*splitter.Next()).has_value());

  splitter.Feed(std::string(500, 's') + "\n" + std::string(300, 't'));
  const std::string_view first = **splitter.Next();
  ASSERT_EQ(first, std::string(500, 's'));
  ASSERT_FALSE((*splitter.Next()).has_value());
  splitter.Feed("\n");
  EXPECT_EQ(**splitter.Next(), std::string(300, 't'));
  ASSERT_FALSE((*splitter.Next()).has_value());
  // The buffer was large enough all the time, and is the same memory.
  EXPECT_EQ(std::string_view(first.data(), 801), std::string(801, '\0'));
}

TEST(FrameSplitterTest, AKeptBufferHasNoBytesOfALongBurst) {
  FrameSplitter splitter(Encoding::kJson);
  splitter.Feed(std::string(1000, 'x') + "\n");
  ASSERT_TRUE((*splitter.Next()).has_value());
  ASSERT_FALSE((*splitter.Next()).has_value());

  splitter.Feed(std::string(700, 's') + "\n" + std::string(100, 't'));
  const std::string_view first = **splitter.Next();
  ASSERT_FALSE((*splitter.Next()).has_value());
  for (const char* chunk : {"\nu", "\nv", "\n"}) {
    splitter.Feed(chunk);
    ASSERT_TRUE((*splitter.Next()).has_value());
    ASSERT_FALSE((*splitter.Next()).has_value());
  }
  EXPECT_EQ(std::string_view(first.data(), 801), std::string(801, '\0'));
}

TEST(FrameSplitterTest, ABufferStaysSmallAfterALargeBurst) {
  FrameSplitter splitter(Encoding::kJson);
  splitter.Feed(std::string(300'000, 'x') + "\ny");
  ASSERT_TRUE((*splitter.Next()).has_value());
  ASSERT_FALSE((*splitter.Next()).has_value());
  for (const char* chunk : {"\n", "z\n"}) {
    splitter.Feed(chunk);
    ASSERT_TRUE((*splitter.Next()).has_value());
    ASSERT_FALSE((*splitter.Next()).has_value());
    EXPECT_LT(splitter.buffer_bytes(), 1000u);
  }
}

TEST(FrameSplitterTest, AKeptBufferHasNoBytesOfProtobuf) {
  FrameSplitter splitter(Encoding::kProtobuf);
  splitter.Feed(std::string("\0\0\0\x64", 4) + std::string(100, 's'));
  const std::string_view frame = **splitter.Next();
  ASSERT_EQ(frame, std::string(100, 's'));
  ASSERT_FALSE((*splitter.Next()).has_value());
  EXPECT_EQ(std::string_view(frame.data(), 100), std::string(100, '\0'));
}

}  // namespace
}  // namespace mandate
