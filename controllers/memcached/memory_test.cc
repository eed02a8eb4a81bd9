// The objects of one namespace are larger than the operator's memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "controllers/memcached/testing_cluster.h"
#include "manager/core/strings.h"

namespace mandate::memcached {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class MemoryTest : public testing::Test {
 protected:
  static constexpr char kGreedy[] = "allowed-one";
  static constexpr char kModest[] = "allowed-two";

  MemoryTest() {
    cluster_.Start();
    cluster_.Settle();
    cluster_.Create(kModest, 1);
    cluster_.Settle();
  }
  void CreatePods(int from, int to) {
    const std::string large(10'000, 'a');
    for (int i = from; i < to; ++i) cluster_.CreatePod(kGreedy, StrCat("p", i), large);
    cluster_.Settle();
  }
  void ExpectTheModestOneWorks(int size, const std::string& pod) {
    cluster_.Resize(kModest, size);
    cluster_.CreatePod(kModest, pod);
    cluster_.Settle();
    EXPECT_THAT(cluster_.State(kModest), StartsWith("Succeeded: "));
    EXPECT_EQ(cluster_.Deployment(kModest)["spec"]["replicas"].asInt(), size);
  }

  MemcachedCluster cluster_{200'000};
};

TEST_F(MemoryTest, ItsMemcachedReportsItAndTheOthersGoOn) {
  cluster_.Create(kGreedy, 1);
  cluster_.Settle();
  CreatePods(0, 40);
  EXPECT_THAT(cluster_.State(kGreedy),
              HasSubstr("Failed: Failed to list pods: the Pods of the namespace are larger"));
  ExpectTheModestOneWorks(2, "q1");
  cluster_.RunFor(absl::Minutes(10));
  EXPECT_THAT(cluster_.State(kGreedy), StartsWith("Failed: "));
  ExpectTheModestOneWorks(3, "q2");
  EXPECT_THAT(cluster_.Nodes(kModest), ElementsAre("q1", "q2"));

  // Its Deployment is still its own.
  cluster_.Resize(kGreedy, 4);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Deployment(kGreedy)["spec"]["replicas"].asInt(), 4);

  for (int i = 2; i < 40; ++i) {
    ASSERT_EQ(
        cluster_.Send("DELETE",
                      StrCat("/api/v1/namespaces/", kGreedy, "/pods/p", i, "?gracePeriodSeconds=0"),
                      ""),
        200);
  }
  cluster_.RunFor(absl::Minutes(2));
  EXPECT_THAT(cluster_.State(kGreedy), StartsWith("Succeeded: "));
  EXPECT_THAT(cluster_.Nodes(kGreedy), ElementsAre("p0", "p1"));
}

// The demand of a new Memcached has never had an answer.
TEST_F(MemoryTest, ANewMemcachedReportsIt) {
  CreatePods(0, 40);
  cluster_.Create(kGreedy, 1);
  cluster_.RunFor(absl::Minutes(2));
  EXPECT_THAT(cluster_.State(kGreedy), HasSubstr("Failed: Failed to list pods: "));
}

}  // namespace
}  // namespace mandate::memcached
