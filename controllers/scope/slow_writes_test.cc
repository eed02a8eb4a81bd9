// The effect of slow writes for some objects on the revocations of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/scope/testing_fixture.h"
#include "testing/apiserver/errors.h"

namespace mandate::scope {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr int kWorkers = 4;
constexpr int kSlow = kWorkers + 2;
// kAnn with one more rule that grants nothing, so that no binding changes.
constexpr std::string_view kInvalid = R"([{"generateName": "reader-",
    "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
              {"apiGroups": [""], "resources": ["pods"], "verbs": []}],
    "subjects": [{"kind": "User", "name": "ann"}]}])";

class SlowWritesTest : public ScopedTest {
 protected:
  SlowWritesTest()
      : ScopedTest({.plan = {}, .portion = {}, .max_concurrent_reconciles = kWorkers}) {}
  void SetUp() override { Begin(R"("namespaces": ["foo"])", kAnn); }

  // Some instances each write a binding into the namespace bar.
  void CreateSlowInstances(const std::string& of = "foo") {
    for (int i = 0; i < kSlow; ++i) {
      EXPECT_EQ(cluster_.Create(kInstances,
                                InstanceJson(StrCat("slow", i), R"("namespaces": ["bar"])", of)),
                201);
    }
  }
  void Fail(const apiserver::Fault& fault) {
    cluster_.faults().Add({.verb = "patch",
                           .path_prefix = "/apis/rbac.authorization.k8s.io/v1/namespaces/bar/",
                           .fault = fault});
  }
  void FailTheirStatuses(const apiserver::Fault& fault) {
    cluster_.faults().Add({.verb = "patch",
                           .path_prefix = "/apis/operators.coreos.com/v1alpha1/scopeinstances/slow",
                           .fault = fault});
  }
  // Replaces the template's roles, to add a subject or to remove it again.
  void EditTemplate(std::string_view roles, const std::string& name = "foo") {
    EXPECT_EQ(cluster_.Merge(kTemplates, name, StrCat(R"({"spec":{"clusterRoles":)", roles, "}}")),
              200);
  }
  // The time from an edit of the instance foo, after which its binding is unwanted, to the end of
  // the binding. The edit happens when `at_once` slow writes have begun after `begin`.
  absl::Duration UntilRevoked(const std::function<void()>& begin,
                              std::string_view slow_write = "PATCH rolebindings bar",
                              int at_once = kWorkers) {
    int slow = 0;
    std::optional<absl::Time> edited, revoked;
    const auto now = [&] { return cluster_.loop().clock().TimeNow(); };
    cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
      if (write == slow_write && ++slow == at_once) {
        EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{"namespaces":["none"]}})"), 200);
        edited = now();
      }
      if (write == "DELETE rolebindings foo") revoked = now();
      return std::nullopt;
    };
    begin();
    EXPECT_TRUE(cluster_.loop().RunUntil([&] { return revoked.has_value(); }));
    cluster_.intercept = nullptr;
    return *revoked - *edited;
  }
};

TEST_F(SlowWritesTest, OthersAreHeldUpByOneRequestAtMost) {
  Fail({.delay = absl::Seconds(10)});
  EXPECT_LE(UntilRevoked([this] { CreateSlowInstances(); }), absl::Seconds(5))
      << "nobody knows yet who is slow";
  cluster_.RunFor(absl::Minutes(10));
  EXPECT_EQ(cluster_.Ours(kBindings, "bar").size(), size_t{kSlow}) << "all are written in the end";
  for (int i = 0; i < kSlow; ++i)
    EXPECT_THAT(cluster_.Scoped(StrCat("slow", i)), StartsWith("True"));
}

TEST_F(SlowWritesTest, OthersAreNotHeldUpByThoseThatAreKnown) {
  Fail({.ignore = true});
  CreateSlowInstances();
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_LE(UntilRevoked([] {}), absl::Seconds(1));
  EXPECT_THAT(cluster_.Scoped("slow0"),
              AllOf(StartsWith("False "), HasSubstr("RoleBinding bar/reader-")));
  EXPECT_THAT(cluster_.Ours(kBindings, "bar"), IsEmpty());
  cluster_.faults().Clear();
  cluster_.RunFor(absl::Minutes(3));
  EXPECT_EQ(cluster_.Ours(kBindings, "bar").size(), size_t{kSlow});
}

// Finalizers keep the bindings of the deleted instances, and the removal of their subjects is slow.
TEST_F(SlowWritesTest, OthersAreNotHeldUpByThoseThatAreGone) {
  CreateSlowInstances();
  cluster_.Settle();
  for (const Json::Value& binding : cluster_.Ours(kBindings, "bar")) {
    EXPECT_EQ(cluster_.Merge(kBindings, NameOf(binding),
                             R"({"metadata":{"finalizers":["example.com/stay"]}})", "bar"),
              200);
  }
  Fail({.ignore = true});
  for (int i = 0; i < kSlow; ++i) {
    EXPECT_EQ(cluster_.Delete(kInstances, StrCat("slow", i)), 200);
  }
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_LE(UntilRevoked([] {}), absl::Seconds(1));
  cluster_.faults().Clear();
  cluster_.RunFor(absl::Minutes(3));
  ASSERT_EQ(cluster_.Ours(kBindings, "bar").size(), size_t{kSlow});
  for (const Json::Value& binding : cluster_.Ours(kBindings, "bar")) {
    EXPECT_EQ(SubjectNames(binding), "");
  }
}

// A busy server, or a webhook, may send Retry-After.
TEST_F(SlowWritesTest, OthersAreNotHeldUpByThoseThatAreAskedToWait) {
  Fail({.refuse = apiserver::TooManyRequests("busy", 25)});
  EXPECT_LE(UntilRevoked([this] { CreateSlowInstances(); }), absl::Seconds(1));
  EXPECT_THAT(cluster_.Scoped("slow0"), AllOf(StartsWith("False "), HasSubstr("busy")));
}

// The condition reports success only after the server has answered the current writes.
TEST_F(SlowWritesTest, NoSuccessDuringASlowWrite) {
  Fail({.delay = absl::Seconds(10)});
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("slow", R"("namespaces": ["bar"])", "foo")),
            201);
  cluster_.RunFor(absl::Minutes(1));
  ASSERT_THAT(cluster_.Scoped("slow"), StartsWith("True"));
  std::vector<std::string> said;
  cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
    if (write == "PATCH rolebindings bar") said.push_back(cluster_.Scoped("slow"));
    return std::nullopt;
  };
  EditTemplate(kAnnAndEve);
  cluster_.RunFor(absl::Minutes(1));
  EXPECT_THAT(said, ElementsAre(StartsWith("False ScopingInProgress")));
  EXPECT_THAT(cluster_.Scoped("slow"), StartsWith("True"));
}

// The same while the instance waits for its turn among the slow objects.
TEST_F(SlowWritesTest, NoSuccessWhileWaitingForItsTurn) {
  Fail({.delay = absl::Seconds(10)});
  CreateSlowInstances();
  cluster_.RunFor(absl::Minutes(15));
  for (int i = 0; i < kSlow; ++i) {
    ASSERT_THAT(cluster_.Scoped(StrCat("slow", i)), StartsWith("True"));
  }
  int writes = 0;
  std::vector<std::string> said;
  cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
    if (write != "PATCH rolebindings bar" || ++writes != 2) return std::nullopt;
    for (int i = 0; i < kSlow; ++i) said.push_back(cluster_.Scoped(StrCat("slow", i)));
    return std::nullopt;
  };
  EditTemplate(kAnnAndEve);
  cluster_.RunFor(absl::Minutes(5));
  // Each has had a worker by then, and the first one is done.
  EXPECT_EQ(said.size(), size_t{kSlow});
  EXPECT_GE(std::ranges::count_if(
                said, [](const auto& one) { return one.starts_with("False ScopingInProgress"); }),
            kSlow - 1);
  for (int i = 0; i < kSlow; ++i) {
    EXPECT_THAT(cluster_.Scoped(StrCat("slow", i)), StartsWith("True"));
  }
}

// If other instances are slow, a revocation waits for their current writes, but not for all of
// their grants.
TEST_F(SlowWritesTest, ARevocationDoesNotWaitForTheGrantsOfOthersThatAreSlow) {
  constexpr int kGrants = 30, kRevocations = 2;
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("other", kAnnAndEve)), 201);
  Fail({.delay = absl::Seconds(10)});
  for (int i = 0; i < kGrants + kRevocations; ++i) {
    EXPECT_EQ(cluster_.Create(kInstances, InstanceJson(StrCat("s", i), R"("namespaces": ["bar"])",
                                                       i < kGrants ? "foo" : "other")),
              201);
  }
  cluster_.RunFor(absl::Minutes(15));
  const auto granting = [&](std::string_view to) {
    return std::ranges::count_if(cluster_.Ours(kBindings, "bar"), [&](const Json::Value& binding) {
      return SubjectNames(binding) == to;
    });
  };
  ASSERT_EQ(granting("ann"), kGrants);
  ASSERT_EQ(granting("ann eve"), kRevocations);
  const std::string_view eve = R"([{"generateName": "reader-",
      "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
      "subjects": [{"kind": "User", "name": "eve"}]}])";
  EditTemplate(kAnnAndEve);
  cluster_.RunFor(absl::Seconds(1));
  EditTemplate(eve, "other");
  EXPECT_TRUE(cluster_.loop().RunUntil([&] { return granting("eve") == kRevocations; }));
  EXPECT_GE(granting("ann"), kGrants / 3) << "they have to wait still";
  cluster_.RunFor(absl::Minutes(15));
  EXPECT_EQ(granting("ann eve"), kGrants) << "all are written in the end";
}

// A webhook may apply only to the status. The instances of a failed template report it.
class SlowStatusesTest : public SlowWritesTest {
 protected:
  void SetUp() override {
    SlowWritesTest::SetUp();
    EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("other", kAnn)), 201);
    CreateSlowInstances("other");
    cluster_.Settle();
  }
  absl::Duration UntilRevokedAfterAll(int at_once) {
    return UntilRevoked([this] { EditTemplate(kInvalid, "other"); }, "PATCH scopeinstances/status",
                        at_once);
  }
};

TEST_F(SlowStatusesTest, OthersAreHeldUpByOneWriteAtMost) {
  FailTheirStatuses({.delay = absl::Seconds(10)});
  EXPECT_LE(UntilRevokedAfterAll(kWorkers), absl::Seconds(5)) << "nobody knows yet who is slow";
  cluster_.RunFor(absl::Minutes(2));
  for (int i = 0; i < kSlow; ++i) {
    EXPECT_THAT(cluster_.Scoped(StrCat("slow", i)), StartsWith("False ScopeTemplateFailed"));
  }
  EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{"namespaces":["foo"]}})"), 200);
  // Simulated workers finish in the reverse order of their begin: foo would seem slow, too.
  cluster_.Settle();
  EditTemplate(kAnn, "other");
  cluster_.RunFor(absl::Minutes(2));
  for (int i = 0; i < kSlow; ++i) {
    EXPECT_THAT(cluster_.Scoped(StrCat("slow", i)), StartsWith("True"));
  }
  EXPECT_LE(UntilRevokedAfterAll(/*at_once=*/2), absl::Seconds(1)) << "they are known";
}

TEST_F(SlowStatusesTest, OthersAreNotHeldUpByThoseThatAreAskedToWait) {
  FailTheirStatuses({.refuse = apiserver::TooManyRequests("busy", 25)});
  EXPECT_LE(UntilRevokedAfterAll(kWorkers), absl::Seconds(1));
}

// Tests the delay of an instance's own revocations if each write of a binding is slow.
class OwnSlowWritesTest : public SlowWritesTest {
 protected:
  void SetUp() override { Begin(R"("namespaces": ["foo", "bar", "default"])", kAnn); }

  void Delay(const std::string& verb) {
    for (const char* resource : {"rolebindings", "clusterrolebindings"}) {
      cluster_.faults().Add({.verb = verb,
                             .path_prefix = "/apis/rbac.authorization.k8s.io/v1/",
                             .resource = resource,
                             .fault = {.delay = absl::Seconds(10)}});
    }
  }
  // The writes of bindings after an edit of the instance foo. `revoked` becomes the time from the
  // edit to the start of the last deletion.
  std::vector<std::string> EditAndTakeWrites(const std::string& spec, absl::Duration& revoked) {
    const auto now = [this] { return cluster_.loop().clock().TimeNow(); };
    const absl::Time edited = now();
    std::vector<std::string> writes;
    cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
      if (write.find("bindings") != std::string::npos) writes.push_back(write);
      if (write.starts_with("DELETE")) revoked = now() - edited;
      return std::nullopt;
    };
    EXPECT_EQ(cluster_.Merge(kInstances, "foo", StrCat(R"({"spec":{)", spec, "}}")), 200);
    cluster_.RunFor(absl::Minutes(5));
    cluster_.intercept = nullptr;
    EXPECT_THAT(cluster_.Scoped(), StartsWith("True"));
    return writes;
  }
};

TEST_F(OwnSlowWritesTest, RevokesAReplacedRoleBeforeGrantingTheNew) {
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("other", kAnnAndEve)), 201);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("two", R"("namespaces": ["none"])", "other")),
            201);
  cluster_.Settle();
  Delay("patch");
  absl::Duration revoked;
  const auto writes = EditAndTakeWrites(R"("scopeTemplateName": "other")", revoked);
  EXPECT_LE(revoked, absl::Seconds(1));
  EXPECT_EQ(std::ranges::count_if(writes, [](auto& w) { return w.starts_with("DELETE"); }), 3);
  EXPECT_EQ(cluster_.Ours(kBindings).size(), 3u);
}

TEST_F(OwnSlowWritesTest, ReplacingGrantsWaitForRevocations) {
  Delay("patch");
  absl::Duration revoked;
  EditAndTakeWrites(R"("namespaces": null)", revoked);
  const auto writes = EditAndTakeWrites(R"("namespaces": ["foo", "bar"])", revoked);
  EXPECT_LE(revoked, absl::Seconds(1));
  EXPECT_EQ(writes.at(0), "DELETE clusterrolebindings");
}

TEST_F(OwnSlowWritesTest, NoGrantComesBetweenRevocations) {
  Delay("patch");
  Delay("delete");
  absl::Duration revoked;
  EditAndTakeWrites(R"("namespaces": ["foo", "bar"])", revoked);
  const auto writes = EditAndTakeWrites(R"("namespaces": ["default"])", revoked);
  EXPECT_TRUE(writes.back().starts_with("PATCH"));
  EXPECT_EQ(std::ranges::count(writes, writes.back()), 1) << "after all deletions";
}

// Discovery is needed only for the condition Effective.
TEST_F(SlowWritesTest, ARevocationDoesNotWaitForDiscovery) {
  EditTemplate(R"([{"generateName": "reader-", "rules": [{"apiGroups": ["no.example.com"],
      "resources": ["things"], "verbs": ["get"]}],
      "subjects": [{"kind": "User", "name": "ann"}]}])");
  cluster_.RunFor(absl::Minutes(1));
  cluster_.faults().Add(
      {.verb = "get", .path_prefix = "/api", .fault = {.delay = absl::Seconds(100)}});
  const absl::Time edited = cluster_.loop().clock().TimeNow();
  absl::Time revoked = absl::InfiniteFuture();
  cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
    if (write == "DELETE rolebindings foo") revoked = cluster_.loop().clock().TimeNow();
    return std::nullopt;
  };
  EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{"namespaces":["none"]}})"), 200);
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_LE(revoked - edited, absl::Seconds(1));
  EXPECT_GT(cluster_.faults().struck(), 0u);
}

}  // namespace
}  // namespace mandate::scope
