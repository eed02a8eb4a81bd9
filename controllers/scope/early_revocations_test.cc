// The quick revocations of an instance with slow writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/scope/testing_fixture.h"

namespace mandate::scope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr char kSlowWrite[] = " rolebindings slow";
constexpr absl::Duration kSlow = absl::Seconds(8);
constexpr int kAtWork = 2;  // InstanceOptions().max_slow_reconciles

// Many instances have revocations that a slow webhook delays. The instance foo has such a binding,
// too.
class EarlyRevocationsTest : public ScopedTest {
 protected:
  static constexpr int kOthers = 30;

  void SetUp() override {
    Begin(R"("namespaces": ["foo", "bar", "default"])", kAnn);
    for (const char* ns : {"slow1", "slow2"}) {
      EXPECT_EQ(cluster_.Create(kNamespaces, NamespaceJson(ns)), 201);
      cluster_.faults().Add(
          {.path_prefix = StrCat("/apis/rbac.authorization.k8s.io/v1/namespaces/", ns, "/"),
           .fault = {.delay = kSlow}});
    }
    Edit("foo", R"(["foo", "bar", "default", "slow1"])");
    cluster_.RunFor(absl::Minutes(1));
    ASSERT_EQ(cluster_.Scoped(), kSuccess);
    for (int i = 0; i < kOthers; ++i) {
      EXPECT_EQ(cluster_.Create(kInstances, InstanceJson(StrCat("other", i),
                                                         R"("namespaces": ["slow1"])", "foo")),
                201);
    }
    cluster_.RunFor(absl::Minutes(10));
    ASSERT_EQ(cluster_.Ours(kBindings, "slow1").size(), size_t{kOthers + 1});
  }

  void Edit(const std::string& instance, const std::string& namespaces) {
    EXPECT_EQ(
        cluster_.Merge(kInstances, instance, StrCat(R"({"spec":{"namespaces":)", namespaces, "}}")),
        200);
  }
  // Starts revocations of the other instances, and calls `then` when all slow workers are busy.
  void RunWhileOthersRevoke(const std::function<void()>& then) {
    cluster_.intercept = [this, then](const std::string& write) -> std::optional<HttpResponse> {
      if (write.find(kSlowWrite) != std::string::npos) began_.push_back(Now());
      const auto at_work =
          std::ranges::count_if(began_, [&](absl::Time at) { return at + kSlow > Now(); });
      if (at_work == kAtWork && !std::exchange(all_at_work_, true)) {
        since_ = Now();
        then();
      }
      if (!write.starts_with("DELETE rolebindings ") || write.find(kSlowWrite) != std::string::npos)
        return std::nullopt;
      deletions_.push_back(write);
      took_ = Now() - since_;
      said_ = cluster_.Scoped();
      return std::nullopt;
    };
    for (int i = 0; i < kOthers; ++i) Edit(StrCat("other", i), R"(["slow2"])");
    ASSERT_TRUE(cluster_.loop().RunUntil([this] { return all_at_work_; }, absl::Minutes(2)));
    cluster_.RunFor(absl::Seconds(20));
    EXPECT_LE(took_, absl::Seconds(1));
  }
  absl::Time Now() { return cluster_.loop().clock().TimeNow(); }

  std::vector<absl::Time> began_;  // of the slow writes
  bool all_at_work_ = false;       // all slow workers
  absl::Time since_;
  // The deletions of bindings in namespaces with quick writes, the time from `since_` to the start
  // of the last one, and the condition at that time.
  std::vector<std::string> deletions_;
  absl::Duration took_ = absl::InfiniteDuration();
  std::string said_;
};

TEST_F(EarlyRevocationsTest, DoNotWaitForSlowWritesOfOthers) {
  RunWhileOthersRevoke([this] { Edit("foo", R"(["bar", "default", "slow1"])"); });
  EXPECT_THAT(deletions_, ElementsAre("DELETE rolebindings foo"));
  EXPECT_THAT(said_, StartsWith("False ScopingInProgress"));
}

TEST_F(EarlyRevocationsTest, DoNotWaitWhileTheInstanceWaitsAlready) {
  RunWhileOthersRevoke([this] {
    Edit("foo", R"(["foo", "bar", "default"])");
    cluster_.loop().PostAt(Now() + absl::Milliseconds(700), [this] {
      since_ = Now();
      Edit("foo", R"(["foo", "bar"])");
    });
  });
  EXPECT_THAT(deletions_, ElementsAre("DELETE rolebindings default"));
  EXPECT_THAT(said_, StartsWith("False ScopingInProgress"));
}

// Garbage collection deletes some of the bindings at the same time.
TEST_F(EarlyRevocationsTest, DoNotWaitForADeletedInstance) {
  RunWhileOthersRevoke([this] { EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200); });
  EXPECT_THAT(deletions_, Not(IsEmpty()));
}

TEST_F(EarlyRevocationsTest, GrantNothing) {
  const std::string_view eve = R"([{"generateName": "reader-",
      "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
      "subjects": [{"kind": "User", "name": "eve"}]}])";
  std::string then;
  took_ = absl::ZeroDuration();
  RunWhileOthersRevoke([&] {
    EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", eve, "}}")),
              200);
    cluster_.loop().PostAt(Now() + absl::Seconds(1), [&] {
      for (const char* ns : {"foo", "bar", "default"}) {
        then += SubjectNames(cluster_.Our(kBindings, ns)) + ".";
      }
    });
  });
  EXPECT_EQ(then, "...");
  cluster_.RunFor(absl::Minutes(20));
  for (const char* ns : {"foo", "bar", "default"}) {
    EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, ns)), "eve") << ns;
  }
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
}

// The same test for the roles of templates.
TEST(EarlyRevocationsOfTemplatesTest, DoNotWaitForSlowWritesOfOthers) {
  constexpr int kOthers = 10;
  const auto role = [](std::string_view generate_name, std::string_view resources) {
    return StrCat(R"({"generateName":")", generate_name,
                  R"(","rules":[{"apiGroups":[""],"resources":[)", resources,
                  R"(],"verbs":["get"]}],"subjects":[{"kind":"User","name":"ann"}]})");
  };
  ScopeCluster cluster;
  cluster.faults().Add(
      {.verb = "patch",
       .path_prefix = "/apis/rbac.authorization.k8s.io/v1/clusterroles/scope-template:slow",
       .fault = {.delay = absl::Seconds(8)}});
  const auto create = [&](const std::string& name, const std::string& roles) {
    EXPECT_EQ(cluster.Create(kTemplates, TemplateJson(name, StrCat("[", roles, "]"))), 201);
    EXPECT_EQ(cluster.Create(kInstances, InstanceJson(name, R"("namespaces": ["foo"])", name)),
              201);
  };
  const auto edit = [&](const std::string& name, const std::string& roles) {
    EXPECT_EQ(cluster.Merge(kTemplates, name, StrCat(R"({"spec":{"clusterRoles":[)", roles, "]}}")),
              200);
  };
  const auto quick = [&]() -> std::string {
    for (const Json::Value& one : cluster.Ours(kRoles)) {
      if (!NameOf(one).starts_with("scope-template:quick")) continue;
      std::string resources;
      for (const auto& resource : one["rules"][0]["resources"]) {
        resources += resource.asString() + " ";
      }
      return resources;
    }
    return "";
  };
  const std::string both = R"("pods","secrets")";
  cluster.Start();
  create("foo", role("quick-", both) + "," + role("slow-", both));
  cluster.RunFor(absl::Minutes(1));
  for (int i = 0; i < kOthers; ++i) {
    create(StrCat("other", i), role(StrCat("slow", i, "-"), both));
  }
  cluster.RunFor(absl::Minutes(10));
  ASSERT_EQ(cluster.Ours(kRoles).size(), size_t{kOthers + 2});
  int at_work = 0;
  std::string then;
  cluster.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
    if (write != "PATCH clusterroles" || ++at_work != kAtWork) return std::nullopt;
    edit("foo", role("quick-", R"("pods","nodes")") + "," + role("slow-", R"("pods")"));
    cluster.loop().PostAt(cluster.loop().clock().TimeNow() + absl::Seconds(1),
                          [&] { then = quick(); });
    return std::nullopt;
  };
  for (int i = 0; i < kOthers; ++i) {
    edit(StrCat("other", i), role(StrCat("slow", i, "-"), R"("pods")"));
  }
  cluster.RunFor(absl::Minutes(10));
  EXPECT_EQ(then, "pods ") << "nothing is granted early";
  EXPECT_EQ(quick(), "pods nodes ");
  EXPECT_THAT(cluster.Templated("foo"), StartsWith("True"));
}

}  // namespace
}  // namespace mandate::scope
