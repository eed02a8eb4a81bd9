// Every reader of bytes from outside on seeded mutations of real objects: none crashes, none reads
// beyond its input (AddressSanitizer looks), and what one side accepts the other can write.
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/duration.h"
#include "manager/object/envelope.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "manager/object/kinds/coordination_v1.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/list_codec.h"
#include "manager/object/object_codec.h"
#include "manager/object/raw_object.h"
#include "manager/object/selector.h"
#include "manager/object/time.h"
#include "manager/object/watch_frame.h"

namespace mandate {
namespace {

constexpr int kRounds = 4000;

std::string ReadFile(const std::string& name) {
  std::ifstream in("../kubernetes/testdata/HEAD/" + name, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  EXPECT_FALSE(bytes.empty()) << name;
  return bytes;
}

// Some bytes changed, dropped, doubled, or the end cut off.
std::string Mutate(std::string bytes, std::mt19937& random) {
  constexpr std::string_view kTelling = "{}[]\",:\\nt0-.e/\x00\xFF\x80\x7F ";
  const auto below = [&](size_t n) { return n == 0 ? 0 : random() % n; };
  for (size_t edits = 1 + below(4); edits > 0 && !bytes.empty(); --edits) {
    const size_t at = below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes[at] = kTelling[below(kTelling.size())];
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:
        bytes.erase(at, 1 + below(8));
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, 1 + below(16)));
        break;
      default:
        bytes.resize(below(4) == 0 ? at : bytes.size());
    }
  }
  return bytes;
}

// Everything that accepts such bytes; returns how many did.
int Accept(const std::string& bytes, Encoding encoding) {
  int accepted = 0;
  const auto object = ParseRawObject(bytes, encoding);
  if (object.ok()) {
    ++accepted;
    (*object)->Header();
    accepted += (*object)->Decode<rbacv1::ClusterRole>().ok() ? 1 : 0;
  }
  accepted += ParseList(bytes, encoding).ok() ? 1 : 0;
  accepted += ParseWatchEvent(bytes, encoding).ok() ? 1 : 0;
  EXPECT_FALSE(StatusFromResponse(500, bytes).ok());
  FrameSplitter splitter(encoding, 1 << 16);
  splitter.Feed(bytes);
  for (auto frame = splitter.Next(); frame.ok() && frame->has_value(); frame = splitter.Next()) {
    accepted += ParseWatchEvent(**frame, encoding).ok() ? 1 : 0;
  }
  return accepted;
}

template <class T>
void CheckJson(const std::string& text) {
  T message;
  if (!FromJson(text, message).ok()) return;
  const auto first = ToJson(message);
  ASSERT_TRUE(first.ok()) << first.status() << "\n" << text;
  T again;
  const absl::Status status = FromJson(*first, again, {.strict = true});
  ASSERT_TRUE(status.ok()) << status << "\n" << *first;
  EXPECT_EQ(*ToJson(again), *first);
}

TEST(RobustnessTest, MutatedJson) {
  std::mt19937 random(20240601);
  int accepted = 0;
  int parsed = 0;
  for (const char* stem :
       {"rbac.authorization.k8s.io.v1.ClusterRole", "coordination.k8s.io.v1.Lease"}) {
    const std::string json = ReadFile(StrCat(stem, ".json"));
    for (int round = 0; round < kRounds; ++round) {
      const std::string text = Mutate(json, random);
      accepted += Accept(text, Encoding::kJson);
      CheckJson<rbacv1::ClusterRole>(text);
      CheckJson<coordinationv1::Lease>(text);
      if (const auto value = ParseJson(text); value.ok()) {
        ++parsed;
        const auto again = ParseJson(WriteJson(*value));
        ASSERT_TRUE(again.ok()) << again.status();
        EXPECT_EQ(*again, *value);
      }
    }
  }
  // The mutations are mild enough to get past the first check, and harsh enough to be caught.
  EXPECT_GT(parsed, kRounds / 10);
  EXPECT_LT(parsed, 2 * kRounds);
  EXPECT_GT(accepted, 0);
}

TEST(RobustnessTest, MutatedProtobuf) {
  std::mt19937 random(20240602);
  int accepted = 0;
  const std::string bytes = ReadFile("rbac.authorization.k8s.io.v1.ClusterRole.pb");
  const std::string raw(ParseEnvelope(bytes)->raw);
  for (int round = 0; round < kRounds; ++round) {
    accepted += Accept(Mutate(bytes, random), Encoding::kProtobuf);
    accepted += Accept(Mutate(raw, random), Encoding::kProtobuf);
  }
  EXPECT_GT(accepted, 0);
}

TEST(RobustnessTest, MutatedSmallTexts) {
  std::mt19937 random(20240603);
  for (int round = 0; round < kRounds; ++round) {
    const auto selector =
        LabelSelector::Parse(Mutate("a=b,c in (x,y),!d,e notin (z),f!=g", random));
    if (selector.ok()) {
      EXPECT_EQ(*LabelSelector::Parse(selector->ToString()), *selector);
    }
    (void)LabelSelector::FromJson(Mutate(
        R"({"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"In"}]})", random));
    const auto time = ParseMicroTimestamp(Mutate("2006-01-02T15:04:05.000001+02:00", random));
    if (time.ok()) {
      EXPECT_EQ(*ParseMicroTimestamp(FormatMicroTimestamp(*time)), *time);
    }
    const auto duration = ParseGoDuration(Mutate("-1h2m3.000000004s", random));
    if (duration.ok()) {
      EXPECT_EQ(*ParseGoDuration(FormatGoDuration(*duration)), *duration);
    }
  }
}

}  // namespace
}  // namespace mandate
