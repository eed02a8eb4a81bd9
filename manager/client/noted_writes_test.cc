// The answers to writes that are noted for reads.
#include <gtest/gtest.h>

#include "manager/client/object_client.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

using rbacv1::RoleBinding;

constexpr KindInfo kKind = KindOf<RoleBinding>::value;
const ObjectKey kKey = {"foo", "bar"};
constexpr char kObject[] =
    R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding",)"
    R"("metadata":{"namespace":"foo","name":"bar","uid":"u1","resourceVersion":"7"}})";
constexpr char kDeleted[] =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success",)"
    R"("details":{"name":"bar","kind":"rolebindings","uid":"u1"}})";

class NotedWritesTest : public testing::Test {
 protected:
  // "foo/bar@7-u1": version, UID of what is gone.
  std::string Noted() {
    std::string text;
    for (const OwnWrite& w : rest_.own_writes().Pending(kKind, "", "")) {
      StrAppend(&text, w.key.ToString(), "@", w.resource_version, "-", w.gone);
    }
    rest_.own_writes().Forget(kKind, rest_.own_writes().Pending(kKind, "", ""));
    return text;
  }
  void Answer(int code, std::string body) {
    rest_.Handle([code, body = std::move(body)](const RestRequest&) {
      return FakeRestClient::Json(code, body);
    });
  }
  static RoleBinding Binding() {
    RoleBinding binding;
    binding.mutable_metadata()->set_namespace_("foo");
    binding.mutable_metadata()->set_name("bar");
    binding.mutable_metadata()->set_resourceversion("6");
    return binding;
  }

  SimulatedLoop loop_;
  FakeRestClient rest_{loop_, "a"};
  ObjectClient client_{rest_};
};

TEST_F(NotedWritesTest, EachSuccessfulWrite) {
  RoleBinding object = Binding();
  const MergePatch patch = MergePatch::Unconditional("{}");
  const struct {
    const char* name;
    std::function<absl::Status()> call;
    bool is_write = true;
  } kCalls[] = {
      {"get", [&] { return client_.Get({}, kKind, kKey, object); }, false},
      {"create",
       [&] {
         return client_.Create({}, kKind, {"foo", ""}, object);
       }},
      {"update", [&] { return client_.Update({}, kKind, kKey, "6", "", object); }},
      {"status", [&] { return client_.Update({}, kKind, kKey, "6", "status", object); }},
      {"apply", [&] { return client_.Apply({}, kKind, kKey, "", {}, object); }},
      {"patch", [&] { return client_.PatchObject({}, kKind, kKey, "", patch, object); }},
  };
  for (const auto& call : kCalls) {
    object = Binding();
    Answer(200, kObject);
    EXPECT_TRUE(call.call().ok()) << call.name;
    EXPECT_EQ(Noted(), call.is_write ? "foo/bar@7-" : "") << call.name;
    for (const int code : {401, 403, 404, 409, 422, 500}) {
      object = Binding();
      Answer(code, R"({"kind":"Status","code":)" + std::to_string(code) + "}");
      EXPECT_FALSE(call.call().ok()) << call.name;
      EXPECT_EQ(Noted(), "") << call.name << " " << code;
    }
  }
}

TEST_F(NotedWritesTest, NoDryRun) {
  const MergePatch patch = MergePatch::Unconditional("{}");
  RoleBinding object = Binding();
  Answer(200, kObject);
  EXPECT_TRUE(client_.Create({}, kKind, {"foo", ""}, object, {.dry_run = true}).ok());
  EXPECT_TRUE(client_.Update({}, kKind, kKey, "6", "", object, {.dry_run = true}).ok());
  object = Binding();
  EXPECT_TRUE(client_.Apply({}, kKind, kKey, "", {.dry_run = true}, object).ok());
  EXPECT_TRUE(client_.PatchObject({}, kKind, kKey, "", patch, object, {.dry_run = true}).ok());
  EXPECT_EQ(*client_.Delete({}, kKind, kKey, {.uid = "u1", .dry_run = true}), DeleteResult::kGone);
  Answer(200, kDeleted);
  EXPECT_EQ(*client_.Delete({}, kKind, kKey, {.uid = "u1", .dry_run = true}), DeleteResult::kGone);
  EXPECT_EQ(Noted(), "");
}

TEST_F(NotedWritesTest, Deletions) {
  const char kConflict[] =
      R"({"kind":"Status","reason":"Conflict","code":409,"details":{"name":"bar"}})";
  const char kNotFound[] =
      R"({"kind":"Status","reason":"NotFound","code":404,"details":{"name":"bar"}})";
  const struct {
    const char* name;
    DeleteOptions options;
    int code;
    const char* answer;
    const char* noted;
  } kRows[] = {
      {"gone", {.uid = "u1"}, 200, kDeleted, "foo/bar@-u1"},
      {"gone, whichever it was", {}, 200, kDeleted, "foo/bar@-u1"},
      {"it has finalizers", {.uid = "u1"}, 200, kObject, "foo/bar@7-"},
      {"it was gone", {.uid = "u1"}, 404, kNotFound, "foo/bar@-u1"},
      {"something was gone", {}, 404, kNotFound, ""},
      {"another has its name", {.uid = "u1"}, 409, kConflict, "foo/bar@-u1"},
      {"another, or another version", {.uid = "u1", .resource_version = "6"}, 409, kConflict, ""},
      {"a webhook denied it", {.uid = "u1"}, 404, R"({"kind":"Status","reason":"NotFound"})", ""},
      {"so too", {.uid = "u1"}, 409, R"({"kind":"Status","reason":"Conflict"})", ""},
      {"forbidden", {.uid = "u1"}, 403, R"({"kind":"Status","reason":"Forbidden"})", ""},
      {"an answer that says nothing", {.uid = "u1"}, 200, R"({"kind":"Status"})", ""},
      {"no answer of Kubernetes", {}, 200, "gone!", ""},
      {"odd types", {}, 200, R"({"details":[1],"metadata":{"resourceVersion":7}})", ""},
  };
  for (const auto& row : kRows) {
    Answer(row.code, row.answer);
    (void)client_.Delete({}, kKind, kKey, row.options);
    EXPECT_EQ(Noted(), row.noted) << row.name;
  }
}

}  // namespace
}  // namespace mandate
