#include "manager/identity/anonymous.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/object/api_error.h"
#include "testing/apiserver/access/forbidden.h"

namespace mandate {
namespace {

struct Row {
  const char* what;
  std::string message;
  std::string kind = "";
  std::string group = "";
  std::string name = "";
  int code = 403;
  bool anonymous = false;
};

bool Judge(const Row& row) {
  ApiStatusProto proto;
  proto.set_status("Failure");
  proto.set_reason(row.code == 403 ? "Forbidden" : "Invalid");
  proto.set_code(row.code);
  proto.set_message(row.message);
  proto.mutable_details()->set_kind(row.kind);
  proto.mutable_details()->set_group(row.group);
  proto.mutable_details()->set_name(row.name);
  return IsAnonymous(StatusFromApi(proto));
}

TEST(IsAnonymous, OnlyTheApiServersOwn403Counts) {
  const std::string user = R"(User "system:anonymous" cannot )";
  // The first rows are what kube-apiserver 1.36.3 answered.
  const std::vector<Row> rows = {
      {"a list",
       R"(pods is forbidden: )" + user +
           R"(list resource "pods" in API group "" at the cluster scope)",
       "pods", "", "", 403, true},
      {"a subresource",
       R"(pods "a" is forbidden: )" + user +
           R"(get resource "pods/log" in API group "" in the namespace "default")",
       "pods", "", "a", 403, true},
      {"a URL", R"(forbidden: )" + user + R"(get path "/metrics")", "", "", "", 403, true},
      {"a kind with a group",
       R"(widgets.x.example.com is forbidden: )" + user +
           R"(watch resource "widgets" in API group "x.example.com" at the cluster scope)",
       "widgets", "x.example.com", "", 403, true},
      {"a name with a quote",
       R"(clusterroles.rbac.authorization.k8s.io "a\"b" is forbidden: )" + user +
           R"(patch resource "clusterroles")",
       "clusterroles", "rbac.authorization.k8s.io", R"(a"b)", 403, true},
      {"another user", R"(pods is forbidden: User "jane" cannot list resource "pods")", "pods"},
      {"a webhook whose details repeat the words before its message",
       R"(admission webhook "h.example.com" denied the request: is forbidden: )" + user + "get",
       R"(admission webhook "h.example.com" denied the request:)"},
      {"another user, whose name quotes it",
       R"(pods is forbidden: User "pods is forbidden: User \"system:anonymous\" cannot " cannot list)",
       "pods"},
      {"a policy that quotes it",
       R"(rolebindings.rbac.authorization.k8s.io "b" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: )"
       R"(subject "system:anonymous" may not be bound)",
       "rolebindings", "rbac.authorization.k8s.io", "b"},
      {"a policy that quotes the whole",
       R"(rolebindings.rbac.authorization.k8s.io "b" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: )"
       R"(b is forbidden: )" +
           user + "list",
       "rolebindings", "rbac.authorization.k8s.io", "b"},
      {"a webhook that quotes the whole",
       R"(admission webhook "w" denied the request: forbidden: )" + user + "get"},
      {"a name that quotes the whole",
       R"(configmaps "x\" is forbidden: User \"system:anonymous\" cannot " is forbidden: User "jane" cannot get)",
       "configmaps", "", R"(x" is forbidden: User "system:anonymous" cannot )"},
      {"escalation",
       R"(roles.rbac.authorization.k8s.io "r" is forbidden: user "system:anonymous" (groups=[]) is attempting to grant)",
       "roles", "rbac.authorization.k8s.io", "r"},
      {"another code", "forbidden: " + user + "get", "", "", "", 422},
  };
  for (const Row& row : rows) EXPECT_EQ(Judge(row), row.anonymous) << row.what;
}

TEST(IsAnonymous, KnowsTheMessagesOfTheEvaluator) {
  rbac::Attributes request;
  request.is_resource_request = true;
  request.verb = "get";
  request.api_group = "apps";
  request.resource = "deployments";
  request.name = "web";
  request.ns = "shop";
  const Row row{"", rbac::ForbiddenMessage("system:anonymous", request), "deployments", "apps",
                "web"};
  EXPECT_TRUE(Judge(row)) << row.message;
  request.is_resource_request = false;
  request.path = "/metrics";
  request.resource = request.api_group = request.name = "";
  EXPECT_TRUE(Judge({"", rbac::ForbiddenMessage("system:anonymous", request)}));
}

TEST(IsAnonymous, ABodyThatIsNotAStatusDoesNotCount) {
  EXPECT_FALSE(
      IsAnonymous(absl::PermissionDeniedError("forbidden: User \"system:anonymous\" cannot ")));
  EXPECT_FALSE(IsAnonymous(
      StatusFromResponse(403, "<html>forbidden: User \"system:anonymous\" cannot get</html>")));
}

}  // namespace
}  // namespace mandate
