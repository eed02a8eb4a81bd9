#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "manager/core/strings.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/metadata_reader.h"

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

}  // namespace
}  // namespace mandate
