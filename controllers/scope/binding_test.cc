#include "controllers/scope/binding.h"

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/testing_objects.h"

namespace mandate::scope {
namespace {

using google::protobuf::util::MessageDifferencer;
using operatorsv1alpha1::ScopeInstance;

RoleTemplate Role() {
  const auto [roles, invalid] = ExpandTemplate(DocumentTemplate());
  EXPECT_TRUE(invalid.ok() && roles.size() == 1) << invalid;
  return roles.front();
}

ScopeInstance Instance() { return DocumentInstance(R"("namespaces": ["foo"])"); }

TEST(DesiredBindingTest, InANamespace) {
  const Binding binding = DesiredBinding(Instance(), Role(), "foo");
  const auto& object = binding.object;
  EXPECT_FALSE(binding.in_cluster());
  EXPECT_EQ(binding.key, KeyOf(object));
  EXPECT_EQ(object.metadata().namespace_(), "foo");
  EXPECT_EQ(object.metadata().name(), BindingName("instance-uid", "fooClusterRole-", "foo"));
  EXPECT_EQ(binding.ToString(), "RoleBinding foo/" + object.metadata().name());
  EXPECT_EQ(object.roleref().apigroup(), "rbac.authorization.k8s.io");
  EXPECT_EQ(object.roleref().kind(), "ClusterRole");
  EXPECT_EQ(object.roleref().name(), Role().name);
  ASSERT_EQ(object.subjects_size(), 1);
  EXPECT_EQ(object.subjects(0).kind(), "ServiceAccount");
  EXPECT_EQ(object.subjects(0).name(), "foo-service-account");
  EXPECT_EQ(object.subjects(0).namespace_(), "operators");
  const auto& labels = object.metadata().labels();
  EXPECT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels.at(std::string(kInstanceUidLabel)), "instance-uid");
  EXPECT_EQ(labels.at(std::string(kGenerateNameLabel)), GenerateNameLabelValue("fooClusterRole-"));
  ASSERT_EQ(object.metadata().ownerreferences_size(), 1);
  EXPECT_EQ(object.metadata().ownerreferences(0).kind(), "ScopeInstance");
  EXPECT_EQ(object.metadata().ownerreferences(0).uid(), "instance-uid");
  EXPECT_TRUE(BelongsToInstance(binding, "instance-uid"));
}

TEST(DesiredBindingTest, InTheCluster) {
  const Binding binding = DesiredBinding(Instance(), Role(), "");
  EXPECT_TRUE(binding.in_cluster());
  EXPECT_FALSE(binding.object.metadata().has_namespace_());
  EXPECT_EQ(binding.key.name, BindingName("instance-uid", "fooClusterRole-", ""));
  EXPECT_EQ(binding.ToString(), "ClusterRoleBinding " + binding.key.name);
}

TEST(DesiredBindingTest, EachPlaceRoleAndInstanceHasItsName) {
  ScopeInstance other = Instance();
  other.mutable_metadata()->set_uid("another-uid");
  RoleTemplate other_role = Role();
  other_role.generate_name = "barClusterRole-";
  const std::set<std::string> names = {
      DesiredBinding(Instance(), Role(), "").key.name,
      DesiredBinding(Instance(), Role(), "foo").key.name,
      DesiredBinding(Instance(), other_role, "foo").key.name,
      DesiredBinding(other, Role(), "foo").key.name,
      DesiredBinding(other, Role(), "").key.name,
  };
  EXPECT_EQ(names.size(), 5u);
  EXPECT_EQ(DesiredBinding(Instance(), Role(), "foo").key,
            DesiredBinding(Instance(), Role(), "foo").key);
}

TEST(BindingTest, AClusterRoleBindingThereAndBack) {
  Binding binding = DesiredBinding(Instance(), Role(), "");
  binding.object.mutable_metadata()->set_resourceversion("7");
  const rbacv1::ClusterRoleBinding object = ToClusterRoleBinding(binding);
  EXPECT_EQ(object.metadata().name(), binding.key.name);
  EXPECT_EQ(object.metadata().resourceversion(), "7");
  EXPECT_EQ(object.roleref().name(), Role().name);
  ASSERT_EQ(object.subjects_size(), 1);
  const Binding back = ToBinding(object);
  EXPECT_EQ(back.key, binding.key);
  EXPECT_TRUE(MessageDifferencer::Equals(back.object, binding.object));
  EXPECT_EQ(Difference(binding, back), "");
}

TEST(BindingTest, RoleBindingIsCopied) {
  const Binding binding = DesiredBinding(Instance(), Role(), "foo");
  const Binding from = ToBinding(binding.object);
  EXPECT_EQ(from.key, binding.key);
  EXPECT_FALSE(from.in_cluster());
  EXPECT_TRUE(MessageDifferencer::Equals(from.object, binding.object));
}

// Others can forge a label and an owner reference: a binding is ours only if its name is ours,
// too.
TEST(BindingTest, BelongsByNameAndControllerOrLabel) {
  const Binding good = DesiredBinding(Instance(), Role(), "foo");
  EXPECT_FALSE(BelongsToInstance(good, "another-uid"));
  EXPECT_TRUE(BelongsToSomeInstance(good));
  Binding binding = good;
  binding.object.mutable_metadata()->mutable_ownerreferences(0)->set_kind("Namespace");
  EXPECT_FALSE(BelongsToSomeInstance(binding)) << "another controller has it";
  binding.object.mutable_metadata()->clear_ownerreferences();
  EXPECT_TRUE(BelongsToInstance(binding, "instance-uid"));
  EXPECT_TRUE(BelongsToSomeInstance(binding));
  EXPECT_TRUE(Claims(binding, "instance-uid"));
  binding.object.mutable_metadata()->clear_labels();
  EXPECT_FALSE(BelongsToInstance(binding, "instance-uid"));
  EXPECT_FALSE(BelongsToSomeInstance(binding));
  EXPECT_FALSE(Claims(binding, "instance-uid"));
  EXPECT_TRUE(HasNameOf(binding, "instance-uid"));
  for (const char* name : {"system:discovery", "somebody's", "x-bcdfghjklm"}) {
    Binding forged = good;
    forged.key.name = name;
    EXPECT_FALSE(BelongsToInstance(forged, "instance-uid")) << name;
    EXPECT_FALSE(BelongsToSomeInstance(forged)) << name;
    EXPECT_FALSE(HasNameOf(forged, "instance-uid")) << name;
    EXPECT_TRUE(Claims(forged, "instance-uid")) << name;
    EXPECT_FALSE(BelongsToFormer(forged, "foo", "")) << name;
  }
  Binding moved = good;
  moved.key.ns = "bar";
  EXPECT_FALSE(BelongsToInstance(moved, "instance-uid")) << "the name is another namespace's";
  EXPECT_TRUE(BelongsToFormer(good, "foo", ""));
  EXPECT_TRUE(BelongsToFormer(good, "foo", "another-uid"));
  EXPECT_FALSE(BelongsToFormer(good, "foo", "instance-uid"));
  EXPECT_FALSE(BelongsToFormer(good, "bar", ""));
}

TEST(BindingTest, SubjectsAreTakenAwayWithoutGivingAny) {
  RoleTemplate role = Role();
  const Binding actual = DesiredBinding(Instance(), role, "foo");
  EXPECT_FALSE(HasMoreSubjects(actual, actual));
  SubjectList subjects = *role.subjects;
  const auto give = [&] { role.subjects = std::make_shared<SubjectList>(subjects); };
  subjects[0].set_name("another");
  give();
  const Binding swapped = DesiredBinding(Instance(), role, "foo");
  EXPECT_TRUE(HasMoreSubjects(swapped, actual));
  EXPECT_TRUE(WithoutNewSubjects(swapped, actual).object.subjects().empty());
  *subjects.Add() = actual.object.subjects(0);
  give();
  const Binding grown = DesiredBinding(Instance(), role, "foo");
  EXPECT_FALSE(HasMoreSubjects(grown, actual));
  const Binding kept = WithoutNewSubjects(grown, actual);
  ASSERT_EQ(kept.object.subjects_size(), 1);
  EXPECT_EQ(kept.object.subjects(0).name(), "foo-service-account");
  EXPECT_EQ(GrantText(grown), StrCat("RoleBinding foo/", actual.key.name, " grants ClusterRole \"",
                                     Role().name, "\" to 2 subjects"));
}

// For each edit of a binding: whether it must be fixed, and whether the fix needs another binding.
TEST(BindingTest, ReportsEveryDifference) {
  using Object = rbacv1::RoleBinding;
  const auto label = [](Object& o, std::string_view key) -> std::string& {
    return (*o.mutable_metadata()->mutable_labels())[std::string(key)];
  };
  const struct {
    const char* name;
    std::function<void(Object&)> edit;
    const char* difference;
    bool same_role;
  } rows[] = {
      {"nothing", [](Object&) {}, "", true},
      {"a label more", [&](Object& o) { label(o, "team") = "a"; }, "", true},
      {"an annotation",
       [](Object& o) { (*o.mutable_metadata()->mutable_annotations())["a"] = "b"; }, "", true},
      {"what the server fills in",
       [](Object& o) {
         o.mutable_metadata()->set_uid("u");
         o.mutable_metadata()->set_resourceversion("5");
         o.mutable_metadata()->add_managedfields()->set_manager("m");
       },
       "", true},
      {"an owner more", [](Object& o) { o.mutable_metadata()->add_ownerreferences(); },
       "other owner references", true},
      {"another UID label", [&](Object& o) { label(o, kInstanceUidLabel) = "u"; },
       "label operators.coreos.io/scopeInstanceUID", true},
      {"another name label", [&](Object& o) { label(o, kGenerateNameLabel) = "u"; },
       "label operators.coreos.io/generateName", true},
      {"no labels", [](Object& o) { o.mutable_metadata()->clear_labels(); },
       "label operators.coreos.io/generateName", true},
      {"no owner", [](Object& o) { o.mutable_metadata()->clear_ownerreferences(); },
       "owner reference", true},
      {"no controller",
       [](Object& o) { o.mutable_metadata()->mutable_ownerreferences(0)->clear_controller(); },
       "owner reference", true},
      {"a subject more", [](Object& o) { o.add_subjects()->set_name("eve"); }, "subjects", true},
      {"no subjects", [](Object& o) { o.clear_subjects(); }, "subjects", true},
      {"another subject", [](Object& o) { o.mutable_subjects(0)->set_name("eve"); }, "subjects",
       true},
      {"another's namespace", [](Object& o) { o.mutable_subjects(0)->set_namespace_("eve"); },
       "subjects", true},
      {"another role", [](Object& o) { o.mutable_roleref()->set_name("cluster-admin"); }, "roleRef",
       false},
      {"a Role", [](Object& o) { o.mutable_roleref()->set_kind("Role"); }, "roleRef", false},
      {"another group's role", [](Object& o) { o.mutable_roleref()->set_apigroup("example.com"); },
       "roleRef", false},
  };
  for (const auto& row : rows) {
    const Binding desired = DesiredBinding(Instance(), Role(), "foo");
    Binding actual = desired;
    row.edit(actual.object);
    EXPECT_EQ(Difference(desired, actual), row.difference) << row.name;
    EXPECT_EQ(SameRoleRef(desired, actual), row.same_role) << row.name;
  }
}

}  // namespace
}  // namespace mandate::scope
