#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "controllers/scope/testing_reconcilers.h"

namespace mandate::scope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kForbidden[] =
    R"({"kind":"Status","status":"Failure","reason":"Forbidden","code":403,"message":"rolebindings \"x\" is forbidden: user \"me\" is attempting to grant RBAC permissions not currently held"})";
constexpr char kExists[] =
    R"({"kind":"Status","status":"Failure","reason":"AlreadyExists","code":409,"message":"already exists"})";

TEST_F(ReconcilersTest, TheDocumentsExampleThenSilence) {
  view_.Put(DocumentTemplate());
  view_.Put(DocumentInstance(R"("namespaces": ["foo", "bar"])"));
  ReconcileBoth();
  EXPECT_THAT(writes_, ElementsAre("POST clusterroles", "PATCH scopetemplates/status",
                                   "POST rolebindings bar", "POST rolebindings foo",
                                   "PATCH scopeinstances/status"));
  EXPECT_EQ(Scoped(), "True ScopingSuccessful: ScopeInstance \"foo\" reconciled successfully");
  EXPECT_THAT(events_.all, ElementsAre("Normal ScopeTemplate TemplatingSuccessful",
                                       "Normal ScopeInstance ScopingSuccessful"));
  writes_.clear();
  ReconcileBoth();
  EXPECT_THAT(writes_, IsEmpty());
  EXPECT_EQ(events_.all.size(), 2u);
}

TEST_F(ReconcilersTest, TheInstanceWaitsForTheTemplatesRole) {
  view_.Put(DocumentTemplate());
  view_.Put(DocumentInstance(R"("namespaces": ["foo"])"));
  EXPECT_TRUE(ReconcileInstance().ok());
  EXPECT_THAT(Scoped(), HasSubstr("False WaitingForClusterRoles"));
  ReconcileBoth();
  EXPECT_THAT(Scoped(), HasSubstr("True"));
}

TEST_F(ReconcilersTest, WithoutBindTheConditionSaysSoAndItIsTriedAgain) {
  view_.Put(DocumentTemplate());
  view_.Put(DocumentInstance(R"("namespaces": ["foo"])"));
  refuse_ = [](const std::string& write) -> std::optional<HttpResponse> {
    if (write != "POST rolebindings foo") return std::nullopt;
    return FakeRestClient::Json(403, kForbidden);
  };
  EXPECT_TRUE(ReconcileTemplate().ok());
  const auto result = ReconcileInstance();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(result->requeue_after, absl::ZeroDuration());
  EXPECT_LE(result->requeue_after, absl::Minutes(1));
  EXPECT_THAT(Scoped(), HasSubstr("False ScopingFailed"));
  EXPECT_THAT(Scoped(), HasSubstr("lacks the verb \"bind\""));
  refuse_ = nullptr;
  ReconcileBoth();
  EXPECT_THAT(Scoped(), HasSubstr("True"));
}

TEST_F(ReconcilersTest, WhatDiscoveryDoesNotSayNowIsNotTakenBack) {
  ScopeTemplate of = DocumentTemplate();
  auto& rule = *of.mutable_spec()->mutable_clusterroles(0)->add_rules();
  rule.add_apigroups("");
  rule.add_resources("nodes");
  rule.add_verbs("get");
  view_.Put(of);
  view_.Put(DocumentInstance(R"("namespaces": ["foo"])"));
  EXPECT_TRUE(ReconcileTemplate().ok());
  discovery_code_ = 500;
  const auto unknown = ReconcileInstance();
  ASSERT_TRUE(unknown.ok()) << unknown.status();
  EXPECT_EQ(unknown->requeue_after, absl::Seconds(30)) << "nothing else would bring it";
  EXPECT_EQ(ConditionOf(kEffective), "");
  EXPECT_THAT(Scoped(), HasSubstr("True"));

  discovery_code_ = 200;
  auto known = ReconcileInstance();
  ASSERT_TRUE(known.ok()) << known.status();
  EXPECT_EQ(known->requeue_after, absl::ZeroDuration());
  const std::string said = ConditionOf(kEffective);
  EXPECT_THAT(said, HasSubstr("False RulesWithoutEffect"));
  EXPECT_THAT(said, HasSubstr("nodes"));

  for (int code : {500, 403, 406}) {
    discovery_code_ = code;
    writes_.clear();
    known = ReconcileInstance();
    ASSERT_TRUE(known.ok()) << known.status();
    EXPECT_EQ(known->requeue_after, absl::Seconds(30)) << code;
    EXPECT_EQ(ConditionOf(kEffective), said) << code;
    EXPECT_THAT(writes_, IsEmpty()) << code;
  }
}

TEST_F(ReconcilersTest, OneFailureStopsNothingElse) {
  view_.Put(DocumentTemplate());
  view_.Put(DocumentInstance(R"("namespaces": ["foo", "bar"])"));
  EXPECT_TRUE(ReconcileTemplate().ok());
  refuse_ = [](const std::string& write) -> std::optional<HttpResponse> {
    if (write != "POST rolebindings bar") return std::nullopt;
    return FakeRestClient::Json(500, "{}");
  };
  EXPECT_FALSE(ReconcileInstance().ok()) << "to be tried again";
  EXPECT_THAT(Scoped(), HasSubstr("False ScopingFailed: RoleBinding bar/"));
  EXPECT_EQ(view_.List<rbacv1::RoleBinding>({}, "foo")->size(), 1u);
}

TEST_F(ReconcilersTest, ABindingOfThatNameThatIsSomebodyElsesIsNotTakenOver) {
  view_.Put(DocumentTemplate());
  view_.Put(DocumentInstance(R"("namespaces": ["foo"])"));
  EXPECT_TRUE(ReconcileTemplate().ok());
  refuse_ = [](const std::string& write) -> std::optional<HttpResponse> {
    if (write != "POST rolebindings foo") return std::nullopt;
    return FakeRestClient::Json(409, kExists);
  };
  EXPECT_FALSE(ReconcileInstance().ok());
  EXPECT_THAT(Scoped(), HasSubstr("already exists"));
  EXPECT_THAT(writes_, testing::Not(testing::Contains("PATCH rolebindings foo")));
}

TEST_F(ReconcilersTest, MovingToTheClusterGrantsBeforeItRevokes) {
  view_.Put(DocumentTemplate());
  ScopeInstance instance = view_.Put(DocumentInstance(R"("namespaces": ["foo"])"));
  ReconcileBoth();
  writes_.clear();
  instance.mutable_spec()->clear_namespaces();
  view_.Put(instance);
  ReconcileBoth();
  EXPECT_THAT(writes_, ElementsAre("POST clusterrolebindings", "DELETE rolebindings foo",
                                   "PATCH scopeinstances/status"));
}

TEST_F(ReconcilersTest, AGrantInTheWholeClusterIsMadeMendedAndTakenBack) {
  view_.Put(DocumentTemplate());
  view_.Put(DocumentInstance());
  ReconcileBoth();
  ASSERT_EQ(view_.List<rbacv1::ClusterRoleBinding>({})->size(), 1u);
  EXPECT_THAT(Scoped(), HasSubstr("True ScopingSuccessful"));
  auto binding = (*view_.List<rbacv1::ClusterRoleBinding>({}))[0];
  binding.clear_subjects();
  view_.Put(binding);
  writes_.clear();
  ReconcileBoth();
  EXPECT_THAT(writes_, ElementsAre("PATCH clusterrolebindings"));
  EXPECT_EQ((*view_.List<rbacv1::ClusterRoleBinding>({}))[0].subjects_size(), 1);
  view_.Remove(KindOf<ScopeInstance>::value, {"", "foo"});
  ReconcileBoth();
  EXPECT_TRUE(view_.List<rbacv1::ClusterRoleBinding>({})->empty());
}

TEST_F(ReconcilersTest, WhatIsEditedIsMendedByApply) {
  view_.Put(DocumentTemplate());
  view_.Put(DocumentInstance(R"("namespaces": ["foo"])"));
  ReconcileBoth();
  auto binding = (*view_.List<rbacv1::RoleBinding>({}, "foo"))[0];
  binding.clear_subjects();
  view_.Put(binding);
  auto role = (*view_.List<rbacv1::ClusterRole>({}))[0];
  role.clear_rules();
  view_.Put(role);
  writes_.clear();
  ReconcileBoth();
  EXPECT_THAT(writes_, ElementsAre("PATCH clusterroles", "PATCH rolebindings foo"));
  EXPECT_EQ((*view_.List<rbacv1::RoleBinding>({}, "foo"))[0].subjects_size(), 1);
}

TEST_F(ReconcilersTest, TheLastInstanceTakesTheRoleAlong) {
  view_.Put(DocumentTemplate());
  view_.Put(DocumentInstance(R"("namespaces": ["foo"])"));
  ReconcileBoth();
  writes_.clear();
  view_.Remove(KindOf<ScopeInstance>::value, {"", "foo"});
  ReconcileBoth();
  EXPECT_THAT(writes_, ElementsAre("DELETE clusterroles", "DELETE rolebindings foo"));
}

TEST_F(ReconcilersTest, TheRoleStaysWhileAnyInstanceReferencesTheTemplate) {
  view_.Put(DocumentTemplate());
  view_.Put(DocumentInstance(R"("namespaces": ["foo"])"));
  ScopeInstance other = DocumentInstance(R"("namespaces": ["bar"])");
  other.mutable_metadata()->set_name("other");
  other.mutable_metadata()->set_uid("other-uid");
  view_.Put(other);
  ReconcileBoth();
  writes_.clear();
  view_.Remove(KindOf<ScopeInstance>::value, {"", "foo"});
  ReconcileBoth();
  EXPECT_THAT(writes_, ElementsAre("DELETE rolebindings foo"));
  EXPECT_EQ(view_.List<rbacv1::ClusterRole>({})->size(), 1u);
  view_.Remove(KindOf<ScopeInstance>::value, {"", "other"});
  EXPECT_TRUE(ReconcileTemplate().ok());
  EXPECT_TRUE(view_.List<rbacv1::ClusterRole>({})->empty());
}

TEST_F(ReconcilersTest, ANamespaceThatComesBackIsBoundAgain) {
  view_.Put(DocumentTemplate());
  view_.Put(DocumentInstance(R"("namespaces": ["foo", "bar"])"));
  ReconcileBoth();
  // Its bindings go with it.
  const auto gone = (*view_.List<rbacv1::RoleBinding>({}, "foo"))[0];
  view_.Remove(KindOf<rbacv1::RoleBinding>::value, KeyOf(gone));
  view_.Remove(KindOf<corev1::Namespace>::value, {"", "foo"});
  ReconcileBoth();
  EXPECT_THAT(Scoped(), HasSubstr("namespace \"foo\" not found"));
  writes_.clear();
  view_.Put(NamespaceObject("foo"));
  ReconcileBoth();
  EXPECT_THAT(writes_, ElementsAre("POST rolebindings foo", "PATCH scopeinstances/status"));
  EXPECT_THAT(Scoped(), HasSubstr("True"));
}

TEST_F(ReconcilersTest, AnotherTemplateTakesTheFirstOnesPlace) {
  view_.Put(DocumentTemplate());
  ScopeTemplate other = DocumentTemplate();
  other.mutable_metadata()->set_name("other");
  other.mutable_metadata()->set_uid("other-template");
  view_.Put(other);
  ScopeInstance instance = view_.Put(DocumentInstance(R"("namespaces": ["foo"])"));
  ReconcileBoth();
  instance.mutable_spec()->set_scopetemplatename("other");
  view_.Put(instance);
  writes_.clear();
  ReconcileBoth();  // foo loses its role; the instance waits for other's, and revokes
  EXPECT_THAT(writes_, ElementsAre("DELETE clusterroles", "DELETE rolebindings foo",
                                   "PATCH scopeinstances/status"));
  EXPECT_TRUE(ReconcileTemplate("other").ok());
  EXPECT_TRUE(ReconcileInstance().ok());
  EXPECT_THAT(Scoped(), HasSubstr("True"));
  EXPECT_EQ((*view_.List<rbacv1::ClusterRole>({}))[0].metadata().ownerreferences(0).uid(),
            "other-template");
}

// Its UID is another: what its predecessor granted is not its own.
TEST_F(ReconcilersTest, AnInstanceThatWasReplacedLeavesNothingBehind) {
  view_.Put(DocumentTemplate());
  view_.Put(DocumentInstance(R"("namespaces": ["foo"])"));
  ReconcileBoth();
  writes_.clear();
  ScopeInstance successor = DocumentInstance(R"("namespaces": ["foo"])");
  successor.mutable_metadata()->set_uid("another-uid");
  view_.Put(successor);
  ReconcileBoth();
  EXPECT_THAT(writes_, ElementsAre("DELETE rolebindings foo", "POST rolebindings foo",
                                   "PATCH scopeinstances/status"));
}

TEST_F(ReconcilersTest, NothingIsRevokedWhileItIsNotKnownWhetherTheInstanceIsThere) {
  view_.Put(DocumentTemplate());
  view_.Put(DocumentInstance(R"("namespaces": ["foo"])"));
  ReconcileBoth();
  writes_.clear();
  view_.Remove(KindOf<ScopeInstance>::value, {"", "foo"});
  view_.SetState(KindOf<ScopeInstance>::value, DemandState::kStale, absl::UnavailableError("down"));
  EXPECT_FALSE(ReconcileInstance().ok());
  EXPECT_THAT(writes_, IsEmpty());
}

// Unknown is never delete.
TEST_F(ReconcilersTest, NothingIsWrittenWhileAnythingIsUnknown) {
  view_.Put(DocumentTemplate());
  view_.Put(DocumentInstance(R"("namespaces": ["foo"])"));
  ReconcileBoth();
  writes_.clear();
  view_.Remove(KindOf<corev1::Namespace>::value, {"", "foo"});  // would be a reason to act
  view_.Remove(KindOf<ScopeTemplate>::value, {"", "foo"});
  const KindInfo inputs[] = {KindOf<ScopeInstance>::value, KindOf<ScopeTemplate>::value,
                             KindOf<rbacv1::RoleBinding>::value, KindOf<corev1::Namespace>::value,
                             KindOf<rbacv1::ClusterRoleBinding>::value};
  for (const KindInfo& kind : inputs) {
    view_.SetState(kind, DemandState::kStale, absl::UnavailableError("the watch is down"));
    EXPECT_FALSE(ReconcileInstance().ok()) << kind.plural;
    view_.SetState(kind, DemandState::kForbidden, absl::PermissionDeniedError("revoked"));
    EXPECT_FALSE(ReconcileInstance().ok()) << kind.plural;
    EXPECT_THAT(writes_, IsEmpty()) << kind.plural;
    view_.SetState(kind, DemandState::kSynced);
  }
  EXPECT_TRUE(ReconcileInstance().ok());
  EXPECT_THAT(writes_, ElementsAre("DELETE rolebindings foo", "PATCH scopeinstances/status"));
}

TEST_F(ReconcilersTest, WhatIsBeingDeletedIsLeftAlone) {
  view_.Put(DocumentTemplate());
  ScopeInstance instance = DocumentInstance(R"("namespaces": ["foo"])");
  instance.mutable_metadata()->mutable_deletiontimestamp()->set_seconds(1);
  view_.Put(instance);
  EXPECT_TRUE(ReconcileInstance().ok());
  EXPECT_THAT(writes_, IsEmpty());
}

}  // namespace
}  // namespace mandate::scope
