// Objects for tests, written as the JSON that users and servers write.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "controllers/scope/kinds.h"
#include "manager/core/strings.h"
#include "manager/object/json_codec.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate::scope {

template <class T>
T FromJsonOrDie(std::string_view json) {
  T object;
  const absl::Status status = FromJson(json, object, {.strict = true});
  EXPECT_TRUE(status.ok()) << status << "\n" << json;
  return object;
}

// The document's template: pods and services for a service account. Its UID is "template-uid".
inline operatorsv1alpha1::ScopeTemplate DocumentTemplate() {
  return FromJsonOrDie<operatorsv1alpha1::ScopeTemplate>(R"({
    "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ScopeTemplate",
    "metadata": {"name": "foo", "uid": "template-uid", "generation": 1},
    "spec": {"clusterRoles": [{
      "generateName": "fooClusterRole-",
      "rules": [{"apiGroups": [""], "resources": ["pods", "services"],
                 "verbs": ["get", "list", "create", "update", "delete", "patch", "watch"]}],
      "bindingTemplate": {"subjects": [
        {"kind": "ServiceAccount", "name": "foo-service-account", "namespace": "operators"}]}}]}})");
}

// The document's instance; its UID is "instance-uid". `spec` is the rest of the spec's members.
inline operatorsv1alpha1::ScopeInstance DocumentInstance(std::string_view spec = "") {
  return FromJsonOrDie<operatorsv1alpha1::ScopeInstance>(
      StrCat(R"({"metadata": {"name": "foo", "uid": "instance-uid", "generation": 1},
                 "spec": {"scopeTemplateName": "foo")",
             spec.empty() ? "" : ", ", spec, "}}"));
}

inline corev1::Namespace NamespaceObject(std::string_view name, std::string_view label = "") {
  return FromJsonOrDie<corev1::Namespace>(
      StrCat(R"({"metadata": {"name": ")", name, R"(", "labels": {)",
             label.empty() ? "" : StrCat("\"", label, R"(": "barValue")"), "}}}"));
}

}  // namespace mandate::scope
