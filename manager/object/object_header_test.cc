#include "manager/object/object_header.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/object_codec.h"
#include "manager/object/time.h"
#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

using testing::HasSubstr;

rbacv1::RoleBinding MakeBinding() {
  rbacv1::RoleBinding binding;
  auto& metadata = *binding.mutable_metadata();
  metadata.set_name("b\"1");
  metadata.set_namespace_("ns");
  metadata.set_uid("u-1");
  metadata.set_resourceversion("42");
  metadata.set_generation(7);
  (*metadata.mutable_labels())["app"] = "x";
  (*metadata.mutable_labels())["empty"] = "";
  (*metadata.mutable_annotations())["note"] = "line\nline";
  metadata.add_finalizers("a/b");
  metadata.add_finalizers("c/d");
  auto& owner = *metadata.add_ownerreferences();
  owner.set_apiversion("v1");
  owner.set_kind("K");
  owner.set_name("o");
  owner.set_uid("u-0");
  metadata.add_ownerreferences()->CopyFrom(owner);
  metadata.mutable_ownerreferences(1)->set_controller(true);
  binding.add_subjects()->set_name("s");
  return binding;
}

ObjectHeader Expected() {
  ObjectHeader header;
  header.ns = "ns";
  header.name = "b\"1";
  header.uid = "u-1";
  header.resource_version = "42";
  header.generation = 7;
  header.labels = {{"app", "x"}, {"empty", ""}};
  header.annotations = {{"note", "line\nline"}};
  header.finalizers = {"a/b", "c/d"};
  header.owners = {{"v1", "K", "o", "u-0", false}, {"v1", "K", "o", "u-0", true}};
  return header;
}

absl::StatusOr<ObjectHeader> Header(const rbacv1::RoleBinding& binding, Encoding encoding) {
  return encoding == Encoding::kJson ? ParseObjectHeader(*EncodeObject(binding, encoding), encoding)
                                     : ParseObjectHeader(binding.SerializeAsString(), encoding);
}

TEST(ObjectHeaderTest, IsReadFromBothEncodings) {
  for (Encoding encoding : {Encoding::kJson, Encoding::kProtobuf}) {
    rbacv1::RoleBinding binding = MakeBinding();
    binding.mutable_metadata()->mutable_deletiontimestamp();  // the zero time
    const auto header = Header(binding, encoding);
    ASSERT_TRUE(header.ok()) << header.status();
    EXPECT_EQ(*header, Expected());
    EXPECT_EQ(header->Key(), (ObjectKey{"ns", "b\"1"}));
    EXPECT_EQ(header->Controller(), &header->owners[1]);
    SetTime(absl::UnixEpoch(), binding.mutable_metadata()->mutable_deletiontimestamp());
    EXPECT_TRUE(Header(binding, encoding)->deleting);
  }
}

TEST(ObjectHeaderTest, NullAndAbsenceAreTheSame) {
  const auto header = ParseObjectHeader(
      R"({"kind":"X","metadata":{"name":"n","labels":null,"ownerReferences":null,"finalizers":null,
          "deletionTimestamp":null,"generation":null,"uid":null}})",
      Encoding::kJson);
  ASSERT_TRUE(header.ok()) << header.status();
  ObjectHeader expected;
  expected.name = "n";
  EXPECT_EQ(*header, expected);
  EXPECT_EQ(header->Controller(), nullptr);
  EXPECT_EQ(*ParseObjectHeader(R"({"metadata":null})", Encoding::kJson), ObjectHeader());
  EXPECT_EQ(*ParseObjectHeader("", Encoding::kProtobuf), ObjectHeader());
}

// A field whose wire type differs from the schema's is unknown, as for protobuf's own parser.
TEST(ObjectHeaderTest, IgnoresFieldsOfAnotherWireType) {
  std::string metadata;
  AppendWireBytes(1, "n", metadata);  // name
  metadata += "\x08\x05";             // and once more, as a number
  AppendWireBytes(7, "x", metadata);  // generation
  std::string deletion;
  AppendWireBytes(1, "soon", deletion);  // seconds
  deletion += "\x18\x01";                // a number in no field of the schema
  AppendWireBytes(9, deletion, metadata);
  std::string owner;
  AppendWireBytes(6, "x", owner);  // controller
  AppendWireBytes(13, owner, metadata);
  std::string object = "\x08\x01";  // metadata as a number
  AppendWireBytes(1, metadata, object);
  const auto header = ParseObjectHeader(object, Encoding::kProtobuf);
  ASSERT_TRUE(header.ok()) << header.status();
  ObjectHeader expected;
  expected.name = "n";
  expected.owners.emplace_back();
  EXPECT_EQ(*header, expected);
}

TEST(ObjectHeaderTest, ErrorsNameTheField) {
  const struct {
    const char* json;
    const char* error;
  } kCases[] = {
      {"[]", "the object: expected an object, got an array"},
      {R"({"metadata":[]})", "metadata: expected an object, got an array"},
      {R"({"metadata":{"name":1}})", "metadata.name: expected a string, got a number"},
      {R"({"metadata":{"generation":1.5}})", "metadata.generation: expected an integer, got 1.5"},
      {R"({"metadata":{"labels":{"a":1}}})", "metadata.labels[a]: expected a string, got a number"},
      {R"({"metadata":{"finalizers":[{}]}})",
       "metadata.finalizers[]: expected a string, got an object"},
      {R"({"metadata":{"ownerReferences":[{"uid":1}]}})",
       "metadata.ownerReferences[].uid: expected a string, got a number"},
      {R"({"metadata":{"name":"n"},"metadata":{"uid":"u"}})", "metadata: duplicate field"},
      {R"({"metadata":{"name":"n","name":"m"}})", "metadata.name: duplicate field"},
      {R"({"metadata":{"finalizers":["a"],"finalizers":[]}})",
       "metadata.finalizers: duplicate field"},
      {R"({"metadata":{"name":"n"}} x)", "expected nothing after the value"},
      {R"({"spec":[1,},"metadata":{}})", "invalid JSON at line 1, column 12"},
  };
  for (const auto& c : kCases) {
    const auto header = ParseObjectHeader(c.json, Encoding::kJson);
    EXPECT_EQ(header.status().code(), absl::StatusCode::kInvalidArgument) << c.json;
    EXPECT_THAT(std::string(header.status().message()), HasSubstr(c.error));
  }
  EXPECT_FALSE(ParseObjectHeader("\x0A\x05", Encoding::kProtobuf).ok());
}

}  // namespace
}  // namespace mandate
