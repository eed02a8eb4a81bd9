// The revocations of a ScopeInstance's plan, and the reported grants that it cannot revoke.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/testing_snapshot.h"

namespace mandate::scope {
namespace {

// A user who may not delete an object may add our label or owner reference to it, so that the
// component deletes it; but its name is not ours. A label concerns the instance only if the binding
// grants a role of its template. A binding whose controller is the instance may come from an older
// version.
TEST(RevocationTest, ForgedLabelsAreNotDeleted) {
  const InstanceSnapshot good = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  for (const bool owned : {false, true}) {
    InstanceSnapshot snapshot = good;
    Binding forged;
    forged.key = {"", "forged"};
    forged.object.mutable_metadata()->set_name("forged");
    forged.object.mutable_roleref()->set_name("system:discovery");
    if (owned) {
      *forged.object.mutable_metadata()->mutable_ownerreferences() =
          good.bindings[0].object.metadata().ownerreferences();
    } else {
      (*forged.object.mutable_metadata()->mutable_labels())[std::string(kInstanceUidLabel)] =
          "instance-uid";
    }
    snapshot.bindings.push_back(forged);
    EXPECT_FALSE(Changes(PlanInstance(snapshot))) << owned;
    EXPECT_EQ(PlanInstance(snapshot).reason, owned ? kRevocationPending : "");
    *snapshot.bindings.back().object.mutable_roleref() = good.bindings[0].object.roleref();
    const InstancePlan plan = PlanInstance(snapshot);
    EXPECT_FALSE(Changes(plan)) << owned;
    EXPECT_EQ(plan.reason, kRevocationPending);
    ASSERT_EQ(plan.pending.size(), 1u);
    EXPECT_EQ(plan.pending[0].find("ClusterRoleBinding forged grants"), 0u);
  }
}

// The binding is not deleted, because its name does not prove that it was made for the instance.
TEST(RevocationTest, ForeignNameWithOurControllerIsReported) {
  InstanceSnapshot snapshot = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  Binding old = snapshot.bindings[0];
  old.key.name = "made-by-an-older-version";
  old.object.mutable_metadata()->set_name(old.key.name);
  old.object.mutable_metadata()->clear_labels();
  old.object.mutable_roleref()->set_name("role-of-an-older-version");
  snapshot.bindings.push_back(old);
  for (const bool deleted : {false, true}) {
    const InstancePlan plan = PlanInstance(snapshot);
    EXPECT_EQ(plan.writes(), deleted ? 1u : 0u);
    EXPECT_EQ(plan.reason, kRevocationPending);
    ASSERT_EQ(plan.pending.size(), 1u);
    EXPECT_EQ(plan.pending[0].find(R"(RoleBinding foo/made-by-an-older-version grants ClusterRole )"
                                   R"("role-of-an-older-version" to 1 subject, )"),
              0u)
        << plan.pending[0];
    snapshot.instance.mutable_metadata()->mutable_deletiontimestamp()->set_seconds(1);
  }
}

TEST(RevocationTest, BindingBeingDeletedIsReportedOnce) {
  InstanceSnapshot snapshot = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  auto& meta = *snapshot.bindings[0].object.mutable_metadata();
  meta.mutable_deletiontimestamp()->set_seconds(1);
  meta.add_finalizers("example.com/stay");
  EXPECT_EQ(PlanInstance(snapshot).pending.size(), 1u);
  snapshot.bindings[0].object.mutable_roleref()->set_name("cluster-admin");
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_EQ(plan.pending.size(), 1u);
  ASSERT_EQ(plan.fix.size(), 1u);
  EXPECT_TRUE(plan.fix[0].desired.object.subjects().empty());
  // It cannot be replaced, with or without the finalizer.
  meta.clear_finalizers();
  const InstancePlan unkept = PlanInstance(snapshot);
  EXPECT_TRUE(unkept.replace.empty());
  ASSERT_EQ(unkept.fix.size(), 1u);
  EXPECT_TRUE(unkept.fix[0].desired.object.subjects().empty());
}

// A namespace's administrator may change owner references and finalizers of a binding without
// `bind`.
TEST(RevocationTest, BindingKeptByAnEditIsReported) {
  const auto take = [](Binding& b) {
    auto& owner = *b.object.mutable_metadata()->mutable_ownerreferences(0);
    owner.set_kind("ConfigMap");
    owner.set_name("hold");
    owner.set_uid("configmap-uid");
  };
  InstanceSnapshot stolen = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo", "bar"])")));
  for (Binding& b : stolen.bindings) {
    if (b.key.ns == "foo") take(b);
  }
  for (const bool labelled : {true, false}) {
    for (Binding& b : stolen.bindings) {
      if (b.key.ns == "foo" && !labelled) b.object.mutable_metadata()->clear_labels();
    }
    for (const std::string_view spec :
         {R"("namespaces": ["bar", "foo"])", R"("namespaces": ["bar"])"}) {
      stolen.instance = DocumentInstance(spec);
      const InstancePlan plan = PlanInstance(stolen);
      EXPECT_FALSE(Changes(plan)) << spec;
      ASSERT_EQ(plan.pending.size(), 1u) << spec;
      EXPECT_EQ(plan.pending[0].find("RoleBinding foo/fooClusterRole-"), 0u);
      EXPECT_NE(plan.pending[0].find("its controller is ConfigMap \"hold\""), std::string::npos);
      const auto conditions = InstanceConditions(stolen.instance, plan, {});
      EXPECT_FALSE(conditions[0].status);
      EXPECT_EQ(conditions[0].reason, kRevocationPending);
    }
  }
}

TEST(RevocationTest, BindingKeptByFinalizersIsReportedAndEmptied) {
  InstanceSnapshot held = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  auto& meta = *held.bindings[0].object.mutable_metadata();
  meta.mutable_deletiontimestamp()->set_seconds(1);
  meta.add_finalizers("evil.example.com/stay");
  // A wanted binding is neither fixed nor deleted again. It is created again after its end.
  meta.clear_labels();
  InstancePlan plan = PlanInstance(held);
  EXPECT_FALSE(Changes(plan)) << "a binding that is being deleted is not fixed";
  EXPECT_EQ(plan.reason, kRevocationPending);
  ASSERT_EQ(plan.pending.size(), 1u);
  EXPECT_NE(plan.pending[0].find("finalizers evil.example.com/stay block its deletion"),
            std::string::npos);

  // The finalizers of an unwanted binding keep the object, but not its grants.
  held.instance = DocumentInstance(R"("namespaces": ["bar"])");
  plan = PlanInstance(held);
  EXPECT_TRUE(plan.remove.empty());
  ASSERT_EQ(plan.fix.size(), 1u);
  EXPECT_TRUE(plan.fix[0].desired.object.subjects().empty());
  EXPECT_EQ(plan.reason, kRevocationPending);
  // The same before its deletion, because the deletion alone does not end the grant.
  InstanceSnapshot will_be_held = held;
  will_be_held.bindings[0].object.mutable_metadata()->clear_deletiontimestamp();
  plan = PlanInstance(will_be_held);
  EXPECT_EQ(Where(plan.remove), (Strings{"foo"}));
  EXPECT_EQ(plan.reason, kRevocationPending);
  held.bindings[0].object.clear_subjects();
  plan = PlanInstance(held);
  EXPECT_TRUE(plan.fix.empty());
  EXPECT_EQ(plan.reason, kRevocationPending);
}

// Revocation does not wait for the template, its roles, or a valid selector.
TEST(RevocationTest, RevocationNeverWaits) {
  const std::string name = ClusterRoleName("template-uid", "fooClusterRole-");
  using Edit = std::function<void(InstanceSnapshot&)>;
  const struct {
    const char* name;
    Edit edit;
  } troubles[] = {
      {"none", [](InstanceSnapshot&) {}},
      {"the template failed", [](InstanceSnapshot& s) { Fail(s, "no right to escalate"); }},
      {"the role is absent", [](InstanceSnapshot& s) { s.cluster_roles.clear(); }},
      {"the role is wrong",
       [&](InstanceSnapshot& s) { s.cluster_roles[name].mutable_rules(0)->add_verbs("escalate"); }},
      {"the role is being deleted",
       [&](InstanceSnapshot& s) {
         s.cluster_roles[name].mutable_metadata()->mutable_deletiontimestamp()->set_seconds(1);
       }},
  };
  const struct {
    const char* name;
    const char* before;
    const char* after;
    Strings revoked;
  } moves[] = {
      {"namespaces to fewer",
       R"("namespaces": ["foo", "bar"])",
       R"("namespaces": ["foo"])",
       {"bar"}},
      {"the cluster to a namespace", "", R"("namespaces": ["foo"])", {"(cluster)"}},
      {"the cluster to a selector that matches nothing",
       "",
       R"("namespaceSelector": {"fooKey": "none"})",
       {"(cluster)"}},
      {"the cluster to an invalid selector",
       "",
       R"("namespaceSelector": {"fooKey": 5})",
       {"(cluster)"}},
      {"the cluster to a namespace that does not exist",
       "",
       R"("namespaces": ["nowhere"])",
       {"(cluster)"}},
      {"a namespace to the cluster", R"("namespaces": ["foo"])", "", {"foo"}},
      {"another template",
       R"("namespaces": ["foo"])",
       R"("namespaces": ["foo"], "scopeTemplateName": "other")",
       {"foo"}},
  };
  for (const auto& trouble : troubles) {
    for (const auto& move : moves) {
      InstanceSnapshot snapshot = Bound(Snapshot(DocumentInstance(move.before)));
      const bool retargeted = std::string_view(move.name) == "another template";
      if (retargeted) {
        snapshot.scope_template->mutable_metadata()->set_uid("other-uid");
      } else {
        snapshot.instance = DocumentInstance(move.after);
      }
      trouble.edit(snapshot);
      EXPECT_EQ(Where(PlanInstance(snapshot).remove), move.revoked)
          << trouble.name << ", " << move.name;
    }
    // A subject that the template no longer has, next to one that stays and one that is new.
    InstanceSnapshot snapshot =
        Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])"), TemplateFor({"ann", "eve"})));
    snapshot.scope_template = TemplateFor({"ann", "bob"});
    trouble.edit(snapshot);
    const InstancePlan plan = PlanInstance(snapshot);
    ASSERT_EQ(plan.fix.size(), 1u) << trouble.name;
    EXPECT_TRUE(plan.fix[0].revokes());
    const bool good = std::string_view(trouble.name) == "none";
    EXPECT_EQ(SubjectsOf(plan.fix[0].desired), good ? (Strings{"ann", "bob"}) : (Strings{"ann"}))
        << trouble.name;
  }
}

// The namespaces of an invalid selector are unknown. The named namespaces, the roles and the
// subjects are known.
TEST(RevocationTest, AnInvalidSelectorKeepsNamespacesAndRevokesTheRest) {
  InstanceSnapshot snapshot = Bound(
      Snapshot(DocumentInstance(R"("namespaces": ["foo", "bar"])"), TemplateFor({"ann", "eve"})));
  snapshot.instance =
      DocumentInstance(R"("namespaces": ["foo", "default"], "namespaceSelector": {"a": 5})");
  EXPECT_FALSE(Changes(PlanInstance(snapshot)));
  snapshot.scope_template = TemplateFor({"ann"});
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_TRUE(plan.create.empty() && plan.remove.empty());
  EXPECT_EQ(plan.fix.size(), 2u);
}

// Another user's role with our name: a binding to it would grant unknown permissions.
TEST(RevocationTest, BindingToAForeignRoleIsRevoked) {
  const std::string name = ClusterRoleName("template-uid", "fooClusterRole-");
  InstanceSnapshot snapshot = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  auto& owner = *snapshot.cluster_roles[name].mutable_metadata()->mutable_ownerreferences(0);
  owner.set_kind("Namespace");
  owner.set_name("hold");
  owner.set_uid("other");
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_EQ(Where(plan.remove), (Strings{"foo"}));
  EXPECT_EQ(plan.reason, kWaitingForClusterRoles);
  EXPECT_NE(plan.problems[0].find("its controller is Namespace \"hold\""), std::string::npos);
}

TEST(RevocationTest, InstanceBeingDeletedIsRevoked) {
  InstanceSnapshot snapshot = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  snapshot.instance.mutable_metadata()->mutable_deletiontimestamp()->set_seconds(1);
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_EQ(Where(plan.remove), (Strings{"foo"}));
  EXPECT_TRUE(plan.create.empty() && plan.fix.empty());
  EXPECT_TRUE(plan.remove_unchanged) << "garbage collection may be orphaning it";
  EXPECT_EQ(plan.reason, kScopeInstanceTerminating);
}

}  // namespace
}  // namespace mandate::scope
