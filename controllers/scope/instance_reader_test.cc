#include "controllers/scope/instance_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/testing_view.h"

namespace mandate::scope {
namespace {

using rbacv1::ClusterRole;
using rbacv1::ClusterRoleBinding;
using rbacv1::RoleBinding;

class InstanceReaderTest : public ViewTest {
 protected:
  InstanceReaderTest() { Open(DeclareInstanceIndexes); }

  absl::StatusOr<InstanceSnapshot> Read(std::string_view spec = "") const {
    return ReadInstanceSnapshot(NonBlockingContext(), view_, DocumentInstance(spec));
  }
  InstanceSnapshot ReadOrDie(std::string_view spec = "") const {
    auto snapshot = Read(spec);
    EXPECT_TRUE(snapshot.ok()) << snapshot.status();
    return snapshot.ok() ? *std::move(snapshot) : InstanceSnapshot();
  }
  Strings Namespaces(std::string_view spec) const {
    Strings names;
    for (const auto& ns : ReadOrDie(spec).namespaces) names.push_back(ns.metadata().name());
    return names;
  }
  Strings Roles() const {
    Strings names;
    for (const auto& [name, role] : ReadOrDie().cluster_roles) {
      EXPECT_EQ(role.metadata().name(), name);
      names.push_back(name);
    }
    return names;
  }
  static Strings Names(const std::vector<Binding>& bindings) {
    Strings names;
    for (const Binding& binding : bindings) names.push_back(binding.ToString());
    return names;
  }
  void PutRole(std::string_view name) {
    Put<ClusterRole>(StrCat(R"({"metadata": {"name": ")", name, R"("}})"));
  }
  // Puts a RoleBinding, or a ClusterRoleBinding if `ns` is empty.
  Binding PutBinding(std::string_view ns, std::string_view name, std::string_view role,
                     std::string_view meta = "") {
    Binding binding = ToBinding(FromJsonOrDie<RoleBinding>(
        StrCat(R"({"metadata": {"name": ")", name, "\"", ns.empty() ? "" : R"(, "namespace": ")",
               ns, ns.empty() ? "" : "\"", meta.empty() ? "" : ", ", meta,
               R"(}, "roleRef": {"kind": "ClusterRole", "name": ")", role, R"("}})")));
    Put(binding);
    return binding;
  }

  // Reads of the kind fail with this error.
  void Set(const KindInfo& kind, const absl::Status& error) {
    view_.SetState(kind,
                   absl::IsPermissionDenied(error) ? DemandState::kForbidden : DemandState::kStale,
                   error);
    loop_.RunReady();
  }

  const std::string role_ = ClusterRoleName("template-uid", "fooClusterRole-");
};

TEST_F(InstanceReaderTest, NamespacesThatAreNamedOrSelected) {
  Put<corev1::Namespace>(R"({"metadata": {"name": "a", "labels": {"k": "v"}}})");
  Put<corev1::Namespace>(R"({"metadata": {"name": "b", "labels": {"k": "v", "l": "w"}}})");
  Put<corev1::Namespace>(R"({"metadata": {"name": "c"}})");
  std::string many;
  for (int i = 0; i < 150; ++i) StrAppend(&many, "\"n", i, "\", ");
  struct Row {
    std::string spec;
    Strings namespaces;
  };
  const Row rows[] = {
      {"", {}},
      {R"("namespaces": ["c", "missing", "a"])", {"a", "c"}},
      {StrCat(R"("namespaces": [)", many, R"("c", "a"])"), {"a", "c"}},
      {R"("namespaceSelector": {"matchLabels": {"k": "v"}})", {"a", "b"}},
      {R"("namespaceSelector": {"matchLabels": {"k": "v", "l": "w"}})", {"b"}},
      {R"("namespaceSelector": {"matchExpressions": [{"key": "k", "operator": "DoesNotExist"}]})",
       {"c"}},
      {R"("namespaceSelector": {})", {"a", "b", "c"}},
      {R"("namespaces": ["c", "a"], "namespaceSelector": {"matchLabels": {"k": "v"}})",
       {"a", "b", "c"}},
      {R"("namespaces": ["c"], "namespaceSelector": {"matchLabels": {"-": "v"}})", {"c"}},
  };
  for (const Row& row : rows) EXPECT_EQ(Namespaces(row.spec), row.namespaces) << row.spec;
}

TEST_F(InstanceReaderTest, TheTemplateAndItsRoles) {
  PutRole(role_);
  PutRole("stranger");
  EXPECT_FALSE(ReadOrDie().scope_template.has_value());
  EXPECT_EQ(Roles(), (Strings{}));
  ScopeTemplate of = DocumentTemplate();
  *of.mutable_spec()->add_clusterroles() = of.spec().clusterroles(0);
  of.mutable_spec()->mutable_clusterroles(1)->set_generatename("missing");
  view_.Put(of);
  EXPECT_EQ(ReadOrDie().scope_template->metadata().uid(), "template-uid");
  EXPECT_EQ(ReadOrDie().instance.metadata().uid(), "instance-uid");
  EXPECT_EQ(Roles(), (Strings{role_}));
}

TEST_F(InstanceReaderTest, ReadsEachPossibleBindingOnce) {
  const std::string controller = R"("ownerReferences": [
      {"uid": "$", "name": "@", "kind": "ScopeInstance", "controller": true}])";
  const auto owned = [&](std::string_view uid, std::string_view name) {
    std::string text = controller;
    text.replace(text.find('$'), 1, uid);
    text.replace(text.find('@'), 1, name);
    return text;
  };
  const std::string labelled =
      StrCat(R"("labels": {")", kInstanceUidLabel, R"(": "instance-uid"})");
  for (const std::string_view ns : {"", "foo"}) {
    PutBinding(ns, "by-label", "any", labelled);
    PutBinding(ns, "by-name", "any", owned("former", "foo"));
    PutBinding(ns, "not-by-role", role_);
    PutBinding(ns, "by-uid", "any", owned("instance-uid", "renamed"));
    PutBinding(ns, "by-all", role_, StrCat(labelled, ", ", owned("instance-uid", "foo")));
    PutBinding(ns, BindingName("instance-uid", "former-", ns), "any");
    PutBinding(ns, BindingName("other-uid", "former-", ns), role_);
    PutBinding(ns, "not", "any", owned("other", "other"));
    PutBinding(ns, "not-either", "any");
  }
  for (const bool with_template : {false, true}) {
    if (with_template) view_.Put(DocumentTemplate());
    EXPECT_EQ(Names(ReadOrDie().bindings),
              (Strings{"ClusterRoleBinding by-all", "ClusterRoleBinding by-label",
                       "ClusterRoleBinding by-name", "ClusterRoleBinding by-uid",
                       StrCat("ClusterRoleBinding ", BindingName("instance-uid", "former-", "")),
                       "RoleBinding foo/by-all", "RoleBinding foo/by-label",
                       "RoleBinding foo/by-name", "RoleBinding foo/by-uid",
                       StrCat("RoleBinding foo/", BindingName("instance-uid", "former-", "foo"))}));
  }

  const auto of = ReadBindingsOf(NonBlockingContext(), view_, "foo");
  ASSERT_TRUE(of.ok()) << of.status();
  EXPECT_EQ(Names(of->bindings), (Strings{"ClusterRoleBinding by-all", "ClusterRoleBinding by-name",
                                          "RoleBinding foo/by-all", "RoleBinding foo/by-name"}));
}

TEST_F(InstanceReaderTest, ReadsRolesOfBindingsForAnUnreadTemplate) {
  const std::string labelled =
      StrCat(R"("labels": {")", kInstanceUidLabel, R"(": "instance-uid"})");
  PutBinding("foo", "a", "old", labelled);
  PutBinding("foo", "b", "missing", labelled);
  PutBinding("foo", "c", "older", labelled);
  PutBinding("foo", "d", role_, labelled);
  for (const std::string& role : {std::string("old"), std::string("older"), role_}) PutRole(role);
  EXPECT_EQ(Roles(), (Strings{})) << "there is no template";
  view_.Put(DocumentTemplate());
  EXPECT_EQ(Roles(), (Strings{role_}));
  Forbid<ScopeTemplate>();
  EXPECT_EQ(Roles(), (Strings{"old", "older", role_}));
}

TEST_F(InstanceReaderTest, OneBinding) {
  PutBinding("foo", "a", "x");
  PutBinding("", "a", "y");
  const auto read = [&](const ObjectKey& key) {
    return ReadBinding(NonBlockingContext(), view_, key);
  };
  ASSERT_TRUE(read({"foo", "a"}).ok());
  EXPECT_EQ(read({"foo", "a"})->object.roleref().name(), "x");
  EXPECT_EQ(read({"foo", "a"})->key, (ObjectKey{"foo", "a"}));
  ASSERT_TRUE(read({"", "a"}).ok());
  EXPECT_EQ(read({"", "a"})->object.roleref().name(), "y");
  EXPECT_EQ(read({"", "a"})->key, (ObjectKey{"", "a"}));
  EXPECT_TRUE(absl::IsNotFound(read({"bar", "a"}).status()));
  EXPECT_TRUE(absl::IsNotFound(read({"", "b"}).status()));
}

// Revocations do not wait for an input that only grants need.
TEST_F(InstanceReaderTest, ReportsUnreadableObjects) {
  ScopeTemplate of = DocumentTemplate();
  view_.Put(of);
  PutRole(role_);
  std::string many;
  for (int i = 0; i < 150; ++i) StrAppend(&many, i == 0 ? "" : ", ", "\"n", i, "\"");
  struct Row {
    std::string spec;
    bool needs_namespaces;
  };
  const Row rows[] = {{"", false},
                      {R"("namespaces": ["a"])", true},
                      {StrCat(R"("namespaces": [)", many, "]"), true},
                      {R"("namespaceSelector": {})", true},
                      {R"("namespaceSelector": {"matchLabels": {"k": "v"}})", true}};
  const auto expect = [&](const Row& row, auto stop, absl::StatusCode code) {
    SCOPED_TRACE(StrCat(row.spec, " ", absl::StatusCodeToString(code)));
    stop(KindOf<corev1::Namespace>::value);
    EXPECT_EQ(ReadOrDie(row.spec).namespaces_read_error.code(),
              row.needs_namespaces ? code : absl::StatusCode::kOk);
    Permit<corev1::Namespace>();
    stop(KindOf<ScopeTemplate>::value);
    const InstanceSnapshot unread = ReadOrDie(row.spec);
    EXPECT_EQ(unread.template_read_error.code(), code);
    ASSERT_TRUE(unread.scope_template.has_value()) << "it may be there";
    EXPECT_EQ(unread.scope_template->metadata().uid(), "");
    Permit<ScopeTemplate>();
    stop(KindOf<ClusterRole>::value);
    EXPECT_EQ(ReadOrDie(row.spec).roles_read_error.code(), code);
    Permit<ClusterRole>();
    const InstanceSnapshot all = ReadOrDie(row.spec);
    for (const auto& status :
         {all.namespaces_read_error, all.template_read_error, all.roles_read_error}) {
      EXPECT_TRUE(status.ok()) << status;
    }
  };
  for (const Row& row : rows) {
    expect(
        row, [&](const KindInfo& kind) { Set(kind, absl::PermissionDeniedError("no")); },
        absl::StatusCode::kPermissionDenied);
    // The watch is closed. It may open again soon, or never.
    expect(
        row, [&](const KindInfo& kind) { Set(kind, absl::UnavailableError("cut")); },
        absl::StatusCode::kUnavailable);
  }
}

// The bindings of the other kind are known.
TEST_F(InstanceReaderTest, ReportsUnreadableBindings) {
  const std::string owned = R"("ownerReferences": [
      {"uid": "instance-uid", "name": "foo", "kind": "ScopeInstance", "controller": true}])";
  PutBinding("bar", "a", "x", owned);
  PutBinding("", "a", "x", owned);
  const KindInfo kinds[] = {KindOf<RoleBinding>::value, KindOf<ClusterRoleBinding>::value};
  const absl::Status errors[] = {absl::PermissionDeniedError("no"), absl::UnavailableError("cut")};
  for (const KindInfo& kind : kinds) {
    for (const absl::Status& error : errors) {
      SCOPED_TRACE(StrCat(kind.kind, " ", AsStd(error.message())));
      const bool namespaced = kind == KindOf<RoleBinding>::value;
      const Strings others{namespaced ? "ClusterRoleBinding a" : "RoleBinding bar/a"};
      Set(kind, error);
      const InstanceSnapshot snapshot = ReadOrDie();
      EXPECT_EQ(snapshot.bindings_read_error.code(), error.code());
      EXPECT_EQ(Names(snapshot.bindings), others);
      const auto of = ReadBindingsOf(NonBlockingContext(), view_, "foo");
      ASSERT_TRUE(of.ok()) << of.status();
      EXPECT_EQ(of->read_error.code(), error.code());
      EXPECT_EQ(Names(of->bindings), others);
      const ObjectKey key{namespaced ? "bar" : "", "a"};
      EXPECT_EQ(ReadBinding(NonBlockingContext(), view_, key).status().code(), error.code());
      view_.SetState(kind, DemandState::kSynced);
      loop_.RunReady();
      EXPECT_TRUE(ReadOrDie().bindings_read_error.ok());
      EXPECT_EQ(ReadOrDie().bindings.size(), 2u);
    }
  }
}

}  // namespace
}  // namespace mandate::scope
