#include "manager/object/json_names.h"

#include <functional>
#include <map>
#include <set>
#include <string>

#include "manager/core/strings.h"

namespace mandate {
namespace {

using NameMap = std::map<std::string, std::string_view, std::less<>>;
using NameSet = std::set<std::string, std::less<>>;

NameMap MakeOverrides() {
  NameMap names = {
      {"k8s.io.api.authentication.v1.BoundObjectReference.uID", "uid"},
      {"k8s.io.api.networking.v1.IngressClassParametersReference.aPIGroup", "apiGroup"},
      {"k8s.io.api.networking.v1beta1.IngressClassParametersReference.aPIGroup", "apiGroup"},
  };
  for (std::string_view version : {"v1alpha1", "v1beta1", "v1"}) {
    const std::string package = StrCat("k8s.io.api.admissionregistration.", version, ".");
    names[package + "Validation.Expression"] = "expression";
    names[package + "Variable.Name"] = "name";
    names[package + "Variable.Expression"] = "expression";
    names[package + "ValidatingWebhookConfiguration.Webhooks"] = "webhooks";
    names[package + "MutatingWebhookConfiguration.Webhooks"] = "webhooks";
  }
  return names;
}

NameSet MakeFlattened() {
  NameSet fields = {
      "k8s.io.api.core.v1.ConfigMapEnvSource.localObjectReference",
      "k8s.io.api.core.v1.ConfigMapKeySelector.localObjectReference",
      "k8s.io.api.core.v1.ConfigMapProjection.localObjectReference",
      "k8s.io.api.core.v1.ConfigMapVolumeSource.localObjectReference",
      "k8s.io.api.core.v1.EphemeralContainer.ephemeralContainerCommon",
      "k8s.io.api.core.v1.PersistentVolumeSpec.persistentVolumeSource",
      "k8s.io.api.core.v1.Probe.handler",
      "k8s.io.api.core.v1.SecretEnvSource.localObjectReference",
      "k8s.io.api.core.v1.SecretKeySelector.localObjectReference",
      "k8s.io.api.core.v1.SecretProjection.localObjectReference",
      "k8s.io.api.core.v1.Volume.volumeSource",
      "k8s.io.api.extensions.v1beta1.IngressRule.ingressRuleValue",
      "k8s.io.api.networking.v1.IngressRule.ingressRuleValue",
      "k8s.io.api.networking.v1beta1.IngressRule.ingressRuleValue",
  };
  for (std::string_view version : {"v1alpha1", "v1beta1", "v1"}) {
    const std::string package = StrCat("k8s.io.api.admissionregistration.", version, ".");
    fields.insert(package + "NamedRuleWithOperations.ruleWithOperations");
    fields.insert(package + "RuleWithOperations.rule");
  }
  for (std::string_view version : {"v1alpha3", "v1beta1", "v1beta2", "v1"}) {
    const std::string package = StrCat("k8s.io.api.resource.", version, ".");
    fields.insert(package + "DeviceClaimConfiguration.deviceConfiguration");
    fields.insert(package + "DeviceAllocationConfiguration.deviceConfiguration");
    fields.insert(package + "DeviceClassConfiguration.deviceConfiguration");
  }
  return fields;
}

}  // namespace

std::string_view JsonName(const google::protobuf::FieldDescriptor& field) {
  static const NameMap& names = *new NameMap(MakeOverrides());
  const auto found = names.find(field.full_name());
  return found == names.end() ? std::string_view(field.json_name()) : found->second;
}

bool IsFlattened(std::string_view field) {
  static const NameSet& fields = *new NameSet(MakeFlattened());
  return fields.contains(field);
}

}  // namespace mandate
