// Tests of ownership: what the scope components do with objects whose owner references or labels
// another user has changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/testing_fixture.h"

namespace mandate::scope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class OwnersTest : public ScopedTest {
 protected:
  void EditRole(const std::string& patch) {
    EXPECT_EQ(cluster_.Merge(kRoles, NameOf(cluster_.Our(kRoles)), patch), 200);
  }
  // A patch that makes a Namespace the controller. Any user who may patch the object can do this.
  std::string Owned() {
    const std::string uid = cluster_.Get(kNamespaces, "default")["metadata"]["uid"].asString();
    return StrCat(R"({"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Namespace",)",
                  R"("name":"default","controller":true,"uid":")", uid, R"("}]}})");
  }
};

// Garbage collection keeps an object while one of its owners exists.
TEST_F(OwnersTest, ABindingHasNoOtherOwner) {
  Begin(R"("namespaces": ["foo"])");
  const Json::Value good = cluster_.Our(kBindings);
  const auto add_owner = [&] {
    Json::Value patch;
    Json::Value& owners = patch["metadata"]["ownerReferences"];
    owners = good["metadata"]["ownerReferences"];
    Json::Value& other = owners.append(owners[0]);
    other["apiVersion"] = "v1";
    other["kind"] = "Namespace";
    other["name"] = "default";
    other["uid"] = cluster_.Get(kNamespaces, "default")["metadata"]["uid"];
    other.removeMember("controller");
    EXPECT_EQ(cluster_.Merge(kBindings, NameOf(good), patch.toStyledString(), "foo"), 200);
    cluster_.Settle();
  };
  add_owner();
  EXPECT_EQ(cluster_.Our(kBindings)["metadata"]["ownerReferences"],
            good["metadata"]["ownerReferences"]);
  ExpectConvergedAndQuiet();
  // The same if nothing may be granted.
  EditSpec(R"("namespaceSelector":{"matchExpressions":[{"key":"a","operator":"Like"}]})");
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False"));
  add_owner();
  EXPECT_EQ(cluster_.Our(kBindings)["metadata"]["ownerReferences"],
            good["metadata"]["ownerReferences"]);
}

// A namespace's administrator makes another object the controller of our binding, and then the
// scope is narrowed. The grant stays, and the condition reports it, even if the change is hidden.
TEST_F(OwnersTest, AStolenBindingIsReportedAsStillGranting) {
  Begin(R"("namespaces": ["foo", "bar"])");
  const std::string name = NameOf(cluster_.Our(kBindings, "foo"));
  EXPECT_EQ(cluster_.Merge(kBindings, name, Owned(), "foo"), 200);
  cluster_.Settle();
  const auto reported = AllOf(StartsWith("False RevocationPending"), HasSubstr(name),
                              HasSubstr("its controller is Namespace \"default\""));
  EXPECT_THAT(cluster_.Scoped(), reported);
  EditSpec(R"("namespaces": ["bar"])");
  EXPECT_THAT(cluster_.Scoped(), reported);
  EXPECT_EQ(cluster_.Merge(kBindings, name, R"({"metadata":{"labels":null}})", "foo"), 200);
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_THAT(cluster_.Scoped(), reported);
  EXPECT_FALSE(cluster_.Get(kBindings, name, "foo").isNull());
  EXPECT_EQ(cluster_.Delete(kBindings, name, "foo"), 200);
  cluster_.Settle();
  ExpectConvergedAndQuiet();
}

// The owner has the right UID and a wrong kind. Garbage collection would delete the binding, and
// our own fence denies our writes of it.
TEST_F(OwnersTest, OwnerOfAnotherKindWithOurUidIsForeign) {
  Begin(R"("namespaces": ["foo"])");
  const std::string uid = cluster_.Get(kInstances, "foo")["metadata"]["uid"].asString();
  const std::string name = NameOf(cluster_.Our(kBindings, "foo"));
  const std::string owned =
      StrCat(R"({"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Foo","name":"foo",)",
             R"("controller":true,"uid":")", uid, R"("}]}})");
  EXPECT_EQ(cluster_.Merge(kBindings, name, owned, "foo"), 200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Scoped(), AllOf(StartsWith("False RevocationPending"), HasSubstr(name),
                                       HasSubstr("its controller is Foo \"foo\"")));
  EXPECT_EQ(cluster_.Delete(kBindings, name, "foo"), 200);
  cluster_.Settle();
  ExpectConvergedAndQuiet();
}

// The role's name is a function of the template's UID. A role that is created again for another
// instance would therefore revive the stolen grant.
TEST_F(OwnersTest, RoleIsNotCreatedWhileAFormerBindingExists) {
  Begin(R"("namespaces": ["foo"])");
  const std::string name = NameOf(cluster_.Our(kBindings, "foo"));
  EXPECT_EQ(cluster_.Merge(kBindings, name, Owned(), "foo"), 200);
  EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kRoles), IsEmpty());
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("other", R"("namespaces": ["bar"])")), 201);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kRoles), IsEmpty());
  EXPECT_THAT(cluster_.Templated(),
              AllOf(StartsWith("False TemplatingFailed"), HasSubstr("RoleBinding foo/" + name)));
  EXPECT_THAT(cluster_.Scoped("other"), StartsWith("False ScopeTemplateFailed"));
  EXPECT_EQ(cluster_.Delete(kBindings, name, "foo"), 200);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Templated(), kTemplatedSuccess);
  EXPECT_THAT(cluster_.Scoped("other"), StartsWith("True "));
}

// The former template's role stays, because another instance references the template.
TEST_F(OwnersTest, KeptBindingIsReportedUnderAnotherTemplate) {
  Begin(R"("namespaces": ["foo"])");
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("other", R"("namespaces": ["bar"])")), 201);
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("next", kAnn)), 201);
  const std::string name = NameOf(cluster_.Our(kBindings, "foo"));
  for (const std::string& patch :
       {Owned(), std::string(R"({"metadata":{"ownerReferences":null,"labels":null}})")}) {
    SCOPED_TRACE(patch);
    EXPECT_EQ(cluster_.Merge(kBindings, name, patch, "foo"), 200);
    EXPECT_EQ(cluster_.Merge(kBindings, name, R"({"metadata":{"labels":null}})", "foo"), 200);
    EditSpec(R"("scopeTemplateName": "next")");
    EXPECT_THAT(cluster_.Scoped(), AllOf(StartsWith("False RevocationPending"), HasSubstr(name)));
    EXPECT_FALSE(cluster_.Get(kBindings, name, "foo").isNull());
    EXPECT_EQ(cluster_.Delete(kBindings, name, "foo"), 200);
    cluster_.Settle();
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
    EditSpec(R"("scopeTemplateName": "foo")");
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
  }
}

// A user who can patch ClusterRoles freezes ours: its grants end nevertheless.
TEST_F(OwnersTest, FrozenRoleIsUnbound) {
  Begin(R"("namespaces": ["foo"])");
  const std::string role = NameOf(cluster_.Our(kRoles));
  EditRole(Owned());
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kBindings), IsEmpty());
  EXPECT_THAT(cluster_.Templated(),
              AllOf(StartsWith("False TemplatingFailed"), HasSubstr("Namespace \"default\"")));
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False ScopeTemplateFailed"));
  EXPECT_EQ(cluster_.Delete(kRoles, role), 200);
  cluster_.RunFor(absl::Minutes(2));
  ExpectConvergedAndQuiet();
}

// A user who cannot delete bindings adds our label to one so that we delete it.
TEST_F(OwnersTest, AForgedLabelDoesNotMakeUsDelete) {
  Begin("");
  const std::string uid = cluster_.Get(kInstances, "foo")["metadata"]["uid"].asString();
  for (const bool of_our_role : {false, true}) {
    Json::Value foreign = ParseJson(R"({"apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding", "metadata": {"name": "foreign"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                    "name": "system:discovery"}})")
                              .value();
    foreign["metadata"]["labels"][std::string(kInstanceUidLabel)] = uid;
    if (of_our_role) foreign["roleRef"]["name"] = NameOf(cluster_.Our(kRoles));
    EXPECT_EQ(cluster_.Create(kClusterBindings, foreign), 201);
    cluster_.RunFor(absl::Minutes(5));
    EXPECT_FALSE(cluster_.Get(kClusterBindings, "foreign").isNull());
    EXPECT_EQ(cluster_.Scoped().starts_with("True"), !of_our_role) << cluster_.Scoped();
    EditSpec(of_our_role ? R"("namespaces": ["foo"])" : R"("namespaces": ["bar"])");
    EXPECT_FALSE(cluster_.Get(kClusterBindings, "foreign").isNull());
    EXPECT_EQ(cluster_.Delete(kClusterBindings, "foreign"), 200);
    cluster_.RunFor(absl::Minutes(2));
    ExpectConvergedAndQuiet();
  }
}

}  // namespace
}  // namespace mandate::scope
