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

// An orphaned binding gets nothing from a later template of the same name.
TEST_F(NamesTest, ARoleNameIsNeverUsedAgain) {
  Begin(R"("namespaces": ["foo"])", kWithoutDash);
  const std::string first = NameOf(cluster_.Our(kRoles));
  EXPECT_EQ(cluster_.Delete(kInstances, "foo", "", kOrphaning), 200);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Delete(kTemplates, "foo"), 200);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Our(kBindings, "foo")["roleRef"]["name"], first);
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", kWithoutDash)), 201);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("foo", R"("namespaces": ["bar"])")), 201);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Templated(), StartsWith("True"));
  EXPECT_TRUE(cluster_.Get(kRoles, first).isNull());
  EXPECT_NE(NameOf(cluster_.Our(kRoles)), first);
}

TEST_F(NamesTest, TemplatesWithOneGenerateNameHaveDifferentRoles) {
  Begin(R"("namespaces": ["foo"])", kWithoutDash);
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("other", kWithoutDash)), 201);
  Json::Value instance = InstanceJson("other", R"("namespaces": ["bar"])");
  instance["spec"]["scopeTemplateName"] = "other";
  EXPECT_EQ(cluster_.Create(kInstances, instance), 201);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kRoles), SizeIs(2));
  EXPECT_THAT(cluster_.Ours(kBindings), SizeIs(2));
  ExpectConvergedAndQuiet();
}

}  // namespace
}  // namespace mandate::scope
