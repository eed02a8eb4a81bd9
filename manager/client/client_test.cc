#include "manager/client/client.h"

#include <gmock/gmock.h>

#include "api/operators/v1alpha1/scope.pb.h"
#include "manager/client/testing/typed_client_fixture.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {

// Stands for any custom resource.
using operators::v1alpha1::ScopeTemplate;
template <>
struct KindOf<ScopeTemplate> {
  static constexpr KindInfo value = {.group = "operators.coreos.com",
                                     .version = "v1alpha1",
                                     .kind = "ScopeTemplate",
                                     .plural = "scopetemplates",
                                     .scope = Scope::kCluster,
                                     .encoding = Encoding::kJson};
};

namespace {

using rbacv1::ClusterRole;
using rbacv1::RoleBinding;
using ::testing::HasSubstr;

const ObjectKey kKey = {"foo", "bar"};

TEST_F(ClientTest, RejectsAnotherComponentsRestClient) {
  static constexpr rbac::Mandate kOther = {.component = "other", .rules = kEverythingRules};
  const absl::Status status = Client<kOther>::Create(client()).status();
  EXPECT_EQ(status.message(), "the client of component other cannot send as scope");
}

TEST_F(ClientTest, GetsBuiltInsAsProtobufWithUnknownFields) {
  RoleBinding stored = Binding();
  stored.mutable_metadata()->set_resourceversion("7");
  stored.GetReflection()->MutableUnknownFields(&stored)->AddLengthDelimited(4000,
                                                                            "from the future");
  server = [&](const HttpRequest&) { return Protobuf(stored); };
  absl::StatusOr<RoleBinding> got = typed.Get<RoleBinding>({}, kKey);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(Last().method, "GET");
  EXPECT_EQ(Last().target, StrCat(kBindings, "/bar"));
  EXPECT_EQ(Last().accept, "application/vnd.kubernetes.protobuf,application/json");
  got->mutable_roleref()->set_name("edit");
  ASSERT_TRUE(typed.Update(CallContext(), *got).ok());
  EXPECT_EQ(Last().method, "PUT");
  EXPECT_EQ(Last().target, StrCat(kBindings, "/bar?fieldManager=scope"));
  EXPECT_EQ(Last().content_type, kProtobuf);
  const auto sent = DecodeObject<RoleBinding>(Last().body, Encoding::kProtobuf);
  EXPECT_EQ(sent->roleref().name(), "edit");
  EXPECT_EQ(sent->metadata().resourceversion(), "7");
  EXPECT_EQ(sent->GetReflection()->GetUnknownFields(*sent).field_count(), 1);
}

TEST_F(ClientTest, ReadsJsonWhereTheServerHasNoProtobuf) {
  server = [&](const HttpRequest&) {
    return FakeReply::Json(200, R"({"metadata":{"name":"bar","namespace":"foo"}})");
  };
  EXPECT_EQ(typed.Get<RoleBinding>({}, kKey)->metadata().name(), "bar");
}

TEST_F(ClientTest, GetsCustomResourcesAsJson) {
  server = [&](const HttpRequest&) {
    return FakeReply::Json(200, R"({"metadata":{"name":"t"},"spec":{"clusterRoles":[]}})");
  };
  ASSERT_TRUE(typed.Get<ScopeTemplate>({}, {"", "t"}).ok());
  EXPECT_EQ(Last().target, "/apis/operators.coreos.com/v1alpha1/scopetemplates/t");
  EXPECT_EQ(Last().accept, "application/json");
}

TEST_F(ClientTest, ErrorsCarryTheServersStatus) {
  server = [&](const HttpRequest&) {
    return FakeReply::Json(409, R"({"kind":"Status","reason":"AlreadyExists","code":409,)"
                                R"("message":"rolebindings \"bar\" already exists"})");
  };
  const auto created = typed.Create(CallContext(), Binding());
  EXPECT_TRUE(IsAlreadyExists(created.status())) << created.status();
}

TEST_F(ClientTest, AnInvalidAnswerIsAnErrorThatNamesTheRequest) {
  server = [&](const HttpRequest&) { return FakeReply::Json(200, "<html>"); };
  const auto got = typed.Get<RoleBinding>({}, kKey);
  EXPECT_EQ(got.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(got.status().message()), HasSubstr(StrCat("GET ", kBindings, "/bar")));
}

TEST_F(ClientTest, RejectsIncompleteKeys) {
  const ObjectKey no_name = {"foo", ""};
  for (const absl::Status& status :
       {typed.Get<RoleBinding>({}, no_name).status(),
        typed.Get<RoleBinding>({}, {"", "bar"}).status(),
        typed.Delete<RoleBinding>({}, no_name).status(),
        typed.Create(CallContext(), RoleBinding()).status(),
        typed.Patch<RoleBinding>({}, no_name, MergePatch::Unconditional("{}")).status(),
        typed.Apply(CallContext(), RoleBinding()).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(fake.requests().empty());
}

TEST_F(ClientTest, Creates) {
  server = [&](const HttpRequest&) {
    RoleBinding created = Binding();
    created.mutable_metadata()->set_uid("u");
    return Protobuf(created);
  };
  const auto created = typed.Create(CallContext(), Binding());
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(created->metadata().uid(), "u");
  EXPECT_EQ(Last().method, "POST");
  EXPECT_EQ(Last().target, StrCat(kBindings, "?fieldManager=scope"));
  EXPECT_EQ(DecodeObject<RoleBinding>(Last().body, Encoding::kProtobuf)->metadata().name(), "bar");
}

TEST_F(ClientTest, AnUpdateNeedsTheVersionThatItChanges) {
  const auto updated = typed.Update(CallContext(), Binding());
  EXPECT_EQ(updated.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(updated.status().message()), HasSubstr("foo/bar has no resourceVersion"));
  EXPECT_TRUE(fake.requests().empty());
}

TEST_F(ClientTest, PatchesAreJsonWithTheirOwnTypes) {
  server = [&](const HttpRequest&) { return Protobuf(Binding()); };
  ASSERT_TRUE(typed.Patch<RoleBinding>({}, kKey, MergePatch::Unconditional(R"({"a":1})")).ok());
  EXPECT_EQ(Last().method, "PATCH");
  EXPECT_EQ(Last().target, StrCat(kBindings, "/bar?fieldManager=scope"));
  EXPECT_EQ(Last().content_type, "application/merge-patch+json");
  EXPECT_EQ(Last().body, R"({"a":1})");
  ASSERT_TRUE(typed.PatchStatus<RoleBinding>({}, kKey, JsonPatch::Unconditional("[]")).ok());
  EXPECT_EQ(Last().target, StrCat(kBindings, "/bar/status?fieldManager=scope"));
  EXPECT_EQ(Last().content_type, "application/json-patch+json");
}

TEST_F(ClientTest, AppliesAsTheComponentByForceAndMayRepeatIt) {
  int left = 2;
  server = [&](const HttpRequest&) {
    return left-- > 0 ? FakeReply::Error(absl::UnavailableError("reset")) : Protobuf(Binding());
  };
  ASSERT_TRUE(typed.Apply(CallContext(), Binding()).ok());
  EXPECT_EQ(Sent(), 3u);
  EXPECT_EQ(Last().method, "PATCH");
  EXPECT_EQ(Last().target, StrCat(kBindings, "/bar?fieldManager=scope&force=true"));
  EXPECT_EQ(Last().content_type, "application/apply-patch+yaml");
  EXPECT_EQ(Body()["kind"].asString(), "RoleBinding");
  EXPECT_EQ(Body()["metadata"]["name"].asString(), "bar");
  ASSERT_TRUE(
      typed.Apply(CallContext(), Binding(), {.field_manager = "other", .force = false}).ok());
  EXPECT_EQ(Last().target, StrCat(kBindings, "/bar?fieldManager=other"));
}

TEST_F(ClientTest, AppliesStatusAlone) {
  server = [&](const HttpRequest&) { return FakeReply::Json(200, R"({"metadata":{"name":"t"}})"); };
  ScopeTemplate object;
  object.mutable_metadata()->set_name("t");
  object.mutable_spec();
  object.mutable_status();
  ASSERT_TRUE(typed.ApplyStatus(CallContext(), object).ok());
  EXPECT_EQ(Last().target,
            "/apis/operators.coreos.com/v1alpha1/scopetemplates/t/status"
            "?fieldManager=scope&force=true");
  EXPECT_FALSE(Body().isMember("spec"));
  EXPECT_TRUE(Body().isMember("status"));
}

TEST_F(ClientTest, DeletesWithPreconditions) {
  server = [&](const HttpRequest&) { return FakeReply::Json(200, R"({"kind":"Status"})"); };
  ASSERT_TRUE(typed.Delete<RoleBinding>({}, kKey).ok());
  EXPECT_EQ(Last().method, "DELETE");
  EXPECT_EQ(Last().target, StrCat(kBindings, "/bar"));
  EXPECT_EQ(Last().body,
            R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"})");
  ASSERT_TRUE(typed
                  .Delete<RoleBinding>({}, kKey,
                                       {.uid = "u",
                                        .resource_version = "7",
                                        .propagation = DeletionPropagation::kForeground})
                  .ok());
  EXPECT_EQ(
      Last().body,
      R"({"apiVersion":"v1","kind":"DeleteOptions",)"
      R"("preconditions":{"resourceVersion":"7","uid":"u"},"propagationPolicy":"Foreground"})");
  ASSERT_TRUE(typed.Delete<RoleBinding>({}, kKey, {.uid = "u"}).ok());
  EXPECT_EQ(Body()["preconditions"], *ParseJson(R"({"uid":"u"})"));
  ASSERT_TRUE(typed.Delete<RoleBinding>({}, kKey, {.resource_version = "7"}).ok());
  EXPECT_EQ(Body()["preconditions"], *ParseJson(R"({"resourceVersion":"7"})"));
}

TEST_F(ClientTest, ADeletionTellsWhetherTheObjectIsGone) {
  const struct {
    const char* answer;
    DeleteResult outcome;
  } kRows[] = {
      {R"({"kind":"Status","metadata":{},"status":"Success","details":{"uid":"u"}})",
       DeleteResult::kGone},
      {R"({"kind":"Status","status":"Success"})", DeleteResult::kGone},
      {R"({"kind":"RoleBinding","metadata":{"uid":"u","resourceVersion":"7",)"
       R"("deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["a/b"]}})",
       DeleteResult::kPending},
      {R"({"kind":"Service","metadata":{"uid":"u","resourceVersion":"7"}})", DeleteResult::kGone},
      {R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})", DeleteResult::kPending},
      {R"({"kind":5,"details":[1],"metadata":{"resourceVersion":7}})", DeleteResult::kPending},
      {"{}", DeleteResult::kPending},
      {"gone!", DeleteResult::kPending},
  };
  for (const auto& row : kRows) {
    server = [&](const HttpRequest&) { return FakeReply::Json(200, row.answer); };
    const auto deleted = typed.Delete<RoleBinding>({}, kKey);
    ASSERT_TRUE(deleted.ok()) << deleted.status();
    EXPECT_EQ(*deleted, row.outcome) << row.answer;
  }
}

TEST_F(ClientTest, ADeleteIsRepeatedOnlyIfItsUidSaysWhichObject) {
  server = [&](const HttpRequest&) { return FakeReply::Error(absl::UnavailableError("reset")); };
  EXPECT_FALSE(typed.Delete<RoleBinding>({}, kKey).ok());
  EXPECT_EQ(Sent(), 1u);
  EXPECT_FALSE(typed.Delete<RoleBinding>({}, kKey, {.uid = "u"}).ok());
  EXPECT_EQ(Sent(), 6u);
}

// Whether the typed calls exist, without compiling a call.
constexpr std::string_view kGroup[] = {"rbac.authorization.k8s.io"};
constexpr std::string_view kBindingsOnly[] = {"rolebindings"};
constexpr std::string_view kRolesOnly[] = {"clusterroles"};
constexpr std::string_view kGetPatch[] = {"get", "patch"};
constexpr std::string_view kCrdGroup[] = {"operators.coreos.com"};
constexpr std::string_view kTemplates[] = {"scopetemplates", "scopetemplates/status"};
constexpr rbac::MandateRule kLimitedRules[] = {
    {.rule = {.verbs = kGetPatch, .api_groups = kGroup, .resources = kBindingsOnly}},
    {.rule = {.verbs = kEverything, .api_groups = kGroup, .resources = kRolesOnly}},
    {.rule = {.verbs = kEverything, .api_groups = kCrdGroup, .resources = kTemplates}},
};
constexpr rbac::Mandate kLimited = {.component = "scope", .rules = kLimitedRules};
using Limited = Client<kLimited>;

template <class C, class T>
concept CanGet = requires(C c, CallContext x, ObjectKey k) {
  c.template Get<T>(x, k);
};
template <class C, class T>
concept CanList = requires(C c, CallContext x) {
  c.template List<T>(x);
};
template <class C, class T>
concept CanUpdate = requires(C c, CallContext x, T t) {
  c.Update(x, t);
};
template <class C, class T>
concept CanUpdateStatus = requires(C c, CallContext x, T t) {
  c.UpdateStatus(x, t);
};
template <class C, class T>
concept CanApply = requires(C c, CallContext x, T t) {
  c.Apply(x, t);
};
template <class C, class T>
concept CanApplyStatus = requires(C c, CallContext x, T t) {
  c.ApplyStatus(x, t);
};
template <class C, class T>
concept CanPatch = requires(C c, CallContext x, ObjectKey k) {
  c.template Patch<T>(x, k, MergePatch::Unconditional("{}"));
};
template <class C, class T>
concept CanDelete = requires(C c, CallContext x, ObjectKey k) {
  c.template Delete<T>(x, k);
};

static_assert(CanGet<Limited, RoleBinding> && CanPatch<Limited, RoleBinding>);
static_assert(!CanList<Limited, RoleBinding> && !CanDelete<Limited, RoleBinding>);
static_assert(!CanApply<Limited, RoleBinding>, "an apply may create");
static_assert(!CanUpdate<Limited, RoleBinding>);
static_assert(!CanGet<Limited, rbacv1::Role>);
static_assert(CanUpdate<Limited, ClusterRole> && CanApply<Limited, ClusterRole> &&
              CanDelete<Limited, ClusterRole> && CanList<Limited, ClusterRole>);
static_assert(!CanUpdateStatus<Limited, ClusterRole>, "no rule names clusterroles/status");
static_assert(CanApply<Limited, ScopeTemplate> && CanApplyStatus<Limited, ScopeTemplate>);
static_assert(!CanUpdate<Limited, ScopeTemplate> && !CanUpdateStatus<Limited, ScopeTemplate>,
              "an object decoded from JSON is never sent back whole");

}  // namespace
}  // namespace mandate
