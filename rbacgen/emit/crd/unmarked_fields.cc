#include "rbacgen/emit/crd/unmarked_fields.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

// The fields, as "Message.field", by package without its version.
using Fields = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

const Fields& OptionalFields() {
  static const Fields& fields = *new Fields{
      {"k8s.io.api.admissionregistration",
       {
           "ApplyConfiguration.expression",
           "JSONPatch.expression",
           "MutatingAdmissionPolicy.spec",
           "MutatingAdmissionPolicyBinding.spec",
           "MutatingAdmissionPolicyBindingSpec.policyName",
           "MutatingAdmissionPolicySpec.matchConstraints",
           "MutatingAdmissionPolicySpec.reinvocationPolicy",
           "MutatingWebhook.rules",
           "Mutation.applyConfiguration",
           "Mutation.jsonPatch",
           "ParamKind.apiVersion",
           "ParamKind.kind",
           "ParamRef.name",
           "ParamRef.parameterNotFoundAction",
           "Rule.apiGroups",
           "Rule.apiVersions",
           "Rule.resources",
           "RuleWithOperations.operations",
           "ValidatingAdmissionPolicy.spec",
           "ValidatingAdmissionPolicySpec.matchConstraints",
           "ValidatingWebhook.rules",
       }},
      {"k8s.io.api.apidiscovery",
       {
           "APIGroupDiscovery.versions",
           "APIResourceDiscovery.categories",
           "APIResourceDiscovery.responseKind",
           "APIResourceDiscovery.shortNames",
           "APIResourceDiscovery.subresources",
           "APISubresourceDiscovery.acceptedTypes",
           "APISubresourceDiscovery.responseKind",
           "APIVersionDiscovery.freshness",
           "APIVersionDiscovery.resources",
       }},
      {"k8s.io.api.apps",
       {
           "ControllerRevision.data",
           "DeploymentCondition.lastTransitionTime",
           "DeploymentCondition.lastUpdateTime",
           "DeploymentCondition.message",
           "DeploymentCondition.reason",
           "DeploymentSpec.progressDeadlineSeconds",
           "DeploymentStatus.conditions",
           "RollingUpdateStatefulSetStrategy.partition",
           "StatefulSetPersistentVolumeClaimRetentionPolicy.whenDeleted",
           "StatefulSetPersistentVolumeClaimRetentionPolicy.whenScaled",
           "StatefulSetSpec.revisionHistoryLimit",
           "StatefulSetSpec.updateStrategy",
           "StatefulSetStatus.currentReplicas",
           "StatefulSetStatus.currentRevision",
           "StatefulSetStatus.readyReplicas",
           "StatefulSetStatus.updateRevision",
           "StatefulSetStatus.updatedReplicas",
           "StatefulSetUpdateStrategy.rollingUpdate",
           "StatefulSetUpdateStrategy.type",
       }},
      {"k8s.io.api.authorization",
       {
           "SelfSubjectRulesReviewSpec.namespace",
       }},
      {"k8s.io.api.batch",
       {
           "JobStatus.ready",
       }},
      {"k8s.io.api.certificates",
       {
           "CertificateSigningRequestSpec.usages",
           "PodCertificateRequestSpec.unverifiedUserAnnotations",
       }},
      {"k8s.io.api.core",
       {
           "AzureDiskVolumeSource.kind",
           "EphemeralContainerCommon.image",
           "EphemeralVolumeSource.volumeClaimTemplate",
           "EventSeries.count",
           "EventSeries.lastObservedTime",
           "HostAlias.hostnames",
           "ModifyVolumeStatus.targetVolumeAttributesClassName",
           "NodeConfigSource.configMap",
           "NodeSystemInfo.swap",
           "PersistentVolumeSource.photonPersistentDisk",
           "PhotonPersistentDiskVolumeSource.fsType",
           "PodCertificateProjection.userAnnotations",
           "PodDNSConfigOption.name",
           "PodResourceClaim.resourceClaimName",
           "PodResourceClaim.resourceClaimTemplateName",
           "PodSpec.initContainers",
           "PodStatus.initContainerStatuses",
           "PortworxVolumeSource.fsType",
           "ResourceHealth.health",
           "ResourceStatus.resources",
           "ScaleIOPersistentVolumeSource.volumeName",
           "ScaleIOVolumeSource.volumeName",
           "ServiceSpec.ports",
           "StorageOSPersistentVolumeSource.volumeName",
           "StorageOSVolumeSource.volumeName",
           "VolumeNodeAffinity.required",
           "VolumeSource.photonPersistentDisk",
           "VolumeSource.projected",
       }},
      {"k8s.io.api.discovery",
       {
           "Endpoint.conditions",
           "EndpointHints.forNodes",
           "EndpointHints.forZones",
           "EndpointPort.name",
           "EndpointPort.port",
           "EndpointPort.protocol",
       }},
      {"k8s.io.api.events",
       {
           "Event.action",
           "Event.reason",
           "Event.reportingController",
           "Event.reportingInstance",
           "Event.type",
       }},
      {"k8s.io.api.extensions",
       {
           "DeploymentCondition.lastTransitionTime",
           "DeploymentCondition.lastUpdateTime",
           "DeploymentCondition.message",
           "DeploymentCondition.reason",
           "DeploymentStatus.conditions",
           "HTTPIngressPath.pathType",
           "IngressRuleValue.http",
       }},
      {"k8s.io.api.flowcontrol",
       {
           "FlowSchemaCondition.lastTransitionTime",
           "FlowSchemaCondition.message",
           "FlowSchemaCondition.reason",
           "FlowSchemaCondition.status",
           "FlowSchemaCondition.type",
           "LimitedPriorityLevelConfiguration.limitResponse",
           "PriorityLevelConfigurationCondition.lastTransitionTime",
           "PriorityLevelConfigurationCondition.message",
           "PriorityLevelConfigurationCondition.reason",
           "PriorityLevelConfigurationCondition.status",
           "PriorityLevelConfigurationCondition.type",
       }},
      {"k8s.io.api.networking",
       {
           "IngressClassSpec.controller",
           "IngressServiceBackend.port",
       }},
      {"k8s.io.api.storage",
       {
           "CSIDriver.metadata",
           "CSINode.metadata",
           "VolumeAttributesClass.parameters",
       }},
      {"k8s.io.api.storagemigration",
       {
           "StorageVersionMigrationStatus.resourceVersion",
       }},
      {"k8s.io.apimachinery.pkg.apis.meta",
       {
           "APIResource.categories",
           "APIResource.group",
           "APIResource.shortNames",
           "APIResource.version",
           "ListMeta.continue",
           "ListOptions.continue",
           "ListOptions.limit",
           "ManagedFieldsEntry.apiVersion",
           "ManagedFieldsEntry.fieldsType",
           "ManagedFieldsEntry.manager",
           "ManagedFieldsEntry.operation",
           "ManagedFieldsEntry.subresource",
           "TableOptions.includeObject",
       }},
  };
  return fields;
}

}  // namespace

bool IsOptionalUnmarked(const google::protobuf::FieldDescriptor& field) {
  const std::string_view package = field.file()->package();
  const auto group = OptionalFields().find(package.substr(0, package.rfind('.')));
  if (group == OptionalFields().end()) return false;
  return group->second.contains(StrCat(field.containing_type()->name(), ".", field.name()));
}

}  // namespace mandate::rbacgen
