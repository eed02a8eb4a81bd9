// The steps of the document's demonstration, on the double of an API server.
#include "controllers/memcached/reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "controllers/memcached/testing_cluster.h"
#include "manager/core/strings.h"
#include "testing/apiserver/errors.h"

namespace mandate::memcached {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

constexpr char kDenied[] =
    "Failed: Not permitted to get Deployment: deployments.apps \"memcached-sample-denied\" is "
    "forbidden: Not permitted based on RBAC";

std::string Success(const std::string& ns) {
  return StrCat("Succeeded: Deployment memcached-sample-", ns, " successfully created");
}

std::vector<std::string> Needs(const std::string& ns) {
  return {"deployments in " + ns, "pods in " + ns};
}

class ReconcilerTest : public testing::Test {
 protected:
  ReconcilerTest() {
    cluster_.Start();
    cluster_.Settle();
  }
  void CreateIn(const std::string& ns, int size = 1) {
    cluster_.Create(ns, size);
    cluster_.Settle();
  }
  int Replicas(const std::string& ns) {
    return cluster_.Deployment(ns)["spec"]["replicas"].asInt();
  }

  // How often the Memcached of this namespace was reconciled.
  int Reconciles(const std::string& ns) {
    int count = 0;
    for (const std::string& line : cluster_.log().lines()) {
      count += line.find("Getting Deployment") != std::string::npos &&
               line.find("namespace=" + ns + " ") != std::string::npos;
    }
    return count;
  }

  MemcachedCluster cluster_;
};

TEST_F(ReconcilerTest, WithoutMemcachedsOnlyTheirOwnWatchIsOpen) {
  EXPECT_THAT(cluster_.Streams(), ElementsAre("memcacheds"));
  EXPECT_THAT(cluster_.TakeWrites(), IsEmpty());
}

TEST_F(ReconcilerTest, WhereItIsPermittedItMakesADeployment) {
  CreateIn("allowed-one", 2);
  CreateIn("allowed-two", 3);
  for (const std::string ns : {"allowed-one", "allowed-two"}) {
    EXPECT_EQ(cluster_.State(ns), Success(ns));
    EXPECT_EQ(Replicas(ns), ns == "allowed-one" ? 2 : 3);
    EXPECT_EQ(cluster_.Memcached(ns)["metadata"]["finalizers"][0].asString(),
              "cache.example.com/finalizer");
    EXPECT_THAT(cluster_.Streams(), IsSupersetOf(Needs(ns)));
  }
  EXPECT_EQ(cluster_.log().Count("Creating cache for memcached CR"), 2);
  EXPECT_EQ(cluster_.log().Count("Starting EventSource"), 4);
  EXPECT_EQ(cluster_.log().Count("Creating a new Deployment"), 2);
  cluster_.TakeWrites();
  cluster_.RunFor(absl::Hours(1));
  EXPECT_THAT(cluster_.TakeWrites(), IsEmpty());
  EXPECT_EQ(cluster_.Streams().size(), 5u);
}

TEST_F(ReconcilerTest, NodesAreThePodsOfTheMemcached) {
  CreateIn("allowed-one", 2);
  cluster_.CreatePod("allowed-one", "b");
  cluster_.CreatePod("allowed-one", "a");
  cluster_.Send("POST", "/api/v1/namespaces/allowed-one/pods",
                R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"foreign"},)"
                R"("spec":{"containers":[{"name":"a","image":"b"}]}})");
  cluster_.Settle();
  EXPECT_THAT(cluster_.Nodes("allowed-one"), ElementsAre("a", "b"));
}

TEST_F(ReconcilerTest, AnEventConcernsTheOwnerAlone) {
  CreateIn("allowed-one");
  CreateIn("allowed-two");
  const int one = Reconciles("allowed-one"), two = Reconciles("allowed-two");
  EXPECT_GT(two, 0);
  cluster_.CreatePod("allowed-one", "a");
  cluster_.Settle();
  EXPECT_GT(Reconciles("allowed-one"), one);
  EXPECT_EQ(Reconciles("allowed-two"), two);
}

TEST_F(ReconcilerTest, TheSizeIsFollowedAndEditsByHandAreUndone) {
  CreateIn("allowed-one", 2);
  cluster_.Resize("allowed-one", 5);
  cluster_.Settle();
  EXPECT_EQ(Replicas("allowed-one"), 5);
  EXPECT_EQ(
      cluster_.log().Count("Deployment Spec.Replicas does not match Memcached CR Spec.Size -- "
                           "Updating Deployment"),
      1);
  const std::string target =
      "/apis/apps/v1/namespaces/allowed-one/deployments/memcached-sample-allowed-one";
  EXPECT_EQ(cluster_.Send("PATCH", target, R"({"spec":{"replicas":1}})"), 200);
  cluster_.Settle();
  EXPECT_EQ(Replicas("allowed-one"), 5);
  EXPECT_EQ(cluster_.Send("DELETE", target, ""), 200);
  cluster_.Settle();
  EXPECT_EQ(Replicas("allowed-one"), 5);
}

TEST_F(ReconcilerTest, WithoutPermissionOnlyThatMemcachedFails) {
  CreateIn("allowed-one");
  CreateIn("denied");
  EXPECT_EQ(cluster_.State("denied"), kDenied);
  EXPECT_TRUE(cluster_.Deployment("denied").isNull());
  EXPECT_THAT(cluster_.Streams(), Not(Contains(HasSubstr(" in denied"))));
  EXPECT_EQ(cluster_.log().Count("Not permitted to get Deployment"), 1);
  cluster_.Resize("allowed-one", 2);
  CreateIn("allowed-two");
  EXPECT_EQ(Replicas("allowed-one"), 2);
  EXPECT_EQ(cluster_.State("allowed-two"), Success("allowed-two"));
}

TEST_F(ReconcilerTest, WhileItIsDeniedItIsQuiet) {
  CreateIn("denied");
  cluster_.TakeWrites();
  const size_t lines = cluster_.log().lines().size();
  cluster_.RunFor(absl::Hours(1));
  EXPECT_THAT(cluster_.TakeWrites(), IsEmpty());
  EXPECT_EQ(cluster_.log().Count("Not permitted to get Deployment"), 1);
  EXPECT_LE(cluster_.log().lines().size(), lines + 2);
}

TEST_F(ReconcilerTest, APermissionThatComesIsNoticedWithoutAnEdit) {
  CreateIn("denied");
  cluster_.Grant("denied");
  cluster_.RunFor(absl::Minutes(1));
  EXPECT_EQ(cluster_.State("denied"), Success("denied"));
  EXPECT_EQ(Replicas("denied"), 1);
  EXPECT_THAT(cluster_.Streams(), IsSupersetOf(Needs("denied")));
}

// Reads are still permitted by the proof of access when the write is denied.
TEST_F(ReconcilerTest, AnEditAfterTheRevocationFailsAndKeepsTheNodes) {
  cluster_.Grant("denied");
  CreateIn("denied");
  cluster_.CreatePod("denied", "a");
  cluster_.Settle();
  cluster_.Revoke("denied");
  cluster_.Settle();
  EXPECT_EQ(cluster_.State("denied"), Success("denied"));
  const int created = cluster_.log().Count("Creating cache for memcached CR");
  cluster_.Resize("denied", 2);
  // Its own status is an event, which must not make demands that join the old watches.
  cluster_.RunFor(absl::Milliseconds(500));
  EXPECT_EQ(cluster_.log().Count("Creating cache for memcached CR"), created);
  EXPECT_THAT(cluster_.Streams(), Not(Contains(HasSubstr(" in denied"))));
  cluster_.Settle();
  EXPECT_EQ(cluster_.State("denied"), kDenied);
  EXPECT_THAT(cluster_.Nodes("denied"), ElementsAre("a"));
  EXPECT_EQ(Replicas("denied"), 1);
  EXPECT_THAT(cluster_.Streams(), Not(Contains(HasSubstr(" in denied"))));
  EXPECT_EQ(cluster_.log().Count("Removing cache for memcached CR due to invalid permissions"), 1);
  cluster_.Grant("denied");
  cluster_.RunFor(absl::Minutes(1));
  EXPECT_EQ(cluster_.State("denied"), Success("denied"));
  EXPECT_EQ(Replicas("denied"), 2);
}

TEST_F(ReconcilerTest, ASilentRevocationAndANewGrantAreNoticedWithoutAnEdit) {
  cluster_.Grant("denied");
  CreateIn("denied");
  CreateIn("allowed-one");
  cluster_.CreatePod("denied", "a");
  cluster_.Settle();
  cluster_.Revoke("denied");
  cluster_.RunFor(absl::Minutes(6));
  EXPECT_EQ(cluster_.State("denied"), kDenied);
  EXPECT_THAT(cluster_.Nodes("denied"), ElementsAre("a"));
  EXPECT_THAT(cluster_.Streams(), Not(Contains(HasSubstr(" in denied"))));
  EXPECT_EQ(cluster_.State("allowed-one"), Success("allowed-one"));
  EXPECT_THAT(cluster_.Streams(), IsSupersetOf(Needs("allowed-one")));
  cluster_.Grant("denied");
  cluster_.RunFor(absl::Minutes(1));
  EXPECT_EQ(cluster_.State("denied"), Success("denied"));
  EXPECT_THAT(cluster_.Streams(), IsSupersetOf(Needs("denied")));
}

TEST_F(ReconcilerTest, DeletionNeedsNoPermissionToDeploymentsAndPods) {
  cluster_.Grant("denied");
  CreateIn("denied");
  cluster_.Revoke("denied");
  cluster_.Delete("denied");
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Memcached("denied").isNull());
  EXPECT_THAT(cluster_.Streams(), Not(Contains(HasSubstr(" in denied"))));
  EXPECT_EQ(cluster_.log().Count("Memcached is being deleted"), 1);
  EXPECT_EQ(cluster_.log().Count("ResourceCache successfully removed"), 1);
  EXPECT_GE(cluster_.log().Count("Memcached resource not found. Ignoring since object must be "
                                 "deleted"),
            1);
  EXPECT_THAT(cluster_.Streams(), ElementsAre("memcacheds"));
}

TEST_F(ReconcilerTest, ADeletionThatAForeignFinalizerHoldsUpIsLoggedOnce) {
  constexpr char kCollection[] =
      "/apis/cache.example.com/v1alpha1/namespaces/allowed-one/memcacheds";
  ASSERT_EQ(
      cluster_.Send("POST", kCollection,
                    R"({"apiVersion":"cache.example.com/v1alpha1","kind":"Memcached","metadata":)"
                    R"({"name":"held","finalizers":["example.com/hold"]},"spec":{"size":1}})"),
      201);
  const std::string held = StrCat(kCollection, "/held");
  for (int i = 0; i < 2; ++i) {
    cluster_.Settle();
    cluster_.Send("DELETE", held, "");
    for (const char* size : {"2", "3", "4"}) {
      cluster_.Settle();
      ASSERT_EQ(cluster_.Send("PATCH", held, StrCat(R"({"spec":{"size":)", size, "}}")), 200);
    }
    cluster_.Settle();
    EXPECT_EQ(cluster_.log().Count("Memcached is being deleted"), 1);
  }
}

TEST_F(ReconcilerTest, DeletionNeedsNoWatchAtAll) {
  cluster_.faults().Add({.path_prefix = "/apis/apps", .fault = {.ignore = true}});
  CreateIn("allowed-one");
  EXPECT_EQ(cluster_.State("allowed-one"), "");
  cluster_.Delete("allowed-one");
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Memcached("allowed-one").isNull());
  EXPECT_THAT(cluster_.Streams(), ElementsAre("memcacheds"));
}

TEST_F(ReconcilerTest, ADeletionWhileTheOperatorIsDownIsCarriedOut) {
  CreateIn("allowed-one");
  cluster_.Stop();
  cluster_.Delete("allowed-one");
  EXPECT_FALSE(cluster_.Memcached("allowed-one").isNull());
  cluster_.Start();
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Memcached("allowed-one").isNull());
}

TEST_F(ReconcilerTest, WithoutThePermissionToWriteItReportsItAndTriesAgain) {
  cluster_.TakeVerb("create");
  CreateIn("allowed-one");
  EXPECT_THAT(cluster_.State("allowed-one"),
              HasSubstr("Failed: Not permitted to create new Deployment: deployments.apps"));
  EXPECT_THAT(cluster_.Streams(), IsSupersetOf(Needs("allowed-one")));
  cluster_.TakeVerb("");
  cluster_.RunFor(absl::Seconds(15));
  EXPECT_EQ(cluster_.State("allowed-one"), Success("allowed-one"));
}

TEST_F(ReconcilerTest, AFailedWriteIsReportedAndTriedAgain) {
  cluster_.faults().Add({.verb = "patch",
                         .resource = "deployments",
                         .times = 1,
                         .fault = {.refuse = absl::InternalError("etcd is full")}});
  cluster_.Create("allowed-one", 1);
  cluster_.RunFor(absl::Minutes(1));
  EXPECT_EQ(cluster_.State("allowed-one"), Success("allowed-one"));
}

// The first failure changes the status, which is an event. The others change nothing.
TEST_F(ReconcilerTest, AWriteThatGoesOnFailingIsTriedAgain) {
  cluster_.faults().Add({.verb = "patch",
                         .resource = "deployments",
                         .times = 4,
                         .fault = {.refuse = absl::InternalError("etcd is full")}});
  cluster_.Create("allowed-one", 1);
  cluster_.RunFor(absl::Minutes(1));
  EXPECT_EQ(cluster_.State("allowed-one"), Success("allowed-one"));
}

// Writes without an answer hold a part of the workers only.
TEST_F(ReconcilerTest, SlowWritesOfANamespaceLeaveWorkersToTheOthers) {
  cluster_.faults().Add({.verb = "patch",
                         .path_prefix = "/apis/apps/v1/namespaces/allowed-one/",
                         .fault = {.ignore = true}});
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(
        cluster_.Send("POST", "/apis/cache.example.com/v1alpha1/namespaces/allowed-one/memcacheds",
                      StrCat(R"({"apiVersion":"cache.example.com/v1alpha1","kind":"Memcached",)",
                             R"("metadata":{"name":"m)", i, R"("},"spec":{"size":1}})")),
        201);
  }
  cluster_.RunFor(absl::Seconds(2));
  cluster_.Create("allowed-two", 1);
  cluster_.RunFor(absl::Seconds(3));
  EXPECT_EQ(cluster_.State("allowed-two"), Success("allowed-two"));
}

// The name may belong to another Memcached when the status is written.
TEST_F(ReconcilerTest, TheStatusIsThatOfTheObjectThatWasRead) {
  CreateIn("allowed-one");
  const std::string target = StrCat("/apis/cache.example.com/v1alpha1/namespaces/allowed-one/",
                                    "memcacheds/", MemcachedCluster::NameIn("allowed-one"));
  int writes = 0;
  cluster_.intercept = [&](const HttpRequest& request) -> std::optional<HttpResponse> {
    ++writes;
    if (writes == 1) {
      EXPECT_THAT(request.target, HasSubstr("/status"));
      EXPECT_EQ(cluster_.Send("PATCH", target, R"({"metadata":{"finalizers":null}})"), 200);
      EXPECT_EQ(cluster_.Send("DELETE", target, ""), 200);
      cluster_.Create("allowed-one", 1);
    } else if (writes == 2) {
      EXPECT_EQ(cluster_.State("allowed-one"), "") << "nothing was reconciled yet";
    }
    return std::nullopt;
  };
  cluster_.CreatePod("allowed-one", "a");
  cluster_.Settle();
  EXPECT_GE(writes, 2);
}

TEST_F(ReconcilerTest, ANameThatCannotBeALabelIsReported) {
  const std::string name(60, 'x');
  EXPECT_EQ(
      cluster_.Send("POST", "/apis/cache.example.com/v1alpha1/namespaces/allowed-one/memcacheds",
                    StrCat(R"({"apiVersion":"cache.example.com/v1alpha1","kind":"Memcached",)",
                           R"("metadata":{"name":")", name, R"("},"spec":{"size":1}})")),
      201);
  cluster_.Settle();
  const Json::Value memcached =
      cluster_.Get("cache.example.com", "memcacheds", "allowed-one", name);
  EXPECT_THAT(memcached["status"]["state"]["message"].asString(),
              HasSubstr("The name cannot be a label: metadata.name"));
}

TEST_F(ReconcilerTest, ADeploymentOfOthersStaysAsItIsUntilItIsDeleted) {
  EXPECT_EQ(cluster_.Send("POST", "/apis/apps/v1/namespaces/allowed-one/deployments",
                          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":)"
                          R"("memcached-sample-allowed-one"},"spec":{"replicas":7,"selector":)"
                          R"({"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":)"
                          R"({"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}})"),
            201);
  CreateIn("allowed-one");
  EXPECT_THAT(cluster_.State("allowed-one"),
              HasSubstr("Failed: The name of the Deployment is taken"));
  EXPECT_EQ(Replicas("allowed-one"), 7);
  EXPECT_EQ(
      cluster_.Send("DELETE",
                    "/apis/apps/v1/namespaces/allowed-one/deployments/memcached-sample-allowed-one",
                    ""),
      200);
  cluster_.RunFor(absl::Seconds(15));
  EXPECT_EQ(cluster_.State("allowed-one"), Success("allowed-one"));
}

TEST_F(ReconcilerTest, TwoMemcachedsOfANamespaceShareTheirWatches) {
  CreateIn("allowed-one");
  EXPECT_EQ(
      cluster_.Send("POST", "/apis/cache.example.com/v1alpha1/namespaces/allowed-one/memcacheds",
                    R"({"apiVersion":"cache.example.com/v1alpha1","kind":"Memcached",)"
                    R"("metadata":{"name":"second"},"spec":{"size":1}})"),
      201);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Streams(), IsSupersetOf(Needs("allowed-one")));
  cluster_.Delete("allowed-one");
  cluster_.Settle();
  EXPECT_THAT(cluster_.Streams(), IsSupersetOf(Needs("allowed-one")));
}

// The next reconcile has the newer object: it is not a failure of the Memcached.
TEST_F(ReconcilerTest, AConflictIsNotReported) {
  cluster_.faults().Add(
      {.verb = "patch",
       .resource = "deployments",
       .times = 1,
       .fault = {.refuse = apiserver::ModifiedError({"apps", "deployments"}, "a")}});
  CreateIn("allowed-one");
  EXPECT_EQ(cluster_.log().Count("Failed to "), 0);
  EXPECT_EQ(cluster_.State("allowed-one"), Success("allowed-one"));
}

}  // namespace
}  // namespace mandate::memcached
