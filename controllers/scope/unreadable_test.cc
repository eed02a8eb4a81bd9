// Unreadable objects: without the permission, or because an object does not fit its schema.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "controllers/scope/testing_fixture.h"
#include "testing/apiserver/errors.h"

namespace mandate::scope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class UnreadableTest : public ScopedTest {
 protected:
  explicit UnreadableTest(InstanceOptions options = {}) : ScopedTest(options) {}

  // Makes reads of the resource fail for both components.
  void FailReading(const std::string& resource) {
    for (const char* verb : {"list", "watch"}) {
      cluster_.faults().Add({.verb = verb,
                             .resource = resource,
                             .fault = {.refuse = apiserver::InternalError("cannot be decoded")}});
    }
  }
};

// A component whose permissions were removed and restored reconciles the changes made in between.
TEST_F(UnreadableTest, ReconcilesChangesMadeWhileUnreadable) {
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", kAnnAndEve)), 201);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("foo", R"("namespaces": ["foo", "later"])")),
            201);
  cluster_.Start();
  cluster_.Settle();
  EXPECT_THAT(cluster_.Scoped(), HasSubstr("namespace \"later\" not found"));
  cluster_.TakeRule("scope-instance", "watch");
  // Watches that are open end by themselves, and proofs of access expire.
  cluster_.RunFor(absl::Minutes(20));
  const std::string role = NameOf(cluster_.Our(kRoles));
  EXPECT_EQ(cluster_.Create(kNamespaces, NamespaceJson("later")), 201);
  EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kAnn, "}}")),
            200);
  EXPECT_EQ(cluster_.Delete(kRoles, role), 200);
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "foo")), "ann eve") << "it was blind";
  cluster_.ReturnRules("scope-instance");
  cluster_.RunFor(absl::Minutes(20));
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "foo")), "ann");
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "later")), "ann");
}

// An object that the schema denies today, but that an older definition let in.
TEST_F(UnreadableTest, UnreadableInstanceDoesNotAffectOthers) {
  cluster_.Load(R"({"apiVersion":"operators.coreos.com/v1alpha1","kind":"ScopeInstance",)"
                R"("metadata":{"name":"bad"},"spec":{"scopeTemplateName":"bad","namespaces":5}})");
  Begin(R"("namespaces": ["foo"])", kAnnAndEve);
  // The template revokes a subject, and there is a new instance.
  EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kAnn, "}}")),
            200);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("other", R"("namespaces": ["bar"])")), 201);
  cluster_.Settle();
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "foo")), "ann");
  EXPECT_THAT(cluster_.Scoped("other"), StartsWith("True "));
  // The unreadable instance may reference the template: the role stays until the instance is
  // deleted.
  EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
  EXPECT_EQ(cluster_.Delete(kInstances, "other"), 200);
  cluster_.RunFor(absl::Minutes(3));
  EXPECT_THAT(cluster_.Ours(kBindings), IsEmpty());
  EXPECT_EQ(cluster_.Ours(kRoles).size(), 1u);
  EXPECT_EQ(cluster_.Delete(kInstances, "bad"), 200);
  cluster_.RunFor(absl::Minutes(3));
  EXPECT_THAT(cluster_.Ours(kRoles), IsEmpty());
}

TEST_F(UnreadableTest, ATemplateThatCannotBeReadHoldsUpNoRevocation) {
  Begin(R"("namespaces": ["foo", "bar"])", kAnn);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("cluster", "")), 201);
  cluster_.Settle();
  Json::Value bad = cluster_.Get(kTemplates, "foo");
  bad["spec"]["clusterRoles"] = "all";
  cluster_.Load(WriteJson(bad));
  cluster_.Settle();
  EditSpec(R"("namespaces": ["foo", "default"])");
  EXPECT_EQ(cluster_.Merge(kInstances, "cluster", R"({"spec":{"namespaces":["bar"]}})"), 200);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Ours(kBindings).size(), 1u) << "in foo: which roles it means is not known";
  EXPECT_EQ(cluster_.Ours(kBindings, "foo").size(), 1u);
  EXPECT_THAT(cluster_.Ours(kClusterBindings), IsEmpty());
  EXPECT_THAT(cluster_.Scoped(),
              AllOf(StartsWith("False ScopeTemplateFailed"), HasSubstr("ScopeTemplate \"foo\"")));
  // A binding to a role of another template is deleted.
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("other", kAnn)), 201);
  EXPECT_EQ(cluster_.Merge(kInstances, "cluster", R"({"spec":{"scopeTemplateName":"other"}})"),
            200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Scoped("cluster"), StartsWith("True"));
  EXPECT_EQ(cluster_.Merge(kInstances, "cluster", R"({"spec":{"scopeTemplateName":"foo"}})"), 200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kBindings, "bar"), IsEmpty());
  EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kAnn, "}}")),
            200);
  cluster_.RunFor(absl::Minutes(2));
  EXPECT_EQ(cluster_.Ours(kBindings).size(), 3u);
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
}

// Tests a kind that a component may not read, or of which the server cannot decode one object, so
// that each list and watch fails with 500.
class UnreadableKindTest : public UnreadableTest, public testing::WithParamInterface<bool> {
 protected:
  void StopReading(const std::string& component, const std::string& resource) {
    if (GetParam()) return cluster_.ForbidReading(component, resource);
    FailReading(resource);
  }
  void ReadAgain() {
    cluster_.faults().Clear();
    cluster_.ReturnRules("scope-instance");
    cluster_.ReturnRules("scope-template");
    cluster_.RunFor(absl::Minutes(5));
  }
};

INSTANTIATE_TEST_SUITE_P(ForbiddenOrFailing, UnreadableKindTest, testing::Bool());

// It revokes the certainly unwanted grants, makes no grant without knowing its inputs, and reports
// this. With any unreadable kind its conditions do not report success.
TEST_P(UnreadableKindTest, HoldsUpNoRevocation) {
  struct Row {
    const char* resource;
    const char* why;
  };
  const Row rows[] = {{"namespaces", "namespaces cannot be read"},
                      {"clusterroles", "cannot be read"},
                      {"scopetemplates", "ScopeTemplate \"foo\" failed"}};
  Begin(R"("namespaces": ["foo", "bar"])", kAnn);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("cluster", "")), 201);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("some", R"("namespaceSelector": {"a": "b"})")),
            201);
  EXPECT_EQ(cluster_.Create(kNamespaces, NamespaceJson("some", R"("a": "b")")), 201);
  cluster_.Settle();
  for (const Row& row : rows) {
    SCOPED_TRACE(row.resource);
    EXPECT_EQ(cluster_.Ours(kBindings).size(), 3u);
    EXPECT_EQ(cluster_.Ours(kClusterBindings).size(), 1u);
    StopReading("scope-instance", row.resource);
    // Watches that are open end by themselves, and proofs of access expire.
    cluster_.RunFor(absl::Minutes(20));
    EditSpec(R"("namespaces": ["foo", "default"])");
    EXPECT_THAT(cluster_.Ours(kBindings, "bar"), IsEmpty());
    EXPECT_EQ(cluster_.Ours(kBindings, "foo").size(), 1u);
    EXPECT_EQ(cluster_.Merge(kInstances, "cluster", R"({"spec":{"namespaces":["bar"]}})"), 200);
    // A user edits it; bindings in unknown namespaces stay.
    EXPECT_EQ(cluster_.Merge(kInstances, "some", R"({"spec":{"namespaces":["bar"]}})"), 200);
    cluster_.Settle();
    EXPECT_THAT(cluster_.Ours(kClusterBindings), IsEmpty());
    EXPECT_EQ(cluster_.Ours(kBindings, "some").size(), 1u);
    EXPECT_THAT(cluster_.Ours(kBindings, "bar"), IsEmpty());
    cluster_.RunFor(absl::Seconds(30));
    EXPECT_THAT(cluster_.Scoped(), AllOf(StartsWith("False "), HasSubstr(row.why)));
    EXPECT_THAT(cluster_.Scoped("some"), StartsWith("False "));
    ReadAgain();
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
    EXPECT_EQ(cluster_.Merge(kInstances, "cluster", R"({"spec":{"namespaces":null}})"), 200);
    EXPECT_EQ(cluster_.Merge(kInstances, "some", R"({"spec":{"namespaces":null}})"), 200);
    EditSpec(R"("namespaces": ["foo", "bar"])");
  }
}

// Nothing is granted while a kind of bindings is unreadable, but bindings of the other kind are
// revoked, also those of a deleted instance.
TEST_P(UnreadableKindTest, OfBindingsHoldsUpNoRevocationOfTheOtherKind) {
  struct Row {
    const char* resource;
    const char* revoked_by;  // an edit of the instance that has bindings of the other kind
    Resource other;
    size_t left;
  };
  const Row rows[] = {
      {"clusterrolebindings", R"({"spec":{"namespaces":["foo"]}})", kBindings, 1},
      {"rolebindings", R"({"spec":{"namespaces":["bar"]}})", kClusterBindings, 0},
  };
  Begin(R"("namespaces": ["foo", "bar"])", kAnn);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("cluster", "")), 201);
  cluster_.Settle();
  for (const Row& row : rows) {
    SCOPED_TRACE(row.resource);
    const bool namespaced = row.other.plural == kBindings.plural;
    const std::string edited = namespaced ? "foo" : "cluster";
    EXPECT_EQ(
        cluster_.Create(kInstances,
                        InstanceJson("gone", namespaced ? R"("namespaces": ["default"])" : "")),
        201);
    cluster_.Settle();
    EXPECT_EQ(cluster_.Ours(row.other).size(), namespaced ? 3u : 2u);
    StopReading("scope-instance", row.resource);
    // Watches that are open end by themselves, and proofs of access expire.
    cluster_.RunFor(absl::Minutes(20));
    EXPECT_EQ(cluster_.Merge(kInstances, edited, row.revoked_by), 200);
    EXPECT_EQ(cluster_.Delete(kInstances, "gone"), 200);
    // It adds a subject, too.
    EXPECT_EQ(
        cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kAnnAndEve, "}}")),
        200);
    cluster_.Settle();
    EXPECT_EQ(cluster_.Ours(row.other).size(), row.left);
    for (const Json::Value& binding : cluster_.Ours(row.other)) {
      EXPECT_EQ(SubjectNames(binding), "ann");
    }
    cluster_.RunFor(absl::Seconds(30));
    EXPECT_THAT(cluster_.Scoped(edited), AllOf(StartsWith("False ScopingFailed"),
                                               HasSubstr("its bindings cannot be read: ")));
    ReadAgain();
    EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "foo")), "ann eve");
    EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{"namespaces":["foo","bar"]}})"), 200);
    EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kAnn, "}}")),
              200);
    cluster_.Settle();
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
  }
}

TEST_P(UnreadableKindTest, UnreadableBindingsOrRolesAreNotSuccess) {
  Begin(R"("namespaces": ["foo"])", kAnn);
  StopReading("scope-instance", "clusterrolebindings");
  StopReading("scope-template", "clusterroles");
  cluster_.RunFor(absl::Minutes(20));
  EditSpec(R"("namespaces": ["foo", "bar"])");
  EXPECT_EQ(
      cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kAnnAndEve, "}}")),
      200);
  cluster_.RunFor(absl::Seconds(30));
  EXPECT_THAT(cluster_.Scoped(), AllOf(StartsWith("False ScopeTemplateFailed: "),
                                       HasSubstr("its bindings cannot be read: ")));
  EXPECT_THAT(cluster_.Templated(), AllOf(StartsWith("False TemplatingFailed"),
                                          HasSubstr("its ClusterRoles cannot be read: ")));
  ReadAgain();
  ExpectConvergedAndQuiet();
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "bar")), "ann eve");
}

// A rule is revoked, and a role that exists stays.
TEST_P(UnreadableKindTest, OfInstancesStopsNoTemplate) {
  Begin(R"("namespaces": ["foo"])", kNodes);
  StopReading("scope-template", "scopeinstances");
  cluster_.RunFor(absl::Minutes(20));
  EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
  EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kAnn, "}}")),
            200);
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("other", kAnn)), 201);
  cluster_.RunFor(absl::Seconds(30));
  EXPECT_EQ(cluster_.Our(kRoles)["rules"][0]["resources"].size(), 1u);
  for (const char* name : {"foo", "other"}) {
    EXPECT_THAT(cluster_.Templated(name), AllOf(StartsWith("False TemplatingFailed"),
                                                HasSubstr("ScopeInstances cannot be read: ")));
  }
  ReadAgain();
  EXPECT_THAT(cluster_.Ours(kRoles), IsEmpty());
  EXPECT_EQ(cluster_.Templated(), kTemplatedSuccess);
}

// The reconcile fails because of the unreadable kind; this does not delay its other writes.
class UnreadablePortionsTest : public UnreadableTest {
 protected:
  UnreadablePortionsTest() : UnreadableTest({.plan = {}, .portion = {.max_writes = 1}}) {}
};

TEST_F(UnreadablePortionsTest, EachRevocationIsTriedSoon) {
  constexpr int kMany = 14;
  std::string names = R"("foo")";
  for (int i = 0; i < kMany; ++i) {
    EXPECT_EQ(cluster_.Create(kNamespaces, NamespaceJson(StrCat("n", i))), 201);
    StrAppend(&names, ", \"n", i, "\"");
  }
  Begin(StrCat(R"("namespaces": [)", names, "]"), kAnn);
  FailReading("namespaces");
  cluster_.RunFor(absl::Minutes(20));
  // The writes fail, so that no event causes the next reconcile.
  std::set<std::string> tried;
  cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
    if (write.find(" rolebindings ") == write.npos) return std::nullopt;
    if (write.starts_with("DELETE")) tried.insert(write);
    return Denial(403);
  };
  EditSpec(R"("namespaces": ["foo"])");
  EXPECT_EQ(tried.size(), size_t{kMany});
  cluster_.intercept = nullptr;
  cluster_.RunFor(absl::Minutes(2));
  EXPECT_EQ(cluster_.Ours(kBindings).size(), 1u);
}

// Watches end and are opened again continually.
TEST_F(UnreadableTest, ShortGapOfAWatchIsNotReported) {
  Begin(R"("namespaces": ["foo"])", kAnn);
  FailReading("namespaces");
  cluster_.RunFor(absl::Minutes(20));
  cluster_.TakeWrites();
  const auto touch = [&](const char* value) {
    EXPECT_EQ(cluster_.Merge(kInstances, "foo",
                             StrCat(R"({"metadata":{"annotations":{"a":")", value, R"("}}})")),
              200);
  };
  touch("1");
  cluster_.RunFor(absl::Seconds(8));
  EXPECT_THAT(cluster_.TakeWrites(), IsEmpty());
  cluster_.RunFor(absl::Seconds(22));
  EXPECT_THAT(cluster_.Scoped(), HasSubstr("namespaces cannot be read"));
  cluster_.faults().Clear();
  cluster_.RunFor(absl::Minutes(2));
  ExpectConvergedAndQuiet();
}

// Bindings that cannot be read are read again soon, but a denied write is not retried before its
// delay has passed.
TEST_F(UnreadableTest, ADeniedWriteIsNotRepeatedBecauseBindingsCannotBeRead) {
  Begin(R"("namespaces": ["foo"])", kNodes);
  FailReading("rolebindings");
  cluster_.RunFor(absl::Minutes(20));
  const absl::Duration asked[] = {absl::ZeroDuration(), absl::Seconds(25)};
  for (const absl::Duration wait : asked) {
    SCOPED_TRACE(wait);
    int tries = 0;
    cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
      if (write != "PATCH clusterroles") return std::nullopt;
      ++tries;
      return wait == absl::ZeroDuration() ? Denial(403) : Denial(403, wait);
    };
    // The edit removes one resource of the role and adds another one.
    const std::string resource = wait == absl::ZeroDuration() ? "secrets" : "services";
    EXPECT_EQ(cluster_.Merge(kTemplates, "foo",
                             StrCat(R"({"spec":{"clusterRoles":[{"generateName":"reader-",)",
                                    R"("rules":[{"apiGroups":[""],"resources":["pods",")", resource,
                                    R"("],"verbs":["get"]}],"subjects":[{"kind":"User",)",
                                    R"("name":"ann"}]}]}})")),
              200);
    cluster_.RunFor(std::max(wait, absl::Seconds(9)) - absl::Seconds(1));
    EXPECT_GE(tries, 1);
    EXPECT_LE(tries, 2) << "the role, and the role without its new rules";
    cluster_.intercept = nullptr;
    cluster_.RunFor(absl::Minutes(2));
    EXPECT_EQ(cluster_.Our(kRoles)["rules"][0]["resources"].size(), 1u);
    EXPECT_THAT(cluster_.Templated(), HasSubstr("the bindings that refer to it cannot be read"));
    // The role has two resources again, so that the next edit removes one.
    cluster_.faults().Clear();
    cluster_.RunFor(absl::Minutes(2));
    EXPECT_EQ(cluster_.Our(kRoles)["rules"][0]["resources"].size(), 2u);
    FailReading("rolebindings");
    cluster_.RunFor(absl::Minutes(20));
  }
}

// Bindings are stale while their watch is closed. When it is open again, only the failed reconciles
// are retried, and not those of all objects.
TEST_F(UnreadableTest, ARoleIsMadeAsSoonAsBindingsCanBeReadAgain) {
  Begin(R"("namespaces": ["foo"])", kAnn);
  const auto watches = [this] {
    double open = 0;
    for (const char* identity : {"scope-instance", "scope-template"}) {
      open += cluster_.metrics()
                  .Gauge("mandate_cache_watches", "",
                         {{"kind", "rolebindings.rbac.authorization.k8s.io"},
                          {"scope", "cluster"},
                          {"identity", identity}})
                  .Value();
    }
    return open;
  };
  ASSERT_EQ(watches(), 1);
  cluster_.faults().Add({.resource = "rolebindings", .fault = {.drop = true}});
  // Open watches end by themselves.
  ASSERT_TRUE(cluster_.loop().RunUntil([&] { return watches() == 0; }));
  cluster_.RunFor(absl::Minutes(2));
  EXPECT_EQ(cluster_.Delete(kRoles, NameOf(cluster_.Our(kRoles))), 200);
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_THAT(cluster_.Ours(kRoles), IsEmpty());
  EXPECT_THAT(cluster_.Templated(), HasSubstr("the bindings that refer to it cannot be read"));
  cluster_.faults().Clear();
  ASSERT_TRUE(cluster_.loop().RunUntil([&] { return watches() == 1; }));
  cluster_.RunFor(absl::Seconds(1));
  EXPECT_EQ(cluster_.Ours(kRoles).size(), 1u);
}

}  // namespace
}  // namespace mandate::scope
