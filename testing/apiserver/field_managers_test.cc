#include "testing/apiserver/field_managers.h"

#include <gtest/gtest.h>

#include <string>

#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::apiserver {
namespace {

Json::Value With(const std::string& managers) {
  return ParseJson(StrCat(R"({"metadata":{"name":"a","managedFields":)", managers, "}}")).value();
}

// "manager Operation version", in their order.
std::string Text(const FieldManagerEntries& entries) {
  std::string text;
  for (const auto& entry : entries) {
    StrAppend(&text, text.empty() ? "" : "; ", entry.manager, " ", entry.operation, " ",
              entry.api_version);
  }
  return text;
}

constexpr char kLive[] =
    R"([{"manager":"live","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}])";
constexpr char kBrought[] =
    R"([{"manager":"own","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}])";

TEST(FieldManagersTest, UpdateStartsFromTheGivenEntries) {
  const struct {
    const char* what;
    std::string brought;
    std::string expected;
  } kCases[] = {
      {"entries of its own", kBrought, "own Apply v1"},
      {"an empty list", "[]", ""},
      {"one empty entry", "[{}]", ""},
      {"two empty entries", "[{},{}]", "live Update v1"},
      {"no list", "null", "live Update v1"},
      {"no operation",
       R"([{"manager":"m","operation":"Bad","apiVersion":"v1","fieldsType":"FieldsV1"}])",
       "live Update v1"},
      {"no version", R"([{"manager":"m","operation":"Update","fieldsType":"FieldsV1"}])",
       "live Update v1"},
      {"another type of fields",
       R"([{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"V2"}])",
       "live Update v1"},
      {"no field set",
       R"([{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"x":{}}}])",
       "live Update v1"},
      {"an invalid key",
       R"([{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"k:x":{}}}])",
       "live Update v1"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Text(FieldManagersOfUpdate(With(kLive), With(c.brought), false)), c.expected)
        << c.what;
    EXPECT_EQ(Text(FieldManagersOfUpdate(With(kLive), With(c.brought), true)), "live Update v1")
        << c.what << ", in a subresource";
  }
}

TEST(FieldManagersTest, LastEntryOfAnIdentityCounts) {
  const auto entries = ReadFieldManagers(With(
      R"([{"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}},
          {"manager":"m","operation":"Apply","apiVersion":"v2","fieldsType":"FieldsV1","fieldsV1":{"f:b":{}}},
          {"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:c":{}}},
          {"manager":"m","operation":"Update","apiVersion":"v2","fieldsType":"FieldsV1","fieldsV1":{"f:d":{}}}])"));
  ASSERT_TRUE(entries);
  EXPECT_EQ(Text(*entries), "m Apply v2; m Update v1; m Update v2");
}

TEST(FieldManagersTest, DropsVersionsOfOtherGroups) {
  const ResourceType builtin{.name = {"rbac.authorization.k8s.io", "roles"}, .version = "v1"};
  const struct {
    const char* version;
    bool managed;
    size_t left;
  } kCases[] = {
      {"rbac.authorization.k8s.io/v1", true, 1},
      {"rbac.authorization.k8s.io/v9", true, 1},
      {"v1", true, 0},
      {"apps/v1", true, 0},
      {"x/y/z", false, 0},
  };
  for (const auto& c : kCases) {
    FieldManagerEntries entries(1);
    entries[0].api_version = c.version;
    EXPECT_EQ(KeepOwnVersions(builtin, entries), c.managed) << c.version;
    EXPECT_EQ(entries.size(), c.left) << c.version;
  }
}

TEST(FieldManagersTest, WritesEntriesInOrder) {
  FieldManagerEntries entries(3);
  entries[0] = {.manager = "b", .operation = "Update", .api_version = "v1", .fields = {}};
  entries[1] = {
      .manager = "a", .operation = "Update", .api_version = "v1", .time = "2", .fields = {}};
  entries[2] = {
      .manager = "c", .operation = "Apply", .api_version = "v1", .time = "3", .fields = {}};
  for (auto& entry : entries) entry.fields.children["f:x"].member = true;
  FieldManagerEntry empty = entries[0];
  empty.manager = "empty";
  empty.fields = {};
  entries.push_back(empty);
  Json::Value object = With("[]");
  WriteFieldManagers(entries, object);
  EXPECT_EQ(Text(*ReadFieldManagers(object)), "c Apply v1; b Update v1; a Update v1");
  WriteFieldManagers({}, object);
  EXPECT_FALSE(object["metadata"].isMember("managedFields"));
}

TEST(FieldManagersTest, KeepsTimesWithoutAnotherChange) {
  const Json::Value live = With(R"([{"manager":"m","time":"1"},{"manager":"n"}])");
  const struct {
    const char* managers;
    bool kept;
  } kCases[] = {
      {R"([{"manager":"m","time":"2"},{"manager":"n","time":"2"}])", true},
      {R"([{"manager":"m","time":"2"},{"manager":"o"}])", false},
      {R"([{"manager":"m","time":"2"}])", false},
  };
  for (const auto& c : kCases) {
    Json::Value object = With(c.managers);
    KeepManagerTimes(live, object);
    EXPECT_EQ(object == live, c.kept) << c.managers;
    Json::Value other = With(c.managers);
    other["data"] = 1;
    KeepManagerTimes(live, other);
    EXPECT_EQ(other["metadata"], With(c.managers)["metadata"]) << "the object changed";
  }
}

TEST(FieldManagersTest, ReadableNames) {
  FieldManagerEntry entry{.manager = "m",
                          .operation = "Update",
                          .api_version = "v1",
                          .subresource = "status",
                          .fields = {}};
  EXPECT_EQ(entry.Readable(), R"("m" with subresource "status" using v1)");
  entry.operation = "Apply";
  entry.subresource = "";
  EXPECT_EQ(entry.Readable(), R"("m")");
}

}  // namespace
}  // namespace mandate::apiserver
