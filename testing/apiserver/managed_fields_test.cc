#include "testing/apiserver/managed_fields.h"

#include <gtest/gtest.h>

#include <string>

#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::apiserver {
namespace {

Json::Value Parse(const std::string& json) {
  auto value = ParseJson(json);
  EXPECT_TRUE(value.ok()) << json << ": " << value.status();
  return value.ok() ? *std::move(value) : Json::Value();
}

// "manager Operation {fields}; …", in the order in which they stand there.
std::string Managers(const Json::Value& object) {
  std::string text;
  for (const Json::Value& one : object["metadata"]["managedFields"]) {
    StrAppend(&text, text.empty() ? "" : "; ", one["manager"].asString(), " ",
              one["operation"].asString(), " ", WriteJson(one["fieldsV1"]));
  }
  return text;
}

class ManagedFieldsTest : public ::testing::Test {
 protected:
  Json::Value Apply(const Json::Value& live, const std::string& manager, const std::string& data) {
    auto applied = ApplyConfiguration(*type_, live, Map(data),
                                      {.name = manager, .subresource = "", .now = "t"}, force_);
    EXPECT_TRUE(applied.ok()) << applied.status();
    return applied.ok() ? *std::move(applied) : live;
  }
  Json::Value Update(const Json::Value& live, const std::string& manager, const std::string& data) {
    Json::Value object = Map(data);
    TrackUpdate(*type_, live, {.name = manager, .subresource = "", .now = "t"}, object);
    return object;
  }
  static Json::Value Map(const std::string& data) {
    return Parse(StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":)",
                        data, "}"));
  }

  Kinds kinds_;
  std::shared_ptr<const ResourceType> type_ = kinds_.OfKind("v1", "ConfigMap");
  bool force_ = false;
};

TEST_F(ManagedFieldsTest, AnUpdateOwnsWhatItChanged) {
  Json::Value live = Update({}, "x", R"({"a":"1","b":"1"})");
  EXPECT_EQ(Managers(live), R"(x Update {"f:data":{".":{},"f:a":{},"f:b":{}}})");
  live = Update(live, "y", R"({"a":"1","b":"2","c":"2"})");
  EXPECT_EQ(Managers(live),
            R"(x Update {"f:data":{".":{},"f:a":{}}}; y Update {"f:data":{"f:b":{},"f:c":{}}})");
  live = Update(live, "z", R"({"a":"1"})");
  EXPECT_EQ(Managers(live), R"(x Update {"f:data":{".":{},"f:a":{}}})")
      << "what is gone is nobody's, and who only removes owns nothing";
  EXPECT_EQ(Managers(Update(live, "z", R"({"a":"1"})")), Managers(live)) << "nothing changed";
}

TEST_F(ManagedFieldsTest, AnApplyOwnsWhatItSays) {
  Json::Value live = Apply({}, "x", R"({"a":"1","b":"1"})");
  EXPECT_EQ(Managers(live), R"(x Apply {"f:data":{"f:a":{},"f:b":{}}})");
  live = Apply(live, "y", R"({"b":"1"})");
  EXPECT_EQ(Managers(live),
            R"(y Apply {"f:data":{"f:b":{}}}; x Apply {"f:data":{"f:a":{},"f:b":{}}})")
      << "the same value is shared, without a time, as nothing changed";
  live = Apply(live, "x", R"({})");
  EXPECT_EQ(live["data"], Parse(R"({"b":"1"})")) << "what nobody else wants goes";
  live = Apply(live, "y", R"({"c":"1"})");
  EXPECT_EQ(live["data"], Parse(R"({"c":"1"})"));
}

TEST_F(ManagedFieldsTest, ConflictsNameWhoAndWhat) {
  const Json::Value applied = Apply({}, "x", R"({"a":"1","b":"1"})");
  const Json::Value updated = Update({}, "x", R"({"a":"1"})");
  const struct {
    const Json::Value& live;
    const char* data;
    const char* message;  // "": none
  } kCases[] = {
      {applied, R"({"a":"2"})", R"(Apply failed with 1 conflict: conflict with "x": .data.a)"},
      {applied, R"({"a":"2","b":"2"})",
       "Apply failed with 2 conflicts: conflicts with \"x\":\n- .data.a\n- .data.b"},
      {updated, R"({"a":"2"})",
       R"(Apply failed with 1 conflict: conflict with "x" using v1: .data.a)"},
      {applied, R"({"a":"1","c":"3"})", ""},
  };
  for (const auto& c : kCases) {
    const auto result = ApplyConfiguration(*type_, c.live, Map(c.data),
                                           {.name = "y", .subresource = "", .now = "t"}, false);
    EXPECT_EQ(std::string(result.status().message()), c.message) << c.data;
  }
  force_ = true;
  const Json::Value forced = Apply(applied, "y", R"({"a":"2"})");
  EXPECT_EQ(forced["data"], Parse(R"({"a":"2","b":"1"})"));
  EXPECT_EQ(Managers(forced), R"(x Apply {"f:data":{"f:b":{}}}; y Apply {"f:data":{"f:a":{}}})");
}

}  // namespace
}  // namespace mandate::apiserver
