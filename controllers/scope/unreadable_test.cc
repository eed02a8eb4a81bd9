// What cannot be read: for want of a right, or because an object is not as its schema says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "controllers/scope/testing_fixture.h"

namespace mandate::scope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using UnreadableTest = ScopedTest;

// After a component's rights have gone and returned, what changed meanwhile is acted on.
TEST_F(UnreadableTest, WhatChangedWhileNothingCouldBeReadIsActedOn) {
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", kAnnAndEve)), 201);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("foo", R"("namespaces": ["foo", "later"])")),
            201);
  cluster_.Start();
  cluster_.Settle();
  EXPECT_THAT(cluster_.Scoped(), HasSubstr("namespace \"later\" not found"));
  cluster_.TakeRule("scope-instance", "watch");
  // Watches that are open end by themselves, and proofs of access expire.
  cluster_.RunFor(absl::Minutes(20));
  const std::string role = NameOf(cluster_.Our(kRoles));
  EXPECT_EQ(cluster_.Create(kNamespaces, NamespaceJson("later")), 201);
  EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kAnn, "}}")),
            200);
  EXPECT_EQ(cluster_.Delete(kRoles, role), 200);
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "foo")), "ann eve") << "it was blind";
  cluster_.ReturnRules("scope-instance");
  cluster_.RunFor(absl::Minutes(20));
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "foo")), "ann");
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "later")), "ann");
}

// An object that the schema denies today, but that an older definition let in.
TEST_F(UnreadableTest, AnInstanceThatCannotBeReadStopsNobodyElse) {
  cluster_.Load(R"({"apiVersion":"operators.coreos.com/v1alpha1","kind":"ScopeInstance",)"
                R"("metadata":{"name":"bad"},"spec":{"scopeTemplateName":"bad","namespaces":5}})");
  Begin(R"("namespaces": ["foo"])", kAnnAndEve);
  // A revocation by the template, and a new instance.
  EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kAnn, "}}")),
            200);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("other", R"("namespaces": ["bar"])")), 201);
  cluster_.Settle();
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "foo")), "ann");
  EXPECT_THAT(cluster_.Scoped("other"), StartsWith("True "));
  // The template may be referenced by what cannot be read: its role stays, until that is gone.
  EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
  EXPECT_EQ(cluster_.Delete(kInstances, "other"), 200);
  cluster_.RunFor(absl::Minutes(3));
  EXPECT_THAT(cluster_.Ours(kBindings), IsEmpty());
  EXPECT_EQ(cluster_.Ours(kRoles).size(), 1u);
  EXPECT_EQ(cluster_.Delete(kInstances, "bad"), 200);
  cluster_.RunFor(absl::Minutes(3));
  EXPECT_THAT(cluster_.Ours(kRoles), IsEmpty());
}

TEST_F(UnreadableTest, ATemplateThatCannotBeReadHoldsUpNoRevocation) {
  Begin(R"("namespaces": ["foo", "bar"])", kAnn);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("cluster", "")), 201);
  cluster_.Settle();
  Json::Value bad = cluster_.Get(kTemplates, "foo");
  bad["spec"]["clusterRoles"] = "all";
  cluster_.Load(WriteJson(bad));
  cluster_.Settle();
  EditSpec(R"("namespaces": ["foo", "default"])");
  EXPECT_EQ(cluster_.Merge(kInstances, "cluster", R"({"spec":{"namespaces":["bar"]}})"), 200);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Ours(kBindings).size(), 1u) << "in foo: which roles it means is not known";
  EXPECT_EQ(cluster_.Ours(kBindings, "foo").size(), 1u);
  EXPECT_THAT(cluster_.Ours(kClusterBindings), IsEmpty());
  EXPECT_THAT(cluster_.Scoped(),
              AllOf(StartsWith("False ScopeTemplateFailed"), HasSubstr("ScopeTemplate \"foo\"")));
  // A binding to a role of another template goes.
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("other", kAnn)), 201);
  EXPECT_EQ(cluster_.Merge(kInstances, "cluster", R"({"spec":{"scopeTemplateName":"other"}})"),
            200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Scoped("cluster"), StartsWith("True"));
  EXPECT_EQ(cluster_.Merge(kInstances, "cluster", R"({"spec":{"scopeTemplateName":"foo"}})"), 200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kBindings, "bar"), IsEmpty());
  EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kAnn, "}}")),
            200);
  cluster_.RunFor(absl::Minutes(2));
  EXPECT_EQ(cluster_.Ours(kBindings).size(), 3u);
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
}

}  // namespace
}  // namespace mandate::scope
