// Templates, instances and namespaces for tests, as users write them.
#pragma once

#include <jsoncpp/json/json.h>

#include <string>
#include <string_view>

#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::scope {

// An element of spec.clusterRoles: the document's role, pods and services for a service account.
inline constexpr std::string_view kDocumentRoles = R"([{"generateName": "fooClusterRole-",
    "rules": [{"apiGroups": [""], "resources": ["pods", "services"], "verbs": ["get", "list"]}],
    "bindingTemplate": {"subjects": [{"kind": "ServiceAccount", "name": "foo-service-account",
                                      "namespace": "operators"}]}}])";
inline constexpr std::string_view kEmptyRoles = R"([{"generateName": "fooClusterRole-",
    "rules": [],
    "bindingTemplate": {"subjects": [{"kind": "ServiceAccount", "name": "foo-service-account",
                                      "namespace": "operators"}]}}])";
inline constexpr std::string_view kDocumentRoleAndView2 = R"([{"generateName": "fooClusterRole-",
    "rules": [{"apiGroups": [""], "resources": ["pods", "services"], "verbs": ["get", "list"]}],
    "bindingTemplate": {"subjects": [{"kind": "ServiceAccount", "name": "foo-service-account",
                                      "namespace": "operators"}]}},
    {"generateName": "view-2", "rules": [], "subjects": [{"kind": "User", "name": "ann"}]}])";
inline constexpr std::string_view kAnn = R"([{"generateName": "reader-",
    "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    "subjects": [{"kind": "User", "name": "ann"}]}])";
inline constexpr std::string_view kAnnAndEve = R"([{"generateName": "reader-",
    "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    "subjects": [{"kind": "User", "name": "ann"}, {"kind": "User", "name": "eve"}]}])";
inline constexpr std::string_view kWithoutDash = R"([{"generateName": "cert-manager-controller",
    "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    "subjects": [{"kind": "User", "name": "ann"}]}])";
inline constexpr std::string_view kNodes = R"([{"generateName": "reader-",
    "rules": [{"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["get"]}],
    "subjects": [{"kind": "User", "name": "ann"}]}])";

inline constexpr std::string_view kNodesAndMore = R"([{"generateName": "reader-",
    "rules": [{"apiGroups": [""], "resources": ["nodes", "persistentvolumes"], "verbs": ["get"]}],
    "subjects": [{"kind": "User", "name": "ann"}]}])";

// A patch of a ClusterRole.
inline constexpr char kEverything[] =
    R"({"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]})";

// The options of `kubectl delete --cascade=orphan`.
inline constexpr char kOrphaning[] =
    R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Orphan"})";

inline Json::Value TemplateJson(std::string_view name, std::string_view roles) {
  return ParseJson(StrCat(R"({"apiVersion": "operators.coreos.com/v1alpha1",
                              "kind": "ScopeTemplate", "metadata": {"name": ")",
                          name, R"("}, "spec": {"clusterRoles": )", roles, "}}"))
      .value();
}

// An instance of the template "foo"; `spec` has the other members of its spec.
inline Json::Value InstanceJson(std::string_view name, std::string_view spec,
                                std::string_view scope_template = "foo") {
  return ParseJson(StrCat(R"({"apiVersion": "operators.coreos.com/v1alpha1",
                              "kind": "ScopeInstance", "metadata": {"name": ")",
                          name, R"("}, "spec": {"scopeTemplateName": ")", scope_template, "\"",
                          spec.empty() ? "" : ", ", spec, "}}"))
      .value();
}

// `labels` like "a": "b".
inline Json::Value NamespaceJson(std::string_view name, std::string_view labels = "") {
  return ParseJson(StrCat(R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ")",
                          name, R"(", "labels": {)", labels, "}}}"))
      .value();
}

inline std::string NameOf(const Json::Value& object) {
  return object["metadata"]["name"].asString();
}

// "ann eve".
inline std::string SubjectNames(const Json::Value& binding) {
  std::string names;
  for (const Json::Value& subject : binding["subjects"]) {
    StrAppend(&names, names.empty() ? "" : " ", subject["name"].asString());
  }
  return names;
}

}  // namespace mandate::scope
