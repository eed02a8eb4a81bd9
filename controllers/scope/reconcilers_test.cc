#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/testing_fixture.h"
#include "testing/apiserver/errors.h"

namespace mandate::scope {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

// Tests with the document's template, and an instance with the rest of a spec.
class ReconcilersTest : public testing::Test {
 protected:
  ReconcilersTest() {
    cluster_.intercept_discovery = [this] { return discovery_down_; };
  }
  void Begin(std::string_view spec, std::string_view roles = kDocumentRoles) {
    EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", roles)), 201);
    EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("foo", spec)), 201);
    cluster_.Start();
    cluster_.Settle();
  }
  void EditSpec(const std::string& spec) {
    EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{)" + spec + "}}"), 200);
  }
  void EditRoles(std::string_view roles) {
    EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", roles, "}}")),
              200);
  }

  ScopeCluster cluster_;
  bool discovery_down_ = false;
};

TEST_F(ReconcilersTest, TheDocumentsExampleThenSilence) {
  Begin(R"("namespaces": ["foo", "bar"])");
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
  EXPECT_EQ(cluster_.Templated(),
            "True TemplatingSuccessful: ScopeTemplate \"foo\" successfully reconciled");
  const Json::Value role = cluster_.Our(kRoles);
  EXPECT_THAT(role["metadata"]["name"].asString(), StartsWith("scope-template:fooClusterRole-"));
  EXPECT_EQ(role["metadata"]["ownerReferences"][0]["kind"].asString(), "ScopeTemplate");
  for (const char* ns : {"foo", "bar"}) {
    const Json::Value binding = cluster_.Our(kBindings, ns);
    EXPECT_EQ(binding["roleRef"]["name"], role["metadata"]["name"]);
    EXPECT_EQ(binding["subjects"].size(), 1u);
    EXPECT_EQ(binding["metadata"]["ownerReferences"][0]["kind"].asString(), "ScopeInstance");
  }
  EXPECT_THAT(cluster_.events(), AllOf(Contains("Normal ScopeTemplate TemplatingSuccessful"),
                                       Contains("Normal ScopeInstance ScopingSuccessful")));
  cluster_.TakeWrites();
  cluster_.RunFor(absl::Hours(1));
  EXPECT_THAT(cluster_.TakeWrites(), IsEmpty());
  // New processes do not write anything, either.
  cluster_.Stop();
  cluster_.Start();
  cluster_.RunFor(absl::Hours(1));
  EXPECT_THAT(cluster_.TakeWrites(), IsEmpty());
}

// The template's roles are created because the new instance references the template. The instance
// waits for them, which is not an error.
TEST_F(ReconcilersTest, ANewInstanceRecordsNoWarningOnItsWayToScoped) {
  cluster_.Start();
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", kDocumentRoles)), 201);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("foo", R"("namespaces": ["foo"])")), 201);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
  EXPECT_THAT(cluster_.events(), AllOf(Contains("Normal ScopeInstance ScopingSuccessful"),
                                       Not(Contains(StartsWith("Warning")))));
}

TEST_F(ReconcilersTest, AGrantInTheWholeClusterIsMadeFixedAndRevoked) {
  Begin("");
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
  const std::string name = NameOf(cluster_.Our(kClusterBindings));
  EXPECT_EQ(cluster_.Merge(kClusterBindings, name, R"({"subjects":[]})"), 200);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Our(kClusterBindings)["subjects"].size(), 1u);
  EXPECT_EQ(cluster_.Delete(kClusterBindings, name), 200);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Our(kClusterBindings)["subjects"].size(), 1u);
  EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kClusterBindings), IsEmpty());
}

// A template whose rules are emptied empties its ClusterRole, also after another manager wrote
// them.
TEST_F(ReconcilersTest, AnEmptiedTemplateEmptiesItsRole) {
  for (const bool edited : {false, true}) {
    SCOPED_TRACE(edited);
    if (!edited) Begin(R"("namespaces": ["foo"])");
    if (edited) {
      EditRoles(kDocumentRoles);
      cluster_.Settle();
      cluster_.Merge(kRoles, NameOf(cluster_.Our(kRoles)), kEverything);
    }
    EditRoles(kEmptyRoles);
    cluster_.Settle();
    EXPECT_THAT(cluster_.Our(kRoles)["rules"], IsEmpty());
    EXPECT_THAT(cluster_.Templated(), StartsWith("True "));
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
    cluster_.TakeWrites();
    cluster_.RunFor(absl::Minutes(10));
    EXPECT_THAT(cluster_.TakeWrites(), IsEmpty());
  }
}

TEST_F(ReconcilersTest, ASubjectThatLeavesTheTemplateLosesItsGrant) {
  Begin(R"("namespaces": ["foo"])", kAnnAndEve);
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings)), "ann eve");
  EditRoles(kAnn);
  cluster_.Settle();
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings)), "ann");
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
}

TEST_F(ReconcilersTest, MovingToTheClusterGrantsBeforeItRevokesAndNarrowingRevokes) {
  Begin(R"("namespaces": ["foo"])");
  cluster_.TakeWrites();
  EditSpec(R"("namespaces": null)");
  cluster_.Settle();
  EXPECT_THAT(cluster_.TakeWrites(),
              ElementsAre("PATCH clusterrolebindings", "DELETE rolebindings foo",
                          "PATCH scopeinstances/status"));
  EditSpec(R"("namespaces": ["bar"])");
  cluster_.Settle();
  EXPECT_THAT(cluster_.TakeWrites(),
              ElementsAre("PATCH rolebindings bar", "DELETE clusterrolebindings",
                          "PATCH scopeinstances/status"));
}

// A server that denies one grant may deny or delay the others, too.
TEST_F(ReconcilersTest, ARevocationDoesNotWaitForMoreGrantsWhenOneHasFailed) {
  Begin("");
  cluster_.faults().Add({.verb = "patch",
                         .resource = "rolebindings",
                         .fault = {.refuse = apiserver::InternalError("a webhook is down")}});
  cluster_.TakeWrites();
  EditSpec(R"("namespaces": ["foo", "bar"])");
  cluster_.Settle();
  const std::vector<std::string> writes = cluster_.TakeWrites();
  ASSERT_GE(writes.size(), 3u);
  EXPECT_EQ(writes[0], "PATCH rolebindings bar");
  EXPECT_EQ(writes[1], "DELETE clusterrolebindings");
  EXPECT_EQ(writes[2], "PATCH rolebindings foo");
}

TEST_F(ReconcilersTest, UnwantedRoleIsDeletedWhenAnotherFails) {
  Begin(R"("namespaces": ["foo"])");
  cluster_.faults().Add({.verb = "patch",
                         .resource = "clusterroles",
                         .fault = {.refuse = apiserver::InternalError("a webhook is down")}});
  cluster_.TakeWrites();
  EditRoles(
      R"([{"generateName": "one-", "rules": [], "subjects": [{"kind": "User", "name": "ann"}]},
          {"generateName": "two-", "rules": [], "subjects": [{"kind": "User", "name": "ann"}]}])");
  cluster_.Settle();
  std::vector<std::string> writes = cluster_.TakeWrites();
  std::erase_if(writes, [](const std::string& w) { return !w.ends_with(" clusterroles"); });
  ASSERT_GE(writes.size(), 3u);
  EXPECT_EQ(writes[0], "PATCH clusterroles");
  EXPECT_EQ(writes[1], "DELETE clusterroles");
  EXPECT_EQ(writes[2], "PATCH clusterroles");
}

// An error in one role does not delay revocations, in this role or in another.
TEST_F(ReconcilersTest, AnInvalidTemplateRevokes) {
  constexpr std::string_view kEve = R"({"generateName": "other-", "rules": [],
      "subjects": [{"kind": "User", "name": "eve"}]})";
  const std::string_view ann_and_eve = kAnnAndEve.substr(1, kAnnAndEve.size() - 2);
  const std::string_view ann = kAnn.substr(1, kAnn.size() - 2);
  Begin("", StrCat("[", ann_and_eve, ",", kEve, "]"));
  ASSERT_THAT(cluster_.Ours(kClusterBindings), SizeIs(2));
  EditRoles(StrCat("[", ann, R"(,{"generateName": "other-", "rules": [],
      "subjects": [{"kind": "Robot", "name": "eve"}]}])"));
  cluster_.Settle();
  EXPECT_THAT(cluster_.Templated(), AllOf(StartsWith("False TemplatingFailed"),
                                          HasSubstr("spec.clusterRoles[1].subjects[0].kind")));
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False ScopeTemplateFailed"));
  const Json::Value left = cluster_.Our(kClusterBindings);
  EXPECT_EQ(left["subjects"].size(), 1u);
  EXPECT_EQ(left["subjects"][0]["name"].asString(), "ann");
  EXPECT_THAT(cluster_.Ours(kRoles), SizeIs(2));
  EditRoles(StrCat("[", ann_and_eve, ",", kEve, "]"));
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kClusterBindings), SizeIs(2));
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
}

// The template fails, and an administrator narrows the instance.
TEST_F(ReconcilersTest, NarrowingTakesEffectAlthoughTheTemplateFailed) {
  Begin("");
  const std::string uid = cluster_.Get(kTemplates, "foo")["metadata"]["uid"].asString();
  Json::Value foreign = ParseJson(R"({"apiVersion": "rbac.authorization.k8s.io/v1",
      "kind": "ClusterRole", "rules": []})")
                            .value();
  foreign["metadata"]["name"] = ClusterRoleName(uid, "view-2");
  EXPECT_EQ(cluster_.Create(kRoles, foreign), 201);
  EditRoles(kDocumentRoleAndView2);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Templated(), StartsWith("False TemplatingFailed"));
  EditSpec(R"("namespaces": ["foo"])");
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kClusterBindings), IsEmpty());
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False ScopeTemplateFailed"));
}

TEST_F(ReconcilersTest, TheLastInstanceTakesTheRoleAlong) {
  Begin(R"("namespaces": ["foo"])");
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("other", R"("namespaces": ["bar"])")), 201);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Ours(kBindings).size(), 2u);
  EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Ours(kRoles).size(), 1u);
  EXPECT_EQ(cluster_.Ours(kBindings).size(), 1u);
  EXPECT_EQ(cluster_.Delete(kInstances, "other"), 200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kRoles), IsEmpty());
  EXPECT_THAT(cluster_.Ours(kBindings), IsEmpty());
}

// A finalizer keeps the instance, but not its grants.
TEST_F(ReconcilersTest, AnInstanceThatIsBeingDeletedGrantsNothing) {
  Begin(R"("namespaces": ["foo"])");
  EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"metadata":{"finalizers":["example.com/a"]}})"),
            200);
  EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kBindings), IsEmpty());
  EXPECT_THAT(cluster_.Ours(kRoles), IsEmpty()) << "it does not reference the template any more";
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False ScopeInstanceTerminating"));
}

TEST_F(ReconcilersTest, AnotherTemplateTakesTheFirstOnesPlace) {
  Begin(R"("namespaces": ["foo"])");
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("other", kAnn)), 201);
  EditSpec(R"("scopeTemplateName": "other")");
  cluster_.Settle();
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings)), "ann");
  EXPECT_EQ(cluster_.Our(kRoles)["metadata"]["ownerReferences"][0]["name"].asString(), "other");
  EditSpec(R"("scopeTemplateName": "none")");
  cluster_.Settle();
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False ScopeTemplateNotFound"));
  EXPECT_THAT(cluster_.Ours(kBindings), IsEmpty());
}

// The new instance has another UID, so its predecessor's grants do not belong to it.
TEST_F(ReconcilersTest, ReplacedInstanceIsRevoked) {
  Begin(R"("namespaces": ["foo"])");
  const std::string before = NameOf(cluster_.Our(kBindings));
  cluster_.Stop();
  EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("foo", R"("namespaces": ["foo"])")), 201);
  cluster_.Start();
  cluster_.Settle();
  EXPECT_NE(NameOf(cluster_.Our(kBindings)), before);
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
}

TEST_F(ReconcilersTest, RecreatedNamespaceIsBoundAgain) {
  Begin(R"("namespaces": ["foo", "bar"])");
  EXPECT_EQ(cluster_.Delete(kNamespaces, "foo"), 200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Scoped(),
              AllOf(StartsWith("False ScopingFailed"), HasSubstr("namespace \"foo\" not found")));
  EXPECT_EQ(cluster_.Create(kNamespaces, NamespaceJson("foo")), 201);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
  EXPECT_EQ(cluster_.Ours(kBindings).size(), 2u);
}

// A namespace gets or loses the label. One instance's selector is found by an index, and the
// other's is not.
TEST_F(ReconcilersTest, ALabelBindsANamespaceAndItsLossRevokes) {
  Begin(R"("namespaceSelector": {"fooKey": "barValue"})");
  EXPECT_EQ(cluster_.Create(kInstances,
                            InstanceJson("other", R"("namespaceSelector": {"matchExpressions": [)"
                                                  R"({"key": "fooKey", "operator": "Exists"}]})")),
            201);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kBindings), IsEmpty());
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
  cluster_.Merge(kNamespaces, "foo", R"({"metadata":{"labels":{"fooKey":"barValue"}}})");
  cluster_.Settle();
  EXPECT_EQ(cluster_.Ours(kBindings, "foo").size(), 2u);
  cluster_.Merge(kNamespaces, "foo", R"({"metadata":{"labels":{"fooKey":"else"}}})");
  cluster_.Settle();
  EXPECT_EQ(cluster_.Ours(kBindings, "foo").size(), 1u);
  cluster_.Merge(kNamespaces, "foo", R"({"metadata":{"labels":{"fooKey":null}}})");
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kBindings), IsEmpty());
}

TEST_F(ReconcilersTest, ReportsRulesWithoutEffectInANamespace) {
  Begin(R"("namespaces": ["foo"])", kNodes);
  EXPECT_THAT(cluster_.Effective(),
              AllOf(StartsWith("False RulesWithoutEffect"), HasSubstr("nodes")));
  EditSpec(R"("namespaces": null)");
  cluster_.Settle();
  EXPECT_EQ(cluster_.Effective(), "");
}

// Failed discovery is retried, and the reported condition stays.
TEST_F(ReconcilersTest, FailedDiscoveryKeepsTheCondition) {
  Begin(R"("namespaces": ["foo"])", kNodes);
  const std::string reported = cluster_.Effective();
  EXPECT_THAT(reported, StartsWith("False RulesWithoutEffect"));
  cluster_.Stop();
  discovery_down_ = true;
  cluster_.Start();
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_EQ(cluster_.Effective(), reported);
  EditRoles(kNodesAndMore);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
  EXPECT_EQ(cluster_.Effective(), reported) << "persistentvolumes are not known";
  discovery_down_ = false;
  cluster_.RunFor(absl::Minutes(1));
  EXPECT_THAT(cluster_.Effective(), HasSubstr("persistentvolumes"));
}

// A component never deletes because of an unknown input. It loses the permission to read each input
// in turn.
TEST_F(ReconcilersTest, UnknownInputPreventsWrites) {
  Begin(R"("namespaces": ["foo"])");
  cluster_.TakeRule("scope-instance", "watch");
  cluster_.TakeRule("scope-template", "watch");
  cluster_.Stop();
  cluster_.Start();
  cluster_.TakeWrites();
  EXPECT_EQ(cluster_.Delete(kTemplates, "foo"), 200);
  EXPECT_EQ(cluster_.Delete(kNamespaces, "bar"), 200);
  cluster_.RunFor(absl::Minutes(20));
  EXPECT_THAT(cluster_.TakeWrites(), IsEmpty());
  cluster_.ReturnRules("scope-instance");
  cluster_.ReturnRules("scope-template");
  cluster_.RunFor(absl::Minutes(20));
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False ScopeTemplateNotFound"));
  EXPECT_THAT(cluster_.Ours(kBindings), IsEmpty());
}

}  // namespace
}  // namespace mandate::scope
