#include "testing/conformance/explore/author.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "manager/core/strings.h"

namespace mandate::conformance::explore {
namespace {

std::string Shown(const std::vector<Step>& steps) {
  std::string shown;
  for (const Step& step : steps) {
    StrAppend(&shown, step.method, " ", step.target, " ", step.as, " ", step.accept, " ",
              step.content, " ", step.body, "\n");
  }
  return shown;
}

TEST(AuthorTest, TheSameSeedWritesTheSame) {
  for (uint64_t seed : {0, 1, 77, 4711}) {
    EXPECT_EQ(Shown(WriteSequence(seed)), Shown(WriteSequence(seed)));
  }
  EXPECT_NE(Shown(WriteSequence(1)), Shown(WriteSequence(2)));
}

// The sequences of one night contain every feature that is explored.
TEST(AuthorTest, EverythingComesUp) {
  std::set<std::string> identities;
  std::string all;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::vector<Step> steps = WriteSequence(seed);
    EXPECT_EQ(steps[0].target, "/api/v1/namespaces") << "the namespace comes first";
    for (const Step& step : steps) identities.insert(step.as);
    all += Shown(steps);
  }
  EXPECT_EQ(identities.size(), Identities().size() + 2);
  for (const char* part : {"POST ",
                           "PUT ",
                           "DELETE ",
                           "HEAD ",
                           "/configmaps/a",
                           "/widgets/a/status",
                           "/secrets",
                           "/leases",
                           "/rolebindings",
                           "/clusterroles",
                           "selfsubjectrulesreviews",
                           "/token",
                           "apply-patch",
                           "json-patch",
                           "merge-patch",
                           "preconditions",
                           "propagationPolicy",
                           "dryRun=All",
                           "fieldValidation=Strict",
                           "continue=",
                           "limit=",
                           "resourceVersionMatch=Exact",
                           "watch=",
                           "sendInitialEvents=true",
                           "allowWatchBookmarks=true",
                           "generateName",
                           "finalizers",
                           "labelSelector=",
                           "fieldSelector=",
                           "kubernetes.protobuf"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace mandate::conformance::explore
