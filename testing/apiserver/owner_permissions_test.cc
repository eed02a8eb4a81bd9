#include "testing/apiserver/owner_permissions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::apiserver {
namespace {

// Allows "update configmaps/finalizers o", and remembers what it was asked.
class Hooks : public WriteHooks {
 public:
  explicit Hooks(std::set<std::string> allowed) : allowed_(std::move(allowed)) {}

  absl::Status CheckRules(const WriteAttributes&) override { return absl::OkStatus(); }
  absl::Status CheckCreate(const Request&) override { return absl::OkStatus(); }
  rbac::Decision Authorize(const User&, const rbac::Attributes& r) override {
    last = r;
    asked.push_back(StrCat(r.verb, " ", r.resource, r.subresource.empty() ? "" : "/", r.subresource,
                           " ", r.name));
    return {.allowed = allowed_.contains(asked.back()), .reason = {}};
  }

  std::vector<std::string> asked;
  rbac::Attributes last;

 private:
  const std::set<std::string> allowed_;
};

constexpr char kBlocks[] = R"({"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u",)"
                           R"("blockOwnerDeletion":true})";
constexpr char kOwns[] = R"({"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u"})";
constexpr char kUnknown[] = R"({"apiVersion":"a/v1","kind":"B","name":"o","uid":"u",)"
                            R"("blockOwnerDeletion":true})";

Json::Value ObjectWith(std::string_view owner) {
  return *ParseJson(StrCat(R"({"metadata":{"name":"c","ownerReferences":[)", owner, "]}}"));
}

struct Case {
  const char* name;
  std::set<std::string> allowed;
  const char* owner;
  const char* old_owner;  // null: a creation
  std::string error;      // empty: none
  std::vector<std::string> asked;
  const char* resource = "configmaps";
  const char* subresource = "";
};

const std::string kAll = "update */finalizers *";
const std::string kFinalize = "update configmaps/finalizers o";
const std::string kDelete = "delete configmaps c";

TEST(OwnerPermissionsTest, Table) {
  const std::string cannot_finalize = "cannot set blockOwnerDeletion if an ownerReference";
  const std::vector<Case> cases = {
      {"a new object with an owner", {}, kOwns, nullptr, "", {kAll}},
      {"it blocks the owner", {}, kBlocks, nullptr, cannot_finalize, {kAll, kFinalize}},
      {"it may block the owner", {kFinalize}, kBlocks, nullptr, "", {kAll, kFinalize}},
      {"it may block all owners", {kAll}, kUnknown, nullptr, "", {kAll}},
      {"an owner of an unknown kind",
       {kFinalize},
       kUnknown,
       nullptr,
       "cannot find RESTMapping",
       {kAll}},
      {"the owners stay", {}, kBlocks, kBlocks, "", {}},
      {"another owner",
       {kAll},
       kOwns,
       "",
       "cannot set an ownerRef on a resource you can't delete",
       {kDelete}},
      {"no more owners", {kAll}, "", kOwns, "cannot set an ownerRef", {kDelete}},
      {"it blocked the owner before",
       {kDelete},
       R"({"apiVersion":"v1","kind":"ConfigMap","name":"o2","uid":"u","blockOwnerDeletion":true})",
       kBlocks,
       "",
       {kDelete, kAll}},
      {"it did not block the owner before",
       {kDelete},
       kBlocks,
       kOwns,
       cannot_finalize,
       {kDelete, kAll, kFinalize}},
      {"the status of a Pod", {}, kBlocks, "", "", {}, "pods", "status"},
      {"a Pod", {}, kBlocks, nullptr, cannot_finalize, {kAll, kFinalize}, "pods"},
  };
  const Kinds kinds;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Request request;
    request.attributes.resource = c.resource;
    request.attributes.subresource = c.subresource;
    request.attributes.name = "c";
    Hooks hooks(c.allowed);
    const WriteAttributes write = {
        .request = &request,
        .creates = c.old_owner == nullptr,
        .resource = {"", c.resource},
        .name = "c",
        .object = ObjectWith(c.owner),
        .old_object = c.old_owner == nullptr ? Json::Value() : ObjectWith(c.old_owner)};
    const absl::Status status = CheckOwnerPermissions(hooks, kinds, write);
    EXPECT_EQ(status.ok(), c.error.empty()) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(c.error));
    EXPECT_EQ(hooks.asked, c.asked);
  }
}

TEST(OwnerPermissionsTest, EachOwnerInItsGroupAndNamespace) {
  Request request;
  request.attributes.ns = "shop";
  Hooks hooks({});
  const WriteAttributes write = {
      .request = &request,
      .creates = true,
      .resource = {"", "configmaps"},
      .name = "c",
      .object = ObjectWith(StrCat(kOwns, R"(,{"apiVersion":"apps/v1","kind":"Deployment",)",
                                  R"("name":"d","uid":"v","blockOwnerDeletion":true})")),
      .old_object = {}};
  EXPECT_FALSE(CheckOwnerPermissions(hooks, Kinds(), write).ok());
  EXPECT_EQ(hooks.asked.back(), "update deployments/finalizers d");
  EXPECT_EQ(hooks.last.api_group, "apps");
  EXPECT_EQ(hooks.last.ns, "shop");
}

}  // namespace
}  // namespace mandate::apiserver
