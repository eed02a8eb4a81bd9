#include "manager/client/removal.h"

#include <gtest/gtest.h>

#include "manager/object/kinds/core_v1.h"

namespace mandate {
namespace {

corev1::ConfigMap Observed() {
  corev1::ConfigMap map;
  auto* metadata = map.mutable_metadata();
  metadata->set_name("a");
  metadata->set_resourceversion("7");
  (*metadata->mutable_labels())["a/b"] = "";
  (*map.mutable_data())["k"] = "v";
  metadata->add_finalizers("example.com/ours");
  metadata->add_finalizers("example.com/foreign");
  for (const char* uid : {"u1", "u2"}) {
    auto* owner = metadata->add_ownerreferences();
    owner->set_kind("ConfigMap");
    owner->set_uid(uid);
  }
  return map;
}

std::string PatchOf(const FieldsToRemove& removal) {
  const auto patch = RemovalPatch(Observed(), removal);
  if (!patch.ok()) return std::string(patch.status().message());
  return patch->has_value() ? (*patch)->json() : "none";
}

TEST(RemovalPatch, RemovesNamedFields) {
  EXPECT_EQ(PatchOf({}), "none");
  EXPECT_EQ(PatchOf({.fields = {{"aggregationRule"}, {"metadata", "labels", "a/b"}}}),
            R"({"aggregationRule":null,"metadata":{"labels":{"a/b":null},"resourceVersion":"7"}})");
  EXPECT_EQ(PatchOf({.fields = {{"data"}, {"data", "k"}}}),
            R"({"data":null,"metadata":{"resourceVersion":"7"}})")
      << "what is gone has no members";
  EXPECT_EQ(PatchOf({.fields = {{"data", "k"}, {"data"}}}),
            R"({"data":null,"metadata":{"resourceVersion":"7"}})");
}

// A reconcile that finds nothing to remove sends nothing.
TEST(RemovalPatch, IgnoresFieldsThatTheObjectDoesNotHave) {
  EXPECT_EQ(PatchOf({.fields = {{"data", "absent"}, {"binaryData"}, {"binaryData", "k"}}}), "none");
  EXPECT_EQ(PatchOf({.fields = {{"metadata", "annotations", "a"}, {"metadata", "labels", "b"}}}),
            "none");
  EXPECT_EQ(PatchOf({.fields = {{"data", "absent"}, {"data", "k"}}}),
            R"({"data":{"k":null},"metadata":{"resourceVersion":"7"}})");
}

TEST(RemovalPatch, RemovesFieldsThatOnlyANewerServerKnows) {
  EXPECT_EQ(PatchOf({.fields = {{"metadata", "ownerReferences"}, {"metadata", "newer", "k"}}}),
            R"({"metadata":{"newer":{"k":null},"ownerReferences":null,"resourceVersion":"7"}})");
}

TEST(RemovalPatch, KeepsTheOtherItemsOfALists) {
  EXPECT_EQ(PatchOf({.finalizers = {"example.com/foreign", "example.com/absent"}}),
            R"({"metadata":{"finalizers":["example.com/ours"],"resourceVersion":"7"}})");
  EXPECT_EQ(PatchOf({.owner_uids = {"u1"}}),
            R"({"metadata":{"ownerReferences":[{"kind":"ConfigMap","uid":"u2"}],)"
            R"("resourceVersion":"7"}})");
  EXPECT_EQ(PatchOf({.finalizers = {"example.com/absent"}, .owner_uids = {"u3"}}), "none");
}

TEST(RemovalPatch, RejectsAnEmptyPath) {
  EXPECT_EQ(PatchOf({.fields = {{}}}), "the path of a field to remove is empty");
}

}  // namespace
}  // namespace mandate
