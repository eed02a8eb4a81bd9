// Tests the codec with every fixture of k8s.io/api: those of this release, of earlier releases, and
// of the next release with its own types (newer_server_test.cc reads these with this release's
// types).
#include "manager/object/testing/fixtures.h"

#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/object_codec.h"
#include "manager/object/raw_object.h"
#include "manager/object/testing/kubernetes_types.h"

namespace mandate {
namespace {

using google::protobuf::Message;
using google::protobuf::util::MessageDifferencer;

class FixtureTest : public testing::TestWithParam<Fixture> {
 protected:
  FixtureTest()
      : types_(KubernetesTypes::Of(GetParam().repository)),
        type_(types_.Find(GetParam().api_version, GetParam().kind)),
        kind_(GetParam().names_kind ? KindInfoOf(GetParam().api_version, GetParam().kind)
                                    : KindInfo()) {}

  void SetUp() override {
    ASSERT_FALSE(GetParam().json.empty());
    if (type_ == nullptr) GTEST_SKIP() << "no longer a kind of this release";
  }

  std::unique_ptr<Message> New() const { return types_.New(*type_); }

  std::unique_ptr<Message> Decoded(const std::string& protobuf) const {
    std::unique_ptr<Message> message = New();
    const absl::Status status = DecodeObject(protobuf, Encoding::kProtobuf, *message);
    EXPECT_TRUE(status.ok()) << status;
    return message;
  }

  // It goes through protobuf, too, so that the test sees what a reader would see.
  std::unique_ptr<Message> FromJson(const std::string& json, bool strict) const {
    const std::unique_ptr<Message> decoded = New();
    const absl::Status status = types_.FromJson(json, *decoded, {.strict = strict, .kind = &kind_});
    EXPECT_TRUE(status.ok()) << status;
    std::unique_ptr<Message> message = New();
    EXPECT_TRUE(message->ParseFromString(decoded->SerializeAsString()));
    return message;
  }

  // Its JSON without formatting, members sorted.
  std::string Json(const Message& message) const {
    const auto json = types_.ToJson(message, GetParam().names_kind ? &kind_ : nullptr);
    EXPECT_TRUE(json.ok()) << json.status();
    return json.ok() ? Plain(*json) : "";
  }
  static std::string Plain(const std::string& json) {
    const auto value = ParseJson(json);
    EXPECT_TRUE(value.ok()) << value.status();
    return value.ok() ? WriteJson(*value) : "";
  }

  void ExpectSameMeaning(Message& actual, Message& expected) const {
    types_.DropZeros(actual);
    types_.DropZeros(expected);
    MessageDifferencer differencer;
    std::string differences;
    differencer.ReportDifferencesToString(&differences);
    EXPECT_TRUE(differencer.Compare(expected, actual)) << differences;
  }

  const KubernetesTypes& types_;
  const google::protobuf::Descriptor* const type_;
  const KindInfo kind_;
};

// In the fixtures of this release every member is present and known.
class HeadTest : public FixtureTest {};

TEST_P(HeadTest, ProtobufToJson) {
  const auto message = Decoded(GetParam().protobuf);
  EXPECT_TRUE(message->GetReflection()->GetUnknownFields(*message).empty());
  EXPECT_EQ(Json(*message), Plain(GetParam().json));
}

TEST_P(HeadTest, JsonToProtobufToJson) {
  EXPECT_EQ(Json(*FromJson(GetParam().json, /*strict=*/true)), Plain(GetParam().json));
}

TEST_P(HeadTest, JsonToProtobufMeansTheSame) {
  const auto actual = FromJson(GetParam().json, /*strict=*/true);
  const auto expected = Decoded(GetParam().protobuf);
  ExpectSameMeaning(*actual, *expected);
}

TEST_P(HeadTest, ProtobufToProtobufIsIdentical) {
  const auto bytes = EncodeObject(*Decoded(GetParam().protobuf), kind_, Encoding::kProtobuf);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_TRUE(*bytes == GetParam().protobuf);
}

TEST_P(HeadTest, HeaderIsTheSameInBothEncodings) {
  const auto json = ParseRawObject(GetParam().json, Encoding::kJson);
  if (!json.ok()) {
    // Options and similar kinds, which no cache holds.
    EXPECT_TRUE((*ParseJson(GetParam().json))["metadata"]["name"].isNull()) << json.status();
    return;
  }
  const auto protobuf = ParseRawObject(GetParam().protobuf, Encoding::kProtobuf);
  ASSERT_TRUE(protobuf.ok()) << protobuf.status();
  const ObjectHeader header = (*json)->Header();
  EXPECT_EQ(header, (*protobuf)->Header());
  EXPECT_EQ(header.name, "nameValue");
  EXPECT_EQ(header.owners.size(), 1u);
  EXPECT_TRUE(header.deleting);
}

INSTANTIATE_TEST_SUITE_P(ThisRelease, HeadTest, testing::ValuesIn(HeadFixtures("kubernetes")),
                         FixtureName);
INSTANTIATE_TEST_SUITE_P(NextRelease, HeadTest, testing::ValuesIn(HeadFixtures("kubernetes_next")),
                         FixtureName);

// The fixtures of earlier releases have members that no longer exist, and lack newer ones.
class ReleasedTest : public FixtureTest {};

TEST_P(ReleasedTest, ProtobufToJson) {
  const std::string json = Json(*Decoded(GetParam().protobuf));
  const auto actual = FromJson(json, /*strict=*/true);
  const auto expected = FromJson(GetParam().json_after, /*strict=*/true);
  ExpectSameMeaning(*actual, *expected);
  if (GetParam().json_after == GetParam().json) {
    EXPECT_EQ(json, Plain(GetParam().json));
  }
}

TEST_P(ReleasedTest, JsonToProtobuf) {
  const auto actual = FromJson(GetParam().json, /*strict=*/false);
  const auto expected = Decoded(GetParam().protobuf_after);
  ExpectSameMeaning(*actual, *expected);
}

// Go loses members that it no longer knows; we keep them.
TEST_P(ReleasedTest, ProtobufToProtobufLosesNothing) {
  for (const std::string* bytes : {&GetParam().protobuf, &GetParam().protobuf_after}) {
    const auto again = EncodeObject(*Decoded(*bytes), kind_, Encoding::kProtobuf);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->size(), bytes->size());
    const auto message = Decoded(*again);
    EXPECT_TRUE(MessageDifferencer::Equals(*message, *Decoded(*bytes)));
  }
}

INSTANTIATE_TEST_SUITE_P(EarlierReleases, ReleasedTest,
                         testing::ValuesIn(ReleasedFixtures("kubernetes")), FixtureName);

TEST(FixturesTest, AreAsManyAsTheModulesHave) {
  std::map<std::string, std::pair<int, int>> folders;  // all, and those without a type
  for (const auto& fixtures : {HeadFixtures("kubernetes"), ReleasedFixtures("kubernetes"),
                               HeadFixtures("kubernetes_next")}) {
    for (const Fixture& fixture : fixtures) {
      auto& [all, unknown] = folders[StrCat(fixture.repository, "/", fixture.folder)];
      ++all;
      const auto& types = KubernetesTypes::Of(fixture.repository);
      unknown += types.Find(fixture.api_version, fixture.kind) == nullptr ? 1 : 0;
    }
  }
  for (const auto& [folder, counts] : folders) {
    std::cout << folder << ": " << counts.first << " kinds, " << counts.second
              << " of them without a type\n";
    EXPECT_GT(counts.first, 150) << folder;
    EXPECT_LT(counts.second, 15) << folder;
    if (folder.ends_with("/HEAD")) {
      EXPECT_EQ(counts.second, 0) << folder;
    }
  }
  EXPECT_GE(folders.size(), 5u);
}

}  // namespace
}  // namespace mandate
