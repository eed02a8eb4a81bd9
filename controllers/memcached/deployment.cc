#include "controllers/memcached/deployment.h"

#include <map>

#include "google/protobuf/util/message_differencer.h"
#include "manager/core/strings.h"
#include "manager/object/owner.h"

namespace mandate::memcached {
namespace {

using google::protobuf::util::MessageDifferencer;

constexpr char kName[] = "memcached";
constexpr char kImage[] = "memcached:1.4.36-alpine";
constexpr int kPort = 11211;
constexpr int kUser = 1000;  // the image's default user is a name, which runAsNonRoot cannot check

void AddContainer(corev1::PodSpec& pod) {
  auto& container = *pod.add_containers();
  container.set_name(kName);
  container.set_image(kImage);
  for (const char* word : {"memcached", "-m=64", "-o", "modern", "-v"}) {
    container.add_command(word);
  }
  auto& port = *container.add_ports();
  port.set_name(kName);
  port.set_containerport(kPort);
  auto& security = *container.mutable_securitycontext();
  security.set_runasnonroot(true);
  security.set_runasuser(kUser);
  security.set_allowprivilegeescalation(false);
  security.mutable_capabilities()->add_drop("ALL");
}

}  // namespace

std::string LabelOf(const std::string& name) { return StrCat("memcached-", name); }

absl::StatusOr<LabelSelector> SelectorOf(const std::string& name) {
  return LabelSelector::FromMap({{kLabel, LabelOf(name)}}, "metadata.name");
}

appsv1::Deployment MakeDeployment(const v1alpha1::Memcached& memcached) {
  const std::string& name = memcached.metadata().name();
  const std::map<std::string, std::string> labels = {
      {"app", kName}, {"memcached_cr", name}, {kLabel, LabelOf(name)}};
  appsv1::Deployment deployment;
  auto& meta = *deployment.mutable_metadata();
  meta.set_name(name);
  meta.set_namespace_(memcached.metadata().namespace_());
  (*meta.mutable_labels())[kLabel] = LabelOf(name);
  SetControllerReference(memcached, &deployment);
  auto& spec = *deployment.mutable_spec();
  spec.set_replicas(memcached.spec().size());
  spec.mutable_selector()->mutable_matchlabels()->insert(labels.begin(), labels.end());
  spec.mutable_template_()->mutable_metadata()->mutable_labels()->insert(labels.begin(),
                                                                         labels.end());
  auto& pod = *spec.mutable_template_()->mutable_spec();
  auto& security = *pod.mutable_securitycontext();
  security.set_runasnonroot(true);
  security.mutable_seccompprofile()->set_type("RuntimeDefault");
  AddContainer(pod);
  return deployment;
}

bool IsAsDesired(const appsv1::Deployment& actual, const appsv1::Deployment& desired) {
  if (!IsControlledBy(actual.metadata(), desired.metadata().ownerreferences(0).uid())) {
    return false;
  }
  MessageDifferencer differencer;
  differencer.set_scope(MessageDifferencer::PARTIAL);  // only the fields that `desired` has
  // An apply merges these lists by their keys, and keeps the entries of others.
  const auto merged_by = [&](const google::protobuf::Descriptor* of, const char* list,
                             const google::protobuf::Descriptor* entry, const char* key) {
    differencer.TreatAsMap(of->FindFieldByName(list), entry->FindFieldByName(key));
  };
  const auto* const container = corev1::Container::descriptor();
  merged_by(corev1::PodSpec::descriptor(), "containers", container, "name");
  merged_by(container, "ports", corev1::ContainerPort::descriptor(), "containerPort");
  using ObjectMeta = k8s::io::apimachinery::pkg::apis::meta::v1::ObjectMeta;
  differencer.IgnoreField(ObjectMeta::descriptor()->FindFieldByName("ownerReferences"));
  return differencer.Compare(desired, actual);
}

}  // namespace mandate::memcached
