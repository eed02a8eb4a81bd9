// A component that starts without the permission to read a kind: after an upgrade whose roles lack
// a rule, or when a standby takes over. It behaves as without the restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "controllers/scope/testing_fixture.h"

namespace mandate::scope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class RestartUnreadableTest : public ScopedTest {
 protected:
  void RestartWithout(const std::string& component, const std::string& resource) {
    cluster_.Stop();
    cluster_.ForbidReading(component, resource);
    cluster_.Start();
    cluster_.Settle();
  }
  static std::string RolesPatch(std::string_view roles) {
    return StrCat(R"({"spec":{"clusterRoles":)", roles, "}}");
  }
  void Return(const std::string& component) {
    cluster_.ReturnRules(component);
    cluster_.RunFor(absl::Minutes(5));
  }
};

TEST_F(RestartUnreadableTest, AnInstanceIsNarrowedWhileAKindIsForbidden) {
  const struct {
    const char* resource;
    const char* why;
  } rows[] = {{"namespaces", "namespaces cannot be read"},
              {"clusterroles", "cannot be read"},
              {"scopetemplates", "ScopeTemplate \"foo\" failed"}};
  Begin(R"("namespaces": ["foo", "bar"])", kAnn);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.resource);
    EXPECT_EQ(cluster_.Ours(kBindings).size(), 2u);
    RestartWithout("scope-instance", row.resource);
    // Its condition reports it without an edit.
    EXPECT_THAT(cluster_.Scoped(), AllOf(StartsWith("False "), HasSubstr(row.why)));
    EditSpec(R"("namespaces": ["foo", "default"])");
    EXPECT_THAT(cluster_.Ours(kBindings, "bar"), IsEmpty());
    EXPECT_EQ(cluster_.Ours(kBindings, "foo").size(), 1u);
    EXPECT_THAT(cluster_.Scoped(), AllOf(StartsWith("False "), HasSubstr(row.why)));
    Return("scope-instance");
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
    EditSpec(R"("namespaces": ["foo", "bar"])");
  }
  ExpectConvergedAndQuiet();
}

TEST_F(RestartUnreadableTest, ASubjectIsTakenOutWhileAKindIsForbidden) {
  Begin(R"("namespaces": ["foo"])", kAnnAndEve);
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "foo")), "ann eve");
  RestartWithout("scope-instance", "namespaces");
  EXPECT_EQ(cluster_.Merge(kTemplates, "foo", RolesPatch(kAnn)), 200);
  cluster_.Settle();
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "foo")), "ann");
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False "));
  Return("scope-instance");
  ExpectConvergedAndQuiet();
}

// The instance has bindings of two kinds. Those of the readable kind are revoked.
TEST_F(RestartUnreadableTest, BindingsOfTheOtherKindAreForbidden) {
  const struct {
    const char* resource;
    const char* begin;
    const char* end;
  } rows[] = {
      {"clusterrolebindings", R"("namespaces": ["foo", "bar"])", R"("namespaces": ["foo"])"},
      {"rolebindings", R"("namespaces": null)", R"("namespaces": ["foo"])"}};
  Begin(R"("namespaces": ["foo", "bar"])", kAnn);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.resource);
    EditSpec(row.begin);
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
    RestartWithout("scope-instance", row.resource);
    EXPECT_THAT(cluster_.Scoped(), StartsWith("False "));
    EditSpec(row.end);
    EXPECT_THAT(cluster_.Scoped(), StartsWith("False "));
    Return("scope-instance");
    EXPECT_THAT(cluster_.Ours(kBindings, "bar"), IsEmpty());
    EXPECT_THAT(cluster_.Ours(kClusterBindings), IsEmpty());
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
  }
  ExpectConvergedAndQuiet();
}

TEST_F(RestartUnreadableTest, ATemplateLosesRulesWhileAKindIsForbidden) {
  Begin(R"("namespaces": ["foo"])");
  for (const char* resource : {"rolebindings", "clusterrolebindings", "scopeinstances"}) {
    SCOPED_TRACE(resource);
    EXPECT_FALSE(cluster_.Our(kRoles)["rules"].empty());
    RestartWithout("scope-template", resource);
    EXPECT_EQ(cluster_.Merge(kTemplates, "foo", RolesPatch(kEmptyRoles)), 200);
    cluster_.Settle();
    EXPECT_TRUE(cluster_.Our(kRoles)["rules"].empty());
    EXPECT_EQ(cluster_.Merge(kTemplates, "foo", RolesPatch(kDocumentRoles)), 200);
    Return("scope-template");
    EXPECT_EQ(cluster_.Templated(), kTemplatedSuccess);
  }
  ExpectConvergedAndQuiet();
}

TEST_F(RestartUnreadableTest, AFirstListThatFailsHoldsUpNoRevocationForLong) {
  for (const char* resource : {"namespaces", "clusterroles", "scopetemplates"}) {
    SCOPED_TRACE(resource);
    if (std::string(resource) == "namespaces") Begin(R"("namespaces": ["foo", "bar"])", kAnn);
    EditSpec(R"("namespaces": ["foo", "bar"])");
    EXPECT_EQ(cluster_.Ours(kBindings, "bar").size(), 1u);
    cluster_.Stop();
    cluster_.faults().Add({.resource = resource, .fault = {.drop = true}});
    cluster_.Start();
    EditSpec(R"("namespaces": ["foo"])");
    EXPECT_EQ(cluster_.Ours(kBindings, "bar").size(), 1u) << "its list may come";
    cluster_.RunFor(absl::Seconds(30));
    EXPECT_THAT(cluster_.Ours(kBindings, "bar"), IsEmpty());
    cluster_.faults().Clear();
    cluster_.RunFor(absl::Minutes(2));
    ExpectConvergedAndQuiet();
  }
}

// Without a restart, the condition of an unchanged instance reports it, too.
TEST_F(RestartUnreadableTest, UntouchedInstanceReportsIt) {
  Begin(R"("namespaces": ["foo"])", kAnn);
  for (const char* resource : {"namespaces", "clusterroles", "scopetemplates", "rolebindings"}) {
    SCOPED_TRACE(resource);
    cluster_.ForbidReading("scope-instance", resource);
    // Watches that are open end by themselves, and proofs of access expire.
    cluster_.RunFor(absl::Minutes(20));
    EXPECT_THAT(cluster_.Scoped(), StartsWith("False "));
    Return("scope-instance");
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
  }
  ExpectConvergedAndQuiet();
}

}  // namespace
}  // namespace mandate::scope
