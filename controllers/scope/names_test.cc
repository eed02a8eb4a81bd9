// Names that another user uses, or used, for a role or a binding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "controllers/scope/testing_fixture.h"

namespace mandate::scope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class NamesTest : public ScopedTest {};

// Another user's binding with the name that ours would have.
TEST_F(NamesTest, TakenNameIsReported) {
  Begin(R"("namespaces": ["foo", "bar"])");
  Json::Value foreign = cluster_.Our(kBindings, "foo");
  EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{"namespaces":["bar"]}})"), 200);
  cluster_.Settle();
  const std::string name = NameOf(foreign);
  foreign["metadata"] = Json::objectValue;
  foreign["metadata"]["name"] = name;
  foreign["metadata"]["namespace"] = "foo";
  foreign["roleRef"]["name"] = "system:discovery";
  EXPECT_EQ(cluster_.Create(kBindings, foreign), 201);
  const Json::Value before = cluster_.Get(kBindings, name, "foo");
  EditSpec(R"("namespaces": ["bar", "foo"])");
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_THAT(cluster_.Scoped(), AllOf(StartsWith("False RevocationPending"), HasSubstr(name)));
  EXPECT_EQ(cluster_.Get(kBindings, name, "foo"), before);
  EXPECT_EQ(cluster_.Delete(kBindings, name, "foo"), 200);
  cluster_.RunFor(absl::Minutes(2));
  ExpectConvergedAndQuiet();
}

// A literal name that another user uses before or after us: kubectl apply of a manifest with that
// name.
TEST_F(NamesTest, LiteralNameProvesNoOwner) {
  Begin(R"("namespaces": ["foo"])", kLiteral);
  const std::string name = kLiteralRole;
  // Our own writes, and those of garbage collection, do not change the owner.
  cluster_.Merge(kTemplates, "foo",
                 R"({"spec":{"clusterRoles":[{"generateName":"cert-manager-controller",)"
                 R"("rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["list"]}],)"
                 R"("subjects":[{"kind":"User","name":"ann"}]}]}})");
  cluster_.Settle();
  EXPECT_EQ(cluster_.Get(kRoles, name)["rules"][0]["verbs"][0].asString(), "list");
  EXPECT_EQ(cluster_.Scoped(), kSuccess);

  EXPECT_EQ(cluster_.Merge(kRoles, name, kEverything, "", "kubectl-client-side-apply"), 200);
  const Json::Value theirs = cluster_.Get(kRoles, name)["rules"];
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_EQ(cluster_.Get(kRoles, name)["rules"], theirs) << "it is not reverted";
  EXPECT_THAT(cluster_.Ours(kBindings), IsEmpty()) << "and not granted to the template's subjects";
  EXPECT_THAT(cluster_.Templated(), AllOf(StartsWith("False TemplatingFailed"),
                                          HasSubstr("\"kubectl-client-side-apply\"")));
  EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_EQ(cluster_.Get(kRoles, name)["rules"], theirs) << "it is not deleted with the instance";
}

// An orphaned binding of a literal name is not revived by another template of that name.
TEST_F(NamesTest, OrphanedBindingOfALiteralNameGetsNoRole) {
  Begin(R"("namespaces": ["foo"])", kLiteral);
  EXPECT_EQ(cluster_.Delete(kInstances, "foo", "", kOrphaning), 200);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Delete(kTemplates, "foo"), 200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kBindings), SizeIs(1));
  EXPECT_TRUE(cluster_.Get(kRoles, kLiteralRole).isNull());
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", kLiteral)), 201);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("foo", R"("namespaces": ["bar"])")), 201);
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Get(kRoles, kLiteralRole).isNull());
  EXPECT_THAT(cluster_.Templated(), AllOf(StartsWith("False TemplatingFailed"),
                                          HasSubstr("RoleBinding foo/cert-manager-controller-")));
}

// A role that had the name is deleted: only its own event can start a reconcile of the template.
TEST_F(NamesTest, FreedNameIsUsed) {
  Json::Value foreign = ParseJson(R"({"apiVersion": "rbac.authorization.k8s.io/v1",
      "kind": "ClusterRole", "metadata": {"name": "scope-template:cert-manager-controller"}, "rules": []})")
                            .value();
  EXPECT_EQ(cluster_.Create(kRoles, foreign), 201);
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", kLiteral)), 201);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("foo", "")), 201);
  cluster_.Start();
  cluster_.Settle();
  EXPECT_THAT(cluster_.Templated(), StartsWith("False TemplatingFailed"));
  EXPECT_THAT(cluster_.Ours(kClusterBindings), IsEmpty());
  EXPECT_EQ(cluster_.Delete(kRoles, kLiteralRole), 200);
  cluster_.Settle();
  ExpectConvergedAndQuiet();
}

}  // namespace
}  // namespace mandate::scope
