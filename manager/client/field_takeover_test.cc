#include "manager/client/field_takeover.h"

#include <gtest/gtest.h>

#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate {
namespace {

struct Managed {
  std::string manager;
  std::string operation;
  std::string fields;
  std::string time = "2026-01-01T00:00:00Z";
  std::string api_version = "v1";
  std::string subresource = "";
};

corev1::ConfigMap With(const std::vector<Managed>& entries) {
  Json::Value object;
  object["metadata"]["name"] = "a";
  object["metadata"]["resourceVersion"] = "7";
  for (const Managed& m : entries) {
    Json::Value entry;
    entry["manager"] = m.manager;
    entry["operation"] = m.operation;
    entry["time"] = m.time;
    entry["apiVersion"] = m.api_version;
    entry["fieldsType"] = "FieldsV1";
    entry["fieldsV1"] = *ParseJson(m.fields);
    if (!m.subresource.empty()) entry["subresource"] = m.subresource;
    object["metadata"]["managedFields"].append(entry);
  }
  corev1::ConfigMap map;
  EXPECT_TRUE(FromJson(WriteJson(object), map).ok());
  return map;
}

// "manager operation fields", one a line, as the patch leaves them; "none" without a patch.
std::string After(const std::vector<Managed>& entries) {
  const auto patch = TakeoverPatch(With(entries), "scope");
  if (!patch.ok()) return std::string(patch.status().message());
  if (!patch->has_value()) return "none";
  const Json::Value operations = *ParseJson((*patch)->json());
  EXPECT_EQ(operations.size(), 2u);
  EXPECT_EQ(operations[0]["path"], "/metadata/managedFields");
  EXPECT_EQ(operations[1]["path"], "/metadata/resourceVersion");
  EXPECT_EQ(operations[1]["value"], "7");
  std::string text;
  for (const Json::Value& entry : operations[0]["value"]) {
    EXPECT_EQ(entry["fieldsType"], "FieldsV1");
    text += entry["manager"].asString() + " " + entry["operation"].asString() + " " +
            WriteJson(entry["fieldsV1"]) + "\n";
  }
  return text;
}

TEST(TakeoverPatch, MakesAnUpdateAnApply) {
  EXPECT_EQ(After({{"other", "Update", R"({"f:data":{"f:x":{}}})"},
                   {"scope", "Update", R"({"f:data":{".":{},"f:k":{}}})"}}),
            "other Update {\"f:data\":{\"f:x\":{}}}\n"
            "scope Apply {\"f:data\":{\".\":{},\"f:k\":{}}}\n");
}

TEST(TakeoverPatch, MergesAnUpdateIntoTheApply) {
  EXPECT_EQ(After({{"scope", "Apply", R"({"f:data":{"f:k":{}},"f:immutable":{}})"},
                   {"scope", "Update", R"({"f:data":{".":{},"f:l":{}},"f:binaryData":{}})"}}),
            "scope Apply {\"f:binaryData\":{},\"f:data\":{\".\":{},\"f:k\":{},\"f:l\":{}},"
            "\"f:immutable\":{}}\n");
}

TEST(TakeoverPatch, APathAndPathsBelowItAreBothKept) {
  const std::string expected = "scope Apply {\"f:data\":{\".\":{},\"f:k\":{}}}\n";
  EXPECT_EQ(After({{"scope", "Apply", R"({"f:data":{}})"},
                   {"scope", "Update", R"({"f:data":{"f:k":{}}})"}}),
            expected);
  EXPECT_EQ(After({{"scope", "Apply", R"({"f:data":{"f:k":{}}})"},
                   {"scope", "Update", R"({"f:data":{}})"}}),
            expected);
  EXPECT_EQ(
      After({{"scope", "Apply", R"({"f:data":{}})"}, {"scope", "Update", R"({"f:data":{}})"}}),
      "scope Apply {\"f:data\":{}}\n");
}

TEST(TakeoverPatch, LeavesOtherManagersAndSubresources) {
  EXPECT_EQ(After({}), "none");
  EXPECT_EQ(After({{"scope", "Apply", "{}"}, {"other", "Update", "{}"}}), "none");
  Managed status{"scope", "Update", R"({"f:status":{}})"};
  status.subresource = "status";
  EXPECT_EQ(After({status}), "none");
  EXPECT_EQ(After({status, {"scope", "Update", R"({"f:data":{}})"}}),
            "scope Update {\"f:status\":{}}\nscope Apply {\"f:data\":{}}\n");
}

TEST(TakeoverPatch, KeepsTheAppliedVersion) {
  Managed old{"scope", "Update", R"({"f:old":{}})", "2026-01-02T00:00:00Z", "v1beta1"};
  EXPECT_EQ(After({old, {"scope", "Apply", R"({"f:data":{}})"}}), "scope Apply {\"f:data\":{}}\n");
  EXPECT_EQ(After({{"scope", "Update", R"({"f:data":{}})"}, old}), "scope Apply {\"f:old\":{}}\n")
      << "without an apply, the newest";
  old.time = "2025-12-31T00:00:00Z";
  EXPECT_EQ(After({{"scope", "Update", R"({"f:data":{}})"}, old}), "scope Apply {\"f:data\":{}}\n");
}

TEST(TakeoverPatch, InvalidFieldSetsAreAnError) {
  EXPECT_EQ(After({{"scope", "Update", "[]"}}),
            "metadata.managedFields: the fields of scope are not an object");
}

}  // namespace
}  // namespace mandate
