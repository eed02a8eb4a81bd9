#include "manager/cache/testing/widget_objects.h"

#include <utility>

#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr const char* kNamespaces[] = {"foo", "bar", "baz"};

std::string Definition() {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"widgets.example.com"},
    "spec":{"group":"example.com","scope":"Namespaced",
      "names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
      "versions":[{"name":"v1","served":true,"storage":true,
        "schema":{"openAPIV3Schema":{"type":"object"}}}]},
    "status":{"storedVersions":["v1"],"conditions":[{"type":"Established","status":"True"}]}})";
}

std::string Role() {
  return R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
    "metadata":{"name":"widget-reader"},
    "rules":[{"apiGroups":["example.com"],"resources":["widgets"],"verbs":["list","watch"]}]})";
}

std::string Binding(std::string_view ns) {
  return StrCat(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":")",
                ns.empty() ? "Cluster" : "", R"(RoleBinding","metadata":{"name":"widget-reader")",
                ns.empty() ? "" : StrCat(R"(,"namespace":")", ns, "\""),
                R"(},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",)",
                R"("name":"widget-reader"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io",)",
                R"("kind":"Group","name":")", WidgetReadersOf(ns), R"("}]})");
}

// A ClusterRole for all objects of a resource and its binding to the group of `where`.
std::vector<std::string> ClusterReader(std::string_view where, std::string_view group,
                                       std::string_view resource, std::string_view verbs) {
  const std::string name = StrCat("cluster-reader-", where);
  return {StrCat(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",)",
                 R"("metadata":{"name":")", name, R"("},"rules":[{"apiGroups":[")", group,
                 R"("],"resources":[")", resource, R"("],"verbs":[)", verbs, "]}]}"),
          StrCat(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding",)",
                 R"("metadata":{"name":")", name, R"("},"roleRef":{"name":")", name,
                 R"(","apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole"},"subjects":[)",
                 R"({"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":")",
                 WidgetReadersOf(where), R"("}]})")};
}

// A Role for one object and its binding, both named after the object.
std::vector<std::string> RoleAndBinding(const ObjectKey& key) {
  const std::string meta =
      StrCat(R"("metadata":{"name":"widget-)", key.name, R"(","namespace":")", key.ns, R"("})");
  return {StrCat(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role",)", meta,
                 R"(,"rules":[{"apiGroups":["example.com"],"resources":["widgets"],)",
                 R"("resourceNames":[")", key.name, R"("],"verbs":["list","watch"]}]})"),
          StrCat(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding",)", meta,
                 R"(,"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role",)",
                 R"("name":"widget-)", key.name,
                 R"("},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group",)",
                 R"("name":")", WidgetReadersOf(key.ToString()), R"("}]})")};
}

}  // namespace

std::string WidgetReadersOf(std::string_view where) {
  return where.empty() ? "readers" : StrCat("readers-", where);
}

ObjectKey KeyOfText(const std::string& key) {
  const size_t slash = key.find('/');
  return {key.substr(0, slash), key.substr(slash + 1)};
}

std::vector<std::string> WidgetObjects(const std::vector<std::string>& keys) {
  std::vector<std::string> objects = {Definition(), Role(), Binding("")};
  const auto add = [&](std::vector<std::string> added) {
    for (std::string& object : added) objects.push_back(std::move(object));
  };
  add(ClusterReader(kNamespaceObjects, "", "namespaces", R"("list","watch")"));
  add(ClusterReader(kWatchAlone, "example.com", "widgets", R"("watch")"));
  for (const char* ns : kNamespaces) objects.push_back(Binding(ns));
  for (const std::string& key : keys) add(RoleAndBinding(KeyOfText(key)));
  return objects;
}

}  // namespace mandate
