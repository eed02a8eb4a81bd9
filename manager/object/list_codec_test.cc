#include "manager/object/list_codec.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/object/envelope.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

using testing::HasSubstr;

// Everything that was read, or the error's code, each in one line.
std::string Text(const absl::StatusOr<RawList>& list) {
  if (!list.ok()) return StrCat("error ", static_cast<int>(list.status().code()));
  std::string text = StrCat(list->resource_version, " ", list->continue_token, " ",
                            list->remaining.value_or(-1), "\n");
  for (const auto& item : list->items) text += StrCat(item->name(), " ", item->bytes(), "\n");
  return text;
}

absl::StatusOr<RawList> ReadPieces(const std::vector<std::string_view>& pieces, Encoding encoding,
                                   const ListReader::Options& options = {}) {
  ListReader reader(encoding, options);
  for (std::string_view piece : pieces) {
    if (absl::Status status = reader.Feed(piece); !status.ok()) return status;
  }
  return std::move(reader).Finish();
}

std::vector<std::string_view> Pieces(std::string_view text, size_t size) {
  std::vector<std::string_view> pieces;
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size()))) {
    pieces.push_back(text.substr(0, size));
  }
  return pieces;
}

std::string RoleListBytes(std::string_view raw, std::string_view kind = "RoleList") {
  return WriteEnvelope({.api_version = "v1", .kind = kind, .raw = raw});
}

std::string Roles(std::string_view broken = "") {
  rbacv1::RoleList roles;
  roles.mutable_metadata()->set_resourceversion("10");
  roles.mutable_metadata()->set_continue_("c");
  roles.mutable_metadata()->set_remainingitemcount(5);
  auto* role = roles.add_items();
  role->mutable_metadata()->set_name("a");
  // It is too long for a length of one byte.
  role->add_rules()->add_verbs(std::string(300, 'v'));
  std::string raw = roles.SerializeAsString();
  if (!broken.empty()) AppendWireBytes(2, broken, raw);
  roles.Clear();
  roles.add_items()->mutable_metadata()->set_name("b");
  return raw + roles.SerializeAsString();
}

// A body that comes in pieces reads as if it came whole, wherever it is cut. A body that ends too
// early is not a list.
TEST(ListCodecTest, CutsDoNotMatter) {
  const std::string deep = StrCat(std::string(600, '['), std::string(600, ']'));
  const struct {
    Encoding encoding;
    std::string body;
    bool valid = true;
  } kCases[] = {
      {Encoding::kJson, StrCat(R"({"items":[{"metadata":{"name":"a"}},{"x":)", deep,
                               R"(,"metadata":{"name":"d"}},{"metadata":{"name":"b"}}]})")},
      {Encoding::kJson,
       R"({"kind":"RoleList","metadata":{"resourceVersion":"10","continue":"c\u003d"},)"
       R"("items":[{"metadata":{"name":"a"},"x":[1.5e3,true,null,"\u00e4ü\\"]},)"
       R"( {"kind":"Role","metadata":{"name":"b"}} ]})"},
      {Encoding::kJson, R"({"items":[{"metadata":{"name":"a"}},{"metadata":{}}]})", false},
      {Encoding::kJson, R"({"items":[{"metadata":{"name":"a"}}, 7]})", false},
      {Encoding::kJson,
       " {\"other\" : 1234 , \"more\":[{}], \"items\" : [ ] ,"
       " \"metadata\":{\"remainingItemCount\":12,\"resourceVersion\":\"7\"} } \n"},
      {Encoding::kJson, R"({"items":[{"metadata":{"name":"a"}}],"kind":"List","n":12})"},
      {Encoding::kJson, R"({"items":null,"metadata":null})"},
      {Encoding::kProtobuf, RoleListBytes(Roles("\x0A\x7F")), false},
      {Encoding::kProtobuf, RoleListBytes("")},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.body);
    const std::string_view body = c.body;
    const std::string whole = Text(ParseList(body, c.encoding));
    EXPECT_EQ(whole.starts_with("error"), !c.valid);
    for (size_t cut = 0; cut <= body.size(); ++cut) {
      EXPECT_EQ(Text(ReadPieces({body.substr(0, cut), body.substr(cut)}, c.encoding)), whole)
          << cut;
    }
    for (size_t size = 1; size < body.size(); ++size) {
      EXPECT_EQ(Text(ReadPieces(Pieces(body, size), c.encoding)), whole) << size;
    }
    // Only the white space, or the envelope's empty fields, at the end may be missing.
    const size_t end = c.encoding == Encoding::kJson ? body.rfind('}') + 1 : body.size() - 4;
    for (size_t size = 0; size < end; ++size) {
      EXPECT_THAT(Text(ReadPieces(Pieces(body.substr(0, size), 5), c.encoding)),
                  testing::StartsWith("error"))
          << size;
      EXPECT_FALSE(ParseList(body.substr(0, size), c.encoding).ok()) << size;
    }
  }
}

TEST(ListCodecTest, OneItemIsBounded) {
  std::string item = StrCat(R"({"metadata":{"name":"a"},"x":")", std::string(900, 'x'), "\"}");
  const std::string json = StrCat(R"({"items":[)", item, ",", item, ",", item, "]}");
  const std::string protobuf = RoleListBytes(Roles() + Roles() + Roles());
  constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;
  const struct {
    Encoding encoding;
    std::string_view body;
    size_t max_item;
    absl::StatusCode code;
  } kCases[] = {
      {Encoding::kJson, json, item.size() + 1, absl::StatusCode::kOk},
      {Encoding::kJson, json, item.size(), kExhausted},  // the comma counts, too
      {Encoding::kJson, json, 100, kExhausted},
      {Encoding::kProtobuf, protobuf, 350, absl::StatusCode::kOk},
      {Encoding::kProtobuf, protobuf, 300, kExhausted},
  };
  for (const auto& c : kCases) {
    for (const size_t size : {size_t{1}, size_t{7}, size_t{512}, c.body.size()}) {
      const auto list =
          ReadPieces(Pieces(c.body, size), c.encoding, {.json = {}, .max_item_bytes = c.max_item});
      EXPECT_EQ(list.status().code(), c.code) << list.status() << " in pieces of " << size;
    }
  }
}

// A reader that keeps them in another form takes them as they come.
TEST(ListCodecTest, ItemsAreTakenAsTheyCome) {
  ListReader reader(Encoding::kJson);
  EXPECT_TRUE(reader.TakeItems().empty());
  ASSERT_TRUE(reader.Feed(R"({"items":[{"metadata":{"name":"a"}},{"meta)").ok());
  EXPECT_GT(reader.pending_bytes(), 0u);
  const auto first = reader.TakeItems();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0]->name(), "a");
  EXPECT_TRUE(reader.TakeItems().empty());
  ASSERT_TRUE(reader.Feed(R"(data":{"name":"b"}}],"metadata":{"resourceVersion":"7"}})").ok());
  const auto list = std::move(reader).Finish();
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->resource_version, "7");
  ASSERT_EQ(list->items.size(), 1u);
  EXPECT_EQ(list->items[0]->name(), "b");
}

TEST(ListCodecTest, AnErrorNamesTheItemAlsoAfterOthersWereTaken) {
  ListReader reader(Encoding::kJson);
  ASSERT_TRUE(reader.Feed(R"({"items":[{"metadata":{"name":"a"}},)").ok());
  EXPECT_EQ(reader.TakeItems().size(), 1u);
  EXPECT_THAT(std::string(reader.Feed(R"(7,{}]})").message()), HasSubstr("items[1]"));
}

TEST(ListCodecTest, SaysWhereAndKeepsSayingIt) {
  ListReader reader(Encoding::kJson);
  ASSERT_TRUE(reader.Feed(R"({"items":[{"metadata":{"name":"a"}},)").ok());
  ASSERT_TRUE(reader.Feed(R"({"metadata":{"name":"b"}}],)").ok());
  const absl::Status status = reader.Feed(R"("metadata":[]})");
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("bytes of the list: metadata: expected an object, got an array"));
  EXPECT_EQ(reader.Feed("}"), status);
  EXPECT_EQ(std::move(reader).Finish().status(), status);
}

TEST(ListCodecTest, TwoContentsAreNone) {
  std::string body = RoleListBytes(Roles());
  AppendWireBytes(2, Roles(), body);
  EXPECT_EQ(ParseList(body, Encoding::kProtobuf).status().code(),
            absl::StatusCode::kInvalidArgument);
}

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

TEST(ListCodecTest, AnItemThatIsNotAnObjectIsAnErrorThatNamesItsIndex) {
  const struct {
    const char* items;
    const char* error;
  } kCases[] = {
      {R"({"metadata":{"name":"a"}},{"metadata":{"name":1}},7)", "items[1]: metadata.name: "},
      {R"({"metadata":{"name":"a"}},7)", "items[1]: the object: expected an object"},
      {R"({"metadata":{}})", "items[0]: metadata.name: missing"},
  };
  for (const auto& c : kCases) {
    const auto json = ParseList(StrCat(R"({"items":[)", c.items, "]}"), Encoding::kJson);
    EXPECT_EQ(json.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(json.status().message()), HasSubstr(c.error));
  }
  const auto protobuf = ParseList(RoleListBytes(Roles("\x0A\x7F")), Encoding::kProtobuf);
  EXPECT_EQ(protobuf.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(protobuf.status().message()), HasSubstr("items[1]: "));
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
