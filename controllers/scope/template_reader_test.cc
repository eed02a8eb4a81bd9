#include "controllers/scope/template_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/role_template.h"
#include "controllers/scope/testing_view.h"
#include "manager/object/raw_object.h"

namespace mandate::scope {
namespace {

using rbacv1::ClusterRole;
using rbacv1::ClusterRoleBinding;
using rbacv1::RoleBinding;

class TemplateReaderTest : public ViewTest {
 protected:
  TemplateReaderTest() { Open(DeclareTemplateIndexes); }

  absl::StatusOr<TemplateSnapshot> Read() const {
    return ReadTemplateSnapshot(NonBlockingContext(), view_, template_);
  }
  TemplateSnapshot ReadOrDie() const {
    auto snapshot = Read();
    EXPECT_TRUE(snapshot.ok()) << snapshot.status();
    return snapshot.ok() ? *std::move(snapshot) : TemplateSnapshot();
  }
  Strings RoleNames() const {
    Strings names;
    for (const auto& role : ReadOrDie().cluster_roles) names.push_back(role.metadata().name());
    return names;
  }

  static ScopeInstance Instance(std::string_view name, std::string_view of) {
    ScopeInstance instance = DocumentInstance();
    instance.mutable_metadata()->set_name(std::string(name));
    instance.mutable_metadata()->set_uid(StrCat("uid-of-", name));
    instance.mutable_spec()->set_scopetemplatename(std::string(of));
    return instance;
  }
  static ScopeInstance Deleted(ScopeInstance instance) {
    instance.mutable_metadata()->mutable_deletiontimestamp()->set_seconds(1);
    return instance;
  }
  // Puts an object of a newer server, which this version cannot decode.
  void PutUnreadable(std::string_view name, std::string_view spec) {
    const std::string json = StrCat(
        R"({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ScopeInstance", "metadata": {)",
        R"("resourceVersion": "9000", "name": ")", name, R"(", "uid": "uid-of-)", name,
        R"("}, "spec": )", spec, "}");
    const auto raw = ParseRawObject(json, Encoding::kJson);
    ASSERT_TRUE(raw.ok()) << raw.status();
    view_.Put(KindOf<ScopeInstance>::value, *raw);
  }

  // A binding of the template's subject.
  RoleTemplate Role(std::string generate_name, std::string name) const {
    return {
        std::move(generate_name), std::move(name), {}, ExpandTemplate(template_).roles[0].subjects};
  }

  const ScopeTemplate template_ = DocumentTemplate();
  const std::string role_ = ClusterRoleName("template-uid", "fooClusterRole-");
};

TEST_F(TemplateReaderTest, WhetherItIsReferenced) {
  EXPECT_EQ(ReadOrDie().referenced, Referenced::kNo);
  EXPECT_EQ(ReadOrDie().scope_template.metadata().uid(), "template-uid");
  view_.Put(Instance("other", "bar"));
  EXPECT_EQ(ReadOrDie().referenced, Referenced::kNo);
  view_.Put(Deleted(Instance("a", "foo")));
  EXPECT_EQ(ReadOrDie().referenced, Referenced::kNo);
  PutUnreadable("b", R"({"scopeTemplateName": 1})");
  EXPECT_EQ(ReadOrDie().referenced, Referenced::kMaybe);
  view_.Put(Instance("c", "foo"));
  EXPECT_EQ(ReadOrDie().referenced, Referenced::kYes);
}

TEST_F(TemplateReaderTest, ItsRoles) {
  EXPECT_EQ(RoleNames(), (Strings{}));
  Put<ClusterRole>(R"({"metadata": {"name": "stranger"}})");
  Put<ClusterRole>(R"({"metadata": {"name": "owned", "ownerReferences": [
      {"uid": "template-uid", "controller": true}]}})");
  Put<ClusterRole>(StrCat(R"({"metadata": {"name": "labelled", "labels": {")", kTemplateUidLabel,
                          R"(": "template-uid"}}})"));
  Put<ClusterRole>(StrCat(R"({"metadata": {"name": "both", "labels": {")", kTemplateUidLabel,
                          R"(": "template-uid"}, "ownerReferences": [
      {"uid": "template-uid", "controller": true}]}})"));
  EXPECT_EQ(RoleNames(), (Strings{"both", "labelled", "owned"}));
  Put<ClusterRole>(StrCat(R"({"metadata": {"name": ")", role_, R"("}})"));
  EXPECT_EQ(RoleNames(), (Strings{"both", "labelled", "owned", role_}));
}

TEST_F(TemplateReaderTest, BindingsOfAnAbsentRole) {
  const ScopeInstance instance = Instance("a", "foo");
  const ScopeInstance other = Instance("b", "bar");
  const ScopeInstance deleted = Deleted(Instance("c", "foo"));
  const ScopeInstance gone = Instance("d", "foo");
  for (const ScopeInstance& there : {instance, other, deleted}) view_.Put(there);
  const RoleTemplate role = Role("fooClusterRole-", role_);
  Strings blocking_bindings;
  const auto put = [&](Binding binding, bool stands) {
    if (stands) blocking_bindings.push_back(binding.ToString());
    Put(binding);
  };
  for (const std::string_view ns : {"foo", ""}) {
    put(DesiredBinding(instance, role, ns), !ns.empty());  // it wants a ClusterRoleBinding
    put(DesiredBinding(other, role, ns), true);
    put(DesiredBinding(deleted, role, ns), true);
    put(DesiredBinding(gone, role, ns), true);
    // A binding with the name of an instance's binding, and with another controller or none.
    Binding binding = DesiredBinding(instance, Role("second-", role_), ns);
    binding.object.mutable_metadata()->mutable_ownerreferences(0)->set_kind("Namespace");
    put(binding, true);
    binding = DesiredBinding(instance, Role("third-", role_), ns);
    binding.object.mutable_metadata()->clear_ownerreferences();
    put(binding, true);
    // A binding whose controller is an instance, with another name, or of a former instance of that
    // name.
    binding = DesiredBinding(instance, role, ns);
    binding.key.name = "by-hand";
    binding.object.mutable_metadata()->set_name("by-hand");
    put(binding, true);
    ScopeInstance former = instance;
    former.mutable_metadata()->set_uid("former");
    put(DesiredBinding(former, role, ns), true);
    // A binding of another role.
    put(DesiredBinding(gone, Role("fourth-", "another"), ns), false);
  }
  std::sort(blocking_bindings.begin(), blocking_bindings.end());
  const auto read = [&] {
    TemplateSnapshot snapshot = ReadOrDie();
    Strings names = snapshot.blocking_bindings[role_].bindings;
    EXPECT_EQ(snapshot.blocking_bindings.size(), 1u);
    std::sort(names.begin(), names.end());
    return names;
  };
  EXPECT_EQ(read(), blocking_bindings);

  // Bindings that certainly do not belong to an unreadable instance.
  PutUnreadable("d", R"({"scopeTemplateName": 1})");
  Strings without_d = blocking_bindings;
  for (const std::string_view ns : {"foo", ""}) {
    std::erase(without_d, DesiredBinding(gone, role, ns).ToString());
  }
  EXPECT_EQ(read(), without_d);
  PutUnreadable("a", R"({"scopeTemplateName": 1})");
  view_.Put(Instance("e", "foo"));
  std::erase(without_d, DesiredBinding(instance, role, "foo").ToString());
  EXPECT_EQ(read(), without_d);
}

// The author of another binding accepts later rules; an instance's binding may wait for its
// revocation.
TEST_F(TemplateReaderTest, BindingsOfARoleWithNewRules) {
  const ScopeInstance instance = Instance("a", "foo");
  view_.Put(instance);
  const RoleTemplate role = ExpandTemplate(template_).roles.front();
  Put(DesiredBinding(instance, role, "foo"));
  Binding by_hand = DesiredBinding(instance, role, "foo");
  by_hand.object.mutable_metadata()->set_name("by-hand");
  Put(ToBinding(by_hand.object));
  ClusterRole is = DesiredClusterRole(template_, role);
  view_.Put(is);
  EXPECT_TRUE(ReadOrDie().blocking_bindings.empty()) << "it has all of its rules";
  is.clear_rules();
  view_.Put(is);
  const BlockingBindings blocking_bindings = ReadOrDie().blocking_bindings[role_];
  EXPECT_EQ(blocking_bindings.bindings, Strings{DesiredBinding(instance, role, "foo").ToString()})
      << "the instance wants it in the cluster";
  EXPECT_TRUE(blocking_bindings.read_error.ok());
  const auto stands = [&](const Binding& binding) {
    Put(binding);
    return !ReadOrDie().blocking_bindings[role_].none();
  };
  Binding binding = DesiredBinding(instance, role, "foo");
  binding.object.mutable_metadata()->clear_ownerreferences();
  EXPECT_TRUE(stands(binding)) << "the instance takes it back, or deletes it";
  binding.object.mutable_metadata()->clear_labels();
  EXPECT_FALSE(stands(binding)) << "nobody deletes it but its author";
  binding = DesiredBinding(instance, role, "foo");
  binding.object.mutable_metadata()->mutable_ownerreferences(0)->set_kind("Namespace");
  EXPECT_FALSE(stands(binding)) << "somebody took it away, to be his";
  EXPECT_TRUE(stands(DesiredBinding(instance, role, "foo")));
  PutUnreadable("b", R"({"scopeTemplateName": 1})");
  view_.Put(Instance("a", "bar"));
  EXPECT_EQ(ReadOrDie().blocking_bindings[role_].bindings.size(), 1u)
      << "it is fixed while it may be referenced";
}

// A binding of the right name and owner that waits for its revocation.
TEST_F(TemplateReaderTest, UnwantedBindingsStand) {
  const RoleTemplate role = ExpandTemplate(template_).roles.front();
  RoleTemplate more = role;
  const auto subjects = std::make_shared<SubjectList>(*role.subjects);
  subjects->Add()->set_name("eve");
  more.subjects = subjects;
  const struct {
    std::string_view spec;
    std::string_view ns;
    bool stands;
  } rows[] = {{"", "", false},
              {"", "foo", true},
              {R"("namespaces": ["foo"])", "", true},
              {R"("namespaces": ["foo"])", "foo", false},
              {R"("namespaces": ["foo"])", "bar", true},
              {R"("namespaceSelector": {"a": "b"})", "", true},
              {R"("namespaceSelector": {"a": "b"})", "foo", false},
              {R"("namespaceSelector": {"matchLabels": 1})", "foo", false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(StrCat(row.spec, " ", row.ns));
    const ScopeInstance owner = DocumentInstance(row.spec);
    view_.Put(owner);
    const auto stands = [&](const Binding& binding) {
      Put(binding);
      return !ReadOrDie().blocking_bindings[role_].none();
    };
    Binding binding = DesiredBinding(owner, role, row.ns);
    EXPECT_EQ(stands(binding), row.stands);
    EXPECT_TRUE(stands(DesiredBinding(owner, more, row.ns)));
    binding.object.clear_subjects();
    EXPECT_FALSE(stands(binding)) << "it grants nothing";
    // This binding was created for another role of the template.
    RoleTemplate other = role;
    other.generate_name = "other-";
    EXPECT_TRUE(stands(DesiredBinding(owner, other, row.ns)));
    Binding ended = DesiredBinding(owner, other, row.ns);
    ended.object.clear_subjects();
    EXPECT_FALSE(stands(ended));
  }
}

TEST_F(TemplateReaderTest, AnInvalidTemplateMakesNoRole) {
  ScopeTemplate invalid = template_;
  invalid.mutable_spec()->mutable_clusterroles(0)->mutable_rules(0)->clear_verbs();
  view_.Put(Instance("a", "foo"));
  const auto snapshot = ReadTemplateSnapshot(NonBlockingContext(), view_, invalid);
  ASSERT_TRUE(snapshot.ok());
  EXPECT_TRUE(snapshot->blocking_bindings.empty());
}

TEST_F(TemplateReaderTest, UnrequestedRole) {
  Put(DesiredBinding(Instance("a", "foo"), Role("fooClusterRole-", role_), "foo"));
  EXPECT_TRUE(ReadOrDie().blocking_bindings.empty());
  view_.Put(Deleted(Instance("a", "foo")));
  EXPECT_TRUE(ReadOrDie().blocking_bindings.empty());
}

TEST_F(TemplateReaderTest, UnreadableObjectsAreErrors) {
  view_.Put(Instance("a", "foo"));
  Put(DesiredBinding(Instance("a", "foo"), Role("fooClusterRole-", role_), ""));
  EXPECT_TRUE(Read().ok());
  const auto expect = [&](auto forbid, auto permit, const auto& error) {
    forbid();
    EXPECT_TRUE(absl::IsPermissionDenied(error())) << error();
    permit();
    EXPECT_TRUE(error().ok());
  };
  const auto all = [&] { return Read().status(); };
  Forbid<ScopeInstance>();
  EXPECT_EQ(ReadOrDie().referenced, Referenced::kMaybe);
  EXPECT_TRUE(absl::IsPermissionDenied(ReadOrDie().instances_read_error));
  Permit<ScopeInstance>();
  EXPECT_EQ(ReadOrDie().referenced, Referenced::kYes);
  EXPECT_TRUE(ReadOrDie().instances_read_error.ok());
  view_.SetState(KindOf<ScopeInstance>::value, DemandState::kStale, absl::UnavailableError("cut"));
  loop_.RunReady();
  EXPECT_EQ(ReadOrDie().referenced, Referenced::kMaybe) << "the instance may have been deleted";
  EXPECT_TRUE(absl::IsUnavailable(ReadOrDie().instances_read_error));
  EXPECT_TRUE(ReadOrDie().blocking_bindings.empty()) << "no role is made";
  view_.SetState(KindOf<ClusterRole>::value, DemandState::kStale, absl::UnavailableError("cut"));
  loop_.RunReady();
  EXPECT_TRUE(absl::IsUnavailable(Read().status()));
  Permit<ClusterRole>();
  Permit<ScopeInstance>();
  expect([&] { Forbid<ClusterRole>(); }, [&] { Permit<ClusterRole>(); }, all);
  // Revocations do not wait for the bindings that prevent grants.
  const auto blocking_bindings = [&] { return ReadOrDie().blocking_bindings[role_].read_error; };
  expect([&] { Forbid<RoleBinding>(); }, [&] { Permit<RoleBinding>(); }, blocking_bindings);
  expect([&] { Forbid<ClusterRoleBinding>(); }, [&] { Permit<ClusterRoleBinding>(); },
         blocking_bindings);
}

}  // namespace
}  // namespace mandate::scope
