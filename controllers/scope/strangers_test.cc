// Edits of the scope components' objects by other users.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "controllers/scope/testing_fixture.h"

namespace mandate::scope {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr char kStay[] = R"({"metadata":{"finalizers":["evil.example.com/stay"]}})";
constexpr char kLetGo[] = R"({"metadata":{"finalizers":null}})";

class StrangersTest : public ScopedTest {
 protected:
  void EditRole(const std::string& patch) {
    EXPECT_EQ(cluster_.Merge(kRoles, NameOf(cluster_.Our(kRoles)), patch), 200);
  }
};

// Fields added to our role are removed with few writes, and the fight ends.
TEST_F(StrangersTest, RoleIsExactlyTheTemplates) {
  Begin(R"("namespaces": ["foo"])");
  const Json::Value good = cluster_.Our(kRoles);
  for (const char* patch :
       {kEverything, R"({"rules":[]})",
        R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}})",
        R"({"metadata":{"labels":{"rbac.authorization.k8s.io/aggregate-to-view":"true"}}})",
        R"({"metadata":{"labels":{"operators.coreos.io/scopeTemplateUID":null}}})",
        R"({"metadata":{"ownerReferences":null}})"}) {
    SCOPED_TRACE(patch);
    EditRole(patch);
    cluster_.TakeWrites();
    cluster_.Settle();
    const std::vector<std::string> writes = cluster_.TakeWrites();
    EXPECT_LE(std::count(writes.begin(), writes.end(), "PATCH clusterroles"), 2);
    const Json::Value role = cluster_.Our(kRoles);
    EXPECT_EQ(role["rules"], good["rules"]);
    EXPECT_FALSE(role.isMember("aggregationRule"));
    EXPECT_EQ(role["metadata"]["labels"], good["metadata"]["labels"]);
    EXPECT_EQ(role["metadata"]["ownerReferences"], good["metadata"]["ownerReferences"]);
    EXPECT_EQ(role["metadata"]["uid"], good["metadata"]["uid"]);
    ExpectConvergedAndQuiet();
  }
}

TEST_F(StrangersTest, BindingIsTheInstances) {
  Begin(R"("namespaces": ["foo"])");
  const Json::Value good = cluster_.Our(kBindings);
  for (const char* patch :
       {R"({"subjects":[{"kind":"User","name":"mallory"}]})", R"({"subjects":[]})",
        R"({"metadata":{"labels":{"operators.coreos.io/scopeInstanceUID":null}}})",
        R"({"metadata":{"ownerReferences":null}})"}) {
    SCOPED_TRACE(patch);
    EXPECT_EQ(cluster_.Merge(kBindings, NameOf(good), patch, "foo"), 200);
    cluster_.Settle();
    const Json::Value binding = cluster_.Our(kBindings);
    EXPECT_EQ(binding["subjects"], good["subjects"]);
    EXPECT_EQ(binding["metadata"]["labels"], good["metadata"]["labels"]);
    EXPECT_EQ(binding["metadata"]["ownerReferences"], good["metadata"]["ownerReferences"]);
    ExpectConvergedAndQuiet();
  }
}

// Two controllers disagree: the other one reverts each write.
TEST_F(StrangersTest, AFightIsSlowAndReported) {
  Begin(R"("namespaces": ["foo"])");
  cluster_.TakeWrites();
  for (int i = 0; i < 600; ++i) {
    EditRole(kEverything);
    cluster_.RunFor(absl::Milliseconds(100));
  }
  const std::vector<std::string> writes = cluster_.TakeWrites();
  EXPECT_LE(std::count(writes.begin(), writes.end(), "PATCH clusterroles"), 18)
      << "one every 5 seconds: each ends what the edit granted";
  EXPECT_LT(writes.size(), 120u) << "with the statuses of both; one for each edit were 600";
  EXPECT_THAT(cluster_.Templated(), HasSubstr("changes its rules after each of our writes"));
  cluster_.RunFor(absl::Minutes(1));
  ExpectConvergedAndQuiet();
}

// A user who restores the access repeatedly keeps it for seconds, not for minutes.
TEST_F(StrangersTest, ARevocationIsNotSlowedByTheFight) {
  Begin(R"("namespaces": ["foo", "bar"])");
  const std::string name = NameOf(cluster_.Our(kBindings, "foo"));
  EXPECT_EQ(cluster_.Merge(kBindings, name, kStay, "foo"), 200);
  EditSpec(R"("namespaces": ["bar"])");
  int held = 0, longest = 0;
  for (int i = 0; i < 1200; ++i) {
    if (cluster_.Get(kBindings, name, "foo")["subjects"].empty()) {
      held = 0;
      EXPECT_EQ(
          cluster_.Merge(kBindings, name,
                         R"({"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io",)"
                         R"("name":"stranger"}]})",
                         "foo"),
          200);
    }
    longest = std::max(longest, ++held);
    cluster_.RunFor(absl::Milliseconds(100));
  }
  EXPECT_LE(longest, 60) << "tenths of a second";
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False RevocationPending"));
}

// An instance that grants and revokes the same access repeatedly: a revocation does not wait.
TEST_F(StrangersTest, EditsToAndFroAreNoFight) {
  Begin(R"("namespaces": ["foo"])", kAnn);
  const auto become = [this](std::string_view roles) {
    EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", roles, "}}")),
              200);
    cluster_.RunFor(absl::Milliseconds(500));
  };
  for (int i = 0; i < 20; ++i) {
    SCOPED_TRACE(i);
    become(kAnnAndEve);
    EXPECT_EQ(SubjectNames(cluster_.Our(kBindings)), "ann eve");
    become(kNodes);
    EXPECT_EQ(SubjectNames(cluster_.Our(kBindings)), "ann");
    EXPECT_EQ(cluster_.Our(kRoles)["rules"][0]["resources"].size(), 2u);
    become(kAnn);
    EXPECT_EQ(cluster_.Our(kRoles)["rules"][0]["resources"].size(), 1u);
  }
}

// An admission plugin, or a server, accepts a write and stores something else.
TEST_F(StrangersTest, DifferentResponseIsNotSuccess) {
  Begin(R"("namespaces": ["foo"])");
  const Json::Value role = cluster_.Our(kRoles);
  cluster_.TakeWrites();
  int patches = 0;
  cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
    if (write != "PATCH clusterroles") return std::nullopt;
    ++patches;
    HttpResponse response;
    response.code = 200;
    response.content_type = "application/json";
    response.body = WriteJson(cluster_.Get(kRoles, NameOf(role)));
    return response;
  };
  EditRole(kEverything);
  cluster_.RunFor(absl::Hours(1));
  EXPECT_LT(patches, 100);
  EXPECT_THAT(cluster_.Templated(), AllOf(StartsWith("False TemplatingFailed"),
                                          HasSubstr("changes its rules after each of our writes")));
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False "));
  cluster_.intercept = nullptr;
  cluster_.RunFor(absl::Hours(1));
  ExpectConvergedAndQuiet();
}

// The component retries less often, also for a revocation, if the server only pretends to accept
// its writes.
TEST_F(StrangersTest, BindingStoredDifferentlyIsFixedWithBackoff) {
  Begin(R"("namespaces": ["foo"])");
  const std::string name = NameOf(cluster_.Our(kBindings, "foo"));
  cluster_.TakeWrites();
  int patches = 0;
  cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
    if (write != "PATCH rolebindings foo") return std::nullopt;
    ++patches;
    HttpResponse response;
    response.code = 200;
    response.content_type = "application/json";
    response.body = WriteJson(cluster_.Get(kBindings, name, "foo"));
    return response;
  };
  EXPECT_EQ(cluster_.Merge(kBindings, name,
                           R"({"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io",)"
                           R"("name":"stranger"}]})",
                           "foo"),
            200);
  cluster_.RunFor(absl::Hours(1));
  EXPECT_GT(patches, 0);
  EXPECT_LT(patches, 100);
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False "));
  cluster_.intercept = nullptr;
  cluster_.RunFor(absl::Hours(1));
  ExpectConvergedAndQuiet();
}

// A binding is deleted to revoke a subject only if its write needs the missing right `bind`.
TEST_F(StrangersTest, ABindingThatTheServerCannotWriteIsNotDeleted) {
  Begin(R"("namespaces": ["foo"])");
  const std::string name = NameOf(cluster_.Our(kBindings, "foo"));
  cluster_.TakeWrites();
  cluster_.intercept = [](const std::string& write) -> std::optional<HttpResponse> {
    if (write != "PATCH rolebindings foo") return std::nullopt;
    HttpResponse response;
    response.code = 500;
    return response;
  };
  EXPECT_EQ(cluster_.Merge(kBindings, name,
                           R"({"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io",)"
                           R"("name":"stranger"}]})",
                           "foo"),
            200);
  cluster_.RunFor(absl::Minutes(10));
  EXPECT_THAT(cluster_.TakeWrites(),
              AllOf(Contains("PATCH rolebindings foo"), Not(Contains("DELETE rolebindings foo"))));
  cluster_.intercept = nullptr;
  cluster_.RunFor(absl::Hours(1));
  ExpectConvergedAndQuiet();
}

TEST_F(StrangersTest, AFinalizerKeepsTheBindingAndNotItsGrant) {
  Begin(R"("namespaces": ["foo", "bar"])");
  const std::string name = NameOf(cluster_.Our(kBindings, "foo"));
  EXPECT_EQ(cluster_.Merge(kBindings, name, kStay, "foo"), 200);
  EditSpec(R"("namespaces": ["bar"])");
  EXPECT_THAT(cluster_.Scoped(),
              AllOf(StartsWith("False RevocationPending"), HasSubstr(name),
                    HasSubstr("finalizers evil.example.com/stay block its deletion")));
  const Json::Value held = cluster_.Get(kBindings, name, "foo");
  EXPECT_TRUE(held["metadata"].isMember("deletionTimestamp"));
  EXPECT_TRUE(held["subjects"].empty());
  EXPECT_EQ(cluster_.Merge(kBindings, name, kLetGo, "foo"), 200);
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Get(kBindings, name, "foo").isNull());
  ExpectConvergedAndQuiet();
}

// The same for a deleted instance, for which there is no report.
TEST_F(StrangersTest, FinalizerDoesNotKeepGrantsOfADeletedInstance) {
  for (const bool in_cluster : {false, true}) {
    SCOPED_TRACE(in_cluster);
    const Resource kind = in_cluster ? kClusterBindings : kBindings;
    const std::string ns = in_cluster ? "" : "foo";
    if (in_cluster) {
      EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("foo", "")), 201);
      cluster_.Settle();
    } else {
      Begin(R"("namespaces": ["foo"])");
    }
    const std::string name = NameOf(cluster_.Our(kind, ns));
    EXPECT_EQ(cluster_.Merge(kind, name, kStay, ns), 200);
    EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
    cluster_.Settle();
    EXPECT_TRUE(cluster_.Get(kind, name, ns)["metadata"].isMember("deletionTimestamp"));
    EXPECT_THAT(cluster_.Get(kind, name, ns)["subjects"], IsEmpty());
    EXPECT_EQ(cluster_.Merge(kind, name, kLetGo, ns), 200);
    cluster_.Settle();
    EXPECT_TRUE(cluster_.Get(kind, name, ns).isNull());
  }
}

// An apply without subjects or rules leaves those that another field manager owns.
TEST_F(StrangersTest, FieldsAddedToAKeptObjectAreRemoved) {
  Begin(R"("namespaces": ["foo", "bar"])");
  const std::string binding = NameOf(cluster_.Our(kBindings, "foo"));
  const std::string role = NameOf(cluster_.Our(kRoles));
  EXPECT_EQ(cluster_.Merge(kBindings, binding, kStay, "foo"), 200);
  EditSpec(R"("namespaces": ["bar"])");
  EXPECT_EQ(cluster_.Merge(kBindings, binding,
                           R"({"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io",)"
                           R"("name":"stranger"}]})",
                           "foo"),
            200);
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Get(kBindings, binding, "foo")["subjects"].empty());

  EditRole(kStay);
  EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
  cluster_.Settle();
  EditRole(R"({"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})");
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Get(kRoles, role)["rules"].empty());
}

// A wanted object that another user deletes is created again as soon as possible.
TEST_F(StrangersTest, WaitsForTheDeletionOfAWantedBinding) {
  Begin(R"("namespaces": ["foo"])");
  const std::string name = NameOf(cluster_.Our(kBindings));
  EXPECT_EQ(cluster_.Merge(kBindings, name, kStay, "foo"), 200);
  EXPECT_EQ(cluster_.Delete(kBindings, name, "foo"), 200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False RevocationPending"));
  cluster_.TakeWrites();
  EXPECT_EQ(cluster_.Merge(kBindings, name, R"({"metadata":{"labels":null}})", "foo"), 200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.TakeWrites(), IsEmpty()) << "what is being deleted is not fixed";
  EXPECT_EQ(cluster_.Merge(kBindings, name, kLetGo, "foo"), 200);
  cluster_.Settle();
  EXPECT_FALSE(cluster_.Our(kBindings)["metadata"].isMember("deletionTimestamp"));
  ExpectConvergedAndQuiet();
}

TEST_F(StrangersTest, AFinalizerKeepsTheRoleAndNotItsRules) {
  Begin(R"("namespaces": ["foo"])");
  const std::string name = NameOf(cluster_.Our(kRoles));
  EditRole(kStay);
  EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Get(kRoles, name)["rules"].empty());
  EXPECT_THAT(cluster_.Templated(), AllOf(StartsWith("False RevocationPending"), HasSubstr(name)));
  EditRole(kLetGo);
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Get(kRoles, name).isNull());
  EXPECT_EQ(cluster_.Templated(), kTemplatedSuccess);
}

// Another controller's condition in our status causes no write.
TEST_F(StrangersTest, ForeignConditionIsKept) {
  Begin(R"("namespaces": ["foo"])");
  Json::Value conditions = cluster_.Get(kInstances, "foo")["status"]["conditions"];
  Json::Value foreign = conditions[0];
  foreign["type"] = "Audited";
  conditions.append(foreign);
  Json::Value patch;
  patch["status"]["conditions"] = conditions;
  EXPECT_EQ(cluster_.Merge(kInstances, "foo/status", WriteJson(patch)), 200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Get(kInstances, "foo")["status"]["conditions"], SizeIs(2));
  cluster_.TakeWrites();
  cluster_.Merge(kNamespaces, "foo", R"({"metadata":{"labels":{"a":"b"}}})");
  cluster_.Merge(kInstances, "foo", R"({"metadata":{"annotations":{"a":"b"}}})");
  cluster_.Settle();
  EXPECT_THAT(cluster_.TakeWrites(), IsEmpty());
}

}  // namespace
}  // namespace mandate::scope
