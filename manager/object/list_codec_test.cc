#include "manager/object/list_codec.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/object/envelope.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

using testing::HasSubstr;

TEST(ListCodecTest, ReadsJson) {
  const auto list = ParseList(
      R"({"kind":"RoleList","apiVersion":"v1","metadata":{"resourceVersion":"10","continue":"c\u003d",
          "remainingItemCount":5},"items":[{"metadata":{"name":"a","namespace":"n"},"x":1},
          {"kind":"Role","metadata":{"name":"b"}}]})",
      Encoding::kJson);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->resource_version, "10");
  EXPECT_EQ(list->continue_token, "c=");
  EXPECT_EQ(list->remaining, 5);
  ASSERT_EQ(list->items.size(), 2u);
  EXPECT_EQ(list->items[0]->bytes(), R"({"metadata":{"name":"a","namespace":"n"},"x":1})");
  EXPECT_EQ(list->items[1]->name(), "b");
  EXPECT_TRUE(list->undecodable.empty());
}

TEST(ListCodecTest, ReadsProtobuf) {
  rbacv1::RoleList roles;
  roles.mutable_metadata()->set_resourceversion("10");
  roles.mutable_metadata()->set_continue_("c");
  roles.mutable_metadata()->set_remainingitemcount(5);
  roles.add_items()->mutable_metadata()->set_name("a");
  roles.add_items()->mutable_metadata()->set_name("b");
  const std::string raw = roles.SerializeAsString();
  const auto list = ParseList(WriteEnvelope({.api_version = "v1", .kind = "RoleList", .raw = raw}),
                              Encoding::kProtobuf);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->resource_version, "10");
  EXPECT_EQ(list->continue_token, "c");
  EXPECT_EQ(list->remaining, 5);
  ASSERT_EQ(list->items.size(), 2u);
  EXPECT_EQ(list->items[1]->name(), "b");
  EXPECT_EQ(list->items[0]->encoding(), Encoding::kProtobuf);
}

TEST(ListCodecTest, AnEmptyListIsNullOrEmpty) {
  for (const char* json : {R"({"metadata":{"resourceVersion":"1"},"items":null})",
                           R"({"items":[],"metadata":{"resourceVersion":"1","continue":null}})"}) {
    const auto list = ParseList(json, Encoding::kJson);
    ASSERT_TRUE(list.ok()) << list.status();
    EXPECT_EQ(list->resource_version, "1");
    EXPECT_TRUE(list->items.empty());
    EXPECT_FALSE(list->remaining.has_value());
  }
}

TEST(ListCodecTest, OneBadItemDoesNotStopTheOthers) {
  const auto json = ParseList(
      R"({"items":[{"metadata":{"name":"a"}},{"metadata":{"name":1}},{"metadata":{"name":"c"}},7]})",
      Encoding::kJson);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(json->items.size(), 2u);
  ASSERT_EQ(json->undecodable.size(), 2u);
  EXPECT_THAT(std::string(json->undecodable[0].message()), HasSubstr("items[1]: metadata.name: "));
  EXPECT_THAT(std::string(json->undecodable[1].message()), HasSubstr("items[3]: "));

  rbacv1::RoleList roles;
  roles.add_items()->mutable_metadata()->set_name("a");
  std::string raw = roles.SerializeAsString();
  AppendWireBytes(2, "\x0A\x7F", raw);
  raw += roles.SerializeAsString();
  const auto protobuf = ParseList(
      WriteEnvelope({.api_version = "v1", .kind = "RoleList", .raw = raw}), Encoding::kProtobuf);
  ASSERT_TRUE(protobuf.ok()) << protobuf.status();
  EXPECT_EQ(protobuf->items.size(), 2u);
  EXPECT_EQ(protobuf->undecodable.size(), 1u);
}

TEST(ListCodecTest, KeepsToItsLimits) {
  const char* const json = R"({"items":[]})";
  EXPECT_TRUE(ParseList(json, Encoding::kJson, {.max_bytes = 12}).ok());
  EXPECT_FALSE(ParseList(json, Encoding::kJson, {.max_bytes = 11}).ok());
}

TEST(ListCodecTest, RefusesWhatIsNoList) {
  const struct {
    const char* json;
    const char* error;
  } kCases[] = {
      {"", "invalid JSON"},
      {"[]", "the list: expected an object, got an array"},
      {"{}", "items: missing"},
      {R"({"kind":"Role","metadata":{"name":"a"}})", "expected a list, got a Role"},
      {R"({"items":{}})", "items: expected an array, got an object"},
      {R"({"items":[],"metadata":{"resourceVersion":1}})",
       "metadata.resourceVersion: expected a string, got a number"},
      {R"({"items":[{"metadata":{"name":"a"}})", "invalid JSON"},
  };
  for (const auto& c : kCases) {
    const auto list = ParseList(c.json, Encoding::kJson);
    EXPECT_EQ(list.status().code(), absl::StatusCode::kInvalidArgument) << c.json;
    EXPECT_THAT(std::string(list.status().message()), HasSubstr(c.error));
  }
  EXPECT_FALSE(ParseList("{}", Encoding::kProtobuf).ok());
  EXPECT_FALSE(ParseList(WriteEnvelope({.api_version = "v1", .kind = "Role", .raw = ""}),
                         Encoding::kProtobuf)
                   .ok());
}

}  // namespace
}  // namespace mandate
