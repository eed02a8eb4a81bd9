// The effect of denied, failed or delayed writes on the others, and the time until they succeed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
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
using testing::StartsWith;

class ObstaclesTest : public ScopedTest {};

// A ValidatingAdmissionPolicy denies with 422 by default. No event reports its deletion.
TEST_F(ObstaclesTest, RetriesWithinAMinuteAfterADenialOfHours) {
  Begin(R"("namespaces": ["foo", "bar"])");
  for (const char* verb : {"delete", "patch"}) {
    for (const char* resource : {"rolebindings", "clusterroles"}) {
      cluster_.faults().Add({.verb = verb,
                             .resource = resource,
                             .fault = {.refuse = apiserver::ApiErrorOf(422, "Invalid", "policy")}});
    }
  }
  EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{"namespaces":["bar"]}})"), 200);
  EXPECT_EQ(
      cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kEmptyRoles, "}}")),
      200);
  cluster_.RunFor(absl::Hours(3));
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False "));
  EXPECT_THAT(cluster_.Templated(),
              AllOf(StartsWith("False TemplatingFailed"), HasSubstr("policy")));
  cluster_.TakeWrites();
  cluster_.RunFor(absl::Minutes(10));
  EXPECT_LE(cluster_.TakeWrites().size(), 100u);
  cluster_.faults().Clear();
  cluster_.RunFor(absl::Seconds(65));
  EXPECT_THAT(cluster_.Ours(kBindings, "foo"), IsEmpty());
  EXPECT_THAT(cluster_.Our(kRoles)["rules"], IsEmpty());
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
}

// A mutating webhook can cause this. There is no event, because nothing has changed.
TEST_F(ObstaclesTest, UnchangedObjectInTheResponseIsNotSuccess) {
  Begin(R"("namespaces": ["foo"])", kAnn);
  const auto edit = [this](const Resource& resource, const char* write, std::string_view roles) {
    HttpResponse answer;
    answer.code = 200;
    answer.content_type = "application/json";
    answer.body = WriteJson(cluster_.Our(resource));
    cluster_.intercept = [write, answer](const std::string& sent) {
      return sent == write ? std::optional(answer) : std::nullopt;
    };
    EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", roles, "}}")),
              200);
    cluster_.Settle();
  };
  edit(kBindings, "PATCH rolebindings foo", kAnnAndEve);
  EXPECT_THAT(cluster_.Scoped(), AllOf(StartsWith("False "), HasSubstr("changes its subjects")));
  edit(kRoles, "PATCH clusterroles", kNodes);
  EXPECT_THAT(cluster_.Templated(), AllOf(StartsWith("False "), HasSubstr("changes its rules")));
}

// Finalizers may keep a template for a long time. Meanwhile an edit still revokes.
TEST_F(ObstaclesTest, ATemplateThatIsBeingDeletedIsNarrowed) {
  Begin(R"("namespaces": ["foo"])", kNodes);
  EXPECT_EQ(
      cluster_.Merge(kTemplates, "foo", R"({"metadata":{"finalizers":["example.com/stay"]}})"),
      200);
  EXPECT_EQ(cluster_.Delete(kTemplates, "foo"), 200);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Our(kRoles)["rules"][0]["resources"].size(), 2u);
  EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kAnn, "}}")),
            200);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Our(kRoles)["rules"][0]["resources"].size(), 1u);
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
  const std::string name = NameOf(cluster_.Our(kRoles));
  EXPECT_EQ(cluster_.Delete(kRoles, name), 200);
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Get(kRoles, name).isNull());
  EXPECT_THAT(cluster_.Templated(),
              AllOf(StartsWith("False TemplatingFailed"), HasSubstr("is being deleted")));
  EXPECT_EQ(cluster_.Merge(kTemplates, "foo", R"({"metadata":{"finalizers":null}})"), 200);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Ours(kBindings), IsEmpty());
}

TEST_F(ObstaclesTest, ReportsMissingBindAfterOneBinding) {
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", kDocumentRoles)), 201);
  EXPECT_EQ(cluster_.Create(kInstances,
                            InstanceJson("foo", R"("namespaces": ["foo", "bar", "default"])")),
            201);
  cluster_.TakeRule("scope-instance", "bind");
  cluster_.Start();
  cluster_.Settle();
  EXPECT_THAT(cluster_.Scoped(),
              AllOf(StartsWith("False ScopingFailed"), HasSubstr("lacks the verb \"bind\""),
                    HasSubstr("more bindings of ClusterRole")));
  cluster_.TakeWrites();
  cluster_.RunFor(absl::Minutes(10));
  const std::vector<std::string> tried = cluster_.TakeWrites();
  EXPECT_GE(tried.size(), 9u) << "nothing reports that the grant came";
  EXPECT_LE(tried.size(), 15u) << "one binding, once a minute at last";
  cluster_.ReturnRules("scope-instance");
  cluster_.RunFor(absl::Minutes(2));
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
}

// The binding to the new role is denied. The binding to the old role is deleted nevertheless.
TEST_F(ObstaclesTest, RevokesTheFormerTemplateWithoutBind) {
  Begin(R"("namespaces": ["foo", "bar", "default"])");
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("other", kDocumentRoles)), 201);
  EXPECT_EQ(
      cluster_.Create(kInstances, InstanceJson("other", R"("namespaces": ["default"])", "other")),
      201);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Scoped("other"), StartsWith("True "));
  cluster_.TakeRule("scope-instance", "bind");
  cluster_.TakeWrites();
  EditSpec(R"("scopeTemplateName": "other")");
  std::vector<std::string> writes = cluster_.TakeWrites();
  std::erase_if(writes, [](const std::string& w) { return w.find(" rolebindings ") == w.npos; });
  ASSERT_GE(writes.size(), 4u);
  EXPECT_THAT(std::vector(writes.begin(), writes.begin() + 4),
              ElementsAre("DELETE rolebindings bar", "DELETE rolebindings default",
                          "DELETE rolebindings foo", "PATCH rolebindings bar"));
  EXPECT_THAT(cluster_.Scoped(),
              AllOf(StartsWith("False ScopingFailed"), HasSubstr("lacks the verb \"bind\"")));
}

// An admission webhook that denies deletions keeps the object, but not its grants.
TEST_F(ObstaclesTest, UndeletableBindingLosesItsSubjects) {
  Begin(R"("namespaces": ["foo", "bar"])");
  const Json::Value before = cluster_.Our(kBindings, "foo");
  cluster_.intercept = [](const std::string& write) -> std::optional<HttpResponse> {
    if (write != "DELETE rolebindings foo") return std::nullopt;
    return Denial(403);
  };
  EditSpec(R"("namespaces": ["bar"])");
  const Json::Value emptied = cluster_.Our(kBindings, "foo");
  EXPECT_THAT(emptied["subjects"], IsEmpty());
  EXPECT_EQ(emptied["metadata"]["ownerReferences"], before["metadata"]["ownerReferences"]);
  EXPECT_EQ(emptied["metadata"]["labels"], before["metadata"]["labels"]);
  EXPECT_THAT(cluster_.Scoped(),
              AllOf(StartsWith("False ScopingFailed"), HasSubstr("RoleBinding foo/")));
  cluster_.TakeWrites();
  cluster_.RunFor(absl::Minutes(10));
  EXPECT_THAT(cluster_.TakeWrites(), Not(Contains("PATCH rolebindings foo")));
  cluster_.intercept = nullptr;
  cluster_.RunFor(absl::Minutes(2));
  EXPECT_THAT(cluster_.Ours(kBindings, "foo"), IsEmpty());
  ExpectConvergedAndQuiet();
}

TEST_F(ObstaclesTest, OneFailureDoesNotStopOtherWrites) {
  cluster_.faults().Add({.path_prefix = "/apis/rbac.authorization.k8s.io/v1/namespaces/bar/",
                         .resource = "rolebindings",
                         .fault = {.refuse = apiserver::InternalError("etcd")}});
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", kDocumentRoles)), 201);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("foo", R"("namespaces": ["foo", "bar"])")),
            201);
  cluster_.Start();
  cluster_.Settle();
  EXPECT_THAT(cluster_.Scoped(), HasSubstr("False ScopingFailed: RoleBinding bar/"));
  EXPECT_EQ(cluster_.Ours(kBindings, "foo").size(), 1u);
  cluster_.faults().Clear();
  cluster_.RunFor(absl::Minutes(20));
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
}

// A fix that the server denies is reported as denied, and not as reverted by another writer.
TEST_F(ObstaclesTest, RepeatedDenialIsReported) {
  Begin(R"("namespaces": ["foo"])", kAnnAndEve);
  cluster_.faults().Add({.verb = "patch",
                         .resource = "rolebindings",
                         .fault = {.refuse = apiserver::ApiErrorOf(422, "Invalid", "policy")}});
  EXPECT_EQ(cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kAnn, "}}")),
            200);
  cluster_.RunFor(absl::Hours(1));
  EXPECT_THAT(cluster_.Scoped(), AllOf(StartsWith("False ScopingFailed"), HasSubstr("policy"),
                                       Not(HasSubstr("does not stay"))));
  cluster_.TakeWrites();
  cluster_.RunFor(absl::Minutes(10));
  EXPECT_LE(cluster_.TakeWrites().size(), 40u);
  cluster_.faults().Clear();
  cluster_.RunFor(absl::Seconds(65));
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings)), "ann");
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
}

// A webhook may answer with any code, so only the object's absence proves the deletion.
TEST_F(ObstaclesTest, DeletionAnsweredByAWebhookIsNotComplete) {
  Begin(R"("namespaces": ["foo", "bar"])");
  for (const int code : {409, 404}) {
    SCOPED_TRACE(code);
    const std::string_view reason = code == 409 ? "Conflict" : "NotFound";
    const std::string name = cluster_.Ours(kBindings, "foo")[0]["metadata"]["name"].asString();
    const absl::Status denied = apiserver::ApiErrorOf(
        code, reason, R"(admission webhook "h.example.com" denied the request: no)",
        "rbac.authorization.k8s.io", "rolebindings", name);
    cluster_.faults().Add(
        {.verb = "delete", .resource = "rolebindings", .fault = {.refuse = denied}});
    EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{"namespaces":["bar"]}})"), 200);
    cluster_.Settle();
    EXPECT_EQ(cluster_.Ours(kBindings, "foo").size(), 1u);
    EXPECT_THAT(cluster_.Scoped(), StartsWith("False ScopingFailed"));
    cluster_.faults().Clear();
    cluster_.RunFor(absl::Seconds(65));
    EXPECT_THAT(cluster_.Ours(kBindings, "foo"), IsEmpty());
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
    EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{"namespaces":["bar","foo"]}})"), 200);
    cluster_.Settle();
  }
}

TEST_F(ObstaclesTest, DeniedStatusIsWrittenLater) {
  Begin(R"("namespaces": ["foo"])");
  for (const int code : {409, 404}) {
    SCOPED_TRACE(code);
    cluster_.faults().Add(
        {.verb = "patch",
         .path_prefix = StrCat(kInstances.group_path, "/scopeinstances/foo/status"),
         .fault = {.refuse = apiserver::ApiErrorOf(
                       code, code == 409 ? "Conflict" : "NotFound",
                       R"(admission webhook "h.example.com" denied the request: no)",
                       "operators.coreos.com", "scopeinstances", "foo")}});
    const std::string before = cluster_.Scoped();
    const std::string_view target = code == 409 ? "gone" : "foo";
    EXPECT_EQ(cluster_.Merge(kInstances, "foo",
                             StrCat(R"({"spec":{"scopeTemplateName":")", target, R"("}})")),
              200);
    cluster_.RunFor(absl::Minutes(10));
    EXPECT_EQ(cluster_.Scoped(), before);
    cluster_.faults().Clear();
    cluster_.RunFor(absl::Seconds(65));
    EXPECT_THAT(cluster_.Scoped(),
                StartsWith(code == 409 ? "False ScopeTemplateNotFound" : "True"));
  }
}

// A fence or a webhook denies the new subject. The old subject is revoked nevertheless.
TEST_F(ObstaclesTest, RevokesASubjectWhileAnotherIsDenied) {
  for (const bool replaced : {false, true}) {
    SCOPED_TRACE(replaced);
    if (!replaced) Begin(R"("namespaces": ["foo"])", kAnnAndEve);
    // This server denies the whole list of subjects, and accepts the shorter list.
    int writes = 0;
    cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
      if (write != "PATCH rolebindings foo" || ++writes == 2) return std::nullopt;
      HttpResponse denied;
      denied.code = 403;
      denied.content_type = "application/json";
      denied.body = R"({"kind":"Status","code":403,"reason":"Forbidden","message":"fence"})";
      return denied;
    };
    const std::string_view name = replaced ? "cid" : "ann";
    EXPECT_EQ(cluster_.Merge(kTemplates, "foo",
                             StrCat(R"({"spec":{"clusterRoles":[{"generateName":"reader-",)",
                                    R"("rules":[{"apiGroups":[""],"resources":["pods"],)",
                                    R"("verbs":["get"]}],"subjects":[{"kind":"User","name":")",
                                    name, R"("},{"kind":"User","name":"bob"}]}]}})")),
              200);
    cluster_.Settle();
    EXPECT_EQ(SubjectNames(cluster_.Our(kBindings)), replaced ? "bob" : "ann");
    EXPECT_THAT(cluster_.Scoped(), AllOf(StartsWith("False ScopingFailed"), HasSubstr("fence")));
    cluster_.intercept = nullptr;
    cluster_.RunFor(absl::Seconds(65));
    EXPECT_EQ(SubjectNames(cluster_.Our(kBindings)), replaced ? "cid bob" : "ann bob");
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
  }
}

std::string TwoRules(std::string_view one, std::string_view other) {
  return StrCat(R"([{"generateName":"reader-","subjects":[{"kind":"User","name":"ann"}],"rules":[)",
                R"({"apiGroups":[""],"resources":[")", one, R"("],"verbs":["get"]},)",
                R"({"apiGroups":[""],"resources":[")", other, R"("],"verbs":["get"]}]}])");
}

std::string ResourcesOf(const Json::Value& role) {
  std::string resources;
  for (const Json::Value& rule : role["rules"]) {
    StrAppend(&resources, rule["resources"][0].asString(), " ");
  }
  return resources;
}

// A policy denies new rules of a role, or the removal of a label. A rule that the template no
// longer has is removed nevertheless.
TEST_F(ObstaclesTest, RevokesARuleWhileTheRestIsDenied) {
  Begin(R"("namespaces": ["foo"])", TwoRules("pods", "secrets"));
  for (const bool labelled : {false, true}) {
    SCOPED_TRACE(labelled);
    const std::string_view next = labelled ? "secrets" : "nodes";
    int writes = 0;
    cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
      if (!write.starts_with("PATCH clusterroles") || ++writes == 2) return std::nullopt;
      HttpResponse denied;
      denied.code = 403;
      denied.content_type = "application/json";
      denied.body = R"({"kind":"Status","code":403,"reason":"Forbidden","message":"fence"})";
      return denied;
    };
    if (labelled) {
      const std::string name = cluster_.Our(kRoles)["metadata"]["name"].asString();
      writes = 10;
      EXPECT_EQ(cluster_.Merge(kRoles, name, R"({"metadata":{"labels":{"team":"a"}}})"), 200);
      cluster_.Settle();
      writes = 0;
    }
    EXPECT_EQ(cluster_.Merge(kTemplates, "foo",
                             StrCat(R"({"spec":{"clusterRoles":)", TwoRules("pods", next), "}}")),
              200);
    cluster_.Settle();
    EXPECT_EQ(ResourcesOf(cluster_.Our(kRoles)), "pods ");
    EXPECT_THAT(cluster_.Templated(), AllOf(StartsWith("False"), HasSubstr("fence")));
    cluster_.intercept = nullptr;
    cluster_.RunFor(absl::Minutes(3));
    EXPECT_EQ(ResourcesOf(cluster_.Our(kRoles)), StrCat("pods ", next, " "));
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
  }
}

TEST_F(ObstaclesTest, RolesThatTakeLongDoNotDelayAnotherTemplatesRevocation) {
  Begin(R"("namespaces": ["foo"])");
  cluster_.faults().Add(
      {.verb = "patch",
       .path_prefix = "/apis/rbac.authorization.k8s.io/v1/clusterroles/scope-template:slow",
       .fault = {.delay = absl::Seconds(8)}});
  std::string roles;
  for (int i = 0; i < 30; ++i) {
    StrAppend(&roles, i == 0 ? "" : ",", R"({"generateName":"slow)", i,
              R"(-","rules":[],"subjects":[{"kind":"User","name":"ann"}]})");
  }
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("slow", "[" + roles + "]")), 201);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("slow", R"("namespaces": ["foo"])", "slow")),
            201);
  EXPECT_EQ(
      cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kEmptyRoles, "}}")),
      200);
  cluster_.RunFor(absl::Minutes(10));
  // The resourceVersions show the order of writes. Times do not, because time advances while a
  // reconcile waits.
  int64_t emptied = 0;
  std::vector<int64_t> made;
  for (const Json::Value& role : cluster_.Ours(kRoles)) {
    int64_t version = 0;
    ASSERT_TRUE(absl::SimpleAtoi(role["metadata"]["resourceVersion"].asString(), &version));
    if (NameOf(role).starts_with("scope-template:slow")) {
      made.push_back(version);
    } else {
      EXPECT_THAT(role["rules"], IsEmpty());
      emptied = version;
    }
  }
  EXPECT_EQ(made.size(), 30u);
  EXPECT_LE(std::ranges::count_if(made, [&](int64_t version) { return version < emptied; }), 2)
      << "it has a worker of its own";
}

}  // namespace
}  // namespace mandate::scope
