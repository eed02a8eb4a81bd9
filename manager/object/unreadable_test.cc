#include "manager/object/unreadable.h"

#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/object/envelope.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

std::string Deep(int depth) {
  return std::string(static_cast<size_t>(depth), '[') +
         std::string(static_cast<size_t>(depth), ']');
}

// "namespace/name@version"; "" without an identity.
std::string Identity(std::string_view object, Encoding encoding) {
  const UnreadableObject found = Identify(absl::InvalidArgumentError("why"), object, encoding);
  EXPECT_EQ(found.why.message(), "why");
  if (!found.identified()) return "";
  return StrCat(found.key.ToString(), "@", found.resource_version);
}

TEST(UnreadableTest, IdentifiesJson) {
  const std::string deep = Deep(20000);
  const struct {
    std::string object;
    const char* identity;
  } kRows[] = {
      {StrCat(R"({"metadata":{"name":"x","namespace":"a","resourceVersion":"7"},"spec":)", deep,
              "}"),
       "a/x@7"},
      {StrCat(R"({"spec":{"a]":)", deep, R"(},"metadata":{"managedFields":)", deep,
              R"(,"name":"x","labels":7}})"),
       "x@"},
      {R"({"metadata":{"name":"x","namespace":null,"uid":{}}})", "x@"},
      {R"({"metadata":{"name":"\u0078"},"metadata":null})", "x@"},
      // None, or not for certain.
      {"", ""},
      {"7", ""},
      {"[]", ""},
      {"{}", ""},
      {R"({"metadata":[]})", ""},
      {R"({"metadata":{"name":7}})", ""},
      {R"({"metadata":{"name":"x","name":"y"}})", ""},
      {R"({"metadata":{"name":"x"},"metadata":{}})", ""},
      {R"({"metadata":{"name":"x","namespace":1}})", ""},
      {R"({"metadata":{"name":"x"},"spec":)", ""},
      {R"({"metadata":{"name":"x"},"spec":[}})", ""},
      {R"({"metadata":{"name":"x"}}})", ""},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(Identity(row.object, Encoding::kJson), row.identity) << row.object.substr(0, 80);
  }
}

TEST(UnreadableTest, IdentifiesProtobuf) {
  rbacv1::Role role;
  role.mutable_metadata()->set_name("x");
  role.mutable_metadata()->set_namespace_("a");
  role.mutable_metadata()->set_resourceversion("7");
  role.add_rules()->add_verbs("get");
  const std::string bytes = role.SerializeAsString();
  const auto identity = [](std::string_view b) { return Identity(b, Encoding::kProtobuf); };
  EXPECT_EQ(identity(bytes.substr(0, bytes.size() - 1)), "a/x@7") << "malformed after the metadata";
  EXPECT_EQ(identity(WriteEnvelope({.api_version = "v1", .kind = "Role", .raw = bytes})), "a/x@7");
  EXPECT_EQ(identity(""), "");
  EXPECT_EQ(identity("\x0A\x7F"), "");
  // A name, and then what is no field: the namespace may have followed.
  std::string broken;
  AppendWireBytes(1, "\x0A\x01x\x1A\x7F", broken);
  EXPECT_EQ(identity(broken), "");
}

}  // namespace
}  // namespace mandate
