// The conditions of a ScopeTemplate's status.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controllers/scope/template_plan.h"
#include "controllers/scope/testing_objects.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeTemplate;

TEST(TemplateConditionsTest, FailuresOfWritesFailTheTemplate) {
  const ScopeTemplate of = DocumentTemplate();
  const auto good = TemplateConditions(of, {}, {}, {});
  EXPECT_EQ(good,
            (std::vector<DesiredCondition>{{kTemplated, true, kTemplatingSuccessful,
                                            "ScopeTemplate \"foo\" successfully reconciled"}}));
  std::vector<std::string> failures;
  for (int i = 0; i < 12; ++i) failures.push_back(StrCat("failure ", i));
  const auto bad = TemplateConditions(of, {}, failures, {});
  EXPECT_FALSE(bad[0].status);
  EXPECT_TRUE(bad[0].message.starts_with("failure 0; failure 1;"));
  EXPECT_TRUE(bad[0].message.ends_with("; and 2 more")) << bad[0].message;
  // A role that cannot be deleted does not fail the template.
  EXPECT_EQ(TemplateConditions(of, {}, {}, {"deleting x"})[0],
            (DesiredCondition{kTemplated, false, kRevocationPending, "deleting x"}));
  EXPECT_EQ(TemplateConditions(of, {}, {"a"}, {"deleting x"})[0],
            (DesiredCondition{kTemplated, false, kTemplatingFailed, "a; deleting x"}));
  EXPECT_EQ(TemplateConditions(of, {}, {}, {}, /*unfinished=*/true)[0],
            (DesiredCondition{.type = kTemplated,
                              .reason = kTemplatingInProgress,
                              .message = "ClusterRoles are being written",
                              .in_progress = true}));
  EXPECT_EQ(TemplateConditions(of, {}, {"a"}, {}, /*unfinished=*/true)[0].reason,
            kTemplatingFailed);
}

}  // namespace
}  // namespace mandate::scope
