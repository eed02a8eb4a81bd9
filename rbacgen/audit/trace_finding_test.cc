#include "rbacgen/audit/trace_finding.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

TEST(TraceFindingKinds, HaveANameASeverityAndANextStep) {
  std::set<std::string> names;
  for (const TraceFindingKind& kind : TraceFindingKinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_EQ(&KindOf(kind.name), &kind);
    EXPECT_THAT(std::string(kind.severity), testing::AnyOf("high", "medium", "low")) << kind.name;
    EXPECT_STRNE(kind.says, "") << kind.name;
    EXPECT_STRNE(kind.next, "") << kind.name;
  }
  EXPECT_DEATH(KindOf("frob"), "");
}

}  // namespace
}  // namespace mandate::rbacgen
