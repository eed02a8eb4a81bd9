#include "testing/apiserver/access/bootstrap_policy.h"

#include <jsoncpp/json/json.h>

#include "manager/object/json.h"
#include "manager/rbac/policy.h"
#include "manager/rbac/user.h"
#include "testing/apiserver/access/json_fields.h"

namespace mandate::apiserver {
namespace {

struct DefaultRole {
  const char* name;
  std::vector<rbac::Rule> rules;
  std::vector<std::string> groups;  // the subjects of its binding; empty: no binding
};

rbac::Rule Paths(std::vector<std::string> verbs, std::vector<std::string> urls) {
  rbac::Rule rule;
  rule.verbs = std::move(verbs);
  rule.non_resource_urls = std::move(urls);
  return rule;
}

rbac::Rule Resources(std::vector<std::string> verbs, std::vector<std::string> groups,
                     std::vector<std::string> resources) {
  rbac::Rule rule;
  rule.verbs = std::move(verbs);
  rule.api_groups = std::move(groups);
  rule.resources = std::move(resources);
  return rule;
}

std::vector<DefaultRole> DefaultRoles() {
  const std::string authenticated(rbac::kAuthenticatedGroup);
  const std::string unauthenticated(rbac::kUnauthenticatedGroup);
  return {
      {"cluster-admin",
       {Resources({"*"}, {"*"}, {"*"}), Paths({"*"}, {"*"})},
       {std::string(rbac::kMastersGroup)}},
      {"system:discovery",
       {Paths({"get"}, {"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi",
                        "/openapi/*", "/readyz", "/version", "/version/"})},
       {authenticated}},
      {"system:basic-user",
       {Resources({"create"}, {"authorization.k8s.io"},
                  {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}),
        Resources({"create"}, {"authentication.k8s.io"}, {"selfsubjectreviews"})},
       {authenticated}},
      {"system:public-info-viewer",
       {Paths({"get"}, {"/healthz", "/livez", "/readyz", "/version", "/version/"})},
       {authenticated, unauthenticated}},
      {"system:service-account-issuer-discovery",
       {Paths({"get"}, {"/.well-known/openid-configuration", "/.well-known/openid-configuration/",
                        "/openid/v1/jwks", "/openid/v1/jwks/"})},
       {std::string(rbac::kServiceAccountsGroup)}},
      {"system:auth-delegator",
       {Resources({"create"}, {"authentication.k8s.io"}, {"tokenreviews"}),
        Resources({"create"}, {"authorization.k8s.io"}, {"subjectaccessreviews"})},
       {}},
  };
}

Json::Value Object(const char* kind, const char* name) {
  Json::Value object(Json::objectValue);
  object["apiVersion"] = std::string(rbac::kRbacGroup) + "/v1";
  object["kind"] = kind;
  object["metadata"]["name"] = name;
  object["metadata"]["labels"]["kubernetes.io/bootstrapping"] = "rbac-defaults";
  object["metadata"]["annotations"]["rbac.authorization.kubernetes.io/autoupdate"] = "true";
  return object;
}

Json::Value ToJson(const rbac::Rule& rule) {
  Json::Value json(Json::objectValue);
  json["verbs"] = JsonList(rule.verbs);
  if (!rule.non_resource_urls.empty()) {
    json["nonResourceURLs"] = JsonList(rule.non_resource_urls);
  } else {
    json["apiGroups"] = JsonList(rule.api_groups);
    json["resources"] = JsonList(rule.resources);
  }
  return json;
}

}  // namespace

std::vector<std::string> BootstrapPolicy() {
  std::vector<std::string> objects;
  for (const DefaultRole& role : DefaultRoles()) {
    Json::Value cluster_role = Object("ClusterRole", role.name);
    for (const rbac::Rule& rule : role.rules) cluster_role["rules"].append(ToJson(rule));
    objects.push_back(WriteJson(cluster_role));
    if (role.groups.empty()) continue;
    Json::Value binding = Object("ClusterRoleBinding", role.name);
    binding["roleRef"]["apiGroup"] = rbac::kRbacGroup;
    binding["roleRef"]["kind"] = "ClusterRole";
    binding["roleRef"]["name"] = role.name;
    for (const std::string& group : role.groups) {
      Json::Value subject(Json::objectValue);
      subject["apiGroup"] = rbac::kRbacGroup;
      subject["kind"] = "Group";
      subject["name"] = group;
      binding["subjects"].append(subject);
    }
    objects.push_back(WriteJson(binding));
  }
  return objects;
}

}  // namespace mandate::apiserver
