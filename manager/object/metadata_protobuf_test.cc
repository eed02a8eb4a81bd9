#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "manager/core/strings.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/metadata_reader.h"
#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

// Records each call, in order.
class Told : public MetadataSink {
 public:
  std::string text;

  void OnString(MetadataField field, std::string_view value) override {
    static constexpr const char* kNames[] = {"namespace", "name", "uid", "version", "finalizer"};
    Add(kNames[static_cast<int>(field)], value);
  }
  void OnGeneration(int64_t generation) override { Add("generation", StrCat(generation)); }
  void OnDeleting() override { Add("deleting", ""); }
  void OnLabel(std::string_view key, std::string_view value) override { Add(key, value); }
  void OnAnnotation(std::string_view key, std::string_view value) override { Add(key, value); }
  void OnOwner(const OwnerView& owner) override {
    Add("owner", StrCat(owner.api_version, " ", owner.kind, " ", owner.name, " ", owner.uid,
                        owner.controller ? " controller" : ""));
  }

 private:
  void Add(std::string_view what, std::string_view value) {
    StrAppend(&text, text.empty() ? "" : "; ", what, "=", value);
  }
};

// Each field alone, so that no other field can hide a mistake.
TEST(MetadataProtobuf, EachFieldIsToldAsItselfAlone) {
  const struct {
    const char* metadata;
    const char* told;
  } kCases[] = {
      {"", ""},
      {"name: 'a'", "name=a"},
      {"namespace: 'a'", "namespace=a"},
      {"uid: 'a'", "uid=a"},
      {"resourceVersion: '7'", "version=7"},
      {"generation: 7", "generation=7"},
      {"generateName: 'a' selfLink: 'b' creationTimestamp { seconds: 1 }", ""},
      {"deletionTimestamp { seconds: 1 }", "deleting="},
      {"deletionTimestamp { }", ""},
      {"labels { key: 'k' value: 'v' }", "k=v"},
      {"annotations { key: 'k' value: 'v' }", "k=v"},
      {"finalizers: 'a' finalizers: 'b'", "finalizer=a; finalizer=b"},
      {"ownerReferences { apiVersion: 'v1' }", "owner=v1   "},
      {"ownerReferences { kind: 'Pod' }", "owner= Pod  "},
      {"ownerReferences { name: 'a' }", "owner=  a "},
      {"ownerReferences { uid: 'u' }", "owner=   u"},
      {"ownerReferences { controller: true }", "owner=    controller"},
      {"ownerReferences { controller: false blockOwnerDeletion: true }", "owner=   "},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.metadata);
    rbacv1::Role role;
    ASSERT_TRUE(google::protobuf::TextFormat::MergeFromString(c.metadata, role.mutable_metadata()));
    Told told;
    EXPECT_TRUE(ReadMetadataProtobuf(role.SerializePartialAsString(), told).ok());
    EXPECT_EQ(told.text, c.told);
  }
}

// Everything that a sink receives is before managedFields, as the API server writes it.
TEST(MetadataProtobuf, TheLeadingPartTellsTheSame) {
  for (const char* metadata : {
           "",
           "name: 'a'",
           "name: 'a' finalizers: 'b'",
           "name: 'a' managedFields { manager: 'm' }",
           "name: 'a' labels { key: 'k' value: 'v' } annotations { key: 'k' value: 'v' } "
           "managedFields { manager: 'm' }",
           "name: 'a' annotations { key: 'k' value: 'v' } ownerReferences { name: 'o' } "
           "managedFields { manager: 'm' }",
           "deletionTimestamp { seconds: 1 } managedFields { manager: 'm' }",
           "name: 'a' generation: 7 finalizers: 'b' managedFields { manager: 'm' } "
           "managedFields { manager: 'n' }",
       }) {
    SCOPED_TRACE(metadata);
    rbacv1::Role role;
    ASSERT_TRUE(google::protobuf::TextFormat::MergeFromString(metadata, role.mutable_metadata()));
    role.add_rules()->add_verbs("get");
    const std::string bytes = role.SerializePartialAsString();
    const auto leading = LeadingMetadata(bytes);
    ASSERT_TRUE(leading.has_value());
    Told whole, part;
    ASSERT_TRUE(ReadMetadataProtobuf(bytes, whole).ok());
    ASSERT_TRUE(ReadMetadataFields(*leading, part).ok());
    EXPECT_EQ(part.text, whole.text);
    EXPECT_EQ(leading->find("\nmanager"), std::string_view::npos);
    role.mutable_metadata()->clear_managedfields();
    EXPECT_EQ(*leading, role.metadata().SerializePartialAsString());
  }
}

// Protobuf allows any order, and a message in parts.
TEST(MetadataProtobuf, AnUnusualOrderHasNoLeadingPart) {
  const auto field = [](uint32_t number, std::string_view bytes) {
    std::string out;
    AppendWireBytes(number, bytes, out);
    return out;
  };
  const std::string name = field(1, "a"), managed = field(17, "m"), label = field(11, "");
  EXPECT_TRUE(LeadingMetadata(field(1, name + managed) + field(2, "")).has_value());
  EXPECT_FALSE(LeadingMetadata(field(1, name + managed + label)).has_value());
  EXPECT_FALSE(LeadingMetadata(field(1, managed + name + managed)).has_value());
  EXPECT_FALSE(LeadingMetadata(field(1, name) + field(1, label)).has_value());
  EXPECT_FALSE(LeadingMetadata(field(2, "") + field(1, name)).has_value());
  EXPECT_FALSE(LeadingMetadata("").has_value());
}

}  // namespace
}  // namespace mandate
