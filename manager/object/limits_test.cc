// Hostile input: every reader keeps its bounds of depth and size, and takes linear time.
#include <climits>
#include <ctime>
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "gtest/gtest.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/core/strings.h"
#include "manager/object/duration.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "manager/object/json_text.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/list_codec.h"
#include "manager/object/object_codec.h"
#include "manager/object/quantity.h"
#include "manager/object/raw_object.h"
#include "manager/object/selector.h"
#include "manager/object/time.h"
#include "manager/object/watch_frame.h"

namespace mandate {
namespace {

namespace meta = k8s::io::apimachinery::pkg::apis::meta::v1;
using testing::HasSubstr;

std::string Repeat(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// Arrays within each other.
std::string Nested(int depth) { return Repeat("[", depth) + Repeat("]", depth); }

std::string DeepObject(int depth) {
  return StrCat(R"({"metadata":{"name":"n"},"x":)", Nested(depth - 1), "}");
}

std::string Text(const absl::Status& status) { return std::string(status.message()); }

// Readers of whole values and of whole objects accept the depth that the API server accepts: Go's
// limit of 10,000 levels.
TEST(LimitsTest, Depth) {
  const int go = JsonLimits().max_depth;
  EXPECT_EQ(go, 10'000);
  const struct {
    const char* name;
    int limit;
    std::function<absl::Status(int)> read;  // reads a value of that depth
  } kReaders[] = {
      {"ParseJson", kMaxRecursion, [](int depth) { return ParseJson(Nested(depth)).status(); }},
      {"AppendCompactJson", go,
       [](int depth) {
         std::string out;
         return AppendCompactJson(Nested(depth), out);
       }},
      {"FromJson, an unknown field", go,
       [](int depth) {
         rbacv1::ClusterRole role;
         return FromJson(StrCat(R"({"x":)", Nested(depth - 1), "}"), role);
       }},
      {"FromJson, an embedded value", go,
       [](int depth) {
         meta::WatchEvent event;
         return FromJson(StrCat(R"({"object":)", Nested(depth - 1), "}"), event);
       }},
      {"ToJson, an embedded value", go,
       [](int depth) {
         meta::WatchEvent event;
         event.mutable_object()->set_raw(Nested(depth));
         return ToJson(event).status();
       }},
      {"FromJson, a message within itself", kMaxRecursion,
       [](int depth) {
         google::protobuf::DescriptorProto type;
         return FromJson(
             StrCat(Repeat(R"({"nestedType":[)", depth - 1), "{}", Repeat("]}", depth - 1)), type);
       }},
      {"ParseRawObject", go,
       [](int depth) { return ParseRawObject(DeepObject(depth), Encoding::kJson).status(); }},
      {"ParseList", go,
       [](int depth) {
         return ParseList(StrCat(R"({"items":[)", DeepObject(depth), "]}"), Encoding::kJson)
             .status();
       }},
      {"ParseWatchEvent", go,
       [](int depth) {
         return ParseWatchEvent(StrCat(R"({"type":"ADDED","object":)", DeepObject(depth), "}"),
                                Encoding::kJson)
             .status();
       }},
  };
  for (const auto& reader : kReaders) {
    const absl::Status status = reader.read(reader.limit);
    EXPECT_TRUE(status.ok()) << reader.name << ": " << status;
    EXPECT_THAT(Text(reader.read(reader.limit + 1)), HasSubstr("nested deeper than the limit"))
        << reader.name;
  }
}

// Without a schema only groups nest in protobuf, whose own bound is 100.
TEST(LimitsTest, DepthOfProtobuf) {
  const auto decode = [](int depth) {
    rbacv1::ClusterRole role;
    return DecodeObject(Repeat("\x7B", depth) + Repeat("\x7C", depth), Encoding::kProtobuf, role);
  };
  EXPECT_TRUE(decode(50).ok());
  EXPECT_EQ(decode(200).code(), absl::StatusCode::kInvalidArgument);
}

TEST(LimitsTest, Size) {
  const JsonLimits limits = {.max_bytes = 10};
  rbacv1::ClusterRole role;
  EXPECT_TRUE(ParseJson("[        ]", limits).ok());
  EXPECT_THAT(Text(ParseJson("[         ]", limits).status()), HasSubstr("larger than the limit"));
  EXPECT_THAT(Text(FromJson("{         }", role, {.limits = limits})),
              HasSubstr("larger than the limit of 10"));
  EXPECT_TRUE(ParseList(R"({"items":[]})", Encoding::kJson, {.max_bytes = 12}).ok());
  EXPECT_THAT(Text(ParseList(R"({"items":[]})", Encoding::kJson, {.max_bytes = 11}).status()),
              HasSubstr("larger than the limit"));
  const std::string large(JsonLimits().max_bytes + 1, ' ');
  EXPECT_THAT(Text(ParseRawObject(large, Encoding::kJson).status()),
              HasSubstr("larger than the limit"));
  // It is longer than protobuf can count, so only its first bytes are read.
  const std::string_view huge(large.data(), size_t{INT_MAX} + 1);
  EXPECT_EQ(DecodeObject(huge, Encoding::kProtobuf, role).code(),
            absl::StatusCode::kInvalidArgument);
  FrameSplitter splitter(Encoding::kJson, 100);
  splitter.Feed(std::string(101, ' '));
  EXPECT_EQ(splitter.Next().status().code(), absl::StatusCode::kResourceExhausted);
}

constexpr int kMany = 200'000;

// `count` members "k0":value, "k1":value, ….
std::string Members(int count, std::string_view value, bool same_key = false) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    StrAppend(&out, i > 0 ? "," : "", "\"k", same_key ? 0 : i, "\":", value);
  }
  return out;
}

std::string WithLabels(std::string_view members) {
  return StrCat(R"({"metadata":{"name":"n","labels":{)", members, "}}}");
}

int FramesOf(std::string_view stream, Encoding encoding, size_t chunk) {
  FrameSplitter splitter(encoding);
  int frames = 0;
  for (; !stream.empty(); stream.remove_prefix(std::min(chunk, stream.size()))) {
    splitter.Feed(stream.substr(0, chunk));
    for (auto frame = splitter.Next(); frame.ok() && frame->has_value(); frame = splitter.Next()) {
      ++frames;
    }
  }
  return frames;
}

// Each takes some hundredths of a second of the processor's time; a quadratic reader would take
// minutes.
TEST(LimitsTest, Time) {
  const auto decode = [](const std::string& json) {
    rbacv1::ClusterRole role;
    return FromJson(json, role).ok() && ToJson(role).ok();
  };
  const auto raw = [](const std::string& json) {
    const auto object = ParseRawObject(json, Encoding::kJson);
    return object.ok() && (*object)->Header().name == "n";
  };
  const std::string labels = WithLabels(Members(kMany, R"("v")"));
  const std::string same_label = WithLabels(Members(kMany, R"("v")", /*same_key=*/true));
  const std::string escapes = StrCat("\"", Repeat(R"(\u0041\n)", kMany), "\"");
  const std::string item = R"({"metadata":{"name":"n"}})";
  const std::string small_items = StrCat(R"({"items":[)", Repeat(item + ",", kMany), item, "]}");
  const std::string digits(1 << 20, '9');
  const struct {
    const char* name;
    std::function<bool()> read;
  } kInputs[] = {
      {"labels, typed", [&] { return decode(labels); }},
      {"one label many times, typed", [&] { return decode(same_label); }},
      {"labels, raw", [&] { return raw(labels); }},
      {"unknown members", [&] { return decode(StrCat("{", Members(kMany, "1"), "}")); }},
      {"members, unstructured",
       [&] {
         const auto value = ParseJson(StrCat("{", Members(kMany, "{}"), "}"));
         return value.ok() && !WriteJson(*value).empty();
       }},
      {"elements, unstructured",
       [&] { return ParseJson(StrCat("[", Repeat("0,", kMany), "0]")).ok(); }},
      {"escapes", [&] { return ParseJson(escapes).ok(); }},
      {"an escape in every label", [&] { return raw(WithLabels(Members(kMany, R"("\n")"))); }},
      {"a string without an end", [&] { return !ParseJson("\"" + digits).ok(); }},
      {"rules", [&] { return decode(StrCat(R"({"rules":[)", Repeat("{},", kMany), "{}]}")); }},
      {"small items", [&] { return ParseList(small_items, Encoding::kJson).ok(); }},
      {"a frame in many chunks",
       [&] { return FramesOf(StrCat(digits, "\n"), Encoding::kJson, 5) == 1; }},
      {"blank lines", [&] { return FramesOf(Repeat("\n", kMany), Encoding::kJson, 1 << 20) == 0; }},
      {"small frames in one chunk",
       [&] { return FramesOf(Repeat("1\n", kMany), Encoding::kJson, 1 << 20) == kMany; }},
      {"empty frames",
       [&] { return FramesOf(std::string(4 * kMany, '\0'), Encoding::kProtobuf, 1 << 20) == 0; }},
      {"requirements", [&] { return LabelSelector::Parse(Repeat("a=b,", kMany) + "a").ok(); }},
      {"values", [&] { return LabelSelector::Parse("a in (" + Repeat("x,", kMany) + "y)").ok(); }},
      {"a long quantity", [&] { return Quantity::Parse("0." + digits + "Ei").ok(); }},
      {"a long duration", [&] { return ParseGoDuration("0." + digits + "h").ok(); }},
      {"a long time", [&] { return ParseTimestamp("2006-01-02T15:04:05." + digits + "Z").ok(); }},
  };
  for (const auto& input : kInputs) {
    const std::clock_t start = std::clock();
    EXPECT_TRUE(input.read()) << input.name;
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_LT(seconds, 10) << input.name;
    RecordProperty(input.name, std::to_string(seconds));
  }
}

}  // namespace
}  // namespace mandate
