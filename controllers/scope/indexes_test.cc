#include "controllers/scope/indexes.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/testing_view.h"

namespace mandate::scope {
namespace {

using rbacv1::ClusterRole;
using rbacv1::ClusterRoleBinding;
using rbacv1::RoleBinding;

class IndexesTest : public ViewTest {
 protected:
  // The document's instance under another name; its UID is "uid-of-NAME".
  void PutInstance(std::string_view name, std::string_view spec = "", std::string_view of = "foo") {
    ScopeInstance instance = DocumentInstance(spec);
    instance.mutable_metadata()->set_name(std::string(name));
    instance.mutable_metadata()->set_uid(StrCat("uid-of-", name));
    instance.mutable_spec()->set_scopetemplatename(std::string(of));
    view_.Put(instance);
  }

  void PutTemplates() {
    view_.Put(DocumentTemplate());
    ScopeTemplate other = DocumentTemplate();
    other.mutable_metadata()->set_name("other");
    other.mutable_metadata()->set_uid("other-uid");
    other.mutable_spec()->mutable_clusterroles(0)->set_generatename("view");
    *other.mutable_spec()->add_clusterroles() = DocumentTemplate().spec().clusterroles(0);
    view_.Put(other);
  }

  void ExpectTemplates() {
    EXPECT_EQ(Find<ScopeTemplate>(kByRoleName, ClusterRoleName("template-uid", "fooClusterRole-")),
              (Strings{"foo"}));
    EXPECT_EQ(Find<ScopeTemplate>(kByRoleName, ClusterRoleName("other-uid", "fooClusterRole-")),
              (Strings{"other"}));
    EXPECT_EQ(Find<ScopeTemplate>(kByRoleName, ClusterRoleName("other-uid", "view")),
              (Strings{"other"}));
    EXPECT_EQ(Find<ScopeTemplate>(kByRoleName, "fooClusterRole-"), (Strings{}));
  }

  void ExpectInstances() {
    PutInstance("a");
    PutInstance("b", "", "bar");
    PutInstance("c", "", "bar");
    EXPECT_EQ(Find<ScopeInstance>(kByTemplate, "foo"), (Strings{"a"}));
    EXPECT_EQ(Find<ScopeInstance>(kByTemplate, "bar"), (Strings{"b", "c"}));
    EXPECT_EQ(Find<ScopeInstance>(kByTemplate, ""), (Strings{}));
  }
};

// Objects that belong, or do not belong, to the owner with the UID "owner-uid", each for a
// different reason.
template <class T>
T Owned(std::string_view name, std::string_view references, std::string_view labels = "") {
  return FromJsonOrDie<T>(StrCat(R"({"metadata": {"name": ")", name, R"(", "ownerReferences": [)",
                                 references, R"(], "labels": {)", labels, "}}}"));
}
constexpr std::string_view kController = R"({"uid": "owner-uid", "controller": true})";
constexpr std::string_view kOwner = R"({"uid": "owner-uid", "controller": false})";

TEST_F(IndexesTest, LookupsOfATemplate) {
  Open(DeclareTemplateIndexes);
  ExpectInstances();
  PutTemplates();
  ExpectTemplates();

  view_.Put(Owned<ClusterRole>("controlled", kController));
  view_.Put(Owned<ClusterRole>("owned", kOwner));
  view_.Put(
      Owned<ClusterRole>("labelled", "", StrCat("\"", kTemplateUidLabel, R"(": "owner-uid")")));
  view_.Put(Owned<ClusterRole>("other", "", StrCat("\"", kInstanceUidLabel, R"(": "owner-uid")")));
  EXPECT_EQ(Find<ClusterRole>(kByController, "owner-uid"), (Strings{"controlled"}));
  EXPECT_EQ(Find<ClusterRole>(kByUidLabel, "owner-uid"), (Strings{"labelled"}));

  const auto binding = [](std::string_view name, std::string_view kind) {
    return StrCat(R"({"metadata": {"name": ")", name, R"("}, "roleRef": {"kind": ")", kind,
                  R"(", "name": "view"}})");
  };
  Put<ClusterRoleBinding>(binding("cluster", "ClusterRole"));
  view_.Put([&] {
    auto in_namespace = FromJsonOrDie<RoleBinding>(binding("yes", "ClusterRole"));
    in_namespace.mutable_metadata()->set_namespace_("foo");
    return in_namespace;
  }());
  view_.Put([&] {
    auto in_namespace = FromJsonOrDie<RoleBinding>(binding("no", "Role"));
    in_namespace.mutable_metadata()->set_namespace_("foo");
    return in_namespace;
  }());
  EXPECT_EQ(Find<ClusterRoleBinding>(kByRoleRef, "view"), (Strings{"cluster"}));
  EXPECT_EQ(Find<RoleBinding>(kByRoleRef, "view"), (Strings{"yes"}));
  EXPECT_EQ(Find<RoleBinding>(kByRoleRef, "edit"), (Strings{}));
}

TEST_F(IndexesTest, LookupsOfAnInstance) {
  Open(DeclareInstanceIndexes);
  ExpectInstances();
  PutTemplates();
  ExpectTemplates();

  PutInstance("named", R"("namespaces": ["x", "y"])");
  PutInstance("selects", R"("namespaceSelector": {"matchLabels": {"k": "v"}})");
  PutInstance("any", R"("namespaceSelector": {})");
  PutInstance("invalid", R"("namespaceSelector": {"matchLabels": {"-": "v"}})");
  EXPECT_EQ(Find<ScopeInstance>(kByNamespace, "x"), (Strings{"named"}));
  EXPECT_EQ(Find<ScopeInstance>(kByNamespace, "y"), (Strings{"named"}));
  EXPECT_EQ(Find<ScopeInstance>(kBySelector, "k=v"), (Strings{"selects"}));
  EXPECT_EQ(Find<ScopeInstance>(kBySelector, kAnyLabel), (Strings{"any"}));
  EXPECT_EQ(Find<ScopeInstance>(kByUid, "uid-of-named"), (Strings{"named"}));
  EXPECT_EQ(Find<ScopeInstance>(kByNamePart, InstancePart("uid-of-named")), (Strings{"named"}));

  Put<corev1::Namespace>(R"({"metadata": {"name": "x", "labels": {"k": "v", "l": "w"}}})");
  Put<corev1::Namespace>(R"({"metadata": {"name": "y"}})");
  EXPECT_EQ(Find<corev1::Namespace>(kByLabel, "k=v"), (Strings{"x"}));
  EXPECT_EQ(Find<corev1::Namespace>(kByLabel, "l=w"), (Strings{"x"}));
  EXPECT_EQ(Find<corev1::Namespace>(kByLabel, "k"), (Strings{}));
}

TEST_F(IndexesTest, Bindings) {
  Open(DeclareInstanceIndexes);
  const std::string ours = StrCat("\"", kInstanceUidLabel, R"(": "owner-uid")");
  const auto controller = [](std::string_view kind) {
    return StrCat(R"({"uid": "owner-uid", "controller": true, "name": "foo", "kind": ")", kind,
                  R"("})");
  };
  struct Row {
    std::string name;  // of the binding in namespace "ns"; "": one that the instance makes there
    std::string references;
    std::string labels;
    std::string_view role_kind;
    Strings fields;  // the index values by which it is found
  };
  const Row rows[] = {
      {"",
       controller("ScopeInstance"),
       ours,
       "ClusterRole",
       {"controller.uid", "label.uid", "controller.name"}},
      {"other-name",
       controller("ScopeInstance"),
       "",
       "ClusterRole",
       {"controller.uid", "controller.name"}},
      {"", controller("Namespace"), "", "ClusterRole", {"controller.uid"}},
      {"",
       R"({"uid": "other-uid", "controller": true, "name": "default", "kind": "Namespace"})",
       "",
       "ClusterRole",
       {"stray.name.part"}},
      {"", "", ours, "ClusterRole", {"label.uid", "stray.name.part"}},
      {"", "", "", "ClusterRole", {"stray.name.part"}},
      {"", "", "", "Role", {"stray.name.part"}},
      {"",
       R"({"uid": "owner-uid", "name": "foo", "kind": "ScopeInstance"})",
       "",
       "ClusterRole",
       {"stray.name.part"}},
      {BindingName("other-uid", "view", "ns"), "", "", "ClusterRole", {}},
  };
  const auto check = [&]<class T>(const T&, std::string_view ns) {
    for (const Row& row : rows) {
      const std::string name = row.name.empty() ? BindingName("owner-uid", "view", ns) : row.name;
      T binding = Owned<T>(name, row.references, row.labels);
      binding.mutable_metadata()->set_namespace_(std::string(ns));
      binding.mutable_roleref()->set_kind(std::string(row.role_kind));
      binding.mutable_roleref()->set_name("role");
      view_.Put(binding);
      Strings fields;
      for (const auto& [field, value] :
           {std::pair<std::string_view, std::string_view>{kByController, "owner-uid"},
            {kByUidLabel, "owner-uid"},
            {kByInstanceName, "foo"},
            {kByStrayName, InstancePart("owner-uid")}}) {
        const Strings found = Find<T>(field, value);
        if (!found.empty()) fields.emplace_back(field);
        EXPECT_LE(found.size(), 1u);
      }
      EXPECT_EQ(fields, row.fields) << row.references << " " << row.labels << " " << name;
      view_.Remove(KindOf<T>::value, {std::string(ns), name});
    }
  };
  check(RoleBinding(), "ns");
  check(ClusterRoleBinding(), "");
}

TEST(SelectorIndexValueTest, AnEqualityThatEveryMatchHas) {
  struct Row {
    std::string_view selector;
    std::string_view value;
  };
  const Row rows[] = {
      {"{}", "*"},
      {R"({"matchLabels": {"a": "b"}})", "a=b"},
      {R"({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]})", "a=b"},
      {R"({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c"]}]})", "*"},
      {R"({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]})", "*"},
      {R"({"matchExpressions": [{"key": "a", "operator": "Exists"}]})", "*"},
      {R"({"matchExpressions": [{"key": "a", "operator": "Exists"},
                                {"key": "c", "operator": "In", "values": ["d"]}]})",
       "c=d"},
  };
  for (const Row& row : rows) {
    const auto selector = LabelSelector::FromJson(row.selector, "selector");
    ASSERT_TRUE(selector.ok()) << selector.status();
    EXPECT_EQ(SelectorIndexValue(*selector), row.value) << row.selector;
  }
}

}  // namespace
}  // namespace mandate::scope
