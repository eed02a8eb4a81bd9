// The effect of many or slow writes for one ScopeInstance on revocations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

constexpr size_t kRoleCount = 40;

// The instance has a binding of each role in each of three namespaces. The server may deny them in
// two of these.
class InstancePortionsTest : public testing::Test {
 protected:
  // The template's roles are written in one portion.
  explicit InstancePortionsTest(const InstanceOptions& options = Options())
      : cluster_(options, {.portion = {.first_writes = kRoleCount}}) {}

  static InstanceOptions Options() {
    return {.plan = {}, .portion = {.max_writes = 10}, .max_concurrent_reconciles = 1};
  }
  void Deny(const apiserver::Fault& fault) {
    for (const char* ns : {"bar", "default"}) {
      cluster_.faults().Add(
          {.verb = "patch",
           .path_prefix = StrCat("/apis/rbac.authorization.k8s.io/v1/namespaces/", ns, "/"),
           .resource = "rolebindings",
           .fault = fault});
    }
  }
  void CreateTemplate() {
    std::string roles;
    for (size_t i = 0; i < kRoleCount; ++i) {
      StrAppend(&roles, i == 0 ? "" : ",", R"({"generateName":"r)", i,
                R"(-","rules":[],"subjects":[{"kind":"User","name":"ann"}]})");
    }
    EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", "[" + roles + "]")), 201);
  }
  void Begin() {
    CreateTemplate();
    EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("small", kAnn)), 201);
    EXPECT_EQ(
        cluster_.Create(kInstances, InstanceJson("small", R"("namespaces": ["foo"])", "small")),
        201);
    cluster_.Start();
    cluster_.Settle();
    ASSERT_THAT(cluster_.Scoped("small"), StartsWith("True"));
    EXPECT_EQ(cluster_.Create(kInstances,
                              InstanceJson("large", R"("namespaces": ["bar", "default", "foo"])")),
              201);
  }
  bool SmallIsBound() {
    return std::ranges::any_of(cluster_.Ours(kBindings, "foo"), [](const Json::Value& binding) {
      return NameOf(binding).starts_with("reader-");
    });
  }
  bool LargeIsIn(const char* ns) {
    return std::ranges::any_of(cluster_.Ours(kBindings, ns), [](const Json::Value& binding) {
      return !NameOf(binding).starts_with("reader-");
    });
  }
  size_t Large() { return cluster_.Ours(kBindings).size() - (SmallIsBound() ? 1 : 0); }

  ScopeCluster cluster_;
};

TEST_F(InstancePortionsTest, DeniedWritesDoNotStopOtherWrites) {
  Deny({.refuse = apiserver::ApiErrorOf(422, "Invalid", "policy")});
  Begin();
  EXPECT_TRUE(cluster_.loop().RunUntil([&] { return Large() > 3; }));
  EXPECT_EQ(cluster_.Merge(kInstances, "small", R"({"spec":{"namespaces":["none"]}})"), 200);
  cluster_.TakeWrites();
  EXPECT_TRUE(cluster_.loop().RunUntil([&] { return !SmallIsBound(); }));
  EXPECT_LT(cluster_.TakeWrites().size(), 60u) << "two portions and what came between";
  cluster_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Large(), kRoleCount) << "those that may be made";
  EXPECT_THAT(cluster_.Scoped("large"),
              AllOf(StartsWith("False ScopingFailed"),
                    HasSubstr("80 objects could not be written, the first: RoleBinding bar/")));
  cluster_.RunFor(absl::Minutes(10));
  cluster_.TakeWrites();
  cluster_.RunFor(absl::Minutes(10));
  const std::vector<std::string> writes = cluster_.TakeWrites();
  EXPECT_LE(std::ranges::count_if(
                writes, [](const std::string& w) { return w.starts_with("PATCH rolebindings"); }),
            11 * 80)
      << "each once a minute";
  EXPECT_LE(std::ranges::count(writes, "PATCH scopeinstances/status"), 2);
  cluster_.faults().Clear();
  cluster_.RunFor(absl::Seconds(65));
  EXPECT_EQ(Large(), 3 * kRoleCount);
  EXPECT_THAT(cluster_.Scoped("large"), StartsWith("True"));
}

TEST_F(InstancePortionsTest, WritesThatTakeLongDoNotDelayOthersRevocations) {
  Deny({.delay = absl::Seconds(8)});
  Begin();
  // The small instance is edited during the writes of a reconcile of the large one. There is no
  // other slow write before the revocation.
  constexpr int kEdit = 35;
  int slow = 0, until_revoked = -1;
  cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
    if (write == "PATCH rolebindings bar" || write == "PATCH rolebindings default") ++slow;
    if (slow == kEdit && write.starts_with("PATCH rolebindings")) {
      EXPECT_EQ(cluster_.Merge(kInstances, "small", R"({"spec":{"namespaces":["none"]}})"), 200);
    }
    if (write == "DELETE rolebindings foo") until_revoked = slow - kEdit;
    return std::nullopt;
  };
  EXPECT_TRUE(cluster_.loop().RunUntil([&] { return until_revoked >= 0; }));
  EXPECT_EQ(until_revoked, 0);
  cluster_.intercept = nullptr;
}

// A tenant makes instances that need many portions.
TEST_F(InstancePortionsTest, NewInstancesOfOthersDoNotDelayARevocation) {
  Begin();
  cluster_.RunFor(absl::Minutes(2));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(cluster_.Create(kInstances, InstanceJson(StrCat("other-", i),
                                                       R"("namespaces": ["bar", "default"])")),
              201);
  }
  EXPECT_TRUE(cluster_.loop().RunUntil([&] { return Large() > 3 * kRoleCount + 15; }));
  EXPECT_EQ(cluster_.Merge(kInstances, "small", R"({"spec":{"namespaces":["none"]}})"), 200);
  cluster_.TakeWrites();
  EXPECT_TRUE(cluster_.loop().RunUntil([&] { return !SmallIsBound(); }));
  EXPECT_LT(cluster_.TakeWrites().size(), 25u) << "the rest of one portion, and the revocation";
  cluster_.RunFor(absl::Minutes(10));
  EXPECT_EQ(Large(), 3 * kRoleCount + 20 * 2 * kRoleCount);
}

// A tenant edits many instances at once, each of which then has many writes.
class EditedInstancesTest : public InstancePortionsTest {
 protected:
  EditedInstancesTest()
      : InstancePortionsTest({.plan = {},
                              .portion = {.max_writes = 80, .first_writes = 5},
                              .max_concurrent_reconciles = 1}) {}
};

TEST_F(EditedInstancesTest, DoNotDelayAnothersRevocation) {
  constexpr int kOthers = 30;
  Begin();
  for (int i = 0; i < kOthers; ++i) {
    EXPECT_EQ(
        cluster_.Create(kInstances, InstanceJson(StrCat("other-", i), R"("namespaces": ["bar"])")),
        201);
  }
  cluster_.RunFor(absl::Minutes(2));
  ASSERT_EQ(Large(), (3 + kOthers) * kRoleCount);
  for (int i = 0; i < kOthers; ++i) {
    EXPECT_EQ(
        cluster_.Merge(kInstances, StrCat("other-", i), R"({"spec":{"namespaces":["default"]}})"),
        200);
  }
  EXPECT_EQ(cluster_.Merge(kInstances, "small", R"({"spec":{"namespaces":["none"]}})"), 200);
  cluster_.TakeWrites();
  EXPECT_TRUE(cluster_.loop().RunUntil([&] { return !SmallIsBound(); }));
  EXPECT_LE(cluster_.TakeWrites().size(), kOthers * (5u + 1) + 1) << "with a status each";
  cluster_.RunFor(absl::Minutes(10));
  EXPECT_EQ(Large(), (3 + kOthers) * kRoleCount);
}

// The first portion, and not only the last one, replaces the reason from before the writes.
TEST_F(InstancePortionsTest, FirstPortionReplacesTheEarlierReason) {
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("late", R"("namespaces": ["bar"])", "foo")),
            201);
  cluster_.Start();
  cluster_.Settle();
  EXPECT_THAT(cluster_.Scoped("late"), StartsWith("False ScopeTemplateNotFound"));
  CreateTemplate();
  EXPECT_TRUE(cluster_.loop().RunUntil([&] { return Large() > 20; }));
  EXPECT_EQ(cluster_.Scoped("late"), "False ScopingInProgress: bindings are being written");
  EXPECT_LT(Large(), kRoleCount);
}

// A revocation that fails is tried again in the next portion, before the grants of that portion.
TEST_F(InstancePortionsTest, ARevocationThatFailedDoesNotWaitForGrants) {
  Begin();
  cluster_.RunFor(absl::Minutes(2));
  ASSERT_EQ(Large(), 3 * kRoleCount);
  EXPECT_EQ(cluster_.Merge(kInstances, "large", R"({"spec":{"namespaces":["foo"]}})"), 200);
  cluster_.RunFor(absl::Minutes(2));
  ASSERT_EQ(Large(), kRoleCount);
  // The instance loses one namespace and gets others.
  cluster_.faults().Add({.verb = "delete",
                         .resource = "rolebindings",
                         .times = 1,
                         .fault = {.refuse = apiserver::ApiErrorOf(422, "Invalid", "policy")}});
  cluster_.TakeWrites();
  EXPECT_EQ(cluster_.Merge(kInstances, "large", R"({"spec":{"namespaces":["bar","default"]}})"),
            200);
  EXPECT_TRUE(cluster_.loop().RunUntil([&] { return Large() >= kRoleCount && !LargeIsIn("foo"); }));
  const std::vector<std::string> writes = cluster_.TakeWrites();
  const auto last = std::find(writes.rbegin(), writes.rend(), "DELETE rolebindings foo");
  EXPECT_LE(std::count_if(
                last, writes.rend(),
                [](const std::string& write) { return write.starts_with("PATCH rolebindings"); }),
            20)
      << "two portions";
}

// Another failure of the same reconcile must not shorten the delay.
TEST_F(InstancePortionsTest, RetriesAfterTheServersDelay) {
  const struct {
    const char* name;
    int first;   // the answer to the first binding
    int second;  // to the second one, with a Retry-After
    int status;  // the response to the status; zero: the server's own
    bool discovery;
  } kRows[] = {
      {"a write", 422, 429, 0, true},
      {"a write and the report", 422, 429, 422, true},
      {"forbidden writes", 403, 403, 0, true},
      {"forbidden writes and discovery", 403, 403, 0, false},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.name);
    ScopeCluster cluster(Options());
    std::vector<std::string> tried;
    cluster.intercept_discovery = [&] { return !row.discovery; };
    cluster.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
      if (write == "PATCH scopeinstances/status" && row.status != 0) return Denial(row.status);
      if (!write.starts_with("PATCH rolebindings")) return std::nullopt;
      tried.push_back(write);
      const bool is_first = write.ends_with("bar");
      return is_first ? Denial(row.first) : Denial(row.second, absl::Seconds(45));
    };
    EXPECT_EQ(cluster.Create(kTemplates, TemplateJson("foo", kAnn)), 201);
    EXPECT_EQ(
        cluster.Create(kInstances, InstanceJson("foo", R"("namespaces": ["bar", "default"])")),
        201);
    cluster.Start();
    cluster.Settle();
    tried.clear();
    cluster.RunFor(absl::Seconds(35));
    EXPECT_THAT(tried, IsEmpty());
    cluster.RunFor(absl::Seconds(15));
    EXPECT_THAT(tried, ElementsAre("PATCH rolebindings bar", "PATCH rolebindings default"));
  }
}

}  // namespace
}  // namespace mandate::scope
