// The codec against the fixtures of k8s.io/api: one object of every kind as Go writes it, in JSON
// and in protobuf.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "gtest/gtest.h"
#include "k8s.io/api/authentication/v1/generated.pb.h"
#include "k8s.io/api/authorization/v1/generated.pb.h"
#include "k8s.io/api/coordination/v1/generated.pb.h"
#include "k8s.io/api/core/v1/generated.pb.h"
#include "k8s.io/api/events/v1/generated.pb.h"
#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/core/strings.h"
#include "manager/object/envelope.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "manager/object/object_codec.h"
#include "manager/object/raw_object.h"

namespace mandate {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
namespace api = k8s::io::api;
namespace meta = k8s::io::apimachinery::pkg::apis::meta::v1;

constexpr char kFolder[] = "../kubernetes/testdata/HEAD";

// The group versions whose kinds are tested, all of them that have a fixture. More is one line here
// and one dependency in BUILD.
const std::map<std::string, const FileDescriptor*>& GroupVersions() {
  static const auto& versions = *new std::map<std::string, const FileDescriptor*>{
      {"authentication.k8s.io.v1", api::authentication::v1::TokenReview::descriptor()->file()},
      {"authorization.k8s.io.v1",
       api::authorization::v1::SubjectAccessReview::descriptor()->file()},
      {"coordination.k8s.io.v1", api::coordination::v1::Lease::descriptor()->file()},
      {"core.v1", api::core::v1::Namespace::descriptor()->file()},
      {"events.k8s.io.v1", api::events::v1::Event::descriptor()->file()},
      {"rbac.authorization.k8s.io.v1", api::rbac::v1::Role::descriptor()->file()},
  };
  return versions;
}

struct Fixture {
  std::string stem;  // "core.v1.Secret"
  const Descriptor* type = nullptr;
  std::string json;
  std::string protobuf;
};

void PrintTo(const Fixture& fixture, std::ostream* out) { *out << fixture.stem; }

// Kinds of the API machinery, such as Status, stand among those of the core group.
const Descriptor* TypeOf(const FileDescriptor& group, const std::string& kind) {
  const Descriptor* type = group.FindMessageTypeByName(kind);
  return type != nullptr ? type : meta::Status::descriptor()->file()->FindMessageTypeByName(kind);
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Fixture> Fixtures() {
  std::vector<Fixture> fixtures;
  std::set<std::string> stems;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".json") stems.insert(entry.path().stem().string());
  }
  for (const std::string& stem : stems) {
    const size_t dot = stem.rfind('.');
    const auto found = GroupVersions().find(stem.substr(0, dot));
    if (found == GroupVersions().end()) continue;
    const std::string base = StrCat(kFolder, "/", stem);
    fixtures.push_back({stem, TypeOf(*found->second, stem.substr(dot + 1)),
                        ReadFile(base + ".json"), ReadFile(base + ".pb")});
  }
  return fixtures;
}

class FixtureTest : public testing::TestWithParam<Fixture> {
 protected:
  void SetUp() override {
    ASSERT_NE(GetParam().type, nullptr) << "no message for " << GetParam().stem;
    const auto envelope = ParseEnvelope(GetParam().protobuf);
    ASSERT_TRUE(envelope.ok()) << envelope.status();
    raw_ = envelope->raw;
    const size_t slash = envelope->api_version.find('/');
    kind_.group = slash == std::string_view::npos ? "" : envelope->api_version.substr(0, slash);
    kind_.version = envelope->api_version.substr(slash + 1);  // npos + 1 is 0
    kind_.kind = envelope->kind;
    auto expected = ParseJson(GetParam().json);
    ASSERT_TRUE(expected.ok()) << expected.status();
    expected_ = *std::move(expected);
  }

  std::unique_ptr<Message> New() const {
    return std::unique_ptr<Message>(
        MessageFactory::generated_factory()->GetPrototype(GetParam().type)->New());
  }

  // What the message is in JSON, against the fixture's.
  void ExpectIsFixture(const Message& message) const {
    const auto json = ToJson(message, kind_.kind.empty() ? nullptr : &kind_);
    ASSERT_TRUE(json.ok()) << json.status();
    const auto actual = ParseJson(*json);
    ASSERT_TRUE(actual.ok()) << actual.status() << "\n" << *json;
    EXPECT_EQ(WriteJson(*actual), WriteJson(expected_));
  }

  std::string_view raw_;
  KindInfo kind_;
  Json::Value expected_;
};

TEST_P(FixtureTest, ProtobufToJson) {
  const auto message = New();
  ASSERT_TRUE(DecodeObject(GetParam().protobuf, Encoding::kProtobuf, *message).ok());
  EXPECT_TRUE(message->GetReflection()->GetUnknownFields(*message).empty());
  ExpectIsFixture(*message);
}

TEST_P(FixtureTest, JsonToProtobufToJson) {
  const auto decoded = New();
  const absl::Status status = FromJson(GetParam().json, *decoded, {.strict = true, .kind = &kind_});
  ASSERT_TRUE(status.ok()) << status;
  const auto message = New();
  ASSERT_TRUE(message->ParseFromString(decoded->SerializeAsString()));
  ExpectIsFixture(*message);
}

TEST_P(FixtureTest, ProtobufToProtobufIsIdentical) {
  const auto message = New();
  ASSERT_TRUE(DecodeObject(GetParam().protobuf, Encoding::kProtobuf, *message).ok());
  const auto bytes = EncodeObject(*message, kind_, Encoding::kProtobuf);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_TRUE(*bytes == GetParam().protobuf);
}

TEST_P(FixtureTest, HeaderIsTheSameInBothEncodings) {
  if (expected_["metadata"]["name"].isNull()) {
    // Options and the like: nothing that a cache could hold.
    EXPECT_FALSE(ParseRawObject(GetParam().json, Encoding::kJson).ok());
    return;
  }
  const auto json = ParseRawObject(GetParam().json, Encoding::kJson);
  ASSERT_TRUE(json.ok()) << json.status();
  const auto protobuf = ParseRawObject(GetParam().protobuf, Encoding::kProtobuf);
  ASSERT_TRUE(protobuf.ok()) << protobuf.status();
  const ObjectHeader header = (*json)->Header();
  EXPECT_EQ(header, (*protobuf)->Header());
  EXPECT_EQ(header.name, "nameValue");
  EXPECT_EQ(header.owners.size(), 1u);
  EXPECT_TRUE(header.deleting);
}

std::string TestName(const testing::TestParamInfo<Fixture>& info) {
  std::string name = info.param.stem;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kubernetes, FixtureTest, testing::ValuesIn(Fixtures()), TestName);

TEST(FixturesTest, EveryKindInUseHasOne) {
  std::set<std::string> stems;
  for (const Fixture& fixture : Fixtures()) stems.insert(fixture.stem);
  for (const char* stem : {"rbac.authorization.k8s.io.v1.Role",
                           "rbac.authorization.k8s.io.v1.RoleBinding",
                           "rbac.authorization.k8s.io.v1.ClusterRole",
                           "rbac.authorization.k8s.io.v1.ClusterRoleBinding",
                           "core.v1.Namespace",
                           "core.v1.ServiceAccount",
                           "core.v1.Secret",
                           "core.v1.ConfigMap",
                           "core.v1.Event",
                           "core.v1.Pod",
                           "core.v1.Service",
                           "events.k8s.io.v1.Event",
                           "coordination.k8s.io.v1.Lease",
                           "authentication.k8s.io.v1.TokenRequest",
                           "authentication.k8s.io.v1.TokenReview",
                           "authentication.k8s.io.v1.SelfSubjectReview",
                           "authorization.k8s.io.v1.SubjectAccessReview",
                           "authorization.k8s.io.v1.LocalSubjectAccessReview",
                           "authorization.k8s.io.v1.SelfSubjectAccessReview",
                           "authorization.k8s.io.v1.SelfSubjectRulesReview"}) {
    EXPECT_THAT(stems, testing::Contains(stem));
  }
}

}  // namespace
}  // namespace mandate
