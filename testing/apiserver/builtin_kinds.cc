#include "testing/apiserver/builtin_kinds.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "absl/strings/str_split.h"
#include "k8s.io/api/admissionregistration/v1/generated.pb.h"
#include "k8s.io/api/apps/v1/generated.pb.h"
#include "k8s.io/api/authentication/v1/generated.pb.h"
#include "k8s.io/api/authorization/v1/generated.pb.h"
#include "k8s.io/api/autoscaling/v2/generated.pb.h"
#include "k8s.io/api/batch/v1/generated.pb.h"
#include "k8s.io/api/certificates/v1/generated.pb.h"
#include "k8s.io/api/coordination/v1/generated.pb.h"
#include "k8s.io/api/core/v1/generated.pb.h"
#include "k8s.io/api/discovery/v1/generated.pb.h"
#include "k8s.io/api/events/v1/generated.pb.h"
#include "k8s.io/api/flowcontrol/v1/generated.pb.h"
#include "k8s.io/api/networking/v1/generated.pb.h"
#include "k8s.io/api/node/v1/generated.pb.h"
#include "k8s.io/api/policy/v1/generated.pb.h"
#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "k8s.io/api/resource/v1/generated.pb.h"
#include "k8s.io/api/scheduling/v1/generated.pb.h"
#include "k8s.io/api/storage/v1/generated.pb.h"
#include "manager/core/strings.h"
#include "testing/apiserver/discovered_kinds.h"

namespace mandate::apiserver {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FileDescriptor;
namespace api = k8s::io::api;

// Of the messages. A kind of another version is not served.
std::vector<const FileDescriptor*> Files() {
  return {
      api::admissionregistration::v1::ValidatingWebhookConfiguration::descriptor()->file(),
      api::apps::v1::Deployment::descriptor()->file(),
      // These two store no objects; virtual resources find their messages by name.
      api::authentication::v1::TokenReview::descriptor()->file(),
      api::authorization::v1::SubjectAccessReview::descriptor()->file(),
      api::autoscaling::v2::HorizontalPodAutoscaler::descriptor()->file(),
      api::batch::v1::Job::descriptor()->file(),
      api::certificates::v1::CertificateSigningRequest::descriptor()->file(),
      api::coordination::v1::Lease::descriptor()->file(),
      api::core::v1::Namespace::descriptor()->file(),
      api::discovery::v1::EndpointSlice::descriptor()->file(),
      api::events::v1::Event::descriptor()->file(),
      api::flowcontrol::v1::FlowSchema::descriptor()->file(),
      api::networking::v1::Ingress::descriptor()->file(),
      api::node::v1::RuntimeClass::descriptor()->file(),
      api::policy::v1::PodDisruptionBudget::descriptor()->file(),
      api::rbac::v1::Role::descriptor()->file(),
      api::resource::v1::ResourceClaim::descriptor()->file(),
      api::scheduling::v1::PriorityClass::descriptor()->file(),
      api::storage::v1::StorageClass::descriptor()->file(),
  };
}

// "rbac.authorization.k8s.io" has the package k8s.io.api.rbac.v1.
std::string PackageOf(const DiscoveredKind& kind) {
  const std::string_view group = kind.group.empty() ? "core" : kind.group;
  return StrCat("k8s.io.api.", group.substr(0, group.find('.')), ".", kind.version);
}

template <size_t N>
bool Has(const std::array<std::string_view, N>& kinds, std::string_view kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

constexpr std::array<std::string_view, 21> kWithGeneration = {"CronJob",
                                                              "DaemonSet",
                                                              "Deployment",
                                                              "DeviceClass",
                                                              "EndpointSlice",
                                                              "FlowSchema",
                                                              "Ingress",
                                                              "IngressClass",
                                                              "Job",
                                                              "MutatingWebhookConfiguration",
                                                              "NetworkPolicy",
                                                              "Pod",
                                                              "PodDisruptionBudget",
                                                              "PriorityClass",
                                                              "PriorityLevelConfiguration",
                                                              "ReplicaSet",
                                                              "ReplicationController",
                                                              "ResourceSlice",
                                                              "StatefulSet",
                                                              "ValidatingAdmissionPolicy",
                                                              "ValidatingWebhookConfiguration"};

constexpr std::array<std::string_view, 17> kReturningDeleted = {"CSIDriver",
                                                                "CSINode",
                                                                "DeviceClass",
                                                                "PersistentVolume",
                                                                "PersistentVolumeClaim",
                                                                "Pod",
                                                                "PodTemplate",
                                                                "ReplicationController",
                                                                "ResourceClaim",
                                                                "ResourceClaimTemplate",
                                                                "ResourceQuota",
                                                                "ResourceSlice",
                                                                "Service",
                                                                "ServiceAccount",
                                                                "StorageClass",
                                                                "VolumeAttachment",
                                                                "VolumeAttributesClass"};

std::shared_ptr<const ResourceType> TypeOf(const DiscoveredKind& kind, const Descriptor& message) {
  auto type = std::make_shared<ResourceType>();
  type->name = {std::string(kind.group), std::string(kind.plural)};
  type->version = kind.version;
  type->kind = kind.kind;
  type->list_kind = type->kind + "List";
  type->singular = kind.singular;
  type->short_names = absl::StrSplit(AsAbsl(kind.short_names), ',', absl::SkipEmpty());
  type->categories = absl::StrSplit(AsAbsl(kind.categories), ',', absl::SkipEmpty());
  type->namespaced = kind.namespaced;
  type->has_status = kind.has_status;
  type->has_generation = Has(kWithGeneration, type->kind);
  type->returns_deleted = Has(kReturningDeleted, type->kind);
  type->message = &message;
  return type;
}

}  // namespace

std::vector<std::shared_ptr<const ResourceType>> BuiltinKinds() {
  std::vector<std::shared_ptr<const ResourceType>> types;
  for (const FileDescriptor* file : Files()) {
    for (const DiscoveredKind& kind : kDiscoveredKinds) {
      if (PackageOf(kind) != file->package()) continue;
      const Descriptor* message = file->FindMessageTypeByName(std::string(kind.kind));
      if (message != nullptr) types.push_back(TypeOf(kind, *message));
    }
  }
  return types;
}

}  // namespace mandate::apiserver
