#include "rbacgen/world/words.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RuleWords, FormAPhrase) {
  const struct {
    rbac::Rule rule;
    const char* ns;
    const char* want;
  } kCases[] = {
      {{{"get"}, {""}, {"pods"}, {}, {}}, "", "get pods"},
      {{{"get", "list", "watch"}, {"apps"}, {"deployments/status"}, {}, {}},
       "n",
       "get, list and watch deployments.apps/status in n"},
      {{{"get"}, {""}, {"pods"}, {"a", "b"}, {}}, "", "get pods named a and b"},
      {{{"*"}, {"*"}, {"*"}, {}, {}}, "", "do anything to every resource"},
      {{{"get"}, {""}, {"*"}, {}, {}}, "", "get all resources of the core group"},
      {{{"get"}, {"apps"}, {"*"}, {}, {}}, "", "get all resources of apps"},
      {{{"get"}, {}, {}, {}, {"/metrics", "/healthz"}}, "", "get /metrics and /healthz"},
  };
  for (const auto& c : kCases) EXPECT_EQ(RuleWords(c.rule, c.ns), c.want);
}

TEST(Consequences, AreThoseThatTheWordsDoNotShow) {
  EXPECT_THAT(Consequences({{"get"}, {""}, {"pods"}, {}, {}}), IsEmpty());
  EXPECT_THAT(Consequences({{"create"}, {""}, {"pods", "pods/exec"}, {}, {}}),
              ElementsAre("runs as any ServiceAccount there", "runs commands in any pod there"));
  EXPECT_THAT(Consequences({{"patch"}, {""}, {"pods"}, {"web"}, {}}),
              ElementsAre("runs images of its choice in any pod there"));
  EXPECT_THAT(Consequences({{"list"}, {""}, {"*"}, {}, {}}), ElementsAre("reads credentials"));
  EXPECT_THAT(Consequences({{"*"}, {"*"}, {"*"}, {}, {}}), ElementsAre("does anything"));
  EXPECT_THAT(Consequences({{"*"}, {"g.io"}, {"things"}, {}, {}}), IsEmpty());
  EXPECT_THAT(
      Consequences({{"delete"}, {""}, {"*"}, {}, {}}),
      ElementsAre("runs commands in any pod of the cluster", "deletes all objects of a namespace",
                  "reaches every port of any pod there"));
}

}  // namespace
}  // namespace mandate::rbacgen
