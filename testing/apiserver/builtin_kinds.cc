#include "testing/apiserver/builtin_kinds.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "k8s.io/api/admissionregistration/v1/generated.pb.h"
#include "k8s.io/api/apps/v1/generated.pb.h"
#include "k8s.io/api/authentication/v1/generated.pb.h"
#include "k8s.io/api/authorization/v1/generated.pb.h"
#include "k8s.io/api/batch/v1/generated.pb.h"
#include "k8s.io/api/coordination/v1/generated.pb.h"
#include "k8s.io/api/core/v1/generated.pb.h"
#include "k8s.io/api/discovery/v1/generated.pb.h"
#include "k8s.io/api/events/v1/generated.pb.h"
#include "k8s.io/api/networking/v1/generated.pb.h"
#include "k8s.io/api/policy/v1/generated.pb.h"
#include "k8s.io/api/rbac/v1/generated.pb.h"

namespace mandate::apiserver {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
namespace api = k8s::io::api;

struct GroupVersion {
  std::string_view group;
  const FileDescriptor* file;
};

std::vector<GroupVersion> Groups() {
  return {
      {"", api::core::v1::Namespace::descriptor()->file()},
      {"admissionregistration.k8s.io",
       api::admissionregistration::v1::ValidatingWebhookConfiguration::descriptor()->file()},
      {"apps", api::apps::v1::Deployment::descriptor()->file()},
      // These two groups store no objects; virtual resources find their messages by name.
      {"authentication.k8s.io", api::authentication::v1::TokenReview::descriptor()->file()},
      {"authorization.k8s.io", api::authorization::v1::SubjectAccessReview::descriptor()->file()},
      {"batch", api::batch::v1::Job::descriptor()->file()},
      {"coordination.k8s.io", api::coordination::v1::Lease::descriptor()->file()},
      {"discovery.k8s.io", api::discovery::v1::EndpointSlice::descriptor()->file()},
      {"events.k8s.io", api::events::v1::Event::descriptor()->file()},
      {"networking.k8s.io", api::networking::v1::Ingress::descriptor()->file()},
      {"policy", api::policy::v1::PodDisruptionBudget::descriptor()->file()},
      {"rbac.authorization.k8s.io", api::rbac::v1::Role::descriptor()->file()},
  };
}

template <size_t N>
bool Has(const std::array<std::string_view, N>& kinds, std::string_view kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

constexpr std::array<std::string_view, 15> kClusterScoped = {"ClusterRole",
                                                             "ClusterRoleBinding",
                                                             "ComponentStatus",
                                                             "IPAddress",
                                                             "IngressClass",
                                                             "MutatingAdmissionPolicy",
                                                             "MutatingAdmissionPolicyBinding",
                                                             "MutatingWebhookConfiguration",
                                                             "Namespace",
                                                             "Node",
                                                             "PersistentVolume",
                                                             "ServiceCIDR",
                                                             "ValidatingAdmissionPolicy",
                                                             "ValidatingAdmissionPolicyBinding",
                                                             "ValidatingWebhookConfiguration"};

constexpr std::array<std::string_view, 16> kWithGeneration = {"CronJob",
                                                              "DaemonSet",
                                                              "Deployment",
                                                              "EndpointSlice",
                                                              "Ingress",
                                                              "IngressClass",
                                                              "Job",
                                                              "MutatingWebhookConfiguration",
                                                              "NetworkPolicy",
                                                              "Pod",
                                                              "PodDisruptionBudget",
                                                              "ReplicaSet",
                                                              "ReplicationController",
                                                              "StatefulSet",
                                                              "ValidatingAdmissionPolicy",
                                                              "ValidatingWebhookConfiguration"};

constexpr std::array<std::string_view, 8> kReturningDeleted = {
    "PersistentVolume",      "PersistentVolumeClaim", "Pod",     "PodTemplate",
    "ReplicationController", "ResourceQuota",         "Service", "ServiceAccount"};

struct ShortName {
  std::string_view kind;
  std::string_view name;
};
constexpr std::array<ShortName, 13> kShortNames = {{{"ConfigMap", "cm"},
                                                    {"CronJob", "cj"},
                                                    {"DaemonSet", "ds"},
                                                    {"Deployment", "deploy"},
                                                    {"Endpoints", "ep"},
                                                    {"Event", "ev"},
                                                    {"Namespace", "ns"},
                                                    {"Node", "no"},
                                                    {"Pod", "po"},
                                                    {"ReplicaSet", "rs"},
                                                    {"Service", "svc"},
                                                    {"ServiceAccount", "sa"},
                                                    {"StatefulSet", "sts"}}};

// Kubernetes' plurals. Endpoints is the only irregular one.
std::string PluralOf(std::string_view singular) {
  std::string plural(singular);
  if (plural == "endpoints") return plural;
  if (plural.ends_with("s")) return plural + "es";
  if (plural.ends_with("cy")) {
    plural.back() = 'i';
    return plural + "es";
  }
  if (plural.ends_with("ss")) return plural + "es";
  return plural + "s";
}

std::shared_ptr<const ResourceType> TypeOf(const GroupVersion& group, const Descriptor& message) {
  auto type = std::make_shared<ResourceType>();
  type->kind = message.name();
  type->list_kind = type->kind + "List";
  type->singular = type->kind;
  absl::AsciiStrToLower(&type->singular);
  type->name = {std::string(group.group), PluralOf(type->singular)};
  type->version = "v1";
  type->namespaced = !Has(kClusterScoped, type->kind);
  type->has_status = message.FindFieldByName("status") != nullptr;
  type->has_generation = Has(kWithGeneration, type->kind);
  type->returns_deleted = Has(kReturningDeleted, type->kind);
  for (const ShortName& name : kShortNames) {
    if (name.kind == type->kind) type->short_names.emplace_back(name.name);
  }
  type->message = &message;
  return type;
}

}  // namespace

std::vector<std::shared_ptr<const ResourceType>> BuiltinKinds() {
  std::vector<std::shared_ptr<const ResourceType>> types;
  for (const GroupVersion& group : Groups()) {
    for (int i = 0; i < group.file->message_type_count(); ++i) {
      const Descriptor& list = *group.file->message_type(i);
      const FieldDescriptor* items = list.FindFieldByName("items");
      if (!list.name().ends_with("List") || items == nullptr || items->message_type() == nullptr) {
        continue;
      }
      const Descriptor& message = *items->message_type();
      if (message.file() != group.file || list.name() != message.name() + "List") continue;
      types.push_back(TypeOf(group, message));
    }
  }
  return types;
}

}  // namespace mandate::apiserver
