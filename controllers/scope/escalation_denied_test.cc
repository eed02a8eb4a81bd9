// Revocations of components that lack `escalate` or `bind`.
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

class EscalationDeniedTest : public ScopedTest {
 protected:
  void EditTemplate(std::string_view roles) {
    EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", roles, "}}")),
              200);
    cluster_.Settle();
  }
};

// The server accepts a role without rules, but not one that only has fewer rules.
TEST_F(EscalationDeniedTest, RemovesAllRulesWithoutEscalate) {
  Begin(R"("namespaces": ["foo"])", kNodes);
  cluster_.TakeRule("scope-template", "escalate");
  EditTemplate(kAnn);
  EXPECT_THAT(cluster_.Our(kRoles)["rules"], IsEmpty());
  EXPECT_THAT(cluster_.Templated(), AllOf(StartsWith("False TemplatingFailed"),
                                          HasSubstr("permissions not currently held")));
  cluster_.TakeWrites();
  cluster_.RunFor(absl::Minutes(10));
  EXPECT_LE(cluster_.TakeWrites().size(), 15u);
  cluster_.ReturnRules("scope-template");
  cluster_.RunFor(absl::Minutes(2));
  EXPECT_EQ(cluster_.Our(kRoles)["rules"][0]["resources"].size(), 1u);
  ExpectConvergedAndQuiet();
}

TEST_F(EscalationDeniedTest, WithoutEscalateARoleThatOnlyGainsStays) {
  Begin(R"("namespaces": ["foo"])", kAnn);
  cluster_.TakeRule("scope-template", "escalate");
  EditTemplate(kNodes);
  EXPECT_EQ(cluster_.Our(kRoles)["rules"][0]["resources"].size(), 1u);
}

// The server accepts a deletion, but not a binding that only has fewer subjects.
TEST_F(EscalationDeniedTest, DeletesBindingWithoutBind) {
  Begin(R"("namespaces": ["foo"])", kAnnAndEve);
  cluster_.TakeRule("scope-instance", "bind");
  EditTemplate(kAnn);
  EXPECT_THAT(cluster_.Ours(kBindings), IsEmpty());
  EXPECT_THAT(cluster_.Scoped(),
              AllOf(StartsWith("False ScopingFailed"), HasSubstr("lacks the verb \"bind\"")));
  cluster_.TakeWrites();
  cluster_.RunFor(absl::Minutes(10));
  EXPECT_LE(cluster_.TakeWrites().size(), 15u);
  cluster_.ReturnRules("scope-instance");
  cluster_.RunFor(absl::Minutes(2));
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings)), "ann");
  ExpectConvergedAndQuiet();
}

TEST_F(EscalationDeniedTest, WithoutBindABindingThatOnlyGainsStays) {
  Begin(R"("namespaces": ["foo"])", kAnn);
  cluster_.TakeRule("scope-instance", "bind");
  EditTemplate(kAnnAndEve);
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings)), "ann");
}

}  // namespace
}  // namespace mandate::scope
